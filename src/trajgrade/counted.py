"""Counted: rows, as they are done, are told of; in their order, they are tallied."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

from trajgrade.dataset import Example
from trajgrade.flow import InOrder, Turn
from trajgrade.run import Row
from trajgrade.tally import Tally

Progress = Callable[[int], None]
OnRow = Callable[[Example, Row], None]


def counted(
    done: Iterator[Turn],
    tally: Tally,
    on_row: OnRow | None,
    on_progress: Progress | None,
) -> bool:
    """Count every row in its turn; return whether that was interrupted.

    What is done when the run is interrupted counts, also behind a row that is not.
    """
    ordered: InOrder[Turn] = InOrder()
    n_rows = 0
    try:
        for rows in done:
            if on_row is not None:
                for example, row in rows.told():
                    on_row(example, row)
            for turn in ordered.add(rows):
                turn.added_to(tally)
            n_rows += rows.n_rows
            if on_progress is not None:
                on_progress = _told(on_progress, n_rows)
    except KeyboardInterrupt:
        tally.cut()
        for turn in ordered.rest():
            turn.added_to(tally)
        return True
    return False


def _told(on_progress: Progress, done: int) -> Progress | None:
    try:
        on_progress(done)
    except Exception as broken:
        warnings.warn(f"on_progress raised {broken!r}; it is not called again", stacklevel=3)
        return None
    return on_progress
