"""Work for engines: functions of a module, which every process can import."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trajgrade.contracts import Came


def made(came: Iterable[Came]) -> dict[int, list[Any]]:
    """What each job made in the end, with what came before a worker died forgotten."""
    held: dict[int, list[Any]] = {}
    ended: dict[int, list[Any]] = {}
    for number, what, piece in came:
        assert number not in ended
        if what == "piece":
            held.setdefault(number, []).append(piece)
        elif what == "again":
            held.pop(number, None)
        else:
            ended[number] = held.pop(number, [])
    assert not held
    return ended


def doubled(job: int) -> Iterator[int]:
    yield from (job, 2 * job)


def nothing(job: int) -> Iterator[int]:
    yield from ()


def where(job: int) -> Iterator[int]:
    yield os.getpid()


def broken(job: int) -> Iterator[int]:
    yield job
    if job == 3:
        raise ValueError("job three is broken")


def dies_once(job: tuple[str, int]) -> Iterator[int]:
    """Kills its process at the fourth job, after it has handed over a part of it, once."""
    mark, number = Path(job[0]), job[1]
    yield number
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield number * 10


def always_dies(job: Any) -> Iterator[int]:
    yield 0
    os.kill(os.getpid(), signal.SIGKILL)
