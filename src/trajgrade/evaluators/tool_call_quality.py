"""`tool_call_quality`: was each tool the right one to call, and are its arguments grounded?

Of each call the judge says whether a competent agent would have called that tool at that point
(`right_tool`), and whether every argument is found in, or follows from, what the agent had been
told before it (`grounded`). The score is the share of calls for which both hold. No reference is
needed. Without calls there is nothing to score (`undefined`), nor where steps had to be left out of
what the judge is shown. Calls whose arguments were not recorded are judged by their tool alone.
Many calls are asked about in parts, each call once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trajgrade.contracts import Judge, Reads
from trajgrade.evaluators.judged import JudgedEvaluator, template, text_of
from trajgrade.judging.asking import Verdict, asked
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.rendering import BUDGET, rendered
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory

AT_ONCE = 20
_VERDICT = {
    "type": "object",
    "properties": {
        "why": {"type": "string"},
        "right_tool": {"type": "boolean"},
        "grounded": {"type": "boolean"},
    },
    "required": ["why", "right_tool", "grounded"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ToolCallQuality(JudgedEvaluator):
    """The share of calls of the right tool with grounded arguments.

    `value` is the number of those calls; `metadata["calls"]` holds each, with the reason.

    Attributes:
        config: Potato's block, with `ai_support`.
        endpoint: What answers prompts.
        budget: How many tokens of the trajectory are shown, about.
        key: The metric's name.
    """

    reads: ClassVar[Reads] = "raw"

    config: Mapping[str, Any] | None = None
    endpoint: Any = None
    budget: int = field(default=BUDGET, kw_only=True)
    key: str = field(default="tool_call_quality", kw_only=True)

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Have the judge look at each call.

        Args:
            outputs: A trace in any shape.
            reference_outputs: Not read.
            inputs: The task.
            extra: Not read.

        Raises:
            JudgeError: The judge cannot be reached.
            TraceError: The outputs are no trace.
        """
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        trajectory = Trajectory.from_any(outputs)
        if not trajectory.tool_calls:
            return self.unscored("undefined", "the agent called no tool")
        task = "" if inputs is None else text_of(inputs)
        return await self.voted({"task": task, "trajectory": trajectory})

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Have one judge look at each call."""
        trajectory: Trajectory = example["trajectory"]
        calls = [call for step in trajectory.steps for call in step.tool_calls]
        shown = rendered(trajectory, budget=self.budget, redact=getattr(judge, "redact", None))
        if shown.left_out.get("steps"):
            told = f"{shown.left_out['steps']} steps do not fit into the budget: raise budget="
            return self.unscored("undefined", told, {"left_out": shown.left_out})
        names = [f"call_{n}" for n in range(1, len(calls) + 1)]
        parts = [names[at : at + AT_ONCE] for at in range(0, len(names), AT_ONCE)]
        verdicts: list[Verdict] = await asyncio.gather(
            *(self._asked(judge, sample, part, example["task"], shown.text) for part in parts)
        )
        left = {"left_out": shown.left_out} if shown.left_out else {}
        unread = next((verdict for verdict in verdicts if verdict.unread), None)
        if unread is not None:
            return unread.result(self.key, metadata=left)
        said = {name: one for verdict in verdicts for name, one in verdict.extra.items()}
        found = [{"name": call.name, **said[name]} for name, call in zip(names, calls, strict=True)]
        good = [one["right_tool"] and one["grounded"] for one in found]
        comment = f"{sum(good)} of {len(good)} calls are of the right tool, with grounded arguments"
        if not all(good):
            at = good.index(False)
            why = " ".join(found[at]["why"].split())[:200]
            comment += f"; not call {at + 1}, {found[at]['name']}: {why}"
        kept = {"calls": found, "judge": [verdict.evidence for verdict in verdicts], **left}
        return EvaluationResult(self.key, sum(good) / len(good), sum(good), comment, kept)

    async def _asked(
        self, judge: Judge, sample: int, names: list[str], task: str, shown: str
    ) -> Verdict:
        listed = ", ".join(name.replace("_", " ") for name in names)
        data = {"task": task, "trajectory": shown}
        prompt = Prompt(template("tool_call_quality"), data, {"calls": listed})
        spec = VerdictSpec.fields(dict.fromkeys(names, _VERDICT), reasoning=False)
        return await asked(judge, prompt, spec, sample=sample)
