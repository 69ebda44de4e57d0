"""Timing on a machine that other work shares: CPU time, contestants interleaved, the best counts.

Every round runs each contestant once, so that a slow minute of the machine falls on all of them;
of a contestant's rounds the best is taken, the one that was disturbed least. What a contestant
needs beforehand is made outside the clock, and what the benchmark itself keeps alive is hidden from
the garbage collector.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Prepare = Callable[[], Any]


class Contestant:
    """What is timed.

    Args:
        run: Does the work once, given what `prepare` returned.
        units: How many rows that is.
        prepare: Makes what is needed, before each round, outside the clock.
    """

    def __init__(
        self, run: Callable[[Any], Any], units: int = 1, prepare: Prepare | None = None
    ) -> None:
        self.run = run
        self.units = units
        self.prepare = prepare

    def seconds(self) -> float:
        """Run once; return the CPU time."""
        given = self.prepare() if self.prepare else None
        gc.collect()
        gc.freeze()
        start = time.process_time()
        self.run(given)
        taken = time.process_time() - start
        gc.unfreeze()
        return taken


def rates(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, float]:
    """Return each contestant's best rate, in units per second of CPU time."""
    best = dict.fromkeys(contestants, float("inf"))
    for number in range(rounds):
        for name, contestant in contestants.items():
            taken = contestant.seconds()
            best[name] = min(best[name], taken)
        say(f"round {number + 1} of {rounds}")
    return {name: contestants[name].units / best[name] for name in contestants}


def best_of(run: Callable[[Any], Any], prepare: Prepare | None = None, rounds: int = 3) -> float:
    """Return the best CPU time of one contestant alone, in seconds."""
    contestant = Contestant(run, 1, prepare)
    return min(contestant.seconds() for _ in range(rounds))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text as columns: the first to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def show(text: str = "") -> None:
    """Print a part of the result."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Print what goes on, where that is not the result."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def peak_bytes() -> int:
    """Return the most memory that this process had at once.

    Linux hands the parent's peak in `ru_maxrss` on to a child, so its own account is read there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
