"""The metrics under Vertex AI's names, as objects and by name.

A name is looked up among Vertex AI's first, then among all of trajgrade's evaluators; an evaluator,
a function of a row's parts, and any spelling of the config file are metrics too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trajgrade import evaluators
from trajgrade.errors import ConfigError, TrajgradeError
from trajgrade.evaluation.custom import CustomMetric
from trajgrade.evaluation.judged import PairwiseMetric, PointwiseMetric, refusal
from trajgrade.evaluation.metric_prompt_template import (
    MetricPromptTemplateExamples,
    PairwiseMetricPromptTemplate,
    PointwiseMetricPromptTemplate,
)
from trajgrade.evaluators.spelling import Graders, faults_of, graders

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


def built(metrics: Iterable[Any]) -> Graders:
    """Return the evaluators that metrics stand for.

    Raises:
        ConfigError: Any is wrong, or judged by a model; holds all faults.
    """
    given = list(metrics)
    if isinstance(metrics, (str, Mapping)):
        raise ConfigError(f"metrics: a list is needed, got {metrics!r}")
    refused = refusal(given)
    computed = [metric for metric in given if refusal([metric]) is None]
    try:
        found = graders(computed, "metrics")
    except TrajgradeError as wrong:
        if refused is None:
            raise
        raise ConfigError(*faults_of(wrong), refused) from None
    if refused is not None:
        raise ConfigError(refused)
    return found


__all__ = [
    "CustomMetric",
    "MetricPromptTemplateExamples",
    "PairwiseMetric",
    "PairwiseMetricPromptTemplate",
    "PointwiseMetric",
    "PointwiseMetricPromptTemplate",
    "Rouge",
    "TrajectorySingleToolUse",
]
