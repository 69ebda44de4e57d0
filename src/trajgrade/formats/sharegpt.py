r"""ShareGPT's records. The marks: `from` and `value`.

    {"conversations": [
       {"from": "human", "value": "Any trains to Oslo?"},
       {"from": "function_call",
        "value": "{\"name\": \"trains\", \"arguments\": {\"to\": \"Oslo\"}}"},
       {"from": "observation", "value": "09:14"},
       {"from": "gpt", "value": "Yes, at 09:14."}],
     "tools": "[]"}

Also the list alone. A record is a trajectory. `function_call` holds a call, or a list of calls, as
JSON text; in what `gpt` says, calls stand in tags (`<tool_call>`), as Hermes writes them.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given, parsed
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.tool_tags import RESPONSE, add_answered, add_said
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_ROLES = {
    "human": "user", "user": "user", "system": "system",
    "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant", "model": "assistant",
    "bard": "assistant", "bing": "assistant",
    "function_call": "call", "function-call": "call", "tool_call": "call",
    "observation": "tool", "tool": "tool", "function_response": "tool", "function-response": "tool",
    "tool_response": "tool",
}  # fmt: skip
_AROUND = ("conversations", "conversation")


class ShareGPT:
    """ShareGPT's records; the module shows one."""

    keys = frozenset({*_AROUND, "from"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each turn has `from` and `value`."""
        turns = _turns(seen.data)
        return bool(turns) and all(map(_is_turn, turns))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one record."""
        assembly = Assembly("sharegpt")
        if not isinstance(data, list) and not any(
            isinstance(expect.record(data, "the record").get(key), list) for key in _AROUND
        ):
            raise MalformedTraceError(f"the record has no list under {' or '.join(_AROUND)}")
        for at, item in enumerate(_turns(data)):
            place = f"turn {at}"
            turn = expect.record(item, place)
            said = turn.get("from")
            if not isinstance(said, str) or said not in _ROLES:
                raise MalformedTraceError(
                    f"{place}: `from` is {shorten(said)}; known are {', '.join(_ROLES)}"
                )
            text = expect.text(turn.get("value"), f"{place}, value") or ""
            _turn(assembly, _ROLES[said], text, place)
        key = data.get("id") if isinstance(data, dict) else None
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _turns(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return next((data[key] for key in _AROUND if isinstance(data.get(key), list)), [])
    return data if isinstance(data, list) else []


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and isinstance(turn.get("from"), str) and "value" in turn


def _turn(assembly: Assembly, role: str, text: str, place: str) -> None:
    if role == "call":
        assembly.message("assistant")
        _calls(assembly, text, place)
    elif role == "assistant":
        add_said(assembly, text, place)
    elif role == "tool" or (role == "user" and text.lstrip().startswith(RESPONSE)):
        add_answered(assembly, text, place)
    else:
        assembly.message(role, text)


def _calls(assembly: Assembly, text: str, place: str) -> None:
    held, state = parsed(text, place, assembly.notes)
    if state != "ok":
        raise MalformedTraceError(f"{place}: expected a call as JSON, found {shorten(text)}")
    for item in held if isinstance(held, list) else [held]:
        call = expect.record(item, place)
        name = expect.name(call.get("name"), f"{place}, name")
        assembly.call(name, given(call, "arguments", f"{place} ({name})"))


FORMAT = ShareGPT()
