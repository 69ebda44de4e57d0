"""Rated: a judge rates one response by a rubric, or says which of two is better.

What Vertex AI calls model-based metrics. A prompt is put together from criteria and a rubric; those
of ours are data, `prompts/rated.json`. Its variables, `{prompt}`, `{response}`, `{history}`, are
fields of the row, or the roles that they stand for. All of them are shown to the judge as data.

A rating is one of the rubric's numbers. Of a pair both orders are asked: a response is better only
if it wins in both, else the pair is a tie.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Literal

import msgspec

from trajgrade.contracts import Judge
from trajgrade.evaluators.judged import JudgedEvaluator, spoken, text_of
from trajgrade.judging.asking import Verdict, asked
from trajgrade.judging.prompt import ROLE, Prompt
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult

Kind = Literal["pointwise", "pairwise"]

RESPONSE = "response"
BASELINE = "baseline_model_response"
CANDIDATE_WINS, BASELINE_WINS, TIE = "CANDIDATE", "BASELINE", "TIE"

JUDGED: dict[Kind, dict[str, str]] = {
    "pointwise": {"Response": RESPONSE},
    "pairwise": {"Response A": BASELINE, "Response B": RESPONSE},
}
_SCORES = {CANDIDATE_WINS: 1.0, TIE: 0.5, BASELINE_WINS: 0.0}
_PAIR = VerdictSpec.choice({"A": 0.0, "SAME": 0.5, "B": 1.0})
_VARIABLE = re.compile(r"(?<!\{)\{([\w.-]+)\}(?!\})")


@cache
def texts() -> dict[str, Any]:
    """Return the prompts of ours: what all have in common by kind, and `metrics` by name."""
    text = files("trajgrade.evaluators").joinpath("prompts", "rated.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def assembled(
    kind: Kind,
    *,
    criteria: Mapping[str, str],
    rating_rubric: Mapping[str, str],
    variables: Sequence[str] = (),
    instruction: str | None = None,
    definition: str | None = None,
    steps: Mapping[str, str] | None = None,
    examples: Sequence[str] = (),
) -> str:
    """Put a prompt together.

    Args:
        kind: Whether one response is rated or two are compared.
        criteria: What is looked at, by name.
        rating_rubric: What each rating means.
        variables: What the judge is shown besides what it judges.
        instruction: What the judge is asked to do.
        definition: What is judged, in a sentence.
        steps: How it goes about it, by name.
        examples: Judgements to go by.
    """
    shared, shown = texts()[kind], JUDGED[kind]
    sections = {
        "Task": instruction or shared["instruction"],
        "What is judged": definition,
        "Criteria": _ordered(criteria),
        "Rating rubric": _ordered(rating_rubric),
        "Steps": _ordered(steps or shared["steps"]),
        "Examples": "\n\n".join(examples),
    }
    inputs = [name for name in dict.fromkeys(variables) if name not in shown.values()]
    sections |= {f"Input: {name}": f"{{{name}}}" for name in inputs}
    sections |= {title: f"{{{name}}}" for title, name in shown.items()}
    return "\n\n".join(f"## {title}\n{text}" for title, text in sections.items() if text)


def _ordered(sections: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in sections.items())


def example(kind: Kind, metric: str) -> str:
    """Return the prompt of ours for a metric, named without `pairwise_`."""
    found = texts()["metrics"][metric]
    rubric = found["rubric"] if kind == "pointwise" else texts()["pairwise"]["rubric"]
    return assembled(
        kind,
        criteria=found["criteria"],
        rating_rubric=rubric,
        variables=found["variables"],
        definition=found["definition"],
    )


@dataclass(frozen=True)
class Rated(JudgedEvaluator):
    """What both kinds share.

    Attributes:
        prompt: The prompt; by default that of ours.
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        system: Who the judge is.
        key: The metric's name.
    """

    kind: ClassVar[Kind]
    metric: ClassVar[str] = ""
    reads_row: ClassVar[bool] = True

    prompt: str = ""
    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    system: str = field(default=ROLE, kw_only=True)
    key: str = field(default="rated", kw_only=True)

    @property
    def template(self) -> str:
        """The prompt that is put to the judge."""
        return self.prompt or example(self.kind, self.metric)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of what the prompt shows."""
        judged = JUDGED[self.kind].values()
        return tuple(dict.fromkeys([*_VARIABLE.findall(self.template), *judged]))

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
            outputs: A trace in any shape, or the response.
            reference_outputs: Shown as `{reference}`, where the row has no other.
            inputs: Shown as `{prompt}`.
            extra: `row` is read for all variables; `response`, `reference` and `context`, too.

        Raises:
            JudgeError: The judge cannot be reached.
        """
        row = extra.get("row") or {}
        response = row.get(RESPONSE) if extra.get("response") is None else extra["response"]
        said = spoken(outputs, response)
        if said is None:
            return self.unscored("no_output", "there is no response")
        reference = extra.get("reference")
        roles = {
            "prompt": inputs, RESPONSE: said, "context": extra.get("context"),
            "reference": spoken(reference_outputs) if reference is None else reference,
        }  # fmt: skip
        found = {name: row.get(name, roles.get(name)) for name in self.variables}
        found[RESPONSE] = said
        for name, value in found.items():
            if value is None:
                return self.unscored("undefined", f"there is no {name}")
        return await self.voted({name: text_of(value) for name, value in found.items()})

    def prompted(self, example: Mapping[str, str]) -> Prompt:
        """Return the prompt with an example in it."""
        template = _VARIABLE.sub(lambda name: f"{{{_place(name[1])}}}", self.template)
        data = {_place(name): text for name, text in example.items()}
        return Prompt(template, data, system=self.system)


def _place(name: str) -> str:
    """Return a variable's name as that of a place."""
    return re.sub(r"\W", "_", name)


