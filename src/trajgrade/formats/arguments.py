"""Raw arguments → the value that a call was given, and how surely it is known.

An object stays as it is. None, nothing and blank text are no arguments. Text is JSON: its value is
the argument, whatever its type; text that is not JSON stays text, `unparseable`, and is noted. A
value that is nested deeper than `MAX_DEPTH` is refused: nothing after the reading could compare it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.trajectory import ArgsState

MAX_DEPTH = 150

decode = msgspec.json.Decoder().decode

SHORT = 2 * MAX_DEPTH
"""The length of a JSON text up to which it cannot be nested too deeply. Most are shorter."""
_CONTAINERS = (dict, list, tuple, set, frozenset)
_SCALARS = frozenset({str, int, float, bool, type(None)})


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
        return (value if value or value not in (None, "") else {}), "ok"
    if raw is None or raw is msgspec.UNSET:
        return {}, "ok"
    if isinstance(raw, str):
        return parsed(str(raw), place, notes)
    bounded(raw, place)
    return raw, "ok"


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
    return value, "ok"


def bounded(value: Any, place: str, levels: int = MAX_DEPTH) -> None:
    """Refuse a value that is nested deeper than `levels`, or in a circle.

    Raises:
        MalformedTraceError: It is.
    """
    if not isinstance(value, _CONTAINERS):
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
