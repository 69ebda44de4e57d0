"""Parcels: rows of a slice of the dataset, graded and tallied where an engine does the work.

They come back packed and tallied, piece by piece, none later than a tenth of a second after it was
graded: whoever takes them neither reads nor counts them one by one.
"""

from __future__ import annotations

import pickle
import threading
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from trajgrade.contracts import PartWriter
from trajgrade.dataset import Example, Needs
from trajgrade.dataset.reader import Outline
from trajgrade.dataset.rows import Rows
from trajgrade.dataset.slices import Slice, examples_of
from trajgrade.earlier import Earlier, Retry, earlier_of, explained, key_of
from trajgrade.errors import DatasetError
from trajgrade.flow import Done, flow
from trajgrade.grading import Grader
from trajgrade.packing import pack, unpack
from trajgrade.record import StoredRow
from trajgrade.run import Explain, Row
from trajgrade.tally import Part, Tally

AT_ONCE = 1024  # rows of a piece
AT_MOST = 0.1  # seconds that a row waits for those of its piece


class Task(NamedTuple):
    """How slices are graded.

    Attributes:
        outline: What the first rows of the dataset show.
        needs: What is read of each row.
        evaluators: What grades, and what is known of its metrics, pickled.
        explain: Which rows keep the alignment of their calls.
        retry: What is done once more of rows that are there.
        parts: What keeps rows where they are graded, if they are to be kept there.
    """

    outline: Outline
    needs: Needs
    evaluators: bytes
    explain: Explain
    retry: Collection[Retry]
    parts: PartWriter | None = None


class Job(NamedTuple):
    """What is graded at once: a file, which slice of it, and what is there of its rows."""

    rows: Rows
    part: Slice
    there: Sequence[StoredRow]


class Parcel(NamedTuple):
    """Rows that lie behind each other, graded and tallied.

    Attributes:
        place: The place of the first, from 0.
        part: What they come to, with the rows themselves.
        trials: Which repeat each row is, by its place among them; those not named are no repeats.
        explained: The alignments of rows, packed, by their place among them.
        kept: Which of them were graded by an earlier run, and are here as they were kept.
        again: Which of them take the place of what an earlier run has.
        marks: What tells their ids and trials from those of other rows.
        written: What they were kept as where they were graded; empty where they were not.
    """

    place: int
    part: Part
    trials: Mapping[int, int]
    explained: Mapping[int, bytes]
    kept: Collection[int]
    again: Collection[int]
    marks: Sequence[int]
    written: str = ""

    @property
    def n_rows(self) -> int:
        """How many they are."""
        return len(self.part.packed[1])

    def added_to(self, tally: Tally) -> None:
        """Have them tallied."""
        tally.take(self.part)

    def told(self) -> Iterator[tuple[Example, Row]]:
        """Yield each row, with as much of its example as is known here."""
        for packed in self._packed():
            row = unpack(packed, Row)
            yield Example(id=row.id, trial=row.trial, row=row.row), row

    def stored(self, *, again: bool) -> list[StoredRow]:
        """Return what is to be kept: rows that are new, or those that take the place of others."""
        return [
            StoredRow(self.place + at, self.trials.get(at, 0), packed, None, self.explained.get(at))
            for at, packed in enumerate(self._packed())
            if at not in self.kept and (at in self.again) == again
        ]

    def _packed(self) -> Iterator[bytes]:
        whole, ends = self.part.packed
        start = 0
        for end in ends:
            yield whole[start:end]
            start = end


class Fault(NamedTuple):
    """Why a slice could be graded no further."""

    said: str


