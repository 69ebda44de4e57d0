"""`agent_as_judge`: each requirement judged against the whole trajectory, with the evidence.

Requirements are those of the row, in the field `requirements` of the row or of its inputs, else the
evaluator's. Each is satisfied or not, and the judge names the steps that show it. The score is the
share that is satisfied. A reply that leaves a requirement out is not read. Source of the idea:
Zhuge et al. 2024, Agent-as-a-Judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trajgrade.contracts import Judge, Reads
from trajgrade.errors import ConfigError, shorten
from trajgrade.evaluators.judged import JudgedEvaluator, field_of, template, text_of
from trajgrade.judging.asking import asked
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.rendering import BUDGET, rendered
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory

MOST = 60
_VERDICT = {
    "type": "object",
    "properties": {"evidence": {"type": "string"}, "satisfied": {"type": "boolean"}},
    "required": ["evidence", "satisfied"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class AgentAsJudge(JudgedEvaluator):
    """The share of requirements that the trajectory satisfies.

    `value` is the number that is satisfied; `metadata["verdicts"]` holds each, with its evidence.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        requirements: The requirements, for rows without their own.
        requirements_key: The field of the row or of its inputs that holds its own.
        question_key: The field of the inputs that holds the task.
        context_key: Not read.
        budget: How many tokens of the trajectory are shown, about.
        key: The metric's name.

    Raises:
        ConfigError: The requirements are no list of texts.
    """

    reads_row: ClassVar[bool] = True
    reads: ClassVar[Reads] = "raw"

    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    requirements: Sequence[str] | None = None
    requirements_key: str = "requirements"
    question_key: str = "question"
    context_key: str = "context"
    budget: int = field(default=BUDGET, kw_only=True)
    key: str = field(default="agent_as_judge", kw_only=True)

    def __post_init__(self) -> None:
        """Check the requirements."""
        super().__post_init__()
        _checked(self.requirements, "requirements")

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Have the judge look at each requirement.

        Args:
            outputs: A trace in any shape.
            reference_outputs: Not read.
            inputs: The task; may hold the requirements.
            extra: `requirements`, or a `row` that holds them.

        Raises:
            ConfigError: The row's requirements are no list of texts.
            JudgeError: The judge cannot be reached.
            TraceError: The outputs are no trace.
        """
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        requirements = self._own(extra.get("requirements"), extra.get("row"), inputs)
        if not requirements:
            return self.unscored(
                "no_reference", f"no requirements: give some, or a field {self.requirements_key!r}"
            )
        task = field_of(inputs, self.question_key, "text")
        example = {
            "requirements": requirements,
            "task": "" if task is None else text_of(task),
            "trajectory": Trajectory.from_any(outputs),
        }
        return await self.voted(example)

    def _own(self, given: Any, *holders: Any) -> list[str]:
        if given is not None:
            return _checked(given, "requirements")
        for holder in holders:
            if isinstance(holder, Mapping) and holder.get(self.requirements_key) is not None:
                return _checked(holder[self.requirements_key], self.requirements_key)
        return _checked(self.requirements, "requirements")

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge look at each requirement."""
        requirements: list[str] = example["requirements"]
        names = [f"r{n}" for n in range(1, len(requirements) + 1)]
        shown = rendered(
            example["trajectory"], budget=self.budget, redact=getattr(judge, "redact", None)
        )
        listed = "\n".join(f"{n}: {text}" for n, text in zip(names, requirements, strict=True))
        data = {"task": example["task"], "requirements": listed, "trajectory": shown.text}
        spec = VerdictSpec.fields(dict.fromkeys(names, _VERDICT), reasoning=False)
        verdict = await asked(judge, Prompt(template("agent_as_judge"), data), spec, sample=sample)
        left = {"left_out": shown.left_out} if shown.left_out else {}
        if verdict.unread:
            return verdict.result(self.key, metadata=left)
        found = [
            {"requirement": text, **verdict.extra[name]}
            for name, text in zip(names, requirements, strict=True)
        ]
        satisfied = sum(one["satisfied"] for one in found)
        comment = f"{satisfied} of {len(found)} requirements are satisfied"
        missed = [one["requirement"] for one in found if not one["satisfied"]]
        if missed:
            comment += f"; not: {' '.join(missed[0].split())[:200]}"
        kept = {"verdicts": found, "judge": verdict.evidence, **left}
        return EvaluationResult(self.key, satisfied / len(found), satisfied, comment, kept)


def _checked(given: Any, where: str) -> list[str]:
    texts = [given] if isinstance(given, str) else given if given is not None else []
    if not isinstance(texts, (list, tuple)) or len(texts) > MOST:
        raise ConfigError(
            f"{where}: a list of at most {MOST} texts is needed, got {shorten(given)}"
        )
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"{where}: a requirement is a text, got {shorten(text)}")
    return list(texts)


AgentAsJudgeEvaluator = AgentAsJudge
