"""What a run measures beside its metrics: the agent's latency and failures, and pooled counts.

Of a row on which the agent failed, the latency is kept with the row and left out of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

from trajgrade.contracts import EvaluatorLike
from trajgrade.errors import ConfigError, unknown
from trajgrade.result import AgentError, EvaluationResult, not_evaluated
from trajgrade.run import Row
from trajgrade.scores import Column

OnFailure = Literal["zero", "exclude"]

LATENCY = "latency_in_seconds"
FAILURE = "failure"
MEASURED = (LATENCY, FAILURE)


def check(on_failure: object, taken: Sequence[str]) -> None:
    """Refuse what is no `OnFailure`, and metrics with the names of what is measured.

    Raises:
        ConfigError: There are any.
    """
    if on_failure not in get_args(OnFailure):
        raise ConfigError(f"on_failure: {unknown('choice', on_failure, get_args(OnFailure))}")
    if taken:
        raise ConfigError(
            f"{', '.join(taken)}: what is measured of the agent has that name; give the evaluator "
            "another key"
        )


class AgentColumns:
    """Latency and failure of the agent, row by row."""

    def __init__(self) -> None:
        self._latency = Column(LATENCY, None, "lower", ends=(0.0, math.inf))
        self._failure = Column(FAILURE, (0.0, 1.0), "lower")
        self.columns = (self._latency, self._failure)

    def add(self, row: Row) -> None:
        """Add what came of the next row's call."""
        if row.failure is None:
            self._latency.miss("not_run")
            self._failure.miss("not_run")
            return
        if row.agent_error is None:
            self._latency.add(EvaluationResult(LATENCY, row.latency_in_seconds))
        else:
            self._latency.miss("agent_failed")
        self._failure.add(EvaluationResult(FAILURE, float(row.failure)))


class Pool:
    """The counts of all rows of a metric whose whole is not the mean of its rows.

    Such an evaluator has `corpus(counts)`, and each of its results the row's counts in the
    metadata.
    """

    def __init__(self, evaluator: Any) -> None:
        self._corpus = evaluator.corpus
        self.counts: list[float] = []

    def add(self, result: EvaluationResult) -> None:
        """Add the counts of one row, if it has any."""
        self.add_counts(result.metadata.get("counts", ()))

    def add_counts(self, counts: Sequence[float]) -> None:
        """Add counts of one row, or of several rows together; whole numbers, so in any order."""
        if not self.counts:
            self.counts = [*counts]
        elif counts:
            self.counts = [a + b for a, b in zip(self.counts, counts, strict=True)]

    @property
    def corpus(self) -> float | None:
        """The metric of all rows together; None where no row has counts."""
        return float(self._corpus(self.counts)) if self.counts else None


def failed(
    evaluator: EvaluatorLike, given: dict[str, Any], error: AgentError, *, counts: bool
) -> EvaluationResult:
    """Return the result of a row on which the agent failed (SEMANTICS A5).

    Args:
        evaluator: The evaluator, which is not asked.
        given: What it would have been given.
        error: How the agent failed.
        counts: Whether the row counts as the worst score, where there is one.
    """
    if getattr(evaluator, "needs_reference", False) and given["reference_outputs"] is None:
        return not_evaluated(evaluator.key, "no_reference", "there is no reference")
    comment = f"the agent failed: {error}"
    bounds: tuple[float, float] | None = getattr(evaluator, "range", None)
    if bounds is None or not counts:
        return not_evaluated(evaluator.key, "agent_failed", comment)
    worst = bounds[getattr(evaluator, "direction", None) == "lower"]
    return EvaluationResult(evaluator.key, worst, comment=comment)
