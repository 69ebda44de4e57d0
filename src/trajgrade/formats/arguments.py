"""Raw arguments → the value that a call was given, and how surely it is known.

An object stays as it is. None, nothing and blank text are no arguments. Text is JSON: its value is
the argument, whatever its type; text that is not JSON stays text, `unparseable`, and is noted. A
value that is nested deeper than `MAX_DEPTH` is refused: nothing after the reading could compare it.

Which key holds them is the format's to say; where it is absent, the names that others give to it
are read. What a call without arguments holds under a key that nobody knows may be its arguments:
it is an error, since a call whose arguments are dropped agrees with calls that it is not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from math import isfinite
from typing import Any

import msgspec

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError, near, shorten
from trajgrade.trajectory import ArgsState

MAX_DEPTH = 150

decode = msgspec.json.Decoder().decode

SHORT = 2 * MAX_DEPTH
"""The length of a JSON text up to which it cannot be nested too deeply. Most are shorter."""
SPELLINGS = frozenset({
    "args", "arguments", "input", "kwargs", "parameters", "tool_input", "tool_args",
})  # fmt: skip
"""What formats and people call the arguments of a call."""
_OTHERS = {own: SPELLINGS - {own} for own in SPELLINGS}
BESIDE = frozenset({
    "name", "type", "index", "id", "call_id", "callId", "tool_call_id", "tool_use_id", "toolUseId",
    "status", "result", "output", "error", "is_error", "caller", "server_name", "server_label",
    "namespace", "description", "title", "metadata", "extra", "agent", "agent_name", "author",
    "timestamp", "started_at", "ended_at", "thought", "reasoning", "signature", "cache_control",
    "extra_content", "thought_signature", "thoughtSignature",
})  # fmt: skip
"""What stands beside the name of a call in some format, and is no argument."""
_CONTAINERS = (dict, list, tuple, set, frozenset)
_HELD = (dict, list)
_HOLDERS = (dict, list, tuple, str)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_FINITE = _SCALARS - {float}


def given(call: dict[str, Any], own: str, place: str, beside: Collection[str] = ()) -> Any:
    """Return the arguments of a call as the trace holds them; None where it has none.

    Args:
        call: The object that holds the name and the arguments.
        own: The key under which the format keeps them.
        place: Which call this is, for a message.
        beside: Keys that the format has in a call, other than those of `BESIDE`.

    Raises:
        MalformedTraceError: They differ under two keys, or may stand under an unknown one.
    """
    if own in call and _OTHERS[own].isdisjoint(call):
        return call[own]
    others = [key for key in call.keys() & SPELLINGS if key != own and key not in beside]
    if not others and own in call:
        return call[own]
    found = {key: call[key] for key in (own, *sorted(others)) if call.get(key) is not None}
    if found:
        first, *rest = found
        if any(_value(found[key]) != _value(found[first]) for key in rest):
            raise MalformedTraceError(
                f"{place}: has arguments under {' and under '.join(found)}, and they differ"
            )
        if first == "parameters" != own and is_schema(found[first]):
            raise MalformedTraceError(
                f"{place}: the definition of a tool and no call: `parameters` is a JSON schema"
            )
        return found[first]
    odd = None if own in call else stray_key(call, beside)
    if odd is None:
        return None
    keys = sorted(SPELLINGS - {own} - set(beside))
    guess = near(odd, [own, *keys])
    raise MalformedTraceError(
        f"{place}: has no arguments, but {type(call[odd]).__name__} {shorten(call[odd], 60)} under "
        f"{odd!r}. Arguments stand under {own!r} (or {', '.join(keys)})"
        + (f"; did you mean {guess!r}?" if guess else "")
    )


def stray_key(call: dict[str, Any], beside: Collection[str] = ()) -> str | None:
    """Return a key that nobody knows and that could hold arguments; None where there is none."""
    return next(
        (
            key
            for key, value in call.items()
            if key not in BESIDE and key not in beside and value and isinstance(value, _HOLDERS)
        ),
        None,
    )


def is_schema(value: Any) -> bool:
    """Whether the parameters are those of a tool's definition."""
    return (
        isinstance(value, dict)
        and value.get("type") == "object"
        and isinstance(value.get("properties", {}), dict)
        and ("properties" in value or len(value) == 1)
    )


def _value(raw: Any) -> Any:
    return parsed(raw, "", [])[0]


