"""LLMTrajectoryJudge: a judge says how well an agent went about its task, from the trajectory.

No reference is needed; where the row has one, the judge is shown it. What is judged is what the
prompt says; ours asks for progress, fitting tools, grounded arguments, care and honesty. A long
trajectory is shown within a budget, and what was left out is said to the judge and in the result.
Rows without outputs, or with an empty trajectory, are not evaluated, and no judge is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from trajgrade.contracts import Judge, Reads
from trajgrade.errors import ConfigError, TraceError, shorten, unknown
from trajgrade.evaluators.judged import JudgedEvaluator, template, text_of
from trajgrade.jsontext import dumps
from trajgrade.judging.asking import asked
from trajgrade.judging.prompt import Prompt, places
from trajgrade.judging.reading import Unreadable, read
from trajgrade.judging.rendering import BUDGET, Rendered, rendered
from trajgrade.judging.spec import VerdictSpec
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Step, Trajectory

_NEEDED = "reference_outputs"
_OPTIONAL = ("inputs", "context", "response")
_PLACES = ("outputs", "trajectory", _NEEDED, *_OPTIONAL)
_SHOT = ("inputs", "outputs", _NEEDED, "reasoning", "verdict")
_UNKNOWN = "(not recorded)"


@dataclass(frozen=True)
class LLMTrajectoryJudge(JudgedEvaluator):
    """How well an agent went about its task, as a judge sees it.

    `value` is the verdict: true or false, a number, or a label.

    Attributes:
        config: Potato's block, with `ai_support`.
        prompt: What is asked, in place of our prompt. `{outputs}` or `{trajectory}`, `{inputs}`,
            `{reference_outputs}`, `{response}` and `{context}` stand for what the row has; what
            has no place follows. A prompt with `{reference_outputs}` needs a reference.
        continuous: Whether the verdict is a number from 0 to 1 in place of true or false.
        choices: The only verdicts there are: numbers, or labels with the score of each.
        few_shot: Judged examples that the judge is shown: `{outputs, verdict}`, and `inputs`,
            `reference_outputs`, `reasoning` where there are.
        endpoint: What answers prompts.
        budget: How many tokens of a trajectory are shown, about.
        use_reasoning: Whether the judge says why before it decides.
        key: The metric's name.
    """

    reads: ClassVar[Reads] = "raw"

    config: Mapping[str, Any] | None = None
    prompt: str | None = None
    continuous: bool = False
    choices: dict[str, float | None] | list[float] | None = None
    few_shot: list[dict[str, Any]] | None = None
    endpoint: Any = None
    budget: int = field(default=BUDGET, kw_only=True)
    use_reasoning: bool = field(default=True, kw_only=True)
    key: str = field(default="llm_trajectory_judge", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ConfigError: A place that is unknown, choices that cannot be, or an example that the
                judge could not have given.
        """
        super().__post_init__()
        if self.continuous and self.choices is not None:
            raise ConfigError("choices: give continuous or choices, not both")
        written: object = self.prompt
        if written is not None and not (isinstance(written, str) and written.strip()):
            raise ConfigError(f"prompt: a text is needed, got {shorten(written)}")
        faults = [
            f"prompt: {unknown('place', name, _PLACES)}"
            for name in places(self.prompt or "")
            if name not in _PLACES
        ]
        spec = self.spec
        for number, shot in enumerate(self.few_shot or ()):
            faults += [f"few_shot[{number}].{fault}" for fault in _shot_faults(shot, spec)]
        if faults:
            raise ConfigError(*faults)

    @property
    def counts_votes(self) -> bool:  # type: ignore[override]  # what several votes come to depends on the verdict
        """Whether several verdicts are counted: true or false, and labels, are."""
        return self.spec.kind != "number"

    @cached_property
    def spec(self) -> VerdictSpec:
        """What the judge is asked to say."""
        asks: dict[str, Any] = {"reasoning": self.use_reasoning}
        if self.choices is not None:
            return VerdictSpec.choice(self.choices, **asks)
        if self.continuous:
            return VerdictSpec.number(asks="0 is as bad as can be, 1 is without fault", **asks)
        return VerdictSpec.boolean(asks="whether the trajectory is good", **asks)

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Have the judge assess the trajectory.

        Args:
            outputs: A trace in any shape.
            reference_outputs: Shown to the judge, if there is one.
            inputs: The task, shown to the judge, if there is one.
            extra: `response` and `context` are shown where the prompt has a place for them.

        Raises:
            JudgeError: The judge cannot be reached.
            TraceError: The outputs are no trace.
        """
        if outputs is None or outputs in ("", [], {}):
            return self.unscored("no_output", "there are no outputs")
        if reference_outputs is None and _NEEDED in places(self.prompt or ""):
            return self.unscored("no_reference", "the prompt compares with a reference")
        row = {"inputs": inputs, _NEEDED: reference_outputs, **extra}
        return await self.voted({**row, "outputs": _read(outputs)})

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask one judge once."""
        redact = getattr(judge, "redact", None)
        shown = _shown(example["outputs"], self.budget, redact)
        asked_for = places(self.prompt or "")
        data = {"trajectory" if "trajectory" in asked_for else "outputs": shown.text}
        if "outputs" in asked_for:
            data["outputs"] = shown.text
        for name in (*_OPTIONAL, _NEEDED):
            value = example.get(name)
            if value is not None and (name in asked_for or name in ("inputs", _NEEDED)):
                read_as = _read if name == _NEEDED else text_of
                data[name] = _shown(read_as(value), self.budget, redact).text
        given = {name: _UNKNOWN for name in asked_for if name in _OPTIONAL and name not in data}
        prompt = self._prompt(data, given, redact)
        verdict = await asked(judge, prompt, self.spec, sample=sample)
        return verdict.result(
            self.key, metadata={"left_out": shown.left_out} if shown.left_out else {}
        )

    def _prompt(self, data: dict[str, str], given: dict[str, str], redact: Any) -> Prompt:
        written = [self.prompt or template("llm_trajectory_judge")]
        if self.prompt is None and _NEEDED in data:
            written.append(template("llm_trajectory_judge_reference"))
        for number, shot in enumerate(self.few_shot or (), start=1):
            name = f"example_{number}"
            data[name] = _of_shot(shot, self.budget, redact)
            given[f"{name}_verdict"] = _said(shot, self.spec)
            written.append(
                f"An example that was judged before:\n{{{name}}}\nThe right reply to it: "
                f"{{{name}_verdict}}"
            )
        return Prompt("\n\n".join(part.strip() for part in written), data, given)


