"""`rubric`: weighted criteria, each met or not, that the example brings or the evaluator has.

    criteria:
      - cites the order number                     a text, of weight 1
      - {criterion: apologises, weight: 0.5}
      - {criterion: promises nothing that it cannot keep, weight: 2}

An example's own criteria, in the field `rubric` of its row, of its inputs or of its reference, come
before those of the evaluator. The score is the weight of the criteria that are met as a share of
all weights. Every criterion is judged, with the reason, in one request; a reply that leaves one out
is not read. `trajgrade.evaluators.rubric.drafted` writes criteria for an example that has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from trajgrade.contracts import Judge
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.evaluators.judged import JudgedEvaluator, spoken, template, text_of
from trajgrade.judging.asking import asked
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.spec import VerdictSpec
from trajgrade.matching.values import is_number
from trajgrade.result import EvaluationResult

MOST = 60
_KEYS = ("criterion", "weight")


class Criterion(NamedTuple):
    """What a response should be or do, and how much that counts."""

    criterion: str
    weight: float = 1.0


@dataclass(frozen=True)
class Rubric(JudgedEvaluator):
    """The weight of the criteria that are met, as a share of all weights.

    `value` is the number of criteria that are met; `metadata["criteria"]` holds each.

    Attributes:
        criteria: Texts, or `{criterion, weight}`, for examples without their own.
        rubric_key: The field of the row, its inputs or its reference that holds its own.
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        draft: Whether the judge writes criteria for an example that has none.
        key: The metric's name.

    Raises:
        ConfigError: A criterion is wrong.
    """

    reads_row: ClassVar[bool] = True

    criteria: Sequence[Any] = ()
    rubric_key: str = "rubric"
    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    draft: bool = field(default=False, kw_only=True)
    key: str = field(default="rubric", kw_only=True)

    def __post_init__(self) -> None:
        """Read the criteria."""
        super().__post_init__()
        criteria_of(self.criteria, "criteria")

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Have the judge say which criteria are met.

        Args:
            outputs: A trace in any shape, or the answer.
            reference_outputs: May hold the criteria.
            inputs: The task, shown to the judge; may hold the criteria.
            extra: `row` may hold the criteria; `response` and `context` are read.

        Raises:
            ConfigError: The example's own criteria are wrong.
            JudgeError: The judge cannot be reached.
        """
        said = spoken(outputs, extra.get("response"))
        if said is None:
            return self.unscored("no_output", "there is no response")
        criteria = self._own(extra.get("row"), inputs, reference_outputs)
        if not criteria and not (self.draft and inputs is not None):
            there = f"no criteria: give criteria, or a field {self.rubric_key!r} in each row"
            return self.unscored("no_reference", there)
        shown = {"task": inputs, "context": extra.get("context"), "response": said}
        example = {name: text_of(value) for name, value in shown.items() if value is not None}
        return await self.voted({"criteria": criteria, "shown": example, "task": inputs})

    def _own(self, *holders: Any) -> list[Criterion]:
        """Return the first criteria that one of the holders has, else the evaluator's."""
        for holder in holders:
            if isinstance(holder, Mapping) and holder.get(self.rubric_key) is not None:
                return criteria_of(holder[self.rubric_key], self.rubric_key)
        return criteria_of(self.criteria, "criteria")

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge say which criteria are met."""
        criteria: list[Criterion] = example["criteria"]
        if not criteria:
            criteria = [Criterion(text) for text in await drafted(judge, example["task"])]
        listed = "\n".join(f"c{n}: {one.criterion}" for n, one in enumerate(criteria, start=1))
        names = [f"c{n}" for n in range(1, len(criteria) + 1)]
        prompt = Prompt(template("rubric"), {**example["shown"], "criteria": listed})
        verdict = await asked(judge, prompt, checklist(names, "met"), sample=sample)
        if verdict.unread:
            return verdict.result(self.key)
        found = [
            {"criterion": one.criterion, "weight": one.weight, **verdict.extra[name]}
            for name, one in zip(names, criteria, strict=True)
        ]
        met = [one for one in found if one["met"]]
        whole = sum(one.weight for one in criteria)
        missed = [one["criterion"] for one in found if not one["met"]]
        comment = f"{len(met)} of {len(found)} criteria are met"
        if missed:
            comment += f"; not: {' '.join(missed[0].split())[:200]}"
        kept = {"criteria": found, "judge": verdict.evidence}
        score = sum(one["weight"] for one in met) / whole
        return EvaluationResult(self.key, min(1.0, score), len(met), comment, kept)


def checklist(names: Sequence[str], flag: str) -> VerdictSpec:
    """Return what a judge is asked to say of several things: of each why, and whether.

    Args:
        names: What they are called in the reply.
        flag: The key that says whether.
    """
    one = {
        "type": "object",
        "properties": {"why": {"type": "string"}, flag: {"type": "boolean"}},
        "required": ["why", flag],
        "additionalProperties": False,
    }
    return VerdictSpec.fields(dict.fromkeys(names, one), reasoning=False)


def criteria_of(written: Any, where: str) -> list[Criterion]:
    """Read criteria.

    Raises:
        ConfigError: They are none; holds all faults.
    """
    if isinstance(written, str) and written.strip():
        return [Criterion(written)]
    if not isinstance(written, (list, tuple)) or len(written) > MOST:
        raise ConfigError(
            f"{where}: a list of at most {MOST} criteria is needed, got {shorten(written)}"
        )
    faults: list[str] = []
    found: list[Criterion] = []
    for place, one in enumerate(written):
        spelt = {"criterion": one} if isinstance(one, str) else one
        wrong = [*_faults(spelt, f"{where}[{place}]")]
        faults += wrong
        if not wrong:
            found.append(Criterion(spelt["criterion"], float(spelt.get("weight", 1.0))))
    if faults:
        raise ConfigError(*faults)
    return found


def _faults(spelt: Any, where: str) -> list[str]:
    if not isinstance(spelt, Mapping):
        return [f"{where}: a text, or {{criterion, weight}}, is needed, got {shorten(spelt)}"]
    faults = [f"{where}: {unknown('key', name, _KEYS)}" for name in spelt if name not in _KEYS]
    text = spelt.get("criterion")
    if not isinstance(text, str) or not text.strip():
        faults.append(f"{where}.criterion: a text is needed, got {shorten(text)}")
    weight: Any = spelt.get("weight", 1.0)
    if not is_number(weight) or not 0 < weight < float("inf"):
        faults.append(f"{where}.weight: a number above 0 is needed, got {shorten(weight)}")
    return faults


async def drafted(judge: Judge, task: Any, reference: Any = None, most: int = 8) -> list[str]:
    """Have a judge write criteria for a task, to be kept with the example.

    Args:
        judge: Who writes.
        task: What the agent is asked.
        reference: What was expected, if that is known.
        most: How many criteria there are at most.

    Raises:
        JudgeError: The judge cannot be reached, or its reply cannot be read.
    """
    from trajgrade.errors import JudgeError

    listed = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": most}
    shown = {"task": task, "reference": reference}
    data = {name: text_of(value) for name, value in shown.items() if value is not None}
    prompt = Prompt(template("rubric_draft"), data, {"most": str(most)})
    verdict = await asked(judge, prompt, VerdictSpec.fields({"criteria": listed}))
    if verdict.unread:
        raise JudgeError(f"no criteria: {verdict.unread}")
    return [text for text in verdict.extra["criteria"] if text.strip()]
