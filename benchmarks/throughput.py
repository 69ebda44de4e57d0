"""Rows per second of each engine, with stored results, beside what reading the file costs.

One JSON Lines file is generated, and graded by trajectory metrics on each engine, its results being
kept in a SQLite store; its rows are also decoded by msgspec on one core. Everything is measured in
one run, each engine several times in turn, and the best time counts: only ratios inside one run
say anything on a shared machine. Every engine must come to the same means. What two processes that
share nothing gain over one, which only decode, is the most that a second worker could.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import msgspec

import trajgrade

METRICS = [
    "trajectory_exact_match", "trajectory_any_order_match", "trajectory_precision",
    "trajectory_recall",
]  # fmt: skip


def generated(path: Path, rows: int) -> None:
    """Write the rows."""
    dice = random.Random(1)
    with path.open("w") as stream:
        for n in range(rows):
            calls = [
                {"tool_name": f"tool_{dice.randrange(6)}", "tool_input": {"id": dice.randrange(9)}}
                for _ in range(5)
            ]
            wanted = calls if dice.random() < 0.5 else dice.sample(calls, 4)
            row = {"id": str(n), "predicted_trajectory": calls, "reference_trajectory": wanted}
            stream.write(json.dumps(row) + "\n")


def seconds(what: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def decoded(path: Path) -> None:
    """Decode every row, and no more."""
    decode = msgspec.json.Decoder().decode
    with path.open("rb") as lines:
        for line in lines:
            decode(line)


def decoded_by(processes: int, path: Path) -> float:
    """Return how long so many processes take, each of which decodes every row ten times."""
    started = [
        get_context("spawn").Process(target=decoded_often, args=(path,)) for _ in range(processes)
    ]

    def work() -> None:
        for process in started:
            process.start()
        for process in started:
            process.join()

    return seconds(work)


def decoded_often(path: Path) -> None:
    """Decode every row ten times, which takes much longer than the start of a process."""
    for _ in range(10):
        decoded(path)


def graded(path: Path, folder: Path, engine: str, workers: int | None) -> dict[str, float | None]:
    """Grade the file, and return the means."""
    store = folder / f"{engine}-{workers}-{time.monotonic_ns()}.db"
    run = trajgrade.evaluate(
        str(path),
        METRICS,
        engine=engine,
        workers=workers,
        store=str(store),
    )
    for left in folder.glob(f"*{store.name}*"):
        left.unlink()
    return {key: metric.mean for key, metric in run.summary.items()}


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ray", action="store_true", help="also on a local Ray cluster")
    options = parser.parse_args()
    engines: list[tuple[str, int | None]] = [
        ("event_loop", None), ("process_pool", 1), ("process_pool", 2),
    ]  # fmt: skip
    engines += [("ray", None)] if options.ray else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "rows.jsonl"
        generated(path, options.rows)
        print(f"{options.rows:,} rows, {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores")
        best: dict[tuple[str, int | None], float] = {}
        means = set()
        plain = min(seconds(lambda: decoded(path)) for _ in range(options.rounds))
        apart = [2 * decoded_by(1, path) / decoded_by(2, path) for _ in range(options.rounds)]
        for _ in range(options.rounds):
            for engine in engines:
                began = time.perf_counter()
                means.add(json.dumps(graded(path, folder, *engine)))
                taken = time.perf_counter() - began
                best[engine] = min(taken, best.get(engine, taken))
        if len(means) > 1:
            raise SystemExit(f"the engines disagree: {means}")
        print(f"{'decoding alone':18} {options.rows / plain:10,.0f} rows/s  1.00")
        for (engine_name, workers), taken in best.items():
            label = f"{engine_name} {workers or ''}".strip()
            rate = options.rows / taken
            print(f"{label:18} {rate:10,.0f} rows/s  {plain / taken:.2f} of decoding")
        speedup = best["process_pool", 1] / best["process_pool", 2]
        print(f"process_pool: 2 workers are {speedup:.2f} × one")
        print(f"two processes that share nothing are {max(apart):.2f} × one")


if __name__ == "__main__":
    main()
