"""PointwiseMetric, PairwiseMetric: what a model judges, under Vertex AI's names.

A rating is the score as it is, 1 to 5 for most, as users of Vertex AI know it; the evaluators
`pointwise_*` have the same as 0 to 1. trajgrade asks no model unless one was named: by the metric's
or the task's `autorater_config`, or by `TRAJGRADE_JUDGE`. Where none was, a metric that needs one
is refused when the task is made.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trajgrade.errors import ConfigError
from trajgrade.evaluators.rated import AsRated, Pairwise, Rated, example, texts
from trajgrade.evaluators.rubric import Rubric
from trajgrade.judging.chosen import judges_of

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
        autorater_model: The model, `provider:model`; or a judge, or what answers prompts.
        sampling_count: How often each row is judged.
        flip_enabled: Whether a pair is shown in both orders; it always is.
    """

    autorater_model: Any = None
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
        self.rating_rubric = getattr(metric_prompt_template, "rating_rubric", None)
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


class RubricBasedMetric(_JudgedMetric):
    """Criteria that a judge writes for each prompt, and then finds met or not.

    The score is the share of the criteria that are met. A row that has its own, in `rubric`, keeps
    those.

    Args:
        metric: The metric's name.
        generation_config: How Vertex AI writes criteria; not read.
        critique_metric: The metric that Vertex AI checks them by; its judge counts here.
        autorater_config: Which model judges.
    """

    def __init__(
        self,
        *,
        metric: str = "rubric_based_instruction_following",
        generation_config: Any = None,
        critique_metric: Any = None,
        autorater_config: AutoraterConfig | None = None,
    ) -> None:
        own = autorater_config or getattr(critique_metric, "autorater_config", None)
        super().__init__(metric, "", None, own, None)
        self.generation_config = generation_config
        self.critique_metric = critique_metric


def evaluator_of(metric: str | _JudgedMetric, config: AutoraterConfig | None) -> Rated | Rubric:
    """Return the evaluator that a judged metric stands for.

    Args:
        metric: The metric, or the name of one of `JUDGED`.
        config: The task's judge, where the metric names none.

    Raises:
        ConfigError: No judge is named, or the metric is no longer there.
    """
    own = getattr(metric, "autorater_config", None) or config or AutoraterConfig()
    asks: dict[str, Any] = {"judge": own.autorater_model, "samples": own.sampling_count or 1}
    if own.autorater_model is not None and not isinstance(own.autorater_model, (str, Mapping)):
        asks = {**asks, "judge": judges_of(own.autorater_model)[0]}
    if own.flip_enabled is False:
        warnings.warn("flip_enabled=False: a pair is always shown in both orders", stacklevel=4)
    made = _named(metric, asks) if isinstance(metric, str) else _given(metric, asks)
    made.judges()
    return made


def _named(name: str, asks: dict[str, Any]) -> Rated | Rubric:
    base = name.removeprefix("pairwise_")
    if name == "rubric_based_instruction_following":
        return Rubric(draft=True, key=name, **asks)
    if base not in POINTWISE:
        raise ConfigError(f"Vertex AI has given it up; there are {', '.join(POINTWISE)}")
    if base != name:
        return Pairwise(example("pairwise", base), key=name, **asks)
    ratings = _ratings(name, texts()["metrics"][base]["rubric"])
    return AsRated(example("pointwise", base), ratings=ratings, key=name, **asks)


def _given(metric: _JudgedMetric, asks: dict[str, Any]) -> Rated | Rubric:
    system = {} if metric.system_instruction is None else {"system": metric.system_instruction}
    told: dict[str, Any] = {**asks, **system, "key": metric.metric}
    if isinstance(metric, RubricBasedMetric):
        return Rubric(draft=True, key=metric.metric, **asks)
    if isinstance(metric, PairwiseMetric):
        return Pairwise(metric.metric_prompt_template, **told)
    ratings = (
        None if metric.rating_rubric is None else _ratings(metric.metric, metric.rating_rubric)
    )
    return AsRated(metric.metric_prompt_template, ratings=ratings, **told)


def _ratings(metric: str, rubric: Mapping[str, str]) -> tuple[float, ...]:
    try:
        return tuple(float(rating) for rating in rubric)
    except ValueError:
        raise ConfigError(
            f"{metric}: rating_rubric: each rating is a number, got {', '.join(map(str, rubric))}"
        ) from None


def is_judged(metric: Any) -> bool:
    """Whether a model must judge the metric."""
    return isinstance(metric, _JudgedMetric) or (isinstance(metric, str) and metric in JUDGED)