def parsed(raw: Any, place: str, notes: list[str]) -> tuple[Any, ArgsState]:
    """Return the arguments and their state.

    Args:
        raw: As the trace holds them.
        place: Which call this is, for a message: its name.
        notes: Gets a sentence where the text is no strict JSON.

    Raises:
        MalformedTraceError: They are nested too deeply, or in a circle.
    """
    if type(raw) is str:
        try:
            value = decode(raw)
        except (ValueError, RecursionError):
            return _lenient(raw, place, notes)
        if len(raw) > SHORT and raw.count("[") + raw.count("{") > MAX_DEPTH:
            bounded(value, place)
        kind = type(value)
        if kind is dict or kind is list:
            colons = raw.count(":")
            if colons != len(value) or kind is list:
                _note_doubles(raw, value, colons, place, notes)
        return (value if value or value not in (None, "") else {}), "ok"
    if raw is None or raw is msgspec.UNSET:
        return {}, "ok"
    if type(raw) is dict and _FINITE.issuperset(map(type, raw.values())):
        return raw, "ok"
    if isinstance(raw, str):
        return parsed(str(raw), place, notes)
    bounded(raw, place)
    if _is_odd(raw):
        notes.append(f"{place}: its arguments hold NaN or Infinity, which JSON does not know")
    return raw, "ok"


def _is_odd(value: Any) -> bool:
    """Whether a number in it is none of JSON's: objects of Python may hold such."""
    stack = [value]
    met: set[int] = set()  # what stands in several places is looked at once
    while stack:
        item = stack.pop()
        if isinstance(item, float):
            if not isfinite(item):
                return True
        elif isinstance(item, _CONTAINERS) and id(item) not in met:
            members = item.values() if isinstance(item, dict) else item
            if not _FINITE.issuperset(map(type, members)):
                met.add(id(item))
                stack.extend(members)
    return False


def _note_doubles(raw: str, value: Any, colons: int, place: str, notes: list[str]) -> None:
    """Note the names that a JSON text gives twice in one object: the last one counts.

    Each name has its colon, so that as many colons as names are proof that none was lost; more may
    also stand in texts, and only then is the text read once more.
    """
    if colons == _names_in(value):
        return
    doubles: dict[str, None] = {}

    def pair(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = Counter(name for name, _ in pairs)
            doubles.update((name, None) for name, times in names.items() if times > 1)
        return made

    json.loads(raw, object_pairs_hook=pair, parse_int=str, parse_float=str)
    if doubles:
        said = ", ".join(shorten(name, 40) for name in list(doubles)[:5])
        notes.append(f"{place}: its arguments give {said} more than once; the last one counts")


def _names_in(value: Any) -> int:
    names = 0
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            names += len(item)
            stack.extend(one for one in item.values() if isinstance(one, _HELD))
        else:
            stack.extend(one for one in item if isinstance(one, _HELD))
    return names


def _lenient(raw: str, place: str, notes: list[str]) -> tuple[Any, ArgsState]:
    if not raw or raw.isspace():
        return {}, "ok"
    remarks: list[str] = []
    try:
        value = jsontext.loads(raw, remarks)
    except ValueError as broken:
        notes.append(f"{place}: its arguments are not JSON ({broken}): {shorten(raw)}")
        return raw, "unparseable"
    notes.extend(f"{place}: its arguments are {remark}" for remark in remarks)
    bounded(value, place)
    if isinstance(value, _HELD):
        with suppress(ValueError):  # a byte-order mark
            _note_doubles(raw, value, raw.count(":"), place, notes)
    return value, "ok"


def bounded(value: Any, place: str, levels: int = MAX_DEPTH) -> None:
    """Refuse a value that is nested deeper than `levels`, or in a circle.

    Raises:
        MalformedTraceError: It is.
    """
    if not isinstance(value, _CONTAINERS):
        return
    if levels and _SCALARS.issuperset(
        map(type, value.values() if isinstance(value, dict) else value)
    ):
        return
    stack: list[tuple[Any, int]] = [(value, 1)]
    deepest: dict[int, int] = {}
    while stack:
        item, depth = stack.pop()
        if depth > levels:
            raise MalformedTraceError(
                f"{place}: nested deeper than {levels} levels, or in a circle"
            )
        if deepest.get(id(item), 0) >= depth:
            continue
        deepest[id(item)] = depth
        members = item.values() if isinstance(item, dict) else item
        if _SCALARS.issuperset(map(type, members)):
            continue
        stack.extend((member, depth + 1) for member in members if isinstance(member, _CONTAINERS))
