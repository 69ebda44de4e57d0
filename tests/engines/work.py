"""Work for engines: functions of a module, which every process can import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trajgrade.contracts import Came
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.result import EvaluationResult


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


class Marked(Evaluator):
    """Breaks on some rows, and waits at one, while a file says so.

    Its parameters are paths, so that it is the same in every process.
    """

    def __init__(self, folder: str) -> None:
        self.key = "marked"
        self.folder = Path(folder)

    def evaluate(self, *, inputs: Any = None, **extra: Any) -> EvaluationResult:
        del extra
        if (self.folder / f"broken-{inputs}").exists():
            raise RuntimeError("out of order")
        while (self.folder / f"wait-{inputs}").exists():
            time.sleep(0.01)
        if (self.folder / f"kill-{inputs}").exists():
            (self.folder / f"kill-{inputs}").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return EvaluationResult("marked", int(inputs) % 2)
