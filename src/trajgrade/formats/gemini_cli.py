"""Gemini CLI's session log. The marks: `sessionId` with `projectHash`, messages of type `gemini`.

    [{"sessionId": "s1", "projectHash": "9d", "startTime": "2026-04-23T12:52:52Z"},
     {"id": "1", "type": "user", "content": [{"text": "Any trains to Oslo?"}]},
     {"$set": {"lastUpdated": "2026-04-23T12:53:05Z"}},
     {"id": "2", "type": "gemini", "content": "", "toolCalls": [
       {"id": "t1", "name": "trains", "args": {"to": "Oslo"}, "status": "success",
        "result": [{"functionResponse": {"id": "t1", "name": "trains",
                                         "response": {"output": "09:14"}}}]}]},
     {"id": "3", "type": "gemini", "content": "Yes, at 09:14."}]

One object on each line. A message is written anew, under the same `id`, whenever more of it is
known: the last one counts, in the place of the first. `{"$set": {"messages": […]}}` is what the
model is shown from then on, shortened perhaps: what was called before was called all the same.
`{"$rewindTo": id}` takes back that message and those after it. Also the older log, one object with
the list under `messages`. Messages of other types (`info`, `error`, `warning`) are not the model's.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_gemini_cli
from trajgrade.formats.session_lines import lines_of, records, text_in
from trajgrade.glimpse import Glimpse, members
from trajgrade.trajectory import Trajectory

_BESIDE = frozenset({"displayName", "resultDisplay", "agentId"})
_HEADER = ("sessionId", "projectHash")
_Messages = dict[str, tuple[str, dict[str, Any]]]


class GeminiCLI:
    """Gemini CLI's session log; the module shows its shape."""

    keys = frozenset({"projectHash", "type"})
    measure = staticmethod(of_gemini_cli)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a line is the header of a session, or a message of type `gemini`."""
        if "projectHash" not in seen.names and "gemini" not in seen.types and not seen.keys:
            return False
        return any(map(_is_marked, lines_of(seen.data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one session."""
        assembly = Assembly("gemini_cli")
        messages: _Messages = {}
        session = None
        for place, line in records(data, assembly.notes):
            session = session or text_in(line, "sessionId")
            if not _line(messages, line, place):
                assembly.notes.append(f"{place}: no message, and left out")
        if not messages and session is None:
            raise MalformedTraceError("no line is a message or the header of a session")
        for place, raw in messages.values():
            _message(assembly, raw, place)
        return [assembly.trajectory(id=session)]


def _is_marked(line: Any) -> bool:
    if not isinstance(line, dict):
        return False
    if all(isinstance(line.get(key), str) for key in _HEADER):
        return True
    return line.get("type") == "gemini" and "id" in line and "content" in line


def _line(messages: _Messages, line: dict[str, Any], place: str) -> bool:
    """Keep what the line tells, and return whether it is of a known kind."""
    whole = line.get("messages")
    change = line.get("$set")
    if isinstance(change, dict) and "messages" in change:
        whole = expect.array(change["messages"], f"{place}, messages")
    if isinstance(whole, list):
        known = {key for _, raw in messages.values() for key in _call_ids(raw)}
        for at, inner in enumerate(whole):
            where = f"{place}, message {at}"
            raw = expect.record(inner, where)
            calls = _call_ids(raw)
            if str(raw.get("id")) in messages or not calls or not known.issuperset(calls):
                _keep(messages, raw, where)
    elif "$rewindTo" in line:
        ids = list(messages)
        if line["$rewindTo"] in ids:
            for later in ids[ids.index(line["$rewindTo"]) :]:
                del messages[later]
    elif "type" in line and "sessionId" not in line:
        _keep(messages, line, place)
    else:
        return "sessionId" in line or "$set" in line
    return True


def _keep(messages: _Messages, raw: dict[str, Any], place: str) -> None:
    key = expect.identifier(raw.get("id"), f"{place}, id")
    messages[place if key is None else key] = place, raw


def _call_ids(raw: dict[str, Any]) -> set[str]:
    calls = raw.get("toolCalls")
    held = calls if isinstance(calls, list) else []
    ids = (call.get("id") for call in held if isinstance(call, dict))
    return {key for key in ids if isinstance(key, str)}


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    kind = expect.text(raw.get("type"), f"{place}, type")
    text = text_of(raw.get("content"), f"{place}, content")
    if kind == "user":
        assembly.message("user", text)
    elif kind is None:
        raise MalformedTraceError(f"{place}: a message without a type: {shorten(raw)}")
    elif kind != "gemini" and not raw.get("toolCalls"):
        assembly.message("system", text)
    else:
        assembly.message("assistant", text)
        calls = expect.array(raw.get("toolCalls"), f"{place}, toolCalls")
        for at, call in enumerate(calls):
            where = f"{place}, toolCalls {at}"
            _call(assembly, expect.record(call, where), instant(raw.get("timestamp")), where)


def _call(assembly: Assembly, raw: dict[str, Any], began: Any, place: str) -> None:
    name = expect.name(raw.get("name"), f"{place}, name")
    key = expect.identifier(raw.get("id"), f"{place}, id")
    status = status_of(raw.get("status"))
    args = given(raw, "args", f"{place} ({name})", _BESIDE)
    call = assembly.call(name, args, key, status=status)
    force_setattr(call, "started_at", began)
    force_setattr(call, "ended_at", instant(raw.get("timestamp")))
    if raw.get("result") is not None:
        force_setattr(call, "result", _result(raw["result"], f"{place}, result"))


def _result(value: Any, place: str) -> Any:
    """Return what the tool gave back: the response, where there is only one."""
    parts = value if isinstance(value, list) else [value]
    answers = [part.get("functionResponse") for part in members([parts])]
    told = [answer.get("response") for answer in members([answers])]
    told = [response for response in told if response is not None]
    return result_of(told[0] if len(told) == 1 else value, place)


FORMAT = GeminiCLI()
