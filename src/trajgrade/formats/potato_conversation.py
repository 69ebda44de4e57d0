r"""Potato's conversations. The marks: turns with a `speaker` and a `text`, and `structured_turns`.

    {"id": "t1", "task_description": "Trains", "conversation": [
      {"speaker": "User", "text": "Any trains to Oslo?"},
      {"speaker": "Agent (Action)", "text": "trains({\"to\": \"Oslo\"})"},
      {"speaker": "Environment", "text": "09:14"},
      {"speaker": "Agent", "text": "Yes, at 09:14."}],
     "structured_turns": [
      {"role": "assistant", "content": "Yes, at 09:14.",
       "tool_calls": [{"tool": "trains", "input": {"to": "Oslo"}, "output": "09:14"}]}]}

Also the list of turns alone, one turn, and the object `CanonicalTrace`. Where there are structured
turns they are read, since the conversation is made of them. Else a turn whose speaker ends in
`(Action)` holds a call as text; text that is none is no call, and is noted. Where a turn has
`tool_calls`, those are its calls. What the environment says next is its result. The final response
is the last text of the agent that is neither an action nor a thought.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.action_text import call_in
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_loose import ROLES
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.plain_call import call_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class PotatoConversation:
    """Potato's conversations; the module shows their shape."""

    keys = frozenset({"structured_turns", "extra_fields", "conversation", "speaker"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there are turns with a speaker, or structured turns."""
        data = seen.data
        if isinstance(data, dict) and _structured(data) is not None:
            return True
        turns = _turns(data)
        if isinstance(data, dict) and "conversation" in data:
            return all(map(_is_turn, turns))
        return bool(turns) and all(_is_turn(turn) and "speaker" in turn for turn in turns)

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        key = data.get("id") if isinstance(data, dict) else None
        structured = _structured(data) if isinstance(data, dict) else None
        assembly = Assembly("potato_conversation")
        if structured is None:
            final = _spoken(assembly, _turns(data))
            return [assembly.trajectory(final=final, id=key if isinstance(key, str) else None)]
        for at, turn in enumerate(structured):
            _structured_turn(assembly, turn, f"structured turn {at}")
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _structured(data: dict[str, Any]) -> list[Any] | None:
    extra = data.get("extra_fields")
    for record in (data, extra if isinstance(extra, dict) else {}):
        turns = record.get("structured_turns")
        if isinstance(turns, list) and turns and all(isinstance(turn, dict) for turn in turns):
            return turns
    return None


def _turns(data: Any) -> list[Any]:
    if isinstance(data, dict):
        if "conversation" in data:
            turns = data["conversation"]
            return turns if isinstance(turns, list) else [turns]
        return [data]
    return data if isinstance(data, list) else []


def _is_turn(turn: Any) -> bool:
    return (
        isinstance(turn, dict)
        and isinstance(turn.get("speaker", ""), str)
        and ("speaker" in turn or "text" in turn)
        and "role" not in turn
    )


def _spoken(assembly: Assembly, turns: list[Any]) -> str | None:
    answers: dict[str, str] = {}
    for at, item in enumerate(turns):
        place = f"turn {at}"
        turn = expect.record(item, place)
        speaker = (expect.text(turn.get("speaker"), f"{place}, speaker") or "").strip().lower()
        text = text_of(turn.get("text"), place)
        role = _role(speaker)
        calls = expect.array(turn.get("tool_calls"), f"{place}, tool_calls")
        if role == "tool" and assembly.waits:
            assembly.result(text)
            _calls(assembly, calls, place)
            continue
        assembly.message(role, text)
        action = speaker.endswith("(action)")
        if calls:
            _calls(assembly, calls, place)
        elif action:
            _act(assembly, text, place)
        if action:
            continue
        if role == "assistant" and text:
            answers["thought" if "(thought)" in speaker else "answer"] = text
    return answers.get("answer", answers.get("thought"))


def _role(speaker: str) -> str:
    if speaker.startswith(("user", "human")):
        return "user"
    if speaker.startswith("system"):
        return "system"
    tool = speaker.startswith(("environment", "tool")) or "observation" in speaker
    return "tool" if tool else "assistant"


def _act(assembly: Assembly, text: str, place: str) -> None:
    found = call_in(text, assembly.notes)
    if found is None:
        assembly.notes.append(f"{place}: an action whose text is no call: {shorten(text)}")
    else:
        name, args, state = found
        assembly.call(name, args, state=state)


def _structured_turn(assembly: Assembly, turn: dict[str, Any], place: str) -> None:
    role = turn.get("role", "assistant")
    role = ROLES.get(role) if isinstance(role, str) else None
    if role is None:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(turn.get('role'))}; known are {', '.join(ROLES)}"
        )
    content = turn.get("content")
    if role in ("tool", "function"):
        assembly.result(result_of(content, place))
        return
    role = "system" if role == "developer" else role
    assembly.message(role, text_of(turn.get("reasoning") if content is None else content, place))
    _calls(assembly, expect.array(turn.get("tool_calls"), f"{place}, tool_calls"), place)


def _calls(assembly: Assembly, calls: list[Any], place: str) -> None:
    for number, item in enumerate(calls):
        if isinstance(item, dict) and "tool" in item and "name" not in item:
            rest = {key: value for key, value in item.items() if key != "tool"}
            item = {**rest, "name": item["tool"]}  # noqa: PLW2901 the caller's record stays
        call = call_of(item, f"{place}, call {number}", assembly.notes)
        assembly.add(call, waits=call.result is None)


FORMAT = PotatoConversation()
