"""Spread: rows graded on an engine, slice by slice, in processes of their own.

What is to be done is told to each process once: the evaluators, and what the dataset's first rows
show. A job is then a file and a slice of it, with what an earlier run has of its rows. Its rows
come back packed and tallied, piece by piece, none later than a tenth of a second after it was
graded: whoever takes them neither reads nor counts them one by one. What cannot go to another
process is refused by name before any row runs. Metrics of recorded runs only: an agent is called in
this process.
"""

from __future__ import annotations

import pickle
import sys
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pickletools import genops
from typing import NamedTuple, get_args

from trajgrade import sources
from trajgrade.contracts import Came, Engine, EvaluatorLike
from trajgrade.dataset import Dataset, Example, Needs
from trajgrade.dataset.marks import Marks
from trajgrade.dataset.reader import Outline
from trajgrade.dataset.rows import Csv, Json, JsonLines, Parquet, Rows
from trajgrade.dataset.slices import BYTES, Slice, can_be_cut, examples_of, sliced
from trajgrade.earlier import Earlier, Retry, earlier_of, explained, key_of
from trajgrade.errors import ConfigError, DatasetError, unknown
from trajgrade.flow import Done, flow
from trajgrade.grading import Grader
from trajgrade.packing import pack, unpack
from trajgrade.record import EngineName, StoredRow
from trajgrade.registry import engines
from trajgrade.run import Explain, Row
from trajgrade.tally import Metric, Part, Tally

AT_ONCE = 1024  # rows of a piece
AT_MOST = 0.1  # seconds that a piece grows
_FILES = (JsonLines, Csv, Json, Parquet)
BIG = 32 * 2**20  # bytes from which several processes are worth their start
_MAIN = "__main__"


