"""`run_evaluator`: grade the item, as an experiment would grade it.

    - type: run_evaluator
      evaluator: trajectory_f1          # any spelling of a config file
      reference: {dataset: tasks.jsonl, by: id}

The scores stand in the item for later rules, under `scores.KEY`. A trace that the dataset has no
reference for is not evaluated by an evaluator that needs one, and so has no score; nor has one of
which the judge could not be asked: that is tried again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from trajgrade.actions.graded import ItemGrader, seen
from trajgrade.actions.references import References
from trajgrade.evaluators.appointed import with_judge
from trajgrade.evaluators.spelling import graders
from trajgrade.event import Event, Scored, Told, TryAgainError
from trajgrade.result import EvaluationResult


class RunEvaluator:
    """Grade the item.

    Args:
        evaluator: The evaluator: its name, `{name: params}`, or `{name, params, key}`.
        params: Its parameters, where `evaluator` is a name.
        key: The metric's name, where `evaluator` is a name.
        reference: Where what was expected is looked up: `{dataset, by, path}`.
        judge: Who is asked, where the evaluator names no judge.
        store: Where datasets of a store are.

    Raises:
        ConfigError: Evaluator or reference are wrong.
        DatasetError: The dataset of references cannot be read.
    """

    context: ClassVar[tuple[str, ...]] = ("judge", "store")

    def __init__(
        self,
        evaluator: Any,
        params: Mapping[str, Any] | None = None,
        key: str | None = None,
        reference: Mapping[str, Any] | None = None,
        *,
        judge: Any = None,
        store: Any = None,
    ) -> None:
        more = {name: v for name, v in (("params", params), ("key", key)) if v is not None}
        built = graders([{"name": evaluator, **more} if more else evaluator]).evaluators
        if judge is not None:
            built = with_judge(built, judge)
        self._grader = ItemGrader(built)
        self._references = None if reference is None else References(reference, store)

    @property
    def fast(self) -> bool:
        """Whether nobody has to be asked."""
        return not self._grader.waits

    def close(self) -> None:
        """Let go of connections to judges; they are made anew when they are needed."""
        self._grader.close()

    def act(self, event: Event) -> Told:
        """Grade the item.

        Raises:
            TryAgainError: The judge could not be asked.
        """
        results = self._grader.grade(seen(event.item_id, event.trace, self._references))
        for result in results.values():
            if result.error is not None and result.error.kind == "judge":
                raise TryAgainError(result.error.message)
        scores = {key: result.score for key, result in results.items()}
        plain = {key: result.to_dict() for key, result in results.items()}
        says = "; ".join(map(_said, results.values()))
        return Told(says, (Scored(results=plain, scores=scores),))


def _said(result: EvaluationResult) -> str:
    if result.score is not None:
        return f"{result.key} {result.score:.3g}"
    kind = "no score" if result.error is None else result.error.kind
    return f"{result.key}: {kind}"
