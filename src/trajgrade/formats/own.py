"""trajgrade's own shape, as `Trajectory.to_dict` writes it; it is read back equal.

    {"trajgrade": 1, "id": null, "format": "openai_chat", "notes": [],
     "final_response": "Yes, at 09:14.",
     "steps": [
       {"role": "user", "content": "Any trains to Oslo?"},
       {"role": "assistant", "tool_calls": [
         {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "result": "09:14", "turn": 0}]},
       {"role": "assistant", "content": "Yes, at 09:14."}]}

Hosted calls stand under `hosted_calls`, text actions under `actions`, and calls under `tool_calls`
where the steps do not have them. What a field would have by default is left out. `models`, `usage`,
`started_at`, `ended_at` and `latency_in_seconds` stand beside `steps`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import MAX_DEPTH, bounded, given, parsed
from trajgrade.glimpse import Glimpse
from trajgrade.telemetry import Telemetry
from trajgrade.trajectory import Step, ToolCall, Trajectory

_TOLD = Telemetry.__struct_fields__
_ROLES = ("system", "user", "assistant", "tool")


class _Shape(Telemetry, frozen=True, kw_only=True):
    steps: list[Step]
    id: str | None = None
    format: str = "trajgrade"
    notes: tuple[str, ...] = ()
    final_response: str | None = None
    hosted_calls: tuple[ToolCall, ...] = ()
    tool_calls: tuple[ToolCall, ...] | None = None
    actions: tuple[str, ...] = ()


class Own:
    """trajgrade's own shape; the module shows it."""

    keys = frozenset({"trajgrade"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object says so."""
        return isinstance(seen.data, dict) and "trajgrade" in seen.data and "steps" in seen.data

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one trajectory."""
        record = expect.record(data, "the trajectory")
        if record.get("trajgrade") != 1 or isinstance(record.get("trajgrade"), bool):
            raise MalformedTraceError(
                f"version {record.get('trajgrade')!r} of trajgrade's own shape; this one reads 1"
            )
        bounded(record, "the trajectory", 3 * MAX_DEPTH)
        try:
            shape = msgspec.convert(_spelled(record), _Shape)
        except (ValueError, RecursionError) as broken:
            raise MalformedTraceError(f"trajgrade's own shape: {broken}") from None
        for at, step in enumerate(shape.steps):
            if step.role not in _ROLES:
                raise MalformedTraceError(
                    f"step {at}: the role is {shorten(step.role)}; known are {', '.join(_ROLES)}"
                )
        made = [call for step in shape.steps for call in step.tool_calls]
        for at, call in enumerate([*made, *shape.hosted_calls, *(shape.tool_calls or ())]):
            expect.name(call.name, f"call {at}")
        calls = [call for call in made if not call.hosted]
        return [
            Trajectory(
                shape.steps,
                tool_calls=calls if shape.tool_calls is None else shape.tool_calls,
                hosted_calls=shape.hosted_calls,
                final_response=shape.final_response,
                id=shape.id,
                format=shape.format,
                notes=shape.notes,
                actions=shape.actions,
                telemetry=Telemetry(*(getattr(shape, name) for name in _TOLD)),
            )
        ]


def _spelled(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record with the arguments of each call under `args`."""
    steps = record["steps"]
    found: dict[str, Any] = {
        key: _calls(record[key], key) for key in ("tool_calls", "hosted_calls") if key in record
    }
    if isinstance(steps, list):
        found["steps"] = [
            {**step, "tool_calls": _calls(step["tool_calls"], f"step {at}")}
            if isinstance(step, dict) and "tool_calls" in step
            else step
            for at, step in enumerate(steps)
        ]
    return {**record, **found}


def _calls(held: Any, place: str) -> Any:
    if not isinstance(held, list):
        return held
    return [_call(call, f"{place}, call {at}") for at, call in enumerate(held)]


def _call(call: Any, place: str) -> Any:
    if not isinstance(call, dict):
        return call
    found = {"children": _calls(call["children"], place)} if "children" in call else {}
    where = f"{place} ({call.get('name')})"
    raw = given(call, "args", where, ToolCall.__struct_fields__)
    if "args" not in call and raw is not None:
        found["args"] = parsed(raw, where, [])[0]
    return {**call, **found} if found else call


FORMAT = Own()
