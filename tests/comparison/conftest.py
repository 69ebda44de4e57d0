"""Runs whose scores are as the test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import trajgrade
from trajgrade.evaluators import Evaluator
from trajgrade.result import EvaluationResult, not_evaluated
from trajgrade.run import Run

Score = float | str | None
RunOf = Callable[..., Run]


class Said(Evaluator):
    """A metric in [0, 1] that is what the row says; a text is the kind of what it lacks."""

    range = (0.0, 1.0)
    direction = "higher"

    def __init__(self, key: str = "quality") -> None:
        self.key = key

    def evaluate(self, *, outputs: Any = None, **extra: Any) -> EvaluationResult:
        score = outputs["said"][self.key]
        match score:
            case "evaluator":
                raise RuntimeError("broken")
            case "no_reference" | "no_output":
                return not_evaluated(self.key, score, "nothing to score")
            case "vacuous":
                return EvaluationResult(self.key, 1.0, True, metadata={"vacuous": True})
        return EvaluationResult(self.key, score, metadata={"reference_tools": outputs["expected"]})


@pytest.fixture
def run_of() -> RunOf:
    """Return a run: of each example, by id, one score, or the scores of its trials."""

    def made(
        scores: Mapping[str, Score | list[Score]], *, expected: list[str] | None = None, **more: Any
    ) -> Run:
        rows = []
        for name, found in scores.items():
            several = isinstance(found, list)
            for trial, score in enumerate(found if isinstance(found, list) else [found]):
                said = dict.fromkeys(more.get("keys", ["quality"]), score)
                outputs = {"said": said, "expected": expected or []}
                rows.append(
                    {"id": name, "outputs": outputs, **({"trial": trial} if several else {})}
                )
        evaluators = [Said(key) for key in more.pop("keys", ["quality"])]
        return trajgrade.evaluate(rows, evaluators, **more)

    return made
