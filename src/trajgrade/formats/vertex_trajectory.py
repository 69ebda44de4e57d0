"""Vertex AI's trajectories. The marks: `tool_name`, and the columns of its evaluation data sets.

    [{"tool_name": "trains", "tool_input": {"to": "Oslo"}}, {"tool_name": "now"}]

Without `tool_input` there are no arguments. A row holds such a list, or any other trace, or either
as JSON text, beside the answer:

    {"prompt": "Any trains to Oslo?", "response": "Yes, at 09:14.",
     "predicted_trajectory": [{"tool_name": "trains", "tool_input": {"to": "Oslo"}}]}

A row that has only `reference_trajectory` (and `reference`) is read from there; one that holds the
agent's `messages` or `conversation` beside it is theirs. Where the columns hold lists of rows'
values, each row is a trajectory.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from trajgrade import detection, jsontext
from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.formats import expect
from trajgrade.formats.arguments import given, parsed
from trajgrade.formats.content import result_of
from trajgrade.formats.plain_call import bare
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import ToolCall, Trajectory

_SIDES = {
    "predicted_trajectory": ("response", "output"),
    "reference_trajectory": ("reference", "response", "output"),
}
_TRACES = ("messages", "conversation", "conversations", "contents", "tool_calls", "outputs")
_BESIDE = frozenset({"tool_name", "tool_output"})


class VertexCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A call with Vertex's two keys and no others."""

    tool_name: Annotated[str, msgspec.Meta(min_length=1)]
    tool_input: Any = None


class VertexTrajectory:
    """Vertex AI's trajectories; the module shows their shapes."""

    keys = frozenset({*_SIDES, "tool_name"})
    wire = list[VertexCall]

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item has a `tool_name`, or the object is a row with a trajectory."""
        data = seen.data
        if isinstance(data, dict):
            if "predicted_trajectory" not in data and any(key in data for key in _TRACES):
                return False  # what is expected must not be taken for what was done
            return any(side in data for side in _SIDES) or _is_call(data)
        return isinstance(data, list) and bool(data) and all(map(_is_call, data))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the calls, the row, or each row of the columns."""
        if isinstance(data, dict) and not _is_call(data):
            return [_row(row) for row in _rows(data)]
        return [_calls(data if isinstance(data, list) else [data])]

    def read_wire(self, items: list[VertexCall]) -> Trajectory:
        """Read calls that were decoded from `wire`.

        Raises:
            MalformedTraceError: The arguments of a call are nested too deeply.
        """
        notes: list[str] = []
        calls = [_call(at, item.tool_name, item.tool_input, notes) for at, item in enumerate(items)]
        return bare(calls, "vertex_trajectory", notes)


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and "tool_name" in item and "role" not in item


def _calls(items: list[Any]) -> Trajectory:
    notes: list[str] = []
    calls = []
    for at, item in enumerate(items):
        raw = expect.record(item, f"call {at}")
        name = expect.name(raw.get("tool_name"), f"call {at}, tool_name")
        result = result_of(raw.get("tool_output"), f"call {at}")
        args = given(raw, "tool_input", f"call {at} ({name})", _BESIDE)
        calls.append(_call(at, name, args, notes, result))
    return bare(calls, "vertex_trajectory", notes)


def _call(at: int, name: str, raw: Any, notes: list[str], result: Any = None) -> ToolCall:
    args, state = parsed(raw, f"call {at} ({name})", notes)
    return ToolCall(name, args, state, None, result)


def _rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    side = _side(data)
    columns = {
        key: column
        for key, column in data.items()
        if isinstance(column, list) and key in {side, "prompt", *_SIDES[side]}
    }
    texts = [columns[key] for key in columns if key != side]
    if not texts or side not in columns:
        return [data]
    if len({len(column) for column in columns.values()}) != 1:
        sizes = ", ".join(f"{key} {len(column)}" for key, column in columns.items())
        raise MalformedTraceError(f"the columns differ in length: {sizes}")
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _side(data: dict[str, Any]) -> str:
    # A row whose prediction is null must not be read from its reference.
    return next((side for side in _SIDES if side in data), "predicted_trajectory")


def _row(row: dict[str, Any]) -> Trajectory:
    side = _side(row)
    held = row.get(side)
    try:
        held = _opened(held) if isinstance(held, str) else held
        if isinstance(held, dict) and not _SIDES.keys().isdisjoint(held):
            raise MalformedTraceError("a row inside a row")
        found = detection.read(held)
    except TraceError as broken:
        raise type(broken)(f"{side}: {broken}") from broken
    if len(found) != 1:
        raise MalformedTraceError(f"{side}: expected one trajectory, found {len(found)}")
    inner = found[0]
    bare_text = [f"{side} is a bare text, which records no calls"] * (inner.format == "text")
    spoken = next((row[key] for key in _SIDES[side] if isinstance(row.get(key), str)), None)
    return Trajectory(
        inner.steps,
        tool_calls=inner.tool_calls,
        hosted_calls=inner.hosted_calls,
        final_response=inner.final_response if spoken is None else spoken,
        id=inner.id,
        format="vertex_trajectory",
        notes=[*inner.notes, *bare_text],
    )


def _opened(text: str) -> Any:
    """Return what a column holds as text; text that was written as JSON twice is opened twice."""
    if text.lstrip()[:1] == '"':
        try:
            inner = jsontext.loads(text)
        except ValueError:
            inner = None
        if isinstance(inner, str):
            text = inner
    return detection.parsed(text)


FORMAT = VertexTrajectory()
