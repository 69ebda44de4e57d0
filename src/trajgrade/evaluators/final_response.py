"""The final response, judged: how good it is, and whether it says what was expected.

- `final_response_quality`: from 1, useless, to 5, nothing is left to wish for; without reference.
- `final_response_match`: whether it says the same as the reference, in whatever words. Of several
  references, `{"any_of": […]}`, any will do.

An empty response is of the lowest quality and matches nothing but an empty reference; no judge is
asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trajgrade.contracts import Judge
from trajgrade.evaluators.judged import JudgedEvaluator, spoken, template, text_of
from trajgrade.evaluators.references import alternatives
from trajgrade.judging.asking import asked
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult

_QUALITY = VerdictSpec.number(1, 5, whole=True)
_MATCH = VerdictSpec.boolean("matches")


@dataclass(frozen=True)
class FinalResponseQuality(JudgedEvaluator):
    """How good the response is: 1 to 5, as 0 to 1.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        prompt: A prompt in place of ours, with the places `{task}`, `{context}`, `{response}`.
        key: The metric's name.
    """

    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    prompt: str | None = None
    key: str = field(default="final_response_quality", kw_only=True)

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
            inputs: The task.
            extra: `response` and `context` are read.

        Raises:
            JudgeError: The judge cannot be reached.
        """
        said = spoken(outputs, extra.get("response"))
        if said is None:
            return self.unscored("no_output", "there is no response")
        if not said.strip():
            return EvaluationResult(self.key, 0.0, 1, "the response is empty")
        shown = {"task": inputs, "context": extra.get("context"), "response": said}
        return await self.voted({k: text_of("" if v is None else v) for k, v in shown.items()})

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask one judge."""
        prompt = Prompt(self.prompt or template("final_response_quality"), example)
        return (await asked(judge, prompt, _QUALITY, sample=sample)).result(self.key)


@dataclass(frozen=True)
class FinalResponseMatch(JudgedEvaluator):
    """Whether the response says the same as the reference, in whatever words.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        prompt: A prompt in place of ours, with the places `{task}`, `{reference}`, `{response}`.
        key: The metric's name.
    """

    needs_reference: ClassVar[bool] = True
    counts_votes: ClassVar[bool] = True

    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    prompt: str | None = None
    key: str = field(default="final_response_match", kw_only=True)

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
            reference_outputs: What was expected: a text, or a trace with its final response.
            inputs: The task.
            extra: `response` and `reference` come before the others.

        Raises:
            JudgeError: The judge cannot be reached.
        """
        given = extra.get("reference")
        expected = reference_outputs if given is None else given
        if expected is None:
            return self.unscored("no_reference", "there is no reference")
        said = spoken(outputs, extra.get("response"))
        if said is None:
            return self.unscored("no_output", "there is no response")
        options = alternatives(expected) or [expected]
        texts = [text for option in options if (text := spoken(option)) is not None]
        if not texts:
            return self.unscored("no_reference", "the reference says nothing")
        if not said.strip() or not any(text.strip() for text in texts):
            same = not said.strip() and any(not text.strip() for text in texts)
            told = "the response is empty" if not said.strip() else "the reference is empty"
            return EvaluationResult(self.key, float(same), same, told)
        reference = "\n\n--- or ---\n\n".join(texts)
        task = "" if inputs is None else text_of(inputs)
        return await self.voted({"task": task, "reference": reference, "response": said})

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask one judge."""
        prompt = Prompt(self.prompt or template("final_response_match"), example)
        return (await asked(judge, prompt, _MATCH, sample=sample)).result(self.key)
