"""Sessions of Google's Agent Development Kit. The mark: `events` with an author and an invocation.

    {"id": "s1", "app_name": "guide", "user_id": "u1", "state": {},
     "events": [
       {"author": "user", "invocation_id": "e1",
        "content": {"role": "user", "parts": [{"text": "Any trains to Oslo?"}]}},
       {"author": "guide", "invocation_id": "e1", "content": {"role": "model", "parts": [
         {"function_call": {"id": "adk-1", "name": "trains", "args": {"to": "Oslo"}}}]}},
       {"author": "guide", "invocation_id": "e1", "content": {"role": "user", "parts": [
         {"function_response": {"id": "adk-1", "name": "trains",
                                "response": {"result": "09:14"}}}]}},
       {"author": "guide", "invocation_id": "e1",
        "content": {"role": "model", "parts": [{"text": "Yes, at 09:14."}]}}]}

Also the list of events alone, and an event on each line; names in snake or camel case. Every event
that is not by the user is by the agent that is its author. Partial events of a stream are left out:
the event that ends it repeats them.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.gemini_parts import add_content
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_adk_session
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_INVOCATION = ("invocation_id", "invocationId")


class ADKSession:
    """A session; the module shows one."""

    keys = frozenset({"events", "author"})
    measure = staticmethod(of_adk_session)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each event has an author and an invocation."""
        events = seen.data.get("events") if isinstance(seen.data, dict) else seen.data
        return isinstance(events, list) and bool(events) and all(map(_is_event, events))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one session."""
        session = data if isinstance(data, dict) else {"events": data}
        if not isinstance(session.get("events"), list):
            raise MalformedTraceError(f"no session: it has no list of events: {shorten(session)}")
        assembly = Assembly("adk_session")
        for at, item in enumerate(expect.array(session.get("events"), "events")):
            event = expect.record(item, f"event {at}")
            if event.get("partial") is not True and not _is_partial(event):
                _event(assembly, event, f"event {at}")
        return [assembly.trajectory(id=expect.identifier(session.get("id"), "id"))]


def _is_event(event: Any) -> bool:
    return (
        isinstance(event, dict)
        and isinstance(event.get("author"), str)
        and any(key in event for key in _INVOCATION)
    )


def _is_partial(event: dict[str, Any]) -> bool:
    options = event.get("options")
    return isinstance(options, dict) and options.get("partial") is True


def _event(assembly: Assembly, event: dict[str, Any], place: str) -> None:
    author = expect.text(event.get("author"), f"{place}, author")
    content = event.get("content")
    if event.get("error_code") or event.get("errorCode"):
        why = event.get("error_message") or event.get("errorMessage") or event.get("error_code")
        assembly.notes.append(f"{place}: the model failed: {why}")
    if content is None:
        return
    raw = expect.record(content, f"{place}, content")
    user = author == "user"
    assembly.agent = None if user else author
    assembly.now = instant(event.get("timestamp"))
    parts = expect.array(raw.get("parts"), f"{place}, parts")
    add_content(assembly, "user" if user else "assistant", parts, place)


FORMAT = ADKSession()