@dataclass(frozen=True)
class Pointwise(Rated):
    """A response rated by a rubric, its lowest rating being 0 and its highest 1.

    `value` is the rating.

    Attributes:
        prompt: The prompt; by default that of ours.
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        ratings: The numbers of the rubric; by default those of ours. None: any number, as it is.
        system: Who the judge is.
        key: The metric's name.
    """

    kind: ClassVar[Kind] = "pointwise"

    ratings: tuple[float, ...] | None = field(default=(), kw_only=True)

    @property
    def spec(self) -> VerdictSpec:
        """What the judge is asked to say."""
        if self.ratings is None:
            return VerdictSpec.any_number()
        own = self.ratings or [float(one) for one in texts()["metrics"][self.metric]["rubric"]]
        return VerdictSpec.choice([*own])

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge rate the response."""
        verdict = await asked(judge, self.prompted(example), self.spec, sample=sample)
        return self.judged(verdict)

    def judged(self, verdict: Verdict) -> EvaluationResult:
        """Return a verdict as a result."""
        return verdict.result(self.key)


@dataclass(frozen=True)
class AsRated(Pointwise):
    """A response rated by a rubric, the score being the rating itself, as Vertex AI gives it.

    Attributes:
        prompt: The prompt.
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        ratings: The numbers of the rubric. None: any number.
        system: Who the judge is.
        key: The metric's name.
    """

    @property
    def range(self) -> tuple[float, float] | None:  # type: ignore[override]  # by instance here
        """The lowest and highest rating, None where the rubric is not known."""
        if self.ratings is None:
            return None
        return min(self.ratings), max(self.ratings)

    def judged(self, verdict: Verdict) -> EvaluationResult:
        """Return a verdict as a result, with its rating as the score."""
        found = verdict.result(self.key)
        if found.score is None:
            return found
        return msgspec.structs.replace(found, score=float(verdict.value))


@dataclass(frozen=True)
class Pairwise(Rated):
    """Which of two responses is better: 1 the agent's, 0 the baseline's, 0.5 a tie.

    `value` is `CANDIDATE`, `BASELINE` or `TIE`. Both orders are asked; the better response must win
    in both. Several votes are counted, and a tie of votes is a tie.

    Attributes:
        prompt: The prompt, with `{baseline_model_response}` and `{response}`; by default ours.
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        system: Who the judge is.
        key: The metric's name.
    """

    kind: ClassVar[Kind] = "pairwise"
    counts_votes: ClassVar[bool] = False

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge compare the responses, in both orders."""
        swapped = {**example, BASELINE: example[RESPONSE], RESPONSE: example[BASELINE]}
        orders = (example, swapped)
        asks = (asked(judge, self.prompted(one), _PAIR, sample=sample) for one in orders)
        first, second = await asyncio.gather(*asks)
        kept: dict[str, Any] = {"orders": [first.evidence, second.evidence]}
        for verdict in (first, second):
            if verdict.unread:
                return verdict.result(self.key, metadata=kept)
        winners = {
            {"A": BASELINE_WINS, "B": CANDIDATE_WINS}.get(first.value, TIE),
            {"A": CANDIDATE_WINS, "B": BASELINE_WINS}.get(second.value, TIE),
        }
        agree = len(winners) == 1
        value = winners.pop() if agree else TIE
        said = " ".join(first.reasoning.split())
        comment = said if agree else f"the verdict changes with the order, a tie: {said}"
        kept["orders_agree"] = agree
        return EvaluationResult(self.key, _SCORES[value], value, comment or value, kept)

    async def voted(self, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask every judge as often as is wanted; where several do not agree, the majority counts.

        A tie between the votes is a tie between the responses.
        """
        found = await super().voted(example)
        if found.score is None or "votes" not in found.metadata:
            return found
        values = [vote["value"] for vote in found.metadata["votes"] if vote["score"] is not None]
        lead = values.count(CANDIDATE_WINS) - values.count(BASELINE_WINS)
        value = TIE if lead == 0 else CANDIDATE_WINS if lead > 0 else BASELINE_WINS
        return msgspec.structs.replace(found, score=_SCORES[value], value=value)
