"""How far a run is: one line on standard error, rewritten; nothing where no person looks."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self

from trajgrade.dataset import Dataset

_EVERY = 0.1


class Progress:
    """The line, taken away when the block ends.

    Args:
        dataset: What is graded; its rows are counted only if the line is shown.
        wanted: Whether it may be shown.
    """

    def __init__(self, dataset: Dataset | str, *, wanted: bool) -> None:
        self._dataset = dataset
        self._shown = wanted and someone_looks()
        self._last = 0.0
        self._width = 0
        self._total = 0

    def __enter__(self) -> Self:
        """Count the rows."""
        if self._shown:
            self._total = self._dataset.count() if isinstance(self._dataset, Dataset) else 0
        return self

    def __call__(self, done: int) -> None:
        """Show how many rows are done."""
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            total = f" of {self._total:,}" if self._total else ""
            self._write(f"{done:,}{total} rows")

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


def someone_looks() -> bool:
    """Whether standard error is a screen that a person may look at."""
    return (
        sys.stderr.isatty()
        and not os.environ.get("CI")
        and os.environ.get("TERM") not in ("dumb", "unknown")
    )