class _Growing:
    """A parcel that grows."""

    def __init__(self, place: int, tally: Tally) -> None:
        self.n_rows = 0
        self._place = place
        self._tally = tally
        self._trials: dict[int, int] = {}
        self._explained: dict[int, bytes] = {}
        self._kept: set[int] = set()
        self._again: set[int] = set()
        self._marks = array("q")

    def add(self, done: Done, *, was_there: bool) -> None:
        """Add the next row."""
        at, graded = self.n_rows, done.graded
        row = graded.row
        self._tally.add(graded, pack(row))
        if row.trial:
            self._trials[at] = row.trial
        alignments = explained(graded)
        if alignments is not None:
            self._explained[at] = alignments
        if done.kept:
            self._kept.add(at)
        elif was_there:
            self._again.add(at)
        self._marks.append(_mark(row.id, row.trial))
        self.n_rows += 1

    def ended(self) -> Parcel:
        """Return it as it is now."""
        return Parcel(
            self._place, self._tally.part(), self._trials, self._explained, self._kept,
            self._again, self._marks,
        )  # fmt: skip


def _mark(name: str, trial: int | None) -> int:
    """Return the same 64 bits for the same id and trial, whatever the process."""
    text = f"{trial}:{name}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), signed=True)


class _Grading(threading.Thread):
    """A slice that is graded, while another thread takes what is done."""

    def __init__(self, task: Task, job: Job) -> None:
        super().__init__(daemon=True)
        evaluators, self._metrics = pickle.loads(task.evaluators)  # noqa: S301 pickled by who began this
        self._grader = Grader(evaluators, apart=task.outline.texts_apart, explain=task.explain)
        self._task = task
        self._job = job
        self._there = {stored.key: stored for stored in job.there}
        self._lock = threading.Lock()
        self._place = job.part.before
        self._growing = self._begun()
        self._full: list[_Growing] = []
        self._left = False
        self.ended = threading.Event()
        self.fault: Fault | None = None
        self.raised: BaseException | None = None

    def _begun(self) -> _Growing:
        return _Growing(self._place, Tally(self._metrics, explain=self._task.explain))

    def run(self) -> None:
        """Grade it, row after row."""
        job, task = self._job, self._task
        examples = examples_of(task.outline, job.rows, job.part, task.needs)
        keeper = self._earlier if self._there else None
        try:
            for done in flow(examples, self._grader, keeper=keeper):
                self._add(done)
                if self._left:
                    return
        except DatasetError as wrong:
            self.fault = Fault(str(wrong))
        except BaseException as broken:  # noqa: BLE001 raised in the thread that waits
            self.raised = broken
        finally:
            self.ended.set()

    def _earlier(self, example: Example) -> Earlier | None:
        stored = self._there.get(key_of(example.row, example.trial))
        return None if stored is None else earlier_of(stored, self._task.retry)

    def _add(self, done: Done) -> None:
        row = done.graded.row
        was_there = bool(self._there) and key_of(row.row, row.trial) in self._there
        with self._lock:
            self._growing.add(done, was_there=was_there)
            self._place += 1
            if self._growing.n_rows >= AT_ONCE:
                self._full.append(self._growing)
                self._growing = self._begun()

    def done(self) -> Iterator[Parcel]:
        """Yield what was done since this was asked before."""
        with self._lock:
            grown = [*self._full, self._growing]
            self._full, self._growing = [], self._begun()
        return (one.ended() for one in grown if one.n_rows)

    def leave(self) -> None:
        """End with the row that is being graded: nobody waits for more."""
        self._left = True


def _written(parcel: Parcel, parts: PartWriter | None) -> Parcel:
    """Return rows, those of them written that are new, where they are to be."""
    if parts is None:
        return parcel
    rows = [row for again in (False, True) for row in parcel.stored(again=again)]
    return parcel._replace(written=parts.write(rows)) if rows else parcel


def grade(task: Task, job: Job) -> Iterator[Parcel | Fault]:
    """Grade a slice, in whatever process this is; yield its rows as they are done."""
    grading = _Grading(task, job)
    grading.start()
    try:
        while not grading.ended.wait(AT_MOST):
            yield from (_written(parcel, task.parts) for parcel in grading.done())
        yield from (_written(parcel, task.parts) for parcel in grading.done())
        if grading.raised is not None:
            raise grading.raised
        if grading.fault is not None:
            yield grading.fault
    finally:
        grading.leave()
