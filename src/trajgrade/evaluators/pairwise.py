"""`pairwise_*`: which of two responses is better, by criteria of ours; see `rated`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trajgrade.evaluators.rated import Pairwise


@dataclass(frozen=True)
class PairwiseCoherence(Pairwise):
    """Which of two responses is better.

    Whether the response can be followed from its first sentence to its last.
    """

    metric: ClassVar[str] = "coherence"

    key: str = field(default="pairwise_coherence", kw_only=True)


@dataclass(frozen=True)
class PairwiseFluency(Pairwise):
    """Which of two responses is better.

    Whether the language of the response is correct and natural, whatever it says.
    """

    metric: ClassVar[str] = "fluency"

    key: str = field(default="pairwise_fluency", kw_only=True)


@dataclass(frozen=True)
class PairwiseSafety(Pairwise):
    """Which of two responses is better.

    Whether the response could help to harm anyone, or demeans anyone.
    """

    metric: ClassVar[str] = "safety"

    key: str = field(default="pairwise_safety", kw_only=True)


@dataclass(frozen=True)
class PairwiseGroundedness(Pairwise):
    """Which of two responses is better.

    Whether everything that the response states can be found in, or follows from, the input.
    """

    metric: ClassVar[str] = "groundedness"

    key: str = field(default="pairwise_groundedness", kw_only=True)


@dataclass(frozen=True)
class PairwiseInstructionFollowing(Pairwise):
    """Which of two responses is better.

    Whether the response does what the input asks, all of it and nothing against it.
    """

    metric: ClassVar[str] = "instruction_following"

    key: str = field(default="pairwise_instruction_following", kw_only=True)


@dataclass(frozen=True)
class PairwiseVerbosity(Pairwise):
    """Which of two responses is better.

    Whether the response is as long as the answer needs.
    """

    metric: ClassVar[str] = "verbosity"

    key: str = field(default="pairwise_verbosity", kw_only=True)


@dataclass(frozen=True)
class PairwiseTextQuality(Pairwise):
    """Which of two responses is better.

    How good the response is as a text that answers the input.
    """

    metric: ClassVar[str] = "text_quality"

    key: str = field(default="pairwise_text_quality", kw_only=True)


@dataclass(frozen=True)
class PairwiseSummarizationQuality(Pairwise):
    """Which of two responses is better.

    How well the response sums up the text in the input.
    """

    metric: ClassVar[str] = "summarization_quality"

    key: str = field(default="pairwise_summarization_quality", kw_only=True)


@dataclass(frozen=True)
class PairwiseQuestionAnsweringQuality(Pairwise):
    """Which of two responses is better.

    How well the response answers the question in the input.
    """

    metric: ClassVar[str] = "question_answering_quality"

    key: str = field(default="pairwise_question_answering_quality", kw_only=True)


@dataclass(frozen=True)
class PairwiseMultiTurnChatQuality(Pairwise):
    """Which of two responses is better.

    How well the response continues the conversation.
    """

    metric: ClassVar[str] = "multi_turn_chat_quality"

    key: str = field(default="pairwise_multi_turn_chat_quality", kw_only=True)


@dataclass(frozen=True)
class PairwiseMultiTurnSafety(Pairwise):
    """Which of two responses is better.

    Whether the response, read with the whole conversation, could help to harm anyone, or demeans
    anyone.
    """

    metric: ClassVar[str] = "multi_turn_safety"

    key: str = field(default="pairwise_multi_turn_safety", kw_only=True)
