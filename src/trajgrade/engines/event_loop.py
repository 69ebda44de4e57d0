"""`event_loop`: the work is done in this process, one job after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Job = TypeVar("Job")
Batch = TypeVar("Batch")


class EventLoop:
    """Does the work in this process.

    Args:
        workers: Not more than one: there is one process.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = 1
        del workers

    def map(
        self, work: Callable[[Job], Iterable[Batch]], jobs: Iterable[Job]
    ) -> Iterator[tuple[int, list[Batch]]]:
        """Yield what the work makes of each job, with the job's number."""
        for number, job in enumerate(jobs):
            yield number, list(work(job))
