"""The AI SDK's UI messages. The mark: `parts` of types like `tool-…`, `dynamic-tool`, `step-start`.

    [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Any trains to Oslo?"}]},
     {"id": "m2", "role": "assistant", "parts": [
       {"type": "step-start"},
       {"type": "tool-trains", "toolCallId": "c1", "state": "output-available",
        "input": {"to": "Oslo"}, "output": "09:14"},
       {"type": "step-start"},
       {"type": "text", "text": "Yes, at 09:14.", "state": "done"}]}]

    {"role": "assistant", "parts": [{"type": "tool-invocation", "toolInvocation": {…}}]}  version 4
    {"role": "assistant", "content": "…", "toolInvocations": [{"toolCallId": …}]}         before it

Also the list under `messages`, and one message alone. The name of a tool stands behind `tool-`, or
under `toolName`. A state of `output-error` says that a call failed, `output-denied` that it was not
run; while `input-streaming`, its arguments are not whole. `providerExecuted` calls are hosted.
Where older keys (`content`, `toolInvocations`) repeat the parts, the parts count; where they stand
alone, the text follows the calls that have a result.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of
from trajgrade.glimpse import Glimpse, members
from trajgrade.trajectory import CallStatus, Trajectory

_ROLES = frozenset({"system", "user", "assistant"})
_PLAIN = frozenset({"text", "reasoning", "step-start", "file", "source-url", "source-document"})
_STATES: dict[str, CallStatus] = {
    "output-available": "ok", "result": "ok", "output-error": "error", "output-denied": "not_run",
}  # fmt: skip


class VercelUIMessages:
    """The AI SDK's UI messages; the module shows them."""

    keys = frozenset({"parts", "toolInvocations"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a message with typed parts."""
        items = _items(seen.data)
        return bool(items) and (all(map(_is_message, items)) or _is_before_parts(items))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("vercel_ui_messages")
        for at, item in enumerate(_items(data)):
            _message(assembly, expect.record(item, f"message {at}"), f"message {at}")
        key = data.get("id") if isinstance(data, dict) and "messages" in data else None
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _items(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    return data if isinstance(data, list) else []


def _is_before_parts(items: list[Any]) -> bool:
    """Whether each item is a message without parts, and one has calls."""
    return any(isinstance(item, dict) and item.get("toolInvocations") for item in items) and all(
        isinstance(item, dict)
        and item.get("role") in tuple(_ROLES)
        and "parts" not in item
        and isinstance(item.get("content"), str)
        and isinstance(item.get("toolInvocations", []), list)
        for item in items
    )


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") not in tuple(_ROLES):
        return False
    parts = item.get("parts")
    if not isinstance(parts, list) or not parts:
        return False
    return all(isinstance(part, dict) and _is_type(part.get("type")) for part in parts)


def _is_type(kind: Any) -> bool:
    if not isinstance(kind, str):
        return False
    return kind in _PLAIN or kind == "dynamic-tool" or kind.startswith(("tool-", "data-"))


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    role = raw.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(role)}; known are {', '.join(sorted(_ROLES))}"
        )
    parts = expect.array(
        raw["parts"] if "parts" in raw else _as_parts(raw, place), f"{place}, parts"
    )
    if role != "assistant":
        assembly.message(role, "".join(_text(part) for part in members([parts])))
        return
    fresh = True
    for at, item in enumerate(parts):
        where = f"{place}, part {at}"
        part = expect.record(item, where)
        kind = expect.text(part.get("type"), f"{where}, type") or ""
        if kind == "text":
            assembly.message("assistant", _text(part))
            fresh = False
        elif kind == "dynamic-tool" or kind.startswith("tool-"):
            if fresh:
                assembly.message("assistant")
                fresh = False
            _call(assembly, part, kind, where)
        elif kind == "step-start":
            fresh = True
        elif "toolCallId" in part or not kind:
            assembly.notes.append(f"{where}: of no known kind: {shorten(part)}")


def _as_parts(raw: dict[str, Any], place: str) -> list[dict[str, Any]]:
    """Return the parts of a message of the time before there were any."""
    told = expect.array(raw.get("toolInvocations"), f"{place}, toolInvocations")
    calls = [
        {"type": "tool-invocation", "toolInvocation": expect.record(one, f"{place}, call {at}")}
        for at, one in enumerate(told)
    ]
    text = {"type": "text", "text": expect.text(raw.get("content"), f"{place}, content") or ""}
    if not text["text"]:
        return calls or [text]
    ended = [call for call in calls if "result" in call["toolInvocation"]]
    return [*ended, text, *(call for call in calls if "result" not in call["toolInvocation"])]


def _text(part: dict[str, Any]) -> str:
    text = part.get("text")
    return text if part.get("type") == "text" and isinstance(text, str) else ""


def _call(assembly: Assembly, part: dict[str, Any], kind: str, place: str) -> None:
    inner = part.get("toolInvocation")
    held = {**part, **inner} if isinstance(inner, dict) else part
    typed = kind.removeprefix("tool-") if kind not in ("dynamic-tool", "tool-invocation") else None
    name = expect.name(held.get("toolName", typed), f"{place}, toolName")
    key = expect.identifier(held.get("toolCallId"), f"{place}, toolCallId")
    state = expect.text(held.get("state"), f"{place}, state") or ""
    raw = next((held[k] for k in ("input", "args", "rawInput") if held.get(k) is not None), None)
    known = any(one in held for one in ("input", "args", "rawInput"))
    hosted = held.get("providerExecuted") is True
    status = _STATES.get(state, "unknown")
    if known:
        assembly.call(name, raw, key, hosted=hosted, status=status)
    else:
        assembly.call(name, None, key, state="unknown", hosted=hosted, status=status)
    if state == "input-streaming":
        assembly.notes.append(f"{place} ({name}): its arguments were still coming")
    value = next((held[k] for k in ("output", "result") if k in held), held.get("errorText"))
    if value is not None:
        assembly.result(result_of(value, place), key, name)


FORMAT = VercelUIMessages()
