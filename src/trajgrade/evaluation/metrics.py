"""The metrics under Vertex AI's names, as objects and by name.

A name is looked up among Vertex AI's first, then among all of trajgrade's evaluators; an evaluator,
a function of a row's parts, and any spelling of the config file are metrics too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trajgrade import evaluators
from trajgrade.errors import ConfigError, TrajgradeError
from trajgrade.evaluation.custom import CustomMetric
from trajgrade.evaluation.judged import (
    AutoraterConfig,
    PairwiseMetric,
    PointwiseMetric,
    RubricBasedMetric,
    evaluator_of,
    is_judged,
)
from trajgrade.evaluation.metric_prompt_template import (
    MetricPromptTemplateExamples,
    PairwiseMetricPromptTemplate,
    PointwiseMetricPromptTemplate,
)
from trajgrade.evaluators.spelling import Graders, faults_of, graders

_PLACE = re.compile(r"^metrics\[(\d+)\]")

COMPUTED = (
    "exact_match", "bleu", "rouge", "rouge_1", "rouge_2", "rouge_l", "rouge_l_sum",
    "tool_call_valid", "tool_name_match", "tool_parameter_key_match", "tool_parameter_kv_match",
    "trajectory_exact_match", "trajectory_in_order_match", "trajectory_any_order_match",
    "trajectory_precision", "trajectory_recall",
)  # fmt: skip


class _Metric:
    """An evaluator that prints as its name, as Vertex AI's metrics do."""

    key: str

    @property
    def metric_name(self) -> str:
        """The metric's name."""
        return self.key

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True)
class TrajectorySingleToolUse(_Metric, evaluators.TrajectorySingleToolUse):
    """1 if the tool was called at least once, whatever the arguments, order and count.

    Args:
        tool_name: The tool's name.
        key: The metric's name; several in one task are told apart as
            `trajectory_single_tool_use:<tool>`.
    """


@dataclass(frozen=True)
class Rouge(_Metric, evaluators.Rouge):
    """ROUGE of the variant given, F1.

    Attributes:
        rouge_type: `rouge1` … `rouge9`, `rougeL`, `rougeLsum`.
        use_stemmer: Whether English words are cut to their Porter stem.
        split_summaries: Whether the sentences of `rougeLsum` are found by punctuation; else each
            line is one.
        key: The metric's name; several in one task are told apart as `rouge:<type>`.
    """


def built(metrics: Iterable[Any], config: AutoraterConfig | None = None) -> Graders:
    """Return the evaluators that metrics stand for.

    Args:
        metrics: Names, metrics, evaluators, functions.
        config: Which model judges, where a metric names none.

    Raises:
        ConfigError: Any is wrong, or needs a judge and none is named; holds all faults.
    """
    if isinstance(metrics, (str, Mapping)):
        raise ConfigError(f"metrics: a list is needed, got {metrics!r}")
    given: list[Any] = []
    places: list[int] = []
    refused: dict[str, list[str]] = {}
    for place, metric in enumerate(metrics):
        try:
            given.append(evaluator_of(metric, config) if is_judged(metric) else metric)
            places.append(place)
        except TrajgradeError as wrong:
            for fault in faults_of(wrong):
                refused.setdefault(fault, []).append(str(metric))
    faults = [f"metrics: {', '.join(names)}: {_told(fault)}" for fault, names in refused.items()]
    try:
        found = graders(given, "metrics")
    except TrajgradeError as wrong:
        raise ConfigError(
            *(_placed(fault, places) for fault in faults_of(wrong)), *faults
        ) from None
    if faults:
        raise ConfigError(*faults)
    return found


def _placed(fault: str, places: Sequence[int]) -> str:
    """Say which metric of those given a fault is of, those being left out that are refused."""
    return _PLACE.sub(lambda found: f"metrics[{places[int(found[1])]}]", fault)


def _told(fault: str) -> str:
    """Say what is wrong with a judged metric, and how this door names a judge."""
    if not fault.startswith("judge"):
        return fault
    how = "autorater_config=AutoraterConfig(autorater_model='provider:model')"
    return f"judged by a model, and {fault}; in EvalTask, {how}"


__all__ = [
    "CustomMetric",
    "MetricPromptTemplateExamples",
    "PairwiseMetric",
    "PairwiseMetricPromptTemplate",
    "PointwiseMetric",
    "PointwiseMetricPromptTemplate",
    "Rouge",
    "RubricBasedMetric",
    "TrajectorySingleToolUse",
]
