"""Sessions of Anthropic's Managed Agents. The marks: events of types like `agent.tool_use`.

    [["client.beta.sessions.events.send", ["sesn_1", {"events": [
       {"type": "user.message", "content": [{"type": "text", "text": "Any trains to Oslo?"}]}]}]],
     ["client.beta.sessions.events.stream",
      {"type": "user.message", "id": "sevt_1",
       "content": [{"type": "text", "text": "Any trains to Oslo?"}]}],
     ["client.beta.sessions.events.stream",
      {"type": "agent.tool_use", "id": "sevt_2", "name": "trains", "input": {"to": "Oslo"}}],
     ["client.beta.sessions.events.stream",
      {"type": "agent.tool_result", "id": "sevt_3", "tool_use_id": "sevt_2", "is_error": false,
       "content": [{"type": "text", "text": "09:14"}]}],
     ["client.beta.sessions.events.stream",
      {"type": "agent.message", "id": "sevt_4",
       "content": [{"type": "text", "text": "Yes, at 09:14."}]}]]

On each line the name of the SDK's method and what went through it; also the events alone, and a
page of them, `{"data": […]}`. An event is told by its `id`, however often it came; one that was
sent counts where it did not come back. Calls are `agent.tool_use`, `agent.mcp_tool_use` and
`agent.custom_tool_use`; a `user.tool_confirmation` that denies one says that it was not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_managed_events
from trajgrade.formats.session_lines import text_in
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, ToolCall, Trajectory

_CALLS = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
_MARKS = _CALLS | {"agent.message", "agent.thinking", "agent.tool_result", "agent.mcp_tool_result"}
_BESIDE = frozenset({
    "mcp_server_name", "evaluated_permission", "session_thread_id", "processed_at", "created_at",
})  # fmt: skip
_METHOD = "beta.sessions"
_ANSWERS = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
_Event = tuple[str, dict[str, Any]]


class AnthropicManagedEvents:
    """Sessions of Managed Agents; the module shows their shape."""

    measure = staticmethod(of_managed_events)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a line names a method of the SDK's sessions, or an event has a mark."""
        if list not in seen.kinds and "data" not in seen.keys and "type" not in seen.names:
            return False
        return any(map(_is_marked, _lines(seen.data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one session."""
        assembly = Assembly("anthropic_managed_events")
        session = _session(data)
        events = list(_once(_events(data, assembly.notes)))
        if not events and session is None:
            raise MalformedTraceError("no event of a session")
        agents: dict[str, str] = {}
        calls: dict[str, ToolCall] = {}
        for place, event in events:
            thread, name = text_in(event, "session_thread_id"), text_in(event, "agent_name")
            if thread is not None and name is not None:
                agents[thread] = name
            assembly.agent = agents.get(thread, thread) if thread is not None else None
            assembly.now = instant(event.get("processed_at"))
            _event(assembly, event, calls, place)
        return [assembly.trajectory(id=session)]


def _lines(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["data"] if isinstance(data.get("data"), list) else [data]
    return data if isinstance(data, list) else []


def _is_pair(line: Any) -> bool:
    return (
        isinstance(line, list)
        and len(line) == 2
        and isinstance(line[0], str)
        and _METHOD in line[0]
    )


def _is_marked(line: Any) -> bool:
    if _is_pair(line):
        return True
    kind = line.get("type") if isinstance(line, dict) else None
    return isinstance(kind, str) and kind in _MARKS


def _session(data: Any) -> str | None:
    for line in _lines(data):
        held = line[1] if _is_pair(line) else line
        if isinstance(held, dict) and held.get("type") == "session":
            return text_in(held, "id")
    return None


def _events(data: Any, notes: list[str]) -> Iterator[_Event]:
    for at, line in enumerate(_lines(data)):
        place = f"line {at}"
        if _is_pair(line):
            yield from _inside(line[1], place)
        elif isinstance(line, dict):
            yield from _inside(line, place)
        else:
            notes.append(f"{place}: no event, and left out: {shorten(line)}")


def _inside(held: Any, place: str) -> Iterator[_Event]:
    """Yield the event, or those under `events` or `data` of what was sent or listed."""
    for one in held if isinstance(held, list) else [held]:
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("type"), str):
            yield place, one
            continue
        several = next((one[key] for key in ("events", "data") if key in one), None)
        for at, event in enumerate(expect.array(several, f"{place}, events")):
            yield f"{place}, event {at}", expect.record(event, f"{place}, event {at}")


def _once(events: Iterable[_Event]) -> Iterator[_Event]:
    """Yield each event once: by its id; one without id only where it does not come with one."""
    every = list(events)
    returned = Counter(_key(event) for _, event in every if "id" in event)
    met: set[str] = set()
    for place, event in every:
        key = text_in(event, "id")
        if key is not None:
            if key in met:
                continue
            met.add(key)
        elif returned[_key(event)] > 0:
            returned[_key(event)] -= 1
            continue
        yield place, event


def _key(event: dict[str, Any]) -> bytes:
    told = [event.get(name) for name in ("type", "content", "result", *_ANSWERS)]
    try:
        return msgspec.json.encode(told, order="sorted")
    except (TypeError, ValueError, OverflowError, RecursionError):
        return b""


def _event(
    assembly: Assembly, event: dict[str, Any], calls: dict[str, ToolCall], place: str
) -> None:
    kind = event.get("type")
    if not isinstance(kind, str):
        raise MalformedTraceError(f"{place}: the type is {shorten(kind)}")
    if kind in ("user.message", "agent.message", "system.message"):
        who = kind.partition(".")[0]
        role = "assistant" if who == "agent" else who
        assembly.message(role, text_of(event.get("content"), place))
    elif kind in _CALLS:
        name = expect.name(event.get("name"), f"{place}, name")
        key = expect.identifier(event.get("id"), f"{place}, id")
        denied = event.get("evaluated_permission") == "deny"
        status: CallStatus = "not_run" if denied else "unknown"
        args = given(event, "input", f"{place} ({name})", _BESIDE)
        made = assembly.call(name, args, key, status=status)
        if key is not None:
            calls[key] = made
    elif kind.endswith("tool_result"):
        key = next((event[name] for name in _ANSWERS if event.get(name) is not None), None)
        failed = event.get("is_error")
        status = "error" if failed is True else "ok" if failed is False else "unknown"
        key = expect.identifier(key, f"{place}, tool_use_id")
        if key in calls and calls[key].status == "not_run":
            status = "unknown"
        assembly.result(result_of(event.get("content"), place), key, status=status)
    elif kind == "user.tool_confirmation" and event.get("result") == "deny":
        key = expect.identifier(event.get("tool_use_id"), f"{place}, tool_use_id")
        if key in calls:
            force_setattr(calls[key], "status", "not_run")


FORMAT = AnthropicManagedEvents()
