"""Events of OpenHands' SDK, told by their `kind` → steps, calls and results.

{"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": […]}}
{"kind": "ActionEvent", "source": "agent", "thought": […], "tool_name": "trains",
 "tool_call_id": "c1", "tool_call": {"id": "c1", "name": "trains", "arguments": "{…}"},
 "action": {"kind": "TrainsAction", "to": "Oslo"}, "llm_response_id": "r1"}
{"kind": "ObservationEvent", "source": "environment", "tool_call_id": "c1",
 "observation": {"content": […], "is_error": false}}

The arguments are those that the model gave, under `tool_call`, else those of the action.
`AgentErrorEvent` says that a call failed, `UserRejectObservation` that it was not run. Events of
other kinds say nothing of calls.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.session_lines import text_in
from trajgrade.trajectory import CallStatus

_ROLES = {"user": "user", "agent": "assistant", "assistant": "assistant", "system": "system"}
_ANSWERS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
_KINDS = frozenset({"MessageEvent", "ActionEvent", "SystemPromptEvent"}) | _ANSWERS
_MARKS = frozenset({
    "source", "tool_name", "tool_call_id", "llm_message", "llm_response_id", "system_prompt",
})  # fmt: skip


def is_sdk_event(event: Any) -> bool:
    """Whether it is one of the events that say something of messages and calls."""
    return (
        isinstance(event, dict)
        and isinstance(event.get("kind"), str)
        and event["kind"] in _KINDS
        and not _MARKS.isdisjoint(event)
    )


def add_event(assembly: Assembly, event: dict[str, Any], place: str, before: str | None) -> None:
    """Add what an event tells.

    Args:
        assembly: What is being put together.
        event: The event.
        place: Where it stands, for a message.
        before: The response of the model that the last call came from.

    Raises:
        MalformedTraceError: It breaks the rules.
    """
    kind = event["kind"]
    if kind == "MessageEvent":
        message = expect.record(event.get("llm_message"), f"{place}, llm_message")
        said = text_in(message, "role") or text_in(event, "source") or ""
        assembly.message(_ROLES.get(said, "system"), text_of(message.get("content"), place))
    elif kind == "SystemPromptEvent":
        assembly.message("system", text_of(event.get("system_prompt"), place))
    elif kind in _ANSWERS:
        _answer(assembly, event, kind, place)
    elif event.get("source", "agent") == "agent":
        response = text_in(event, "llm_response_id")
        if response is None or response != before:
            assembly.message("assistant", text_of(event.get("thought"), f"{place}, thought"))
        _call(assembly, event, place)


def _call(assembly: Assembly, event: dict[str, Any], place: str) -> None:
    held, action = event.get("tool_call"), event.get("action")
    call = held if isinstance(held, dict) else {}
    name = expect.name(call.get("name") or event.get("tool_name"), f"{place}, tool_name")
    key = expect.identifier(event.get("tool_call_id", call.get("id")), f"{place}, tool_call_id")
    args = given(call, "arguments", f"{place} ({name})", ("origin", "responses_item_id"))
    if args is None and isinstance(action, dict):
        args = {field: value for field, value in action.items() if field != "kind"}
    assembly.call(name, args, key)


def _answer(assembly: Assembly, event: dict[str, Any], kind: str, place: str) -> None:
    key = expect.identifier(event.get("tool_call_id"), f"{place}, tool_call_id")
    status: CallStatus = "unknown"
    if kind == "UserRejectObservation":
        value, status = event.get("rejection_reason"), "not_run"
    elif kind == "AgentErrorEvent":
        value, status = event.get("error"), "error"
    else:
        value = event.get("observation")
        if isinstance(value, dict):
            failed = value.get("is_error", value.get("error"))
            status = "error" if failed is True else "ok" if failed is False else "unknown"
            value = next((value[k] for k in ("content", "output") if k in value), value)
    name = text_in(event, "tool_name")
    assembly.result(result_of(value, place), key, name, status=status)
