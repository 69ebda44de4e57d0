"""Trajectory constraints (SEMANTICS A9): what must hold of the tools that are called.

    required, forbidden, before, one_of, min_calls, max_calls, optional

`trajgrade.matching.constraints` says what each means. They are the evaluator's parameters, or stand
in a row's reference, `{"constraints": {"required": ["search"]}}`, also within `any_of` (the best
one counts) and `turns` (one for each user turn); where both are given, both must hold. A reference
that is a list of calls is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import msgspec

from trajgrade.contracts import Reads
from trajgrade.detection import parsed
from trajgrade.errors import ConfigError, MalformedTraceError, TraceError, near
from trajgrade.evaluators.comparison import Depth, Failed, Hosted, nested
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.part import OfPart
from trajgrade.evaluators.references import CONSTRAINTS, alternatives, constraints_in, groups_of
from trajgrade.evaluators.wording import clip, count, plain, shown
from trajgrade.matching.constraints import FIELDS, Constraints, constraints_of, violations
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import ToolCall, Trajectory

Each = Literal["run", "turn", "agent"]

_LONG_LIST = 100


@dataclass(frozen=True)
class TrajectoryConstraints(OfPart):
    """1 if every constraint holds, else 0; the comment names those that do not.

    A tool is a name or a glob. A run without any call that keeps them all is marked `vacuous`.

    Args:
        required: Tools that must be called.
        forbidden: Tools that must not.
        before: Pairs `[a, b]`: before b is first called, a is.
        optional: Tools that may be called; where given, a tool that nothing here names may not.
        one_of: Groups of which exactly one member is called.
        min_calls: By tool, how often it is called at least; `"*"` counts all calls.
        max_calls: By tool, how often it is called at most.
        key: The metric's name.
        each: Where they hold: in the whole `run`, in each `turn`, or for each `agent`.
        failed: Whether calls that failed or never ran `count`, or are left out (`exclude`).
        hosted: Whether calls that the provider ran are kept `apart`, or `count`.
        depth: Of calls that contain others, the `top` ones count, the `leaves`, or `all`.
    """

    reads: ClassVar[Reads] = "trajectory"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"

    required: Sequence[str] = ()
    forbidden: Sequence[str] = ()
    before: Sequence[Sequence[str]] = ()
    optional: Sequence[str] | None = None
    one_of: Sequence[Sequence[str]] = ()
    min_calls: Mapping[str, int] | None = None
    max_calls: Mapping[str, int] | None = None
    key: str = "trajectory_constraints"
    each: Each = field(default="run", kw_only=True)
    failed: Failed = field(default="count", kw_only=True)
    hosted: Hosted = field(default="apart", kw_only=True)
    depth: Depth = field(default="top", kw_only=True)

    def __post_init__(self) -> None:
        """Check every constraint.

        Raises:
            ConfigError: One has another form than it must, or contradicts another.
        """
        check_choice("each", self.each, Each)
        check_choice("failed", self.failed, Failed)
        check_choice("hosted", self.hosted, Hosted)
        check_choice("depth", self.depth, Depth)
        self.check_part()
        _ = self._own

    @property
    def needs_reference(self) -> bool:  # type: ignore[override]  # as it is configured
        """Whether the constraints stand in the reference."""
        return self._own is None

    @cached_property
    def _own(self) -> Constraints | None:
        given = {name: getattr(self, name) for name in FIELDS}
        bare = [name for name, value in given.items() if value is None or _is_empty(value)]
        if len(bare) == len(given) and self.optional is None:
            return None
        return constraints_of(given)

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Check the agent's calls.

        Args:
            outputs: The agent's trace, in any shape.
            reference_outputs: `{"constraints": {…}}`, or anything, which then is not read.
            inputs: Not read.
            extra: Not read.

        Raises:
            TraceError: The outputs cannot be read, or the constraints of the reference.
        """
        options = _options(reference_outputs)
        if not options and self._own is None:
            return self.unscored(
                "no_reference",
                "there are no constraints: give them as parameters, or as the reference "
                f'{{"{CONSTRAINTS}": {{…}}}}',
            )
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        run = self.part_of(outputs)
        if len(options) < 2:
            return self._judged(run, options[0] if options else None)
        results = [self._judged(run, option) for option in options]
        best = min(range(len(results)), key=lambda at: len(results[at].metadata["violations"]))
        which = f"reference {best + 1} of {len(options)}: "
        return msgspec.structs.replace(
            results[best],
            comment=clip(which + results[best].comment),
            metadata={**results[best].metadata, "reference_index": best},
        )

    def _judged(self, run: Trajectory, given: Any) -> EvaluationResult:
        """Check one reference, and what the parameters say."""
        found: list[dict[str, Any]] = []
        checked = calls = 0
        for place, part, rules in self._checks(run, given):
            made = self._calls(part)
            names = [call.name for call in made]
            calls += len(made)
            checked += rules.count
            for one in violations(rules, names):
                fault = {"constraint": one.constraint, "tools": list(one.tools), "why": one.why,
                         "calls": list(one.calls[:_LONG_LIST])}  # fmt: skip
                found.append({**fault, "in": place} if place else fault)
                found[-1]["said"] = _said(one.constraint, one.tools, one.why, one.calls, names)
        passed = not found
        said = "; ".join(_placed(fault) for fault in found)
        considered = self._calls(run, all_=True)
        failed = sum(call.failed for call in considered)
        metadata: dict[str, Any] = {
            "violations": found,
            "constraints": checked,
            "agent_tools": [call.name for call in considered],
            "failed_calls": failed,
        }
        notes = list(run.notes)
        if notes:
            metadata["notes"] = notes
        if passed and not calls:
            metadata["vacuous"] = True
        comment = f"{len(found)} of {count(checked, 'constraint')} violated: {said}"
        if passed:
            comment = f"{count(checked, 'constraint')} kept by {count(calls, 'call')}"
            comment += "" if calls else "; vacuous: nothing was called"
        if failed:
            comment += f"; {count(failed, 'call')} failed or never ran"
        return EvaluationResult(self.key, float(passed), passed, clip(comment), metadata)

    def _checks(self, run: Trajectory, given: Any) -> list[tuple[str, Trajectory, Constraints]]:
        """Return what is checked where: the place in words, the part of the run, and the rules."""
        parts = self._parts(run)
        checks = [] if self._own is None else [(place, part, self._own) for place, part in parts]
        if isinstance(given, Constraints):
            checks += [(place, part, given) for place, part in parts]
        elif given is not None and self.turn is not None:
            checks += [(place, part, self.turn_in(given, "the reference")) for place, part in parts]
        elif given is not None:
            turns = run.turns
            if len(turns) != len(given):
                raise TraceError(
                    f"the reference has {len(given)} turns, the trace has {len(turns)} user "
                    "turns; to compare turn by turn the numbers must be equal"
                )
            for at, (turn, rules) in enumerate(zip(turns, given, strict=True)):
                checks += [
                    (f"turn {at}" + (f", {place}" if place else ""), part, rules)
                    for place, part in (self._parts(turn) if self.each == "agent" else [("", turn)])
                ]
        return checks

    def _parts(self, run: Trajectory) -> list[tuple[str, Trajectory]]:
        if self.each == "turn" and self.turn is None:
            return [(f"turn {at}", turn) for at, turn in enumerate(run.turns)]
        if self.each == "agent" and self.agent is None and (run.tool_calls or run.hosted_calls):
            for at, call in enumerate(self._calls(run)):
                if call.agent is None:
                    raise TraceError(
                        f"call {at} ({plain(call.name)}) does not say which agent made it, so that "
                        "constraints on each agent cannot be checked"
                    )
            return [(f"agent {plain(name)}", run.of_agent(name)) for name in run.agents]
        return [("", run)]

    def _calls(self, run: Trajectory, *, all_: bool = False) -> list[ToolCall]:
        """Return the calls that count; all, whether or not they failed, where that is asked."""
        calls = [*run.tool_calls, *(run.hosted_calls if self.hosted == "count" else ())]
        if self.hosted == "count":
            places = {
                id(call): at
                for at, call in enumerate(call for step in run.steps for call in step.tool_calls)
            }
            calls.sort(key=lambda call: places.get(id(call), len(places)))
        if self.depth != "top":
            calls = [inner for call in calls for inner in nested(call, self.depth)]
        return [call for call in calls if all_ or not (self.failed == "exclude" and call.failed)]


