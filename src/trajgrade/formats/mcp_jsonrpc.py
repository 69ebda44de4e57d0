"""The messages between a client and an MCP server. The marks: `jsonrpc`, methods like `tools/call`.

    [{"direction": "client->server", "message":
       {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "trains", "arguments": {"to": "Oslo"}}}},
     {"direction": "server->client", "message":
       {"jsonrpc": "2.0", "id": 1,
        "result": {"content": [{"type": "text", "text": "09:14"}], "isError": false}}}]

One message, or a batch of them, on each line, also without the object around it. Each `tools/call`
is a call, the response of its id its result; ids begin anew with each `initialize`, and either
side counts its own. `isError`, and an `error` in place of a result, say that it failed. What the
model said goes another way: there is no final response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import bounded, given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, shown
from trajgrade.formats.instant import instant
from trajgrade.formats.session_lines import lines_of, records, text_in
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, ToolCall, Trajectory

_FAMILIES = (
    "tools/", "resources/", "prompts/", "sampling/", "elicitation/", "notifications/tools/",
    "notifications/initialized", "notifications/resources/", "notifications/prompts/",
)  # fmt: skip
_INSIDE = ("message", "payload", "data", "body")
_NAMES = frozenset({"jsonrpc", *_INSIDE})
_Request = tuple[str | None, ToolCall | None]


class MCPJsonRPC:
    """The messages between a client and an MCP server; the module shows them."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a message calls one of MCP's methods."""
        if seen.names.isdisjoint(_NAMES) and list not in seen.kinds:
            return False
        return any(
            _is_mcp(message) for line in lines_of(seen.data) for message, _ in _messages(line)
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the calls of all sessions, in order."""
        assembly = Assembly("mcp_jsonrpc")
        waiting: dict[tuple[str, str], _Request] = {}
        known = False
        for place, line in records(_unpacked(data), assembly.notes):
            messages = list(_messages(line))
            if not messages:
                assembly.notes.append(f"{place}: no message of JSON-RPC, and left out")
            for message, outer in messages:
                known = True
                assembly.now = instant(outer.get("timestamp"))
                _message(assembly, message, outer, waiting, place)
        if not known:
            raise MalformedTraceError("no line holds a message of JSON-RPC")
        return [assembly.trajectory(final=None)]


def _unpacked(data: Any) -> list[Any]:
    """Return the lines; a batch on a line of its own is one object."""
    return [{"message": line} if isinstance(line, list) else line for line in lines_of(data)]


def _messages(line: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the messages of a line, each with the object around it."""
    outer = line if isinstance(line, dict) else {}
    held = line
    if isinstance(line, dict) and "jsonrpc" not in line:
        held = next((line[key] for key in _INSIDE if isinstance(line.get(key), (dict, list))), None)
    for message in held if isinstance(held, list) else [held]:
        if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
            yield message, outer


def _is_mcp(message: dict[str, Any]) -> bool:
    method = message.get("method")
    if not isinstance(method, str):
        return False
    params = message.get("params")
    if method == "initialize":  # which other protocols have as well
        return isinstance(params, dict) and "protocolVersion" in params
    return method.startswith(_FAMILIES)


def _message(
    assembly: Assembly,
    message: dict[str, Any],
    outer: dict[str, Any],
    waiting: dict[tuple[str, str], _Request],
    place: str,
) -> None:
    key = message.get("id")
    own = f"{type(key).__name__} {key}" if isinstance(key, (str, int)) else None
    way = text_in(outer, "direction")
    method = message.get("method")
    if method is not None:
        if not isinstance(method, str):
            raise MalformedTraceError(f"{place}: the method is {shorten(method)}")
        if method == "initialize":
            waiting.clear()
        call = _call(assembly, message, place) if method == "tools/call" else None
        if own is not None:
            waiting[(way or "", own)] = way, call
    elif own is not None and ("result" in message or "error" in message):
        # A response goes the other way than its request.
        asked = next(
            (entry for entry in waiting if entry[1] == own and (way is None or entry[0] != way)),
            None,
        )
        if asked is not None:
            _, call = waiting.pop(asked)
            if call is not None:
                _response(assembly, call, message, place)


def _call(assembly: Assembly, message: dict[str, Any], place: str) -> ToolCall:
    params = expect.record(message.get("params"), f"{place}, params")
    name = expect.name(params.get("name"), f"{place}, params, name")
    key = expect.identifier(message.get("id"), f"{place}, id")
    assembly.message("assistant")
    args = given(params, "arguments", f"{place}, params ({name})", ("_meta", "task"))
    return assembly.call(name, args, key)


def _response(assembly: Assembly, call: ToolCall, message: dict[str, Any], place: str) -> None:
    status: CallStatus = "ok"
    value = message.get("result")
    if message.get("error") is not None:
        status, value = "error", message["error"]
        bounded(value, place)
    elif isinstance(value, dict):
        status = "error" if value.get("isError") is True else "ok"
        content = value.get("content")
        value = result_of(content or value.get("structuredContent", content), place)
    else:
        value = result_of(value, place)
    force_setattr(call, "result", value)
    force_setattr(call, "status", status)
    force_setattr(call, "ended_at", assembly.now)
    assembly.message("tool", shown(value, place))


FORMAT = MCPJsonRPC()
