"""Appointed: the judge of a run is asked by those of its evaluators that name none of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from trajgrade.contracts import EvaluatorLike


def with_judge(evaluators: Iterable[EvaluatorLike], judge: Any) -> list[EvaluatorLike]:
    """Return the evaluators, those that ask a judge and name none asking this one.

    Args:
        evaluators: The evaluators of a run.
        judge: The judge, its name or its settings. Who shares settings shares their limits.
    """
    return [_asking(one, judge) for one in evaluators]


def _asking(evaluator: EvaluatorLike, judge: Any) -> EvaluatorLike:
    from trajgrade.evaluators.judged import JudgedEvaluator

    if not isinstance(evaluator, JudgedEvaluator):
        return evaluator
    named = (getattr(evaluator, name, None) for name in ("judge", "endpoint", "config"))
    return evaluator if any(one is not None for one in named) else replace(evaluator, judge=judge)