def _read(value: Any) -> Any:
    """Return a trace as a trajectory, and a text that is none as it is."""
    if isinstance(value, Trajectory):
        return value
    try:
        return Trajectory.from_any(value)
    except TraceError:
        if isinstance(value, str):
            return value
        if isinstance(value, (dict, list)) and not _has_messages(value):
            return text_of(value)
        raise


def _has_messages(value: Any) -> bool:
    """Whether data is meant as a trace: it holds objects with a role."""
    rows = value if isinstance(value, list) else value.get("messages", ())
    return any(isinstance(row, dict) and "role" in row for row in rows)


def _shown(value: Any, budget: int, redact: Any) -> Rendered:
    """Return a trajectory, or a text, within a budget."""
    if isinstance(value, Trajectory):
        return rendered(value, budget=budget, redact=redact)
    found = rendered(Trajectory((Step("assistant", value),)), budget=budget, redact=redact)
    return found._replace(text=found.text.removeprefix("[1] assistant: "))


def _of_shot(shot: Mapping[str, Any], budget: int, redact: Any) -> str:
    """Return an example as one text."""
    names = [name for name in _SHOT[:3] if shot.get(name) is not None]
    read_as = {name: text_of if name == "inputs" else _read for name in names}
    texts = [_shown(read_as[name](shot[name]), budget, redact).text for name in names]
    return "\n\n".join(f"{name}:\n{text}" for name, text in zip(names, texts, strict=True))


def _said(shot: Mapping[str, Any], spec: VerdictSpec) -> str:
    """Return what the judge should have replied to an example."""
    why = {"reasoning": str(shot.get("reasoning", ""))} if spec.reasoning else {}
    return dumps({**why, spec.name: shot["verdict"]}).decode()


def _shot_faults(shot: Any, spec: VerdictSpec) -> Sequence[str]:
    if not isinstance(shot, Mapping):
        return [f": an object is needed, got {shorten(shot)}"]
    faults = [f"{key}: {unknown('key', key, _SHOT)}" for key in shot if key not in _SHOT]
    faults += [f"{key}: is missing" for key in ("outputs", "verdict") if shot.get(key) is None]
    if not faults:
        try:
            read(_said(shot, spec), spec)
        except Unreadable as wrong:
            faults.append(f"verdict: {wrong}")
    return faults
