"""How far a run is: rows done, how many a second, how many failed, how long it will take.

Where a person looks, one line on standard error, rewritten, and taken away at the end. Where none
does (a file, a pipe, CI, a terminal that cannot rewrite), a plain line now and then, so that a log
of a long run says that it goes on, and one of a short run says nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from trajgrade.dataset import Dataset
from trajgrade.run import Row

_EVERY = 0.1
_EVERY_PLAIN = 30.0
_RECENT = 20.0  # seconds over which the rate is taken
_STEPS = 200
_COLUMNS = 80


class Progress:
    """The line, taken away when the block ends.

    Args:
        dataset: What is graded; its rows are counted only if something is to be shown.
        wanted: Whether anything may be shown.
        trials: How many times each example is answered.
        limit: How many examples are graded at most.
        counted: Whether all examples are graded, so that it is known how many there are.
        clock: What tells the time.
    """

    def __init__(
        self,
        dataset: Dataset | str,
        *,
        wanted: bool,
        trials: int = 1,
        limit: int | None = None,
        counted: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dataset = dataset if counted and isinstance(dataset, Dataset) else None
        self._trials = trials
        self._limit = limit
        self._wanted = wanted
        self._rewrites = someone_looks()
        self._clock = clock
        self._width = 0
        self._total: int | None = None
        self._failed = 0
        self._steps: deque[tuple[float, int]] = deque(maxlen=_STEPS)
        self._last = 0.0

    def __enter__(self) -> Self:
        """Begin; rows are counted once, where the line is rewritten at once."""
        self._last = self._clock() - (_EVERY if self._rewrites else 0)
        self._steps.append((self._clock(), 0))
        return self

    def note(self, example: Any, row: Row) -> None:
        """Note whether a row failed: its agent, or any of its evaluators."""
        broken = any(
            r.error is not None and not r.error.not_evaluated for r in row.results.values()
        )
        self._failed += bool(row.failure) or broken

    def __call__(self, done: int) -> None:
        """Show how many rows are done, unless that was shown just now."""
        now = self._clock()
        if not self._wanted or now - self._last < (_EVERY if self._rewrites else _EVERY_PLAIN):
            return
        self._last = now
        said = self.said(now, done)
        self._steps.append((now, done))
        if self._rewrites:
            self._write(said[: columns() - 1])
        else:
            sys.stderr.write(f"{said}\n")
            sys.stderr.flush()

    def said(self, now: float, done: int) -> str:
        """Return how far the run is, as a line."""
        total = self._counted()
        while len(self._steps) > 1 and now - self._steps[0][0] > _RECENT:
            self._steps.popleft()
        then, before = self._steps[0]
        rate = (done - before) / (now - then) if now > then else 0.0
        parts = [f"{done:,} of {total:,} rows" if total else f"{done:,} rows"]
        if rate > 0:
            parts.append(f"{rate:,.1f}/s" if rate < 100 else f"{rate:,.0f}/s")
        if self._failed:
            parts.append(f"{self._failed:,} failed")
        if rate > 0 and total > done:
            parts.append(f"{_spelt((total - done) / rate)} left")
        return ", ".join(parts)

    def _counted(self) -> int:
        """Return how many rows there are to be; 0 where that is not known."""
        if self._total is None:
            examples = 0 if self._dataset is None else self._dataset.count()
            self._total = min(examples, self._limit or examples) * self._trials
        return self._total

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the line away."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text.ljust(self._width)}" if text else f"\r{' ' * self._width}\r")
        sys.stderr.flush()
        self._width = len(text)


def _spelt(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def columns() -> int:
    """Return how wide the screen is that standard error is."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except (OSError, ValueError):
        return _COLUMNS


def someone_looks() -> bool:
    """Whether standard error is a screen that a person may look at."""
    return (
        sys.stderr.isatty()
        and not os.environ.get("CI")
        and os.environ.get("TERM") not in ("dumb", "unknown")
    )
