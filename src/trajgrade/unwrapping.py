r"""Calls of a wrapper, expanded: one call that holds several, as the calls that it holds.

    {"name": "multi_tool_use.parallel", "args": {"tool_uses": [
      {"recipient_name": "functions.weather", "parameters": {"city": "Oslo"}}, …]}}
    {"name": "batch_tool", "args": {"invocations": [{"name": "weather", "arguments": "{…}"}, …]}}
    {"name": "batch", "args": {"tool_calls": [{"tool": "weather", "parameters": {…}}, …]}}
    {"name": "ToolManager.handle", "args": {"call": {"tool_name": "weather", "args": {…}}}}

A wrapper is known by its arguments and not by its name: they hold calls under one of these keys and
nothing else. As a trace is read, a wrapper stays the one call that the model made; it is expanded
where that is asked for. What is inside has the wrapper's place, turn, agent and status, and its id
where it has none of its own. A result that is a list with one item for each call is dealt out; any
other is the result of the one call inside, or is noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from trajgrade import jsontext
from trajgrade.errors import shorten

if TYPE_CHECKING:
    from trajgrade.trajectory import ToolCall, Trajectory

_SEVERAL = ("tool_uses", "invocations", "tool_calls", "calls")
_ONE = ("call",)
_NAMES = ("recipient_name", "tool_name", "tool", "name")
_ARGUMENTS = ("parameters", "args", "arguments", "input", "tool_input")
_BESIDE = frozenset({"id", "type", "description"})
_NAMESPACE = "functions."
_DEPTH = 5


def unwrapped(run: Trajectory) -> Trajectory:
    """Return the run with each wrapper replaced by the calls that it holds.

    A run without wrappers is returned as it is.
    """
    calls = (*(call for step in run.steps for call in step.tool_calls), *run.tool_calls)
    inside: dict[int, list[ToolCall]] = {}
    notes: list[str] = []
    for call in (*calls, *run.hosted_calls):
        if id(call) not in inside:
            found = list(_expanded(call, notes))
            if found != [call]:
                inside[id(call)] = found
    if not inside:
        return run

    def expand(some: Iterable[ToolCall]) -> list[ToolCall]:
        return [inner for call in some for inner in inside.get(id(call), [call])]

    steps = [
        msgspec.structs.replace(step, tool_calls=expand(step.tool_calls)) for step in run.steps
    ]
    return type(run)(
        steps,
        tool_calls=expand(run.tool_calls),
        final_response=run.final_response,
        hosted_calls=expand(run.hosted_calls),
        id=run.id,
        format=run.format,
        notes=(*run.notes, *notes),
        actions=run.actions,
        telemetry=run.telemetry_source,
    )


def _expanded(call: ToolCall, notes: list[str], depth: int = _DEPTH) -> Iterator[ToolCall]:
    held = _held(call.args) if depth else None
    if held is None or (call.children and len(call.children) != len(held)):
        yield call
        return
    if call.children:  # the trace records what ran inside, with its results
        made = list(call.children)
    else:
        results = _results(call, len(held), notes)
        made = [
            msgspec.structs.replace(
                call, name=name, args=args, args_state=state, id=key or call.id, result=result
            )
            for (name, args, state, key), result in zip(held, results, strict=True)
        ]
    for inner in made:
        yield from _expanded(inner, notes, depth - 1)


def _results(call: ToolCall, number: int, notes: list[str]) -> list[Any]:
    result = call.result
    if number == 1:
        return [result]
    if isinstance(result, list) and len(result) == number:
        return result
    if result is not None:
        notes.append(
            f"the result of {shorten(call.name)} is one for {number} calls: {shorten(result)}"
        )
    return [None] * number


def _held(args: Any) -> list[tuple[str, Any, str, str | None]] | None:
    """Return name, arguments, state and id of each call inside; None where it is no wrapper."""
    if not isinstance(args, Mapping) or len(args) != 1:
        return None
    ((key, value),) = args.items()
    if key in _ONE:
        value = [value]
    elif key not in _SEVERAL or not isinstance(value, list) or not value:
        return None
    found = [_call(item) for item in value]
    return None if None in found else [one for one in found if one is not None]


def _call(item: Any) -> tuple[str, Any, str, str | None] | None:
    if not isinstance(item, Mapping):
        return None
    names = [key for key in _NAMES if key in item]
    held = [key for key in _ARGUMENTS if key in item]
    if len(names) != 1 or len(held) != 1 or item.keys() - {*names, *held} - _BESIDE:
        return None
    name, key = item[names[0]], item.get("id")
    if not isinstance(name, str) or not name.removeprefix(_NAMESPACE):
        return None
    if names[0] == "recipient_name":
        name = name.removeprefix(_NAMESPACE)
    args, state = _arguments(item[held[0]])
    return name, args, state, key if isinstance(key, str) else None


def _arguments(raw: Any) -> tuple[Any, str]:
    if raw is None:
        return {}, "ok"
    if not isinstance(raw, str):
        return raw, "ok"
    if not raw.strip():
        return {}, "ok"
    try:
        return jsontext.read_back(raw), "ok"
    except ValueError:
        return raw, "unparseable"