def _is_empty(value: Any) -> bool:
    """Whether it is an empty list or mapping; an empty text is a fault, which must be told."""
    return isinstance(value, (list, tuple, Mapping)) and not value


def _options(reference: Any) -> list[Constraints | list[Constraints]]:
    """Return the constraints of the reference, one for each alternative, or one for each turn.

    Raises:
        TraceError: They are not written as they must be, or stand beside another kind of reference.
    """
    if isinstance(reference, str):
        reference = parsed(reference)
    choices = alternatives(reference)
    found = [_one(choice) for choice in ([reference] if choices is None else choices)]
    some = [one for one in found if one is not None]
    if some and len(some) < len(found):
        raise MalformedTraceError(
            'of the references in "any_of" some are constraints and some are not; give one kind'
        )
    return some


def _one(reference: Any) -> Constraints | list[Constraints] | None:
    groups = groups_of(reference)
    if groups is None:
        given = constraints_in(reference)
        return None if given is None else _checked(given, CONSTRAINTS)
    each = [constraints_in(group) for group in groups]
    if all(one is None for one in each):
        return None
    if None in each:
        raise MalformedTraceError(
            'of the groups in "turns" some are constraints and some are not; give one kind'
        )
    return [_checked(one, f"turns[{at}].{CONSTRAINTS}") for at, one in enumerate(each)]


def _checked(given: Any, where: str) -> Constraints:
    if not isinstance(given, Mapping):
        raise MalformedTraceError(f"{where}: an object is needed, got {shown(given)}")
    try:
        return constraints_of(given, where)
    except ConfigError as wrong:
        raise MalformedTraceError("; ".join(wrong.faults)) from None


_SAYS: Mapping[str, str] = {
    "required": "required {} {why}",
    "forbidden": "forbidden {} {why}",
    "before": "{0} before {1}: {0} {why}",
    "one_of": "one of {}: {why}",
}


def _said(
    kind: str, tools: Sequence[str], why: str, calls: Sequence[int], names: Sequence[str]
) -> str:
    """Name a constraint that does not hold, and say why."""
    some = [shown(tool, 60) for tool in tools[:6]]
    more = [f"and {len(tools) - 6} more"] if len(tools) > 6 else []
    listed = some if kind == "before" else [", ".join([*some, *more])]
    text = _SAYS.get(kind, "{} {why}").format(*listed, why=why)
    if calls and kind != "min_calls":
        text += f" (call {calls[0]}, {plain(names[calls[0]])})"
    if kind in ("required", "min_calls") and not calls:
        guess = near(tools[0], set(names), 75)
        text += f"; a near name was called: {shown(guess)}" if guess else ""
    return text


def _placed(fault: Mapping[str, Any]) -> str:
    return f"{fault['in']}: {fault['said']}" if "in" in fault else str(fault["said"])
