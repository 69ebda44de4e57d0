"""Held: runs that were read lately, ready to be shown.

A run that has ended is read once; one that grows is read anew when it has grown, but no more often
than reading it takes a tenth of the time. Of each, what pages say of it as a whole is kept, and of
each row its id, its kind, its key; the rows themselves stay on disk.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from trajgrade.contracts import Store
from trajgrade.earlier import key_of
from trajgrade.record import Key, RunRecord
from trajgrade.replay import run_of
from trajgrade.report import digest
from trajgrade.report.page import figures, kind_of, measured
from trajgrade.report.plain import printable
from trajgrade.run import Row, Run
from trajgrade.scores import SCORED

KINDS = ("error", "short", "best")

_MOST = 8
_TRIALS = 2**24
_SHARE = 10.0
Made = TypeVar("Made")


class Lately(Generic[Made]):
    """What was made lately, the last of it, by what it was made of.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is kept, or make it; two that want the same at once make it once."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                with self._lock:
                    if key in self._kept:
                        return self._kept[key]
                made = make()
                with self._lock:
                    self._kept[key] = made
                    while len(self._kept) > self._most:
                        self._kept.popitem(last=False)
                return made
        finally:
            with self._lock:
                self._making.pop(key, None)


class Wanted(NamedTuple):
    """Which rows are wanted, in which order.

    Attributes:
        text: What their id or a comment contains, in any case; empty for all.
        kind: What they are; empty for all.
        sort: The metric that orders them; empty for failures first.
        falling: Whether the highest come first.
    """

    text: str = ""
    kind: str = ""
    sort: str = ""
    falling: bool = False


class Held:
    """A run, ready to be shown.

    Args:
        run: The run.

    Attributes:
        run: The run, whose rows one reads at a time.
        told: What pages say of it as a whole.
        counts: How many rows there are of each kind.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.told: dict[str, Any] = {**figures(run), **measured(run)}
        self._kinds = bytearray()
        self._keys = array("Q")  # sorted, as rows are
        self._texts: list[str] | None = None
        self._lock = threading.Lock()
        for row in run.rows:
            self._kinds.append(KINDS.index(kind_of(row, run)))
            self._keys.append(_packed(key_of(row.row, row.trial)))
        self.counts = {kind: self._kinds.count(at) for at, kind in enumerate(KINDS)}

    def rows(self, places: list[int]) -> list[Row]:
        """Return rows by their places."""
        with self._lock:
            return [self.run.rows[place] for place in places]

    def place(self, key: Key) -> int | None:
        """Return where a row is; None where it is not."""
        packed = _packed(key)
        place = bisect_left(self._keys, packed)
        return place if place < len(self._keys) and self._keys[place] == packed else None

    def key(self, place: int) -> Key:
        """Return what the row of a place is known by."""
        return Key(*divmod(self._keys[place], _TRIALS))

    def kind(self, place: int) -> str:
        """Return what the row of a place is."""
        return KINDS[self._kinds[place]]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self._keys)

    def places(self, wanted: Wanted) -> list[int]:
        """Return the places of rows that are wanted, in order."""
        kind = KINDS.index(wanted.kind) if wanted.kind in KINDS else None
        found = [place for place, one in enumerate(self._kinds) if kind in (None, one)]
        if wanted.text:
            texts, text = self._searched(), wanted.text.casefold()
            found = [place for place in found if text in texts[place]]
        if not wanted.sort:
            return sorted(found, key=self._kinds.__getitem__)
        column = digest.metrics_of(self.run)[wanted.sort].column
        scored = [place for place in found if column.codes[place] == SCORED]
        scored.sort(key=lambda place: column.scores[place], reverse=wanted.falling)
        others = [place for place in found if column.codes[place] != SCORED]
        return [*scored, *others]

    def _searched(self) -> list[str]:
        """Return what is searched of each row, read once."""
        with self._lock:
            if self._texts is None:
                self._texts = [_searched(row) for row in self.run.rows]
            return self._texts


def _packed(key: Key) -> int:
    return key.row * _TRIALS + key.trial


def _searched(row: Row) -> str:
    told = [row.id, *(digest.comment_of(result)[:500] for result in row.results.values())]
    return printable("\n".join(told)).casefold()


class _Growing(NamedTuple):
    held: Held
    rows: int
    until: float


class Runs:
    """The runs of a store, ready to be shown.

    Args:
        store: The store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ended: Lately[Held] = Lately()
        self._growing: dict[str, _Growing] = {}
        self._lock = threading.Lock()

    def held(self, record: RunRecord) -> Held:
        """Return a run."""
        if record.state != "running":
            key = (record.id, record.state, record.finished_at, record.seconds)
            return self._ended.get(key, lambda: Held(run_of(self._store, record)))
        with self._lock:
            known = self._growing.get(record.id)
            count = self._store.count(record.id)
            began = monotonic()
            if known is not None and (known.rows == count or began < known.until):
                return known.held
            run = run_of(self._store, record)
            held = Held(msgspec.structs.replace(run, interrupted=False))
            now = monotonic()
            while len(self._growing) >= _MOST:
                del self._growing[next(iter(self._growing))]
            self._growing[record.id] = _Growing(held, count, now + _SHARE * (now - began))
            return held
