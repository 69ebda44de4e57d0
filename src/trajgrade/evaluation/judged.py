"""PointwiseMetric, PairwiseMetric: what a model judges, as a record; and why it cannot be asked.

trajgrade asks no model unless one was named. A metric that needs one is refused when the task is
made, before anything runs: it never gets a score that no judge gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trajgrade.errors import ConfigError

POINTWISE = (
    "coherence", "fluency", "safety", "groundedness", "instruction_following", "verbosity",
    "text_quality", "summarization_quality", "question_answering_quality",
    "multi_turn_chat_quality", "multi_turn_safety",
)  # fmt: skip
PAIRWISE = tuple(f"pairwise_{name}" for name in POINTWISE)
_OLDER = (
    "fulfillment", "response_recall", "summarization_helpfulness", "summarization_verbosity",
    "question_answering_relevance", "question_answering_helpfulness",
    "question_answering_correctness", "rag_context_recall", "rubric_based_instruction_following",
)  # fmt: skip
JUDGED = frozenset((*POINTWISE, *PAIRWISE, *_OLDER))


@dataclass(frozen=True)
class AutoraterConfig:
    """Which model judges, and how.

    Attributes:
        autorater_model: The model's name.
        sampling_count: How often each row is judged.
        flip_enabled: Whether a pair is shown in both orders.
    """

    autorater_model: str | None = None
    sampling_count: int | None = None
    flip_enabled: bool | None = None

    def __post_init__(self) -> None:
        """Check the count.

        Raises:
            ConfigError: It is not between 1 and 32.
        """
        if self.sampling_count is not None and not 1 <= self.sampling_count <= 32:
            raise ConfigError(
                f"autorater_config: sampling_count: 1 to 32 is needed, got {self.sampling_count}"
            )


class _JudgedMetric:
    """What both kinds share."""

    def __init__(
        self,
        metric: str,
        metric_prompt_template: Any,
        system_instruction: str | None,
        autorater_config: AutoraterConfig | None,
        custom_output_config: Any,
    ) -> None:
        if not isinstance(metric, str) or not metric:
            raise ConfigError(f"{type(self).__name__}: metric: a text is needed, got {metric!r}")
        self.metric = metric
        self.metric_prompt_template = str(metric_prompt_template)
        self.system_instruction = system_instruction
        self.autorater_config = autorater_config
        self.custom_output_config = custom_output_config

    @property
    def metric_name(self) -> str:
        """The metric's name."""
        return self.metric

    def __str__(self) -> str:
        """Return the metric's name."""
        return self.metric

    def __repr__(self) -> str:
        """Return kind and name."""
        return f"{type(self).__name__}(metric={self.metric!r})"


class PointwiseMetric(_JudgedMetric):
    """A response that a model rates by a prompt.

    Args:
        metric: The metric's name.
        metric_prompt_template: The prompt, its variables being columns.
        system_instruction: The judge's system prompt.
        autorater_config: Which model judges.
        custom_output_config: How its reply is read.
    """

    def __init__(
        self,
        *,
        metric: str,
        metric_prompt_template: Any,
        system_instruction: str | None = None,
        autorater_config: AutoraterConfig | None = None,
        custom_output_config: Any = None,
    ) -> None:
        super().__init__(
            metric, metric_prompt_template, system_instruction, autorater_config,
            custom_output_config,
        )  # fmt: skip


class PairwiseMetric(_JudgedMetric):
    """Two responses of which a model says which is better.

    Args:
        metric: The metric's name.
        metric_prompt_template: The prompt, its variables being columns.
        baseline_model: What gives the other response; by default it is in the column
            `baseline_model_response`.
        system_instruction: The judge's system prompt.
        autorater_config: Which model judges.
        custom_output_config: How its reply is read.
    """

    def __init__(
        self,
        *,
        metric: str,
        metric_prompt_template: Any,
        baseline_model: Any = None,
        system_instruction: str | None = None,
        autorater_config: AutoraterConfig | None = None,
        custom_output_config: Any = None,
    ) -> None:
        super().__init__(
            metric, metric_prompt_template, system_instruction, autorater_config,
            custom_output_config,
        )  # fmt: skip
        self.baseline_model = baseline_model


def refusal(metrics: Iterable[Any]) -> str | None:
    """Return why the metrics that a model judges cannot be computed; None where there are none."""
    found = [
        str(metric)
        for metric in metrics
        if isinstance(metric, _JudgedMetric) or (isinstance(metric, str) and metric in JUDGED)
    ]
    if not found:
        return None
    return (
        f"metrics: {', '.join(found)}: judged by a model, and no judge is configured. This version "
        "of trajgrade has none; a judge will be named by autorater_config="
        "AutoraterConfig(autorater_model='provider:model'), its key being in the provider's "
        "environment variable. Leave these metrics out, or ask a model of yours in a CustomMetric"
    )


def ordered(sections: Mapping[str, str]) -> str:
    """Return named parts as lines, in the order in which they were given."""
    return "\n".join(f"{name}: {text}" for name, text in sections.items())
