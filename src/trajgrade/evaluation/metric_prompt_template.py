"""Prompts for a judge, put together from criteria and a rubric; and examples of them.

The examples are data, `prompts.json`. What they have in common, an instruction and steps, is the
default of every prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from trajgrade.errors import UnknownNameError
from trajgrade.evaluation.judged import (
    PAIRWISE,
    POINTWISE,
    PairwiseMetric,
    PointwiseMetric,
    ordered,
)
from trajgrade.evaluation.prompt_template import PromptTemplate


@cache
def prompts() -> dict[str, Any]:
    """Return the texts."""
    text = files("trajgrade.evaluation").joinpath("prompts.json").read_text("utf-8")
    texts: dict[str, Any] = json.loads(text)
    return texts


class _MetricPromptTemplate(PromptTemplate):
    """What both kinds share.

    Args:
        criteria: What is looked at, by name.
        rating_rubric: What each rating means.
        input_variables: The columns that the judge is shown besides what it judges.
        instruction: What the judge is asked to do.
        metric_definition: What is judged, in a sentence.
        evaluation_steps: How it goes about it, by name.
        few_shot_examples: Judgements to go by.
    """

    kind: ClassVar[str]
    judged: ClassVar[dict[str, str]]

    def __init__(
        self,
        *,
        criteria: Mapping[str, str],
        rating_rubric: Mapping[str, str],
        input_variables: Sequence[str] | None = None,
        instruction: str | None = None,
        metric_definition: str | None = None,
        evaluation_steps: Mapping[str, str] | None = None,
        few_shot_examples: Sequence[str] | None = None,
    ) -> None:
        defaults = prompts()[self.kind]
        shown = dict.fromkeys([*(input_variables or ()), *self.judged.values()])
        self.input_variables = list(shown)
        sections = {
            "Task": instruction or defaults["instruction"],
            "What is judged": metric_definition,
            "Criteria": ordered(criteria),
            "Rating rubric": ordered(rating_rubric),
            "Steps": ordered(evaluation_steps or defaults["steps"]),
            "Examples": "\n\n".join(few_shot_examples or ()),
        }
        inputs = [name for name in shown if name not in self.judged.values()]
        sections |= {f"Input: {name}": f"{{{name}}}" for name in inputs}
        sections |= {title: f"{{{name}}}" for title, name in self.judged.items()}
        super().__init__(
            "\n\n".join(f"## {title}\n{text}" for title, text in sections.items() if text)
        )


class PointwiseMetricPromptTemplate(_MetricPromptTemplate):
    """The prompt of a metric that rates one response, `response`."""

    kind = "pointwise"
    judged: ClassVar[dict[str, str]] = {"Response": "response"}


class PairwiseMetricPromptTemplate(_MetricPromptTemplate):
    """The prompt of a metric that compares `baseline_model_response`, A, with `response`, B."""

    kind = "pairwise"
    judged: ClassVar[dict[str, str]] = {
        "Response A": "baseline_model_response",
        "Response B": "response",
    }


def example(name: str) -> _MetricPromptTemplate:
    """Return the example prompt of a metric.

    Raises:
        UnknownNameError: There is none of that name.
    """
    base = name.removeprefix("pairwise_")
    if name not in (*POINTWISE, *PAIRWISE):
        raise UnknownNameError("metric prompt template", name, (*POINTWISE, *PAIRWISE))
    texts = prompts()["metrics"][base]
    given: dict[str, Any] = {
        "criteria": texts["criteria"],
        "metric_definition": texts["definition"],
        "input_variables": texts["variables"],
    }
    if base == name:
        return PointwiseMetricPromptTemplate(rating_rubric=texts["rubric"], **given)
    return PairwiseMetricPromptTemplate(rating_rubric=prompts()["pairwise"]["rubric"], **given)


Judged = PointwiseMetric | PairwiseMetric


class _Metrics(type):
    """Makes the example metrics attributes of a class: `Pointwise.FLUENCY`."""

    kind: type[Judged]
    prefix: str

    def __getattr__(cls, name: str) -> Judged:
        metric = f"{cls.prefix}{name.lower()}"
        if name != name.upper() or metric not in (*POINTWISE, *PAIRWISE):
            raise AttributeError(f"{cls.__name__} has no example metric {name!r}")
        return cls.kind(metric=metric, metric_prompt_template=example(metric))

    def __dir__(cls) -> list[str]:
        return [name.upper() for name in POINTWISE]


class MetricPromptTemplateExamples:
    """Example prompts, and metrics with them: `MetricPromptTemplateExamples.Pointwise.FLUENCY`."""

    class Pointwise(metaclass=_Metrics):
        """Metrics that rate one response."""

        kind = PointwiseMetric
        prefix = ""

    class Pairwise(metaclass=_Metrics):
        """Metrics that compare two responses."""

        kind = PairwiseMetric
        prefix = "pairwise_"

    @classmethod
    def get_prompt_template(cls, metric_name: str) -> str:
        """Return the prompt of that metric.

        Raises:
            UnknownNameError: There is none of that name (a `KeyError`).
        """
        return str(example(metric_name))

    @classmethod
    def list_example_metric_names(cls) -> list[str]:
        """Return the names of the metrics that there is a prompt for."""
        return [*POINTWISE, *PAIRWISE]
