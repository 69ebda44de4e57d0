"""AutoGen's and AG2's group chats. The mark: a `history` of messages that name their speaker.

    {"question": "Any trains to Oslo?",
     "history": [
       {"role": "human", "content": "Any trains to Oslo?"},
       {"role": "Orchestrator (-> Timetable)", "content": "Please look it up."},
       {"role": "assistant", "name": "Timetable", "content": "Yes, at 09:14."}]}

As the Who&When data set keeps them, and as `ChatResult` with `chat_history`. The speaker is the
message's `name`, or its `role` without arrows and remarks. All speakers but humans are agents; what
they do stands in their text, and so there are no calls, but where a message has `tool_calls`. The
final response is the text of the last message, whoever speaks.
"""

from __future__ import annotations

import re
from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import loosened
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_HISTORY = ("history", "chat_history")
_KEYS = frozenset({
    "content", "role", "name", "tool_calls", "tool_responses", "tool_call_id", "function_call",
    "context", "source",
})  # fmt: skip
_PLAIN = frozenset({"user", "assistant", "system", "tool", "function"})
_HUMANS = frozenset({"human", "user", "user_proxy", "userproxy", "user proxy", "admin"})
_BESIDE = frozenset({"mistake_agent", "mistake_step", "question_ID", "chat_id", "human_input"})


class AutoGenHistory:
    """A group chat; the module shows one."""

    keys = frozenset(_HISTORY)
    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there is a history of messages, and someone is named or the data set's keys."""
        data = seen.data
        history = _history(data) if isinstance(data, dict) else None
        if not isinstance(history, list) or not history or not all(map(_is_message, history)):
            return False
        named = any("name" in item or item.get("role") not in _PLAIN for item in history)
        return named or not _BESIDE.isdisjoint(data)

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one chat."""
        record = expect.record(data, "the chat")
        assembly = Assembly("autogen_history")
        final: str | None = None
        for at, item in enumerate(expect.array(_history(record), "history")):
            final = _message(assembly, expect.record(item, f"message {at}"), f"message {at}")
        key = record.get("question_ID", record.get("chat_id"))
        return [assembly.trajectory(final=final, id=expect.identifier(key, "question_ID"))]


def _history(data: dict[str, Any]) -> Any:
    return next((data[key] for key in _HISTORY if data.get(key) is not None), None)


def _is_message(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and item.keys() <= _KEYS
        and "content" in item
        and isinstance(item.get("role"), str)
        and isinstance(item.get("name", ""), str)
    )


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> str:
    role = expect.text(raw.get("role"), f"{place}, role") or ""
    content = text_of(raw.get("content"), place)
    name = expect.text(raw.get("name"), f"{place}, name") or _speaker(role)
    if role in ("tool", "function"):
        answers = expect.array(raw.get("tool_responses"), f"{place}, tool_responses") or [raw]
        for answer in answers:
            held = expect.record(answer, f"{place}, tool_responses")
            key = expect.identifier(held.get("tool_call_id"), f"{place}, tool_call_id")
            assembly.result(result_of(held.get("content"), place), key)
        return content
    if role == "system":
        assembly.message("system", content)
        return content
    human = (name or role).lower() in _HUMANS
    assembly.message("user" if human else "assistant", content)
    assembly.agent = None if human else name
    asked = {key: raw[key] for key in ("tool_calls", "function_call") if raw.get(key)}
    for made in loosened([{"role": "assistant", **asked}], assembly.notes) if asked else ():
        for call in made.tool_calls:
            assembly.call(call.name, call.args, call.id, state=call.args_state)
    return content


def _speaker(role: str) -> str:
    """Return who speaks, without arrows and remarks: `Orchestrator (-> WebSurfer)`."""
    return "" if role in _PLAIN - {"user"} else re.sub(r"\s*\(.*\)\s*$", "", role, flags=re.DOTALL)


FORMAT = AutoGenHistory()