class Task(NamedTuple):
    """How slices are graded.

    Attributes:
        outline: What the first rows of the dataset show.
        needs: What is read of each row.
        evaluators: What grades, and what is known of its metrics, pickled.
        explain: Which rows keep the alignment of their calls.
        retry: What is done once more of rows that are there.
    """

    outline: Outline
    needs: Needs
    evaluators: bytes
    explain: Explain
    retry: Collection[Retry]


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
    """

    place: int
    part: Part
    trials: Mapping[int, int]
    explained: Mapping[int, bytes]
    kept: Collection[int]
    again: Collection[int]
    marks: Sequence[int]

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
        self._until = time.monotonic() + AT_MOST
        self._place = place
        self._tally = tally
        self._trials: dict[int, int] = {}
        self._explained: dict[int, bytes] = {}
        self._kept: set[int] = set()
        self._again: set[int] = set()
        self._marks = array("q")

    @property
    def is_due(self) -> bool:
        """Whether it is large enough, or old enough."""
        return self.n_rows >= AT_ONCE or time.monotonic() >= self._until

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


def grade(task: Task, job: Job) -> Iterator[Parcel | Fault]:
    """Grade a slice, in whatever process this is; yield its rows piece by piece."""
    evaluators, metrics = pickle.loads(task.evaluators)  # noqa: S301 pickled by who began this
    grader = Grader(evaluators, apart=task.outline.texts_apart, explain=task.explain)
    examples = examples_of(task.outline, job.rows, job.part, task.needs)
    there = {stored.key: stored for stored in job.there}

    def earlier(example: Example) -> Earlier | None:
        stored = there.get(key_of(example.row, example.trial))
        return None if stored is None else earlier_of(stored, task.retry)

    def begun(place: int) -> _Growing:
        return _Growing(place, Tally(metrics, explain=task.explain))

    growing = begun(job.part.before)
    try:
        for done in flow(examples, grader, keeper=earlier if there else None):
            row = done.graded.row
            growing.add(done, was_there=bool(there) and key_of(row.row, row.trial) in there)
            if growing.is_due:
                yield growing.ended()
                growing = begun(row.row + 1)
    except DatasetError as wrong:
        yield growing.ended()
        yield Fault(str(wrong))
        return
    if growing.n_rows:
        yield growing.ended()


def refusal(dataset: Dataset, evaluators: Sequence[EvaluatorLike], engine: str) -> str | None:
    """Return why a run cannot be spread over other processes; None where it can.

    Args:
        dataset: The dataset.
        evaluators: What grades.
        engine: The engine's name. Only processes of this machine find what the script that runs
            defines, and only if it is a file.
    """
    if not all(isinstance(rows, _FILES) for rows in dataset.files):
        return f"{dataset.name} is in memory; save it as JSON Lines"
    here = engine != "process_pool" or not hasattr(sys.modules[_MAIN], "__file__")
    for evaluator in evaluators:
        try:
            packed = pickle.dumps(evaluator)
            pickle.loads(packed)  # noqa: S301 packed in the line above
        except Exception as wrong:  # noqa: BLE001 whatever an evaluator of the user's raises
            return f"{evaluator.key} cannot be sent to another process ({wrong})"
        if here and any(said == _MAIN for _, said, _ in genops(packed)):
            return f"{evaluator.key} is defined in what runs; put it into a module of its own"
    return None


def is_big(dataset: Dataset) -> bool:
    """Whether a dataset is so big, and in so many parts, that processes are worth their start."""
    files = [rows for rows in dataset.files if isinstance(rows, _FILES)]
    if sum(sources.size(rows.path) for rows in files) < BIG:
        return False
    return len(files) > 1 or any(map(can_be_cut, files))


def spread(
    engine: Engine,
    dataset: Dataset,
    evaluators: Sequence[EvaluatorLike],
    metrics: Mapping[str, Metric],
    needs: Needs,
    explain: Explain,
    *,
    there: Callable[[int, int], Sequence[StoredRow]] | None = None,
    retry: Collection[Retry] = (),
    keep: Callable[[Parcel, bool], None] | None = None,
    size: int = BYTES,
) -> Iterator[Parcel]:
    """Yield every row, those of a slice together, as slices are done.

    Where rows cannot be read, all that lie before the first of them are yielded, as they are by an
    engine that goes through them in order.

    Args:
        engine: Where the work runs.
        dataset: The dataset.
        evaluators: What grades.
        metrics: What is known of their metrics.
        needs: What is read of each row.
        explain: Which rows keep the alignment of their calls.
        there: Returns what an earlier run has of so many rows from a place on; it is asked in the
            order of the dataset.
        retry: What of that is done once more.
        keep: Called with rows as they come, and whether they may have come before: the worker that
            graded them then died.
        size: About how many bytes of a file make a job.

    Raises:
        DatasetError: A row cannot be read, or has the id and trial of another.
        EngineError: The work failed.
    """
    packed = pickle.dumps((list(evaluators), dict(metrics)))
    work = partial(grade, Task(dataset.outline, needs, packed, explain, frozenset(retry)))
    slices = _Slices(dataset, there, size)
    marks = Marks()
    try:
        for came in engine.map(work, slices.jobs()):
            parcel = slices.came(came)
            if parcel is not None and keep is not None:
                keep(parcel, came.number in slices.anew)
            for ended in slices.ended(came):
                if not all(map(marks.add, ended.marks)):
                    dataset.refuse_repeats()
                yield ended
    except KeyboardInterrupt:
        yield from slices.left()
        raise
    if slices.fault is not None:
        raise DatasetError(slices.fault)


class _Slices:
    """The slices that are under way, and what came of them so far.

    Attributes:
        fault: What is wrong with the first row that cannot be read, if one was met.
        anew: The slices that were begun again.
    """

    def __init__(
        self,
        dataset: Dataset,
        there: Callable[[int, int], Sequence[StoredRow]] | None,
        size: int,
    ) -> None:
        self.fault: str | None = None
        self.anew: set[int] = set()
        self._last = sys.maxsize
        self._files = dataset.files
        self._there = there
        self._size = size
        self._held: dict[int, list[Parcel]] = {}

    def jobs(self) -> Iterator[Job]:
        """Yield what is to be done, as long as all rows can be read."""
        bare = [rows.bare() for rows in self._files]
        for part in sliced(self._files, self._size):
            if self.fault is not None:
                return
            earlier = self._there(part.before, part.n_rows) if self._there is not None else ()
            yield Job(bare[part.file], part, earlier)

    def came(self, came: Came) -> Parcel | None:
        """Take in what came; return the rows that it is."""
        number, what, piece = came
        if what == "again":
            self._held.pop(number, None)
            self.anew.add(number)
        elif what == "piece" and number <= self._last:
            if isinstance(piece, Parcel):
                self._held.setdefault(number, []).append(piece)
                return piece
            self._last, self.fault = number, piece.said
        return None

    def ended(self, came: Came) -> Sequence[Parcel]:
        """Return the rows of a slice that has ended, unless one before it cannot be read."""
        if came.what != "ended":
            return ()
        rows = self._held.pop(came.number, ())
        return rows if came.number <= self._last else ()

    def left(self) -> Iterator[Parcel]:
        """Yield the rows that are there of slices that have not ended."""
        for number in sorted(self._held):
            yield from self._held[number]


def engine_of(
    name: str,
    workers: int | None,
    dataset: Dataset,
    evaluators: Sequence[EvaluatorLike],
    *,
    here: str | None,
) -> Engine | None:
    """Return the engine that a run is spread on; None where it runs in this process.

    Args:
        name: The engine's name, or `auto`: all cores for big files, else this process.
        workers: How many at once.
        dataset: The dataset.
        evaluators: What grades.
        here: Why the rows must be graded in this process, None where they need not be.

    Raises:
        ConfigError: There is no such engine, or it cannot do this run.
        MissingExtraError: The engine needs a package that is not installed.
    """
    if name not in get_args(EngineName):
        raise ConfigError(f"engine: {unknown('engine', name, get_args(EngineName))}")
    if name == "event_loop":
        return None
    why = here or refusal(dataset, evaluators, "process_pool" if name == "auto" else name)
    if name == "auto":
        if why is not None or not is_big(dataset):
            return None
        pool: Engine = engines.build("process_pool", {"workers": workers})
        return pool if pool.workers > 1 else None
    if why is not None:
        raise ConfigError(f"engine: {name} cannot do this run: {why}; event_loop can")
    made: Engine = engines.build(name, {"workers": workers})
    return made
