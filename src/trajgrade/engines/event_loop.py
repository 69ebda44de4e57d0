"""`event_loop`: the work is done in this process, one job after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from trajgrade.contracts import Came

Job = TypeVar("Job")


class EventLoop:
    """Does the work in this process.

    Args:
        workers: Not more than one: there is one process.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = 1
        del workers

    def map(self, work: Callable[[Job], Iterable[Any]], jobs: Iterable[Job]) -> Iterator[Came]:
        """Yield what the work makes of each job, piece by piece."""
        for number, job in enumerate(jobs):
            for piece in work(job):
                yield Came(number, "piece", piece)
            yield Came(number, "ended")
