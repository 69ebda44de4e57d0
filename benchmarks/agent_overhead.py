"""How much longer a run takes than its agent: `agent_overhead.py [ROWS] [ROUNDS]`.

An agent that sleeps 20 ms answers so many rows, 100 at once, as a coroutine and as a function that
blocks its thread; two trajectory metrics grade each row. The ideal is rows × 20 ms / 100: nothing
but waiting. Wall time counts here, since waiting is what is shared; of the rounds the best.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Any

from trajgrade import Agent, evaluate

SECONDS = 0.020
AT_ONCE = 100
METRICS = ["trajectory_exact_match", "trajectory_f1"]
CALLS = [{"tool_name": "search", "tool_input": {"q": "x"}}, {"tool_name": "book", "tool_input": {}}]
ANSWER = {"response": "done", "predicted_trajectory": CALLS}


async def waits(prompt: str) -> dict[str, Any]:  # noqa: ARG001 every question is alike
    """Answer in 20 ms, and let others go on."""
    await asyncio.sleep(SECONDS)
    return ANSWER


def blocks(prompt: str) -> dict[str, Any]:  # noqa: ARG001 as above
    """Answer in 20 ms, and hold a thread."""
    time.sleep(SECONDS)
    return ANSWER


def seconds(target: Callable[[str], Any], rows: int, **options: Any) -> float:
    """Return how long one run takes."""
    dataset = [{"prompt": f"question {n}", "reference_trajectory": CALLS} for n in range(rows)]
    agent = Agent(target, max_concurrency=AT_ONCE, **options)
    began = time.perf_counter()
    run = evaluate(dataset, METRICS, agent=agent)
    taken = time.perf_counter() - began
    assert run.summary["trajectory_exact_match"].mean == 1  # noqa: S101 a benchmark of what is wrong is none
    return taken


def main(rows: int = 2000, rounds: int = 5) -> None:
    """Print how long each takes, and how much longer than it must."""
    ideal = rows * SECONDS / AT_ONCE
    kinds: dict[str, tuple[Callable[[str], Any], dict[str, Any]]] = {
        "async": (waits, {}),
        "threads": (blocks, {}),
        "async, with a timeout": (waits, {"timeout": 30}),
        "threads, with a timeout": (blocks, {"timeout": 30}),
    }
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(rounds):
        for name, (target, options) in kinds.items():
            best[name] = min(best[name], seconds(target, rows, **options))
    print(f"{rows:,} rows, {AT_ONCE} at once, {SECONDS * 1000:.0f} ms each; ideal {ideal:.2f} s")
    for name, taken in best.items():
        print(f"{name:<24} {taken:5.2f} s  {taken / ideal:.2f} x the ideal")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
