"""Prompts for a judge, put together from criteria and a rubric; and examples of them.

What the examples have in common, an instruction and steps, is the default of every prompt
(`trajgrade.evaluators.rated`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from trajgrade.errors import UnknownNameError
from trajgrade.evaluation.judged import PAIRWISE, POINTWISE, PairwiseMetric, PointwiseMetric
from trajgrade.evaluation.prompt_template import PromptTemplate
from trajgrade.evaluators.rated import JUDGED, Kind, assembled, texts


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

    kind: ClassVar[Kind]

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
        shown = dict.fromkeys([*(input_variables or ()), *JUDGED[self.kind].values()])
        self.input_variables = list(shown)
        self.rating_rubric = dict(rating_rubric)
        super().__init__(
            assembled(
                self.kind,
                criteria=criteria,
                rating_rubric=rating_rubric,
                variables=self.input_variables,
                instruction=instruction,
                definition=metric_definition,
                steps=evaluation_steps,
                examples=few_shot_examples or (),
            )
        )


class PointwiseMetricPromptTemplate(_MetricPromptTemplate):
    """The prompt of a metric that rates one response, `response`."""

    kind = "pointwise"


class PairwiseMetricPromptTemplate(_MetricPromptTemplate):
    """The prompt of a metric that compares `baseline_model_response`, A, with `response`, B."""

    kind = "pairwise"


def example(name: str) -> _MetricPromptTemplate:
    """Return the example prompt of a metric.

    Raises:
        UnknownNameError: There is none of that name.
    """
    base = name.removeprefix("pairwise_")
    if name not in (*POINTWISE, *PAIRWISE):
        raise UnknownNameError("metric prompt template", name, (*POINTWISE, *PAIRWISE))
    found = texts()["metrics"][base]
    given: dict[str, Any] = {
        "criteria": found["criteria"],
        "metric_definition": found["definition"],
        "input_variables": found["variables"],
    }
    if base == name:
        return PointwiseMetricPromptTemplate(rating_rubric=found["rubric"], **given)
    return PairwiseMetricPromptTemplate(rating_rubric=texts()["pairwise"]["rubric"], **given)


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
