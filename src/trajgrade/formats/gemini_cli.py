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

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_gemini_cli
from trajgrade.formats.session_lines import Recent, done, lines_of, records, text_in
from trajgrade.glimpse import Glimpse, members
from trajgrade.trajectory import Step, Trajectory

_BESIDE = frozenset({"displayName", "resultDisplay", "agentId"})
_RESULTS = frozenset({"result", "resultDisplay"})
WINDOW = 100
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
        return self.read_lines(iter(lines_of(data)), results=True)

    def read_lines(self, lines: Iterator[Any], *, results: bool = False) -> list[Trajectory]:
        """Read the one session line by line, with or without what tools gave back."""
        assembly = Assembly("gemini_cli")
        session = _Session(assembly, results=results)
        for place, line in records(lines, assembly.notes):
            session.take(place, line)
        session.end()
        return [assembly.trajectory(id=session.id)]

    def read_steps(self, lines: Iterator[Any], tell: Callable[[str], None]) -> Iterator[Step]:
        """Yield the steps of the session as they are done.

        Args:
            lines: The lines.
            tell: Called with what was unusual, a sentence each.
        """
        assembly = Assembly("gemini_cli")
        session = _Session(assembly, results=True, window=WINDOW)
        for place, line in records(lines, assembly.notes):
            session.take(place, line)
            yield from done(assembly, tell)
        session.end()
        yield from done(assembly, tell, last=True)


class _Session:
    """One session, as its lines tell it.

    Args:
        assembly: What it is read into.
        results: Whether what tools gave back is kept.
        window: How many messages wait to be written anew; None for all.
    """

    def __init__(self, assembly: Assembly, *, results: bool, window: int | None = None) -> None:
        self.assembly = assembly
        self.id: str | None = None
        self._results = results
        self._window = window
        self._messages: _Messages = {}
        self._gone = Recent()
        self._any = False

    def take(self, place: str, line: dict[str, Any]) -> None:
        """Take a line, and read the messages that wait no longer."""
        self.id = self.id or text_in(line, "sessionId")
        if not self._line(line, place):
            self.assembly.notes.append(f"{place}: no message, and left out")
        while self._window is not None and len(self._messages) > self._window:
            self._read(next(iter(self._messages)))

    def end(self) -> None:
        """Read the messages that still wait.

        Raises:
            MalformedTraceError: No line was a message or the header of a session.
        """
        if not self._any and not self._messages and self.id is None:
            raise MalformedTraceError("no line is a message or the header of a session")
        while self._messages:
            self._read(next(iter(self._messages)))

    def _read(self, key: str) -> None:
        place, raw = self._messages.pop(key)
        self._any = True
        if self._window is not None:
            for one in (key, *(f"call {call}" for call in _call_ids(raw))):
                self._gone.is_new(one)
        _message(self.assembly, raw, place)

    def _line(self, line: dict[str, Any], place: str) -> bool:
        """Keep what the line tells, and return whether it is of a known kind."""
        whole = line.get("messages")
        change = line.get("$set")
        if isinstance(change, dict) and "messages" in change:
            whole = expect.array(change["messages"], f"{place}, messages")
        if isinstance(whole, list):
            self._anew(whole, place)
        elif "$rewindTo" in line:
            self._rewind(line["$rewindTo"], place)
        elif "type" in line and "sessionId" not in line:
            self._keep(line, place)
        else:
            return "sessionId" in line or "$set" in line
        return True

    def _anew(self, whole: list[Any], place: str) -> None:
        """Keep those of the messages that are new, or say more of one that is known."""
        known = {key for _, raw in self._messages.values() for key in _call_ids(raw)}
        for at, inner in enumerate(whole):
            where = f"{place}, message {at}"
            raw = expect.record(inner, where)
            calls = _call_ids(raw)
            said = all(key in known or f"call {key}" in self._gone for key in calls)
            if str(raw.get("id")) in self._messages or not calls or not said:
                self._keep(raw, where, repeated=True)

    def _rewind(self, to: Any, place: str) -> None:
        ids = list(self._messages)
        if to in ids:
            for later in ids[ids.index(to) :]:
                del self._messages[later]
        elif isinstance(to, str) and to in self._gone:
            self._messages.clear()
            self.assembly.notes.append(
                f"{place}: takes back messages of long before, which were read already"
            )

    def _keep(self, raw: dict[str, Any], place: str, *, repeated: bool = False) -> None:
        key = expect.identifier(raw.get("id"), f"{place}, id")
        if key is not None and key not in self._messages and key in self._gone:
            if not repeated:
                self.assembly.notes.append(
                    f"{place}: writes a message of long before anew; it stays as it was read"
                )
            return
        kept = raw if self._results else _without_results(raw)
        self._messages[place if key is None else key] = place, kept


def _is_marked(line: Any) -> bool:
    if not isinstance(line, dict):
        return False
    if all(isinstance(line.get(key), str) for key in _HEADER):
        return True
    return line.get("type") == "gemini" and "id" in line and "content" in line


def _without_results(raw: dict[str, Any]) -> dict[str, Any]:
    calls = raw.get("toolCalls")
    if not isinstance(calls, list):
        return raw
    bare = [
        {key: value for key, value in call.items() if key not in _RESULTS}
        if isinstance(call, dict)
        else call
        for call in calls
    ]
    return {**raw, "toolCalls": bare}


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
    call = assembly.call(name, args, key, status=status, waits=False)
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
