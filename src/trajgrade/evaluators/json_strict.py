"""JSON by the letter of RFC 8259: what is JSON, what is not, and why.

NaN and Infinity are not JSON, nor is a byte-order mark; a lone number, text, true, false or null
is. Repeated names in one object, numbers beyond every double and lone surrogate escapes are in the
grammar, though readers differ on them. The RFC lets a reader limit the depth of nesting: here it is
`MAX_DEPTH`. Digits are not limited.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple

from trajgrade.errors import shorten
from trajgrade.matching.values import escape

MAX_DEPTH: Final = 254  # jsonschema_rs names no errors below, and overflows its stack far below

_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_FENCE = re.compile(r"\s*```[^\n`]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


class Reading(NamedTuple):
    """A text read as JSON.

    Attributes:
        value: What it says. Numbers that Python's own would lose are decimals: those beyond every
            double, and those of thousands of digits.
        fault: Why it is not JSON; None where it is.
        repeated: The names that stand more than once in one object; the last one's value is kept.
        notes: What readers differ on.
    """

    value: Any
    fault: str | None
    repeated: list[str]
    notes: list[str]


def read_strictly(text: str) -> Reading:
    """Read the whole text as JSON."""
    repeated: dict[str, None] = {}
    notes: dict[str, None] = {}

    def build(members: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(members)
        if len(built) < len(members):
            names = [name for name, _ in members]
            repeated.update(dict.fromkeys(name for name in built if names.count(name) > 1))
        return built

    def real(token: str) -> float | Decimal:
        number = float(token)
        if math.isfinite(number):
            return number
        notes[f"{token[:40]} is beyond the range of double precision"] = None
        return Decimal(token)

    value = fault = None
    try:
        _check_depth(text)
        value = json.loads(
            text,
            object_pairs_hook=build,
            parse_float=real,
            parse_int=_integer,
            parse_constant=_refuse,
        )
    except ValueError as wrong:
        fault = str(wrong)
    return Reading(value, fault, list(repeated), list(notes))


def _integer(token: str) -> int | Decimal:
    return int(token) if len(token) <= 4000 else Decimal(token)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for mark in re.findall(r"[][{}]", _TEXT.sub("", text)):
        depth += 1 if mark in "[{" else -1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} deep, which is not read")


def unfenced(text: str) -> str:
    """Return what stands inside one Markdown fence that is the whole text, else the text."""
    fence = _FENCE.fullmatch(text)
    return fence[1] if fence else text


class _Trail(NamedTuple):
    """Where a part stands: the whole's trail is None."""

    above: _Trail | None
    segment: str

    def __str__(self) -> str:
        segments = []
        here: _Trail | None = self
        while here is not None:
            segments.append(here.segment)
            here = here.above
        return "".join(reversed(segments)).removeprefix(".")


def parsed_fault(value: Any) -> str | None:
    """Say why a parsed value is not JSON, None where it is.

    JSON's own are None, bool, int, finite float, str, list or tuple, and dict with texts as keys.
    """
    stack: list[tuple[Any, _Trail | None, int]] = [(value, None, 0)]
    while stack:
        item, trail, depth = stack.pop()
        fault = None
        if isinstance(item, (dict, list, tuple)):
            if depth >= MAX_DEPTH:
                return f"nested more than {MAX_DEPTH} deep, or contains itself"
            stack += [(inner, _Trail(trail, at), depth + 1) for at, inner in _parts(item)]
            if isinstance(item, dict):
                fault = next(
                    (f"the name {shorten(k)} is no text" for k in item if not isinstance(k, str)),
                    None,
                )
        elif isinstance(item, float):
            fault = None if item - item == 0 else f"{item} is not JSON"
        elif not (item is None or isinstance(item, (bool, int, str))):
            fault = f"{type(item).__name__} is not JSON"
        if fault:
            return f"{trail}: {fault}" if trail else fault
    return None


def _parts(item: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(item, dict):
        yield from ((f".{escape(key)}", inner) for key, inner in item.items())
    else:
        yield from ((f"[{index}]", inner) for index, inner in enumerate(item))
