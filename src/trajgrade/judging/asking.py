"""Asking: a prompt is put to a judge and its reply read, with one turn to mend what is unreadable.

A judge that cannot be reached raises a `JudgeError`, which a run keeps as an error of kind `judge`.
A reply that cannot be read, was cut off or refuses is a verdict without value: its `unread` says
why, and its raw replies are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from trajgrade.contracts import Judge, JudgeReply, JudgeRequest, JudgeTurn
from trajgrade.judging.prompt import Prompt, hashed
from trajgrade.judging.reading import Reading, Unreadable, read
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult, not_evaluated

N = TypeVar("N", int, float)
KEPT_CHARACTERS = 20_000


@dataclass(frozen=True)
class Verdict:
    """What a judge said, and what it took.

    Attributes:
        value: The verdict as the judge gave it; None where it could not be read.
        score: The verdict in [0, 1]; None where it could not be read, or gives no score.
        reasoning: Why, in the judge's words.
        extra: The other fields that were asked for.
        unread: Why there is no verdict; empty where there is one.
        replies: Every reply, the last one being the one that counts.
        prompt_hash: What identifies the prompt's template.
        judge: The judge's name.
        temperature: What the judge was asked with; None for its provider's own.
    """

    value: Any = None
    score: float | None = None
    reasoning: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    unread: str = ""
    replies: tuple[JudgeReply, ...] = ()
    prompt_hash: str = ""
    judge: str = ""
    temperature: float | None = None

    @property
    def raw(self) -> str:
        """The last reply as it came."""
        return self.replies[-1].text if self.replies else ""

    @property
    def model(self) -> str:
        """Which model answered."""
        return self.replies[-1].model if self.replies else ""

    @property
    def tokens_in(self) -> int | None:
        """How many tokens were read for the replies; None where that is not known.

        As with all that a verdict took, a reply that was there already took nothing.
        """
        return total([0 if reply.cached else reply.tokens_in for reply in self.replies])

    @property
    def tokens_out(self) -> int | None:
        """How many tokens were written in the replies; None where that is not known."""
        return total([0 if reply.cached else reply.tokens_out for reply in self.replies])

    @property
    def cost(self) -> float | None:
        """US dollars for the replies; None where a price is not known."""
        return total([0.0 if reply.cached else reply.cost for reply in self.replies])

    @property
    def evidence(self) -> dict[str, Any]:
        """What a result keeps of the verdict, as plain objects."""
        kept: dict[str, Any] = {
            "judge": self.judge, "model": self.model, "prompt_hash": self.prompt_hash,
            "temperature": self.temperature, "asked": len(self.replies),
            "tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "cost": self.cost,
        }  # fmt: skip
        if cached := sum(reply.cached for reply in self.replies):
            kept["cached"] = cached
        if self.reasoning:
            kept["reasoning"] = self.reasoning
        if self.extra:
            kept["extra"] = self.extra
        if self.unread:
            kept["raw"] = [_cut(reply.text) for reply in self.replies]
        return kept

    def result(
        self, key: str, comment: str = "", metadata: dict[str, Any] | None = None
    ) -> EvaluationResult:
        """Return the verdict as a result: not evaluated where it could not be read.

        Args:
            key: The metric's name.
            comment: Why, in a line; by default what the judge said.
            metadata: What else is kept, beside `judge`, the verdict's own evidence.
        """
        kept = {**(metadata or {}), "judge": self.evidence}
        if self.unread:
            return not_evaluated(key, "unreadable_verdict", self.unread, kept)
        said = comment or " ".join(self.reasoning.split()) or f"the judge says {self.value}"
        if self.score is None:
            return not_evaluated(key, "undefined", f"{self.value!r} gives no score: {said}", kept)
        return EvaluationResult(key, self.score, self.value, said, kept)


async def asked(
    judge: Judge,
    prompt: Prompt,
    spec: VerdictSpec,
    *,
    sample: int = 0,
    redact: Callable[[str], str] | None = None,
) -> Verdict:
    """Put a prompt to a judge and read its verdict.

    Args:
        judge: Who is asked.
        prompt: What is asked.
        spec: What the reply must be.
        sample: Which of several independent answers to the same question this is.
        redact: What is done to every text before anything else; by default the judge's own.

    Raises:
        JudgeError: The judge cannot be reached, or a text cannot be redacted.
    """
    hook = redact or getattr(judge, "redact", None)
    shown = prompt.redacted(hook) if hook is not None else prompt
    request = shown.request(spec, sample=sample)
    replies: list[JudgeReply] = []
    requests: list[JudgeRequest] = []
    fault = ""
    reading: Reading | None = None
    for _ in range(2):
        reply = await judge.ask(request)
        requests.append(request)
        replies.append(reply)
        try:
            reading = _read(reply, spec)
            break
        except Unreadable as wrong:
            fault = str(wrong)
            request = _repaired(request, reply, wrong.plainly, spec)
    common: dict[str, Any] = {
        "replies": tuple(replies), "prompt_hash": prompt.hash, "judge": judge.name,
        "temperature": getattr(judge, "temperature", None),
    }  # fmt: skip
    if reading is None:
        forget: Callable[[JudgeRequest], None] = getattr(judge, "forget", lambda _: None)
        for request in requests:
            forget(request)  # so that asking again can bring another reply
        return Verdict(unread=f"no readable verdict after a second request: {fault}", **common)
    return Verdict(reading.value, reading.score, reading.reasoning, reading.extra, **common)


def _read(reply: JudgeReply, spec: VerdictSpec) -> Reading:
    if reply.refused:
        raise Unreadable(f"the judge refused: {_cut(reply.refused, 300)}", "you refused")
    if reply.truncated:
        spent = f" after {reply.tokens_out} tokens" if reply.tokens_out else ""
        raise Unreadable(
            f"the reply was cut off at the token limit{spent}: raise the judge's max_tokens"
        )
    return read(reply.text, spec)


def _repaired(
    request: JudgeRequest, reply: JudgeReply, fault: str, spec: VerdictSpec
) -> JudgeRequest:
    """Return the request once more, with the reply and, in our words, what was wrong with it."""
    said = _cut(reply.text) or "(nothing)"
    mend = f"Your reply could not be read: {fault}.\n\n{spec.instructions}"
    if reply.truncated:
        mend += "\n\nBe brief: the reply must end before the limit."
    more = (JudgeTurn("assistant", said), JudgeTurn("user", mend))
    identity = hashed([request.identity, [[turn.role, turn.text] for turn in more]], 64)
    return msgspec.structs.replace(request, turns=(*request.turns, *more), identity=identity)


def total(parts: Sequence[N | None]) -> N | None:
    """Return a sum; None where there is nothing to add, or a part of it is not known."""
    known = [part for part in parts if part is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(parts) else None


def _cut(text: str, most: int = KEPT_CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"
