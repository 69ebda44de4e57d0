"""Pydantic AI's messages. The mark: `kind` is `request` or `response`, parts have a `part_kind`.

    [{"kind": "request", "parts": [
       {"part_kind": "system-prompt", "content": "Be brief."},
       {"part_kind": "user-prompt", "content": "Any trains to Oslo?"}]},
     {"kind": "response", "model_name": "gpt-4.1", "parts": [
       {"part_kind": "tool-call", "tool_name": "trains", "args": {"to": "Oslo"},
        "tool_call_id": "c1"}]},
     {"kind": "request", "parts": [
       {"part_kind": "tool-return", "tool_name": "trains", "content": "09:14",
        "tool_call_id": "c1", "outcome": "success"}]},
     {"kind": "response", "parts": [{"part_kind": "text", "content": "Yes, at 09:14."}]}]

As `result.all_messages_json()` writes them, and the objects themselves. A `retry-prompt` that names
a tool says that its call failed. A builtin tool is run by the provider: a hosted call. A run may
end on an output tool (`final_result`), by which the model gives its output: that is no call, and
its arguments are the final response where no text is.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.content import result_of, shown, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.metering import Request, measured
from trajgrade.glimpse import Glimpse
from trajgrade.telemetry import Telemetry
from trajgrade.trajectory import Trajectory

_KINDS = frozenset({"request", "response"})
_OUTPUT = "final_result"
_PROCESSED = "Final result processed."
_SAID = {"system-prompt": "system", "user-prompt": "user", "text": "assistant"}


class PydanticAIMessages:
    """Pydantic AI's messages; the module shows them."""

    keys = frozenset({"kind"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a request or a response with parts of its kinds."""
        items = _items(seen.data)
        return bool(items) and all(map(_is_message, items))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("pydantic_ai_messages")
        reading = _Reading(assembly, _outputs(data))
        for at, item in enumerate(_items(data)):
            reading.message(expect.record(item, f"message {at}"), f"message {at}")
        run = assembly.trajectory()
        if reading.output is None or run.final_response is not None:
            return [run]
        return [assembly.trajectory(final=shown(reading.output, _OUTPUT))]

    def measure(self, data: Any) -> list[Telemetry]:
        """Read the usage of each response."""
        items = [item for item in _items(data) if isinstance(item, dict)]
        requests = [
            Request(item.get("usage"), item.get("model_name"))
            for item in items
            if item.get("kind") == "response"
        ]
        return [measured(requests, (item.get("timestamp") for item in items))]


def _items(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("kind") not in tuple(_KINDS):
        return False
    parts = item.get("parts")
    return isinstance(parts, list) and all(
        isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in parts
    )


def _outputs(data: Any) -> frozenset[str]:
    """Return the ids of the calls by which the model gave its output, as their answers say."""
    found = set()
    for item in _items(data):
        parts = item.get("parts") if isinstance(item, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if (
                isinstance(part, dict)
                and part.get("content") == _PROCESSED
                and str(part.get("tool_name")).startswith(_OUTPUT)
                and isinstance(part.get("tool_call_id"), str)
            ):
                found.add(part["tool_call_id"])
    return frozenset(found)


class _Reading:
    def __init__(self, assembly: Assembly, outputs: frozenset[str]) -> None:
        self.assembly = assembly
        self.outputs = outputs
        self.output: Any = None

    def message(self, raw: dict[str, Any], place: str) -> None:
        if raw.get("kind") not in tuple(_KINDS):
            raise MalformedTraceError(
                f"{place}: the kind is {shorten(raw.get('kind'))}; known are request, response"
            )
        self.assembly.now = instant(raw.get("timestamp"))
        for at, item in enumerate(expect.array(raw.get("parts"), f"{place}, parts")):
            self.part(expect.record(item, f"{place}, part {at}"), f"{place}, part {at}")

    def part(self, part: dict[str, Any], place: str) -> None:
        kind = expect.text(part.get("part_kind"), f"{place}, part_kind")
        content = part.get("content")
        if kind in _SAID:
            self.assembly.message(_SAID[kind], text_of(content, place))
        elif kind in ("tool-call", "builtin-tool-call"):
            self.call(part, place, hosted=kind != "tool-call")
        elif kind in ("tool-return", "builtin-tool-return", "retry-prompt"):
            self.result(part, place, step=kind != "builtin-tool-return")
        elif kind not in ("thinking", "file", "instructions"):
            self.assembly.notes.append(f"{place}: a part of kind {shorten(kind)}, left out")

    def call(self, part: dict[str, Any], place: str, *, hosted: bool) -> None:
        name = expect.name(part.get("tool_name"), f"{place}, tool_name")
        key = expect.identifier(part.get("tool_call_id"), f"{place}, tool_call_id")
        if key in self.outputs:
            self.output = part.get("args")
            self.assembly.notes.append(f"{name}: the model gave its output by it; no call")
            return
        if "args" not in part:
            self.assembly.call(name, None, key, state="unknown", hosted=hosted)
        else:
            self.assembly.call(name, part["args"], key, hosted=hosted)

    def result(self, part: dict[str, Any], place: str, *, step: bool) -> None:
        key = expect.identifier(part.get("tool_call_id"), f"{place}, tool_call_id")
        name = expect.text(part.get("tool_name"), f"{place}, tool_name")
        if key in self.outputs:
            return
        value = result_of(part.get("content"), place)
        if part.get("part_kind") == "retry-prompt":
            if name is None:  # the text of the model was not what it should be
                self.assembly.message("system", shown(value, place))
                return
            self.assembly.result(value, key, name, status="error")
            return
        status = status_of(part.get("outcome"))
        self.assembly.result(value, key, name, status=status, step=step)


FORMAT = PydanticAIMessages()
