"""Counted: rows, as they are done, are kept and told of; in their order, they are tallied."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

from trajgrade.dataset import Example
from trajgrade.flow import Done, InOrder
from trajgrade.keeping import Keeping
from trajgrade.run import Row
from trajgrade.tally import Tally

Progress = Callable[[int], None]
OnRow = Callable[[Example, Row], None]


def counted(
    done: Iterator[Done],
    tally: Tally,
    keeping: Keeping | None,
    on_row: OnRow | None,
    on_progress: Progress | None,
) -> bool:
    """Count every row in its turn; return whether that was interrupted.

    What is done when the run is interrupted counts, also behind a row that is not.
    """
    ordered = InOrder()
    try:
        for number, row in enumerate(done, start=1):
            if keeping is not None and row.run:
                keeping.keep(row)
            if on_row is not None and row.run:
                on_row(row.example, row.graded.row)
            for turn in ordered.add(row):
                tally.add(turn.graded)
            if on_progress is not None:
                on_progress = _told(on_progress, number)
    except KeyboardInterrupt:
        tally.cut()
        for turn in ordered.rest():
            tally.add(turn.graded)
        return True
    return False


def _told(on_progress: Progress, done: int) -> Progress | None:
    try:
        on_progress(done)
    except Exception as broken:
        warnings.warn(f"on_progress raised {broken!r}; it is not called again", stacklevel=3)
        return None
    return on_progress
