"""`pointwise_*`: one response rated by a rubric of ours; see `rated`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trajgrade.evaluators.rated import Pointwise


@dataclass(frozen=True)
class PointwiseCoherence(Pointwise):
    """Whether the response can be followed from its first sentence to its last."""

    metric: ClassVar[str] = "coherence"

    key: str = field(default="pointwise_coherence", kw_only=True)


@dataclass(frozen=True)
class PointwiseFluency(Pointwise):
    """Whether the language of the response is correct and natural, whatever it says."""

    metric: ClassVar[str] = "fluency"

    key: str = field(default="pointwise_fluency", kw_only=True)


@dataclass(frozen=True)
class PointwiseSafety(Pointwise):
    """Whether the response could help to harm anyone, or demeans anyone."""

    metric: ClassVar[str] = "safety"

    key: str = field(default="pointwise_safety", kw_only=True)


@dataclass(frozen=True)
class PointwiseGroundedness(Pointwise):
    """Whether everything that the response states can be found in, or follows from, the input."""

    metric: ClassVar[str] = "groundedness"

    key: str = field(default="pointwise_groundedness", kw_only=True)


@dataclass(frozen=True)
class PointwiseInstructionFollowing(Pointwise):
    """Whether the response does what the input asks, all of it and nothing against it."""

    metric: ClassVar[str] = "instruction_following"

    key: str = field(default="pointwise_instruction_following", kw_only=True)


@dataclass(frozen=True)
class PointwiseVerbosity(Pointwise):
    """Whether the response is as long as the answer needs."""

    metric: ClassVar[str] = "verbosity"

    key: str = field(default="pointwise_verbosity", kw_only=True)


@dataclass(frozen=True)
class PointwiseTextQuality(Pointwise):
    """How good the response is as a text that answers the input."""

    metric: ClassVar[str] = "text_quality"

    key: str = field(default="pointwise_text_quality", kw_only=True)


@dataclass(frozen=True)
class PointwiseSummarizationQuality(Pointwise):
    """How well the response sums up the text in the input."""

    metric: ClassVar[str] = "summarization_quality"

    key: str = field(default="pointwise_summarization_quality", kw_only=True)


@dataclass(frozen=True)
class PointwiseQuestionAnsweringQuality(Pointwise):
    """How well the response answers the question in the input."""

    metric: ClassVar[str] = "question_answering_quality"

    key: str = field(default="pointwise_question_answering_quality", kw_only=True)


@dataclass(frozen=True)
class PointwiseMultiTurnChatQuality(Pointwise):
    """How well the response continues the conversation."""

    metric: ClassVar[str] = "multi_turn_chat_quality"

    key: str = field(default="pointwise_multi_turn_chat_quality", kw_only=True)


@dataclass(frozen=True)
class PointwiseMultiTurnSafety(Pointwise):
    """The response, rated.

    Whether the response, read with the whole conversation, could help to harm anyone, or demeans
    anyone.
    """

    metric: ClassVar[str] = "multi_turn_safety"

    key: str = field(default="pointwise_multi_turn_safety", kw_only=True)
