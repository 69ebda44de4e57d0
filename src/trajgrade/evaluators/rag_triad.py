"""The RAG triad: context relevance, groundedness, answer relevance. None needs a reference.

- `context_relevance`: is the retrieved context relevant to the question?
- `groundedness`: the share of the answer's claims that the context supports; each claim is kept.
  An answer without claims is not evaluated.
- `answer_relevance`: does the answer address the question, true or not? An empty one does not.

The question is the inputs, or their field `question_key` or `text`; the context is the row's
`context`, else the inputs' field `context_key`; the answer is the response. Source of the triad:
TruLens; of claim decomposition: Es et al. 2023 (Ragas), faithfulness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trajgrade.contracts import Judge
from trajgrade.evaluators.judged import JudgedEvaluator, field_of, spoken, template, text_of
from trajgrade.judging.asking import asked
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult

_SCORE = VerdictSpec.number(0.0, 1.0)
_CLAIMS = VerdictSpec.fields(
    {
        "claims": {
            "type": "array",
            "maxItems": 200,
            "items": {
                "type": "object",
                "properties": {"claim": {"type": "string"}, "supported": {"type": "boolean"}},
                "required": ["claim", "supported"],
                "additionalProperties": False,
            },
        }
    }
)


@dataclass(frozen=True)
class _Triad(JudgedEvaluator):
    """What the three share."""

    prompt_name: ClassVar[str]
    looks_at: ClassVar[tuple[str, ...]]

    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    question_key: str = "question"
    context_key: str = "context"

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Ask the judge.

        Args:
            outputs: A trace in any shape, or the answer.
            reference_outputs: Not read.
            inputs: The question, or an object that holds it.
            extra: `context` and `response` are read.

        Raises:
            JudgeError: The judge cannot be reached.
        """
        said = spoken(outputs, extra.get("response"))
        if said is None:
            return self.unscored("no_output", "there is no answer")
        context = extra.get("context")
        if context is None and isinstance(inputs, Mapping):
            context = inputs.get(self.context_key)
        found = {
            "question": field_of(inputs, self.question_key, "text"),
            "context": context,
            "answer": said,
        }
        for name in self.looks_at:
            if found[name] is None:
                return self.unscored("undefined", f"there is no {name}")
        example = {name: text_of(found[name]) for name in self.looks_at}
        decided = self.decided(example)
        return decided if decided is not None else await self.voted(example)

    def decided(self, example: Mapping[str, str]) -> EvaluationResult | None:
        """Return the result where no judge need be asked."""
        if not example.get("context", " ").strip():
            return self.unscored("undefined", "the context is empty")
        return None

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask one judge for a score."""
        prompt = Prompt(template(self.prompt_name), example)
        return (await asked(judge, prompt, _SCORE, sample=sample)).result(self.key)


@dataclass(frozen=True)
class ContextRelevance(_Triad):
    """How relevant the retrieved context is to the question, from 0 to 1.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        question_key: The field of the inputs that holds the question.
        context_key: The field of the inputs that holds the context, where the row has none.
        key: The metric's name.
    """

    prompt_name: ClassVar[str] = "context_relevance"
    looks_at: ClassVar[tuple[str, ...]] = ("question", "context")

    key: str = field(default="context_relevance", kw_only=True)


@dataclass(frozen=True)
class AnswerRelevance(_Triad):
    """How well the answer addresses the question, from 0 to 1, whether or not it is true.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        question_key: The field of the inputs that holds the question.
        context_key: Not read.
        key: The metric's name.
    """

    prompt_name: ClassVar[str] = "answer_relevance"
    looks_at: ClassVar[tuple[str, ...]] = ("question", "answer")

    key: str = field(default="answer_relevance", kw_only=True)

    def decided(self, example: Mapping[str, str]) -> EvaluationResult | None:
        """An empty answer addresses nothing; no judge is asked."""
        if not example["answer"].strip():
            return EvaluationResult(self.key, 0.0, 0.0, "the answer is empty")
        return None


@dataclass(frozen=True)
class Groundedness(_Triad):
    """The share of the answer's claims that the context supports.

    `value` is the number of supported claims; `metadata` holds each claim.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        question_key: Not read.
        context_key: The field of the inputs that holds the context, where the row has none.
        key: The metric's name.
    """

    prompt_name: ClassVar[str] = "groundedness"
    looks_at: ClassVar[tuple[str, ...]] = ("context", "answer")

    key: str = field(default="groundedness", kw_only=True)

    def decided(self, example: Mapping[str, str]) -> EvaluationResult | None:
        """An empty answer claims nothing; no judge is asked."""
        if not example["answer"].strip():
            return self.unscored("undefined", "the answer is empty, and claims nothing")
        return super().decided(example)

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge check each claim."""
        prompt = Prompt(template(self.prompt_name), example)
        verdict = await asked(judge, prompt, _CLAIMS, sample=sample)
        if verdict.unread:
            return verdict.result(self.key)
        claims = verdict.extra["claims"]
        kept = {"claims": claims, "judge": verdict.evidence}
        if not claims:
            return self.unscored("undefined", "the answer has no claims", kept)
        supported = sum(claim["supported"] for claim in claims)
        first = next((claim["claim"] for claim in claims if not claim["supported"]), None)
        comment = f"{supported} of {len(claims)} claims are supported"
        if first is not None:
            comment += f"; not: {' '.join(first.split())[:200]}"
        return EvaluationResult(self.key, supported / len(claims), supported, comment, kept)


def rag_triad(
    config: Mapping[str, Any] | None = None, endpoint: Any = None, **options: Any
) -> dict[str, JudgedEvaluator]:
    """Return the three evaluators of the triad by key, sharing one judge.

    Args:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        options: Further parameters of each.
    """
    kinds = (ContextRelevance, Groundedness, AnswerRelevance)
    return {kind.key: kind(config, endpoint, **options) for kind in kinds}


ContextRelevanceEvaluator = ContextRelevance
GroundednessEvaluator = Groundedness
AnswerRelevanceEvaluator = AnswerRelevance
