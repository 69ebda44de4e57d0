"""Keeping: a run is written to a store while it grows, and gone on with where it was left.

Where an agent or a judge is called every row is written as it is done; otherwise rows are written
in batches of at most a tenth of a second. A row that is kept is not graded again, unless it is to
be retried (`earlier`).

A run is gone on with only with the settings and the data that it began with (SEMANTICS A12).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import msgspec

from trajgrade.contracts import Adopting, PartWriter, RunWriter, Store
from trajgrade.dataset import Example
from trajgrade.earlier import Earlier, Retry, earlier_of, explained, key_of, plain_example
from trajgrade.errors import StoreError, TrajgradeError
from trajgrade.flow import Done
from trajgrade.jsontext import dumps, read_back
from trajgrade.packing import pack
from trajgrade.parcels import Parcel
from trajgrade.record import Key, RunRecord, State, StoredRow
from trajgrade.run import Run

AT_MOST = 0.1  # seconds that a row waits to be written, where nothing waits
_BATCH = 500


class _Batch:
    """Rows that wait to be written together, none of them for longer than `AT_MOST`."""

    def __init__(self) -> None:
        self.write: Callable[[Sequence[StoredRow]], None]
        self._rows: list[StoredRow] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._broken: Exception | None = None

    def add(self, row: StoredRow, *, at_once: bool) -> None:
        """Have one more row written.

        Raises:
            StoreError: It cannot be, or one before it could not.
        """
        with self._lock:
            self._rows.append(row)
            if at_once or len(self._rows) >= _BATCH:
                self._flush()
            elif self._timer is None:
                self._timer = threading.Timer(AT_MOST, self._in_time)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            StoreError: It cannot be written.
        """
        with self._lock:
            self._flush()

    def _in_time(self) -> None:
        """Write in the timer's thread; whoever writes next is told what went wrong."""
        with self._lock:
            try:
                self._flush()
            except TrajgradeError as broken:
                self._broken = broken

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._broken is not None:
            raise self._broken
        if self._rows:
            self.write(self._rows)
            self._rows = []


class Keeping:
    """One run in a store, while this process writes it.

    Args:
        store: Where it is kept.
        record: What the run is.
        resume: Whether the newest unfinished run of these settings is gone on with, if there is
            one.
        retry: What is done once more.
        at_once: Whether each row is written as it is done.
        answered: Whether what an agent answered is kept, too.

    Raises:
        StoreError: The store cannot be written, another process holds the run, or the data has
            changed since it began.
    """

    def __init__(
        self,
        store: Store,
        record: RunRecord,
        *,
        resume: bool = False,
        retry: Collection[Retry] = (),
        at_once: bool = False,
        answered: bool = False,
    ) -> None:
        self._retry = frozenset(retry)
        self._at_once = at_once
        self._answered = answered
        self._batch = _Batch()
        self._there: set[Key] = set()
        earlier = _earlier(store, record, finished=bool(retry)) if resume or retry else None
        if earlier is None:
            self.record = record
            self._writer: RunWriter = store.create(record)
            self._rows: Iterator[StoredRow] = iter(())
        else:
            self.record = msgspec.structs.replace(
                earlier, state="running", finished_at=None, result=None
            )
            self._writer = store.reopen(earlier.id)
            self._rows = store.rows(earlier.id)
        try:
            if earlier is not None and earlier.state != "running":
                self._writer.finish(self.record)
            self._next: StoredRow | None = next(self._rows, None)
        except BaseException:
            self._writer.close()
            raise
        self._batch.write = self._writer.append

    # ------------------------------------------------------------------ what is there

    def earlier(self, example: Example) -> Earlier | None:
        """Return what there is of an example; asked for in the order of the dataset."""
        key = key_of(example.row, example.trial)
        while self._next is not None and self._next.key < key:
            self._next = next(self._rows, None)
        if self._next is None or self._next.key != key:
            return None
        self._there.add(key)
        return earlier_of(self._next, self._retry)

    def there(self, place: int, rows: int) -> list[StoredRow]:
        """Return what there is of so many rows from a place on; asked for in order, too."""
        found: list[StoredRow] = []
        while self._next is not None and self._next.row < place + rows:
            if self._next.row >= place:
                found.append(self._next)
            self._next = next(self._rows, None)
        return found

    # ------------------------------------------------------------------ what comes

    def each(self, done: Iterable[Done]) -> Iterator[Done]:
        """Write each row that is done, now or within a tenth of a second, and pass it on."""
        for one in done:
            if one.kept or not one.run:
                yield one
                continue
            packed = pack(one.graded.row)
            stored = self._stored(one, packed)
            if stored.key in self._there:
                self._writer.rewrite([stored])
            else:
                self._batch.add(stored, at_once=self._at_once)
            yield one._replace(packed=packed)

    def _stored(self, done: Done, packed: bytes) -> StoredRow:
        key = key_of(done.graded.row.row, done.graded.row.trial)
        example = pack(plain_example(done.example)) if self._answered else None
        return StoredRow(key.row, key.trial, packed, example, explained(done.graded))

    @property
    def parts(self) -> PartWriter | None:
        """What writes rows of this run in other processes; None where only this one can."""
        return self._writer.parts if isinstance(self._writer, Adopting) else None

    def keep(self, parcel: Parcel, anew: bool) -> None:
        """Write rows of another process that are done.

        Args:
            parcel: The rows.
            anew: Whether they may have come before, and may be other than they were then.
        """
        if parcel.written and isinstance(self._writer, Adopting):
            rows = (row for again in (False, True) for row in parcel.stored(again=again))
            self._writer.adopt(parcel.written, [row.key for row in rows])
            return
        added, replaced = (parcel.stored(again=again) for again in (False, True))
        if added:
            (self._writer.rewrite if anew else self._writer.append)(added)
        if replaced:
            self._writer.rewrite(replaced)

    # ------------------------------------------------------------------ the end

    def end(self, run: Run, state: State) -> None:
        """Keep what became of the run."""
        self._batch.flush()
        amended: dict[Key, bytes] = {}
        for place in sorted(run.rows.amended):
            said = run.rows.amended[place]
            if said:
                row = run.rows[place]
                amended[key_of(row.row, row.trial)] = pack(said)
        self.record = msgspec.structs.replace(
            self.record,
            state=state,
            finished_at=datetime.now(UTC),
            seconds=self.record.seconds + run.seconds,
            result=read_back(dumps(run.to_dict())),
        )
        self._writer.finish(self.record, amended)

    def close(self) -> None:
        """Let go of the run; what waits is written first."""
        try:
            self._batch.flush()
        finally:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _earlier(store: Store, record: RunRecord, *, finished: bool) -> RunRecord | None:
    """Return the newest run of these settings that is to be gone on with.

    Raises:
        StoreError: There is one, and the data is other than it was.
    """
    for one in store.runs(config_hash=record.config_hash):
        if one.state == "finished" and not finished:
            continue
        if one.dataset_hash != record.dataset_hash:
            raise StoreError(
                f"the run {one.id} cannot be gone on with: {one.dataset} is not what it was when "
                "the run began. Leave --resume out to begin a new one"
            )
        return one
    return None
