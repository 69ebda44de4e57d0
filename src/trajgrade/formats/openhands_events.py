r"""OpenHands' events. The marks: `source` and `id` beside an `action` or an `observation`.

    [{"id": 0, "source": "user", "action": "message", "args": {"content": "Any trains to Oslo?"}},
     {"id": 1, "source": "agent", "action": "call_tool_mcp", "args": {"name": "trains"},
      "tool_call_metadata": {"function_name": "trains", "tool_call_id": "call_1",
        "model_response": {"id": "r1", "choices": [{"message": {
          "role": "assistant", "content": "Let me look.", "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}}]}}]}}},
     {"id": 2, "source": "agent", "cause": 1, "observation": "mcp", "content": "09:14",
      "extras": {}},
     {"id": 3, "source": "agent", "action": "message", "args": {"content": "Yes, at 09:14."}}]

Also the list under `history` of an evaluation's output. Calls are those that the model asked for,
in `tool_call_metadata.model_response`, which every event of theirs repeats; an action of the agent
without it is a call by itself, with its `args`. An observation is the result of its `cause`. An
observation `error`, and an exit code that is not 0, say that it failed; `user_rejected` that it was
not run. Events of the environment are none of the agent's. The events of OpenHands' SDK, which have
a `kind` (`ActionEvent`, `ObservationEvent`, …), are read too.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, shown, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_openhands
from trajgrade.formats.openhands_sdk import add_event, is_sdk_event
from trajgrade.formats.session_lines import lines_of, records, text_in
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, ToolCall, Trajectory

_SOURCES = frozenset({"agent", "user", "environment"})
_NO_CALL = frozenset({
    "null", "message", "system", "recall", "change_agent_state", "condensation",
    "condensation_request", "start", "pause", "resume", "stop", "think",
})  # fmt: skip
_SILENT = frozenset({"null", "agent_state_changed", "recall", "think", "condense"})
_BESIDE = frozenset({
    "thought", "image_urls", "wait_for_response", "hidden", "confirmation_state", "security_risk",
    "blocking", "impl_source",
})  # fmt: skip


class OpenHandsEvents:
    """OpenHands' events; the module shows their shape."""

    keys = frozenset({"source", "kind", "history"})
    measure = staticmethod(of_openhands)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether an event has a source and an action or an observation."""
        named = not seen.names.isdisjoint(("source", "kind", "history"))
        return named and any(map(_is_event, _events(seen.data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("openhands_events")
        run = _Run(assembly)
        known = False
        response: str | None = None
        for place, event in records(_events(data), assembly.notes):
            known = known or _is_event(event)
            assembly.now = instant(event.get("timestamp"))
            if is_sdk_event(event):
                add_event(assembly, event, place, response)
                response = text_in(event, "llm_response_id") or response
            elif "observation" in event and "kind" not in event:
                run.observation(event, place)
            elif "action" in event and "kind" not in event:
                run.action(event, place)
            elif "kind" not in event:
                assembly.notes.append(f"{place}: neither an action nor an observation")
        if not known:
            raise MalformedTraceError("no event has a source and an action or an observation")
        return [assembly.trajectory()]


def _events(data: Any) -> list[Any]:
    if isinstance(data, dict) and isinstance(data.get("history"), list):
        return [event for event in data["history"] if isinstance(event, dict)]
    return lines_of(data)


def _is_event(event: Any) -> bool:
    if is_sdk_event(event):
        return True
    if not isinstance(event, dict) or not isinstance(event.get("source"), str):
        return False
    if event["source"] not in _SOURCES or "id" not in event:
        return False
    if isinstance(event.get("observation"), str):
        return "content" in event or "extras" in event
    return isinstance(event.get("action"), str) and ("args" in event or "message" in event)


class _Run:
    """What the events so far asked for."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.responses: set[str] = set()
        self.by_event: dict[str, ToolCall] = {}
        self.by_call: dict[str, ToolCall] = {}

    def action(self, event: dict[str, Any], place: str) -> None:
        kind = expect.text(event.get("action"), f"{place}, action")
        held = event.get("args")
        args = expect.record(held, f"{place}, args") if held is not None else {}
        metadata = event.get("tool_call_metadata")
        if not isinstance(event.get("source"), str) or event["source"] not in _SOURCES:
            self.assembly.notes.append(
                f"{place}: an action of {shorten(event.get('source'))} is not read"
            )
        elif event["source"] != "agent":
            if kind == "message":
                role = "user" if event.get("source") == "user" else "system"
                self.assembly.message(role, text_of(args.get("content"), place))
        elif isinstance(metadata, dict):
            self._asked(event, metadata, place)
        elif kind == "message":
            self.assembly.message("assistant", text_of(args.get("content"), place))
        elif kind is not None and kind not in _NO_CALL:
            self.assembly.message("assistant", text_in(args, "thought", "final_thought") or "")
            rest = {key: value for key, value in args.items() if key not in _BESIDE}
            self._keep(event, self.assembly.call(expect.name(kind, place), rest))

    def _asked(self, event: dict[str, Any], metadata: dict[str, Any], place: str) -> None:
        """Add the calls of a response of the model, at the first of its events."""
        where = f"{place}, tool_call_metadata"
        key = expect.identifier(metadata.get("tool_call_id"), f"{where}, tool_call_id")
        response = metadata.get("model_response")
        message = _message(response)
        name = text_in(response, "id") if isinstance(response, dict) else None
        if name is None or name not in self.responses:
            if name is not None:
                self.responses.add(name)
            self.assembly.message("assistant", text_of(message.get("content"), where))
            for at, raw in enumerate(expect.array(message.get("tool_calls"), where)):
                self._call(raw, f"{where}, call {at}")
        if key is None or key not in self.by_call:
            called = expect.name(metadata.get("function_name"), f"{where}, function_name")
            made = self.assembly.call(called, event.get("args"), key)
            if key is not None:
                self.by_call[key] = made
            self._keep(event, made)
        else:
            self._keep(event, self.by_call[key])

    def _call(self, item: Any, place: str) -> None:
        raw = expect.record(item, place)
        function = expect.record(raw.get("function"), f"{place}, function")
        key = expect.identifier(raw.get("id"), f"{place}, id")
        name = expect.name(function.get("name"), place)
        args = given({**raw, **function}, "arguments", f"{place} ({name})", ("function",))
        made = self.assembly.call(name, args, key)
        if key is not None:
            self.by_call[key] = made

    def _keep(self, event: dict[str, Any], call: ToolCall) -> None:
        self.by_event[str(event.get("id"))] = call

    def observation(self, event: dict[str, Any], place: str) -> None:
        kind = expect.text(event.get("observation"), f"{place}, observation")
        call = self.by_event.get(str(event.get("cause")))
        if call is None and kind in _SILENT:
            return
        value = result_of(event.get("content"), f"{place}, content")
        if call is None:
            if event.get("cause") is not None and event.get("source") == "agent":
                self.assembly.notes.append(
                    f"{place}: the cause {shorten(event.get('cause'))} is no call before it"
                )
        else:
            force_setattr(call, "result", value)
            force_setattr(call, "status", _status(kind, event))
            force_setattr(call, "ended_at", self.assembly.now)
        if event.get("source") == "agent":
            self.assembly.message("tool", shown(value, place))


def _message(response: Any) -> dict[str, Any]:
    choices = response.get("choices") if isinstance(response, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def _status(kind: str | None, event: dict[str, Any]) -> CallStatus:
    if kind == "error":
        return "error"
    if kind == "user_rejected":
        return "not_run"
    extras = event.get("extras")
    extras = extras if isinstance(extras, dict) else {}
    metadata = extras.get("metadata")
    code = extras.get("exit_code")
    if code is None and isinstance(metadata, dict):
        code = metadata.get("exit_code")
    if isinstance(code, bool) or not isinstance(code, int) or code == -1:
        return "unknown"  # -1: the command goes on
    return "ok" if code == 0 else "error"


FORMAT = OpenHandsEvents()
