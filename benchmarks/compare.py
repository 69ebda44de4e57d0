"""Two runs of many rows compared, against scipy's bootstrap of the same differences.

Scipy's BCa is timed on a few resamples and a part of its jackknife, and scaled: the whole takes
minutes for each metric. Scaling is to scipy's favour, as its memory would not hold at once.

python benchmarks/compare.py --rows 100000 --metrics 6 --resamples 10000
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np

import trajgrade
from trajgrade.result import EvaluationResult
from trajgrade.run import Row, Run
from trajgrade.tally import Graded, Metric, Tally

SCIPY_RESAMPLES = 100
SCIPY_ROWS = 4000


def run_of(scores: Any, kept: dict[str, Metric]) -> Run:
    """Return a run with those scores, made without grading."""
    tally = Tally(kept, explain="none")
    for at, line in enumerate(scores.tolist()):
        results = {key: EvaluationResult(key, value) for key, value in zip(kept, line, strict=True)}
        tally.add(Graded(Row(f"e{at}", results, None, at), {}))
    return Run(
        rows=tally.rows, summary=tally.summary(), dataset="made up",
        evaluators={}, started_at=datetime.now(UTC), seconds=0.0,
    )  # fmt: skip


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def scipy_seconds(differences: Any, resamples: int) -> tuple[float, float]:
    """Return what scipy's resamples and its jackknife would take, each scaled from a part."""
    from scipy import stats

    n = len(differences)

    def drawn(method: str, values: Any, count: int) -> float:
        return seconds(
            lambda: stats.bootstrap(
                (values,), np.mean, n_resamples=count, method=method, batch=20, rng=0
            )
        )

    bootstrap = drawn("percentile", differences, SCIPY_RESAMPLES) * resamples / SCIPY_RESAMPLES
    part = differences[:SCIPY_ROWS]
    jackknife = drawn("BCa", part, 20) - drawn("percentile", part, 20)
    return bootstrap, jackknife * (n / len(part)) ** 2


def main() -> None:
    """Compare, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--metrics", type=int, default=6)
    parser.add_argument("--resamples", type=int, default=10_000)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    shape = (given.rows, given.metrics)
    continuous = given.metrics // 2
    kept = {f"m{at}": Metric(f"m{at}", (0.0, 1.0), "higher") for at in range(given.metrics)}
    runs = []
    for shift in (0.0, 0.01):
        scores = rng.beta(2 + shift, 2, shape)
        scores[:, continuous:] = scores[:, continuous:] > 0.4  # passes and failures
        runs.append((scores, run_of(scores, kept)))
    (old, base), (new, other) = runs
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours = seconds(lambda: trajgrade.compare(base, other, resamples=given.resamples))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    theirs = [
        scipy_seconds(new[:, at] - old[:, at], given.resamples) for at in range(given.metrics)
    ]
    drawn, jackknifed = (sum(part) for part in zip(*theirs, strict=True))
    print(
        f"{given.rows:,} rows, {given.metrics} metrics, {given.resamples:,} resamples; CPU seconds"
    )
    print(f"trajgrade, all of the comparison  {ours:7.1f}  (memory grew by {grown / 1024:.0f} MB)")
    print(f"scipy, the resamples alone        {drawn:7.1f}  ratio {drawn / ours:.1f}")
    print(
        f"scipy, BCa                        {drawn + jackknifed:7.1f}  "
        f"ratio {(drawn + jackknifed) / ours:.1f}"
    )


if __name__ == "__main__":
    main()
