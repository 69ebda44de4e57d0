"""The items of OpenAI's Responses API → messages, calls, results.

    {"type": "function_call", "call_id": "call_1", "name": "trains", "arguments": "{}"}
    {"type": "function_call_output", "call_id": "call_1", "output": "09:14"}

`custom_tool_call` takes text. `mcp_call` is a call with its result beside it. Other items whose
type ends in `_call` are tools that OpenAI provides: hosted calls, named by their type.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.trajectory import CallStatus, ToolCall

CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
HOSTED = frozenset({
    "web_search_call", "file_search_call", "code_interpreter_call", "computer_call",
    "image_generation_call", "local_shell_call", "shell_call", "apply_patch_call",
})  # fmt: skip
SILENT = frozenset({
    "reasoning", "mcp_list_tools", "mcp_approval_response", "item_reference", "compaction",
})  # fmt: skip
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_RESULTS = ("output", "outputs", "results", "result")
_REQUEST = frozenset({"approval_request_id", "created_by", "providerData", "provider_data"})
_BESIDE = frozenset({"id", "type", "status", "call_id", *_RESULTS})


def add_item(assembly: Assembly, raw: dict[str, Any], place: str) -> ToolCall | None:
    """Add one item: a message, a call, a result. Return the call, if it is one.

    Raises:
        MalformedTraceError: It breaks the rules.
    """
    kind = raw.get("type", "message")
    if not isinstance(kind, str):
        raise MalformedTraceError(f"{place}: the type is {shorten(kind)}")
    if kind == "message":
        _message(assembly, raw, place)
    elif kind in CALLS:
        return _call(assembly, raw, place, kind)
    elif kind.endswith("_call_output"):
        name = expect.text(raw.get("name"), f"{place}, name")
        key = expect.identifier(raw.get("call_id"), f"{place}, call_id")
        assembly.result(result_of(raw.get("output"), place), key, name)
    elif kind.endswith("_call"):
        return _hosted(assembly, raw, place, kind)
    elif kind not in SILENT:
        assembly.notes.append(f"{place}: an item of type {shorten(kind)} is not read")
    return None


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    role = raw.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(role)}; known are {', '.join(_ROLES)}"
        )
    assembly.message(_ROLES[role], text_of(raw.get("content"), place))


def _call(assembly: Assembly, raw: dict[str, Any], place: str, kind: str) -> ToolCall:
    name = expect.name(raw.get("name"), f"{place}, name")
    where = f"{place} ({name})"
    if kind == "mcp_call":
        key = expect.identifier(raw.get("id"), f"{place}, id")
        call = assembly.call(name, given(raw, "arguments", where, _REQUEST), key)
        failed = raw.get("error") is not None
        if failed or raw.get("output") is not None:
            value = raw.get("error") if failed else raw.get("output")
            result = result_of(value, place)
            assembly.result(result, key, name, status="error" if failed else "ok")
        return call
    key = expect.identifier(raw.get("call_id", raw.get("id")), f"{place}, call_id")
    if kind == "custom_tool_call":
        text = expect.text(given(raw, "input", where, _REQUEST), f"{place}, input")
        return assembly.call(name, text or {}, key, state="text" if text else "ok")
    return assembly.call(name, given(raw, "arguments", where, _REQUEST), key)


def add_request(assembly: Assembly, raw: dict[str, Any], place: str, *, ran: bool) -> None:
    """Add a request for approval: a call that was not run, unless it ran and has an item."""
    if not ran:
        name = expect.name(raw.get("name"), f"{place}, name")
        key = expect.identifier(raw.get("id"), f"{place}, id")
        args = given(raw, "arguments", f"{place} ({name})", _REQUEST)
        assembly.call(name, args, key, status="not_run")


def _hosted(assembly: Assembly, raw: dict[str, Any], place: str, kind: str) -> ToolCall:
    key = expect.identifier(raw.get("call_id", raw.get("id")), f"{place}, id")
    action = raw.get("action")
    args = (
        action
        if isinstance(action, dict)
        else {name: value for name, value in raw.items() if name not in _BESIDE}
    )
    status: CallStatus = "error" if raw.get("status") == "failed" else "unknown"
    call = assembly.call(kind, args, key, hosted=True, status=status)
    value = next((raw[name] for name in _RESULTS if raw.get(name) is not None), None)
    if value is not None:
        assembly.result(result_of(value, place), key, kind, step=False)
    return call
