"""What is JSON, by the grammar of RFC 8259, and what is not.

Blanks are space, tab, line feed and carriage return. NaN and Infinity are not JSON, nor is a
byte-order mark; a lone number, text, true, false or null is. Repeated names in one object, numbers
beyond every double and lone surrogate escapes are in the grammar, though readers differ on them.
There is no limit to depth or digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple

from trajgrade.errors import shorten
from trajgrade.matching.values import escape

MAX_PARSED_DEPTH: Final = 10_000

_BLANK = r"[ \t\n\r]*+"
_TOKEN = re.compile(
    _BLANK
    + r"""(?:  # blanks count inside of [] only
        (?P<mark> [][{}:,] )
      | (?P<text> "[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+" )
      | (?P<number> -?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)? )
      | (?P<word> true|false|null )
    )""",
    re.VERBOSE,
)
_END = re.compile(_BLANK + r"\Z")
_FENCE = re.compile(r"\s*```[^\n`]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)

_VALUE = frozenset({"[", "{", "text", "number", "word"})
# What may stand at each place of the grammar.
_ALLOWED: dict[str, frozenset[str]] = {
    "a value": _VALUE,
    "a value or ]": _VALUE | {"]"},
    "a name or }": frozenset({"text", "}"}),
    "a name": frozenset({"text"}),
    "a colon": frozenset({":"}),
    "a comma or ]": frozenset({",", "]"}),
    "a comma or }": frozenset({",", "}"}),
    "the end": frozenset(),
}


class Findings(NamedTuple):
    """What the grammar says of a text.

    Attributes:
        fault: Why it is not JSON; None where it is.
        repeated: The names that stand more than once in one object.
        notes: What readers differ on.
        depth: How deep its lists and objects are nested.
    """

    fault: str | None
    repeated: list[str]
    notes: list[str]
    depth: int


class _Parser:
    """A reader of tokens that keeps the open lists and objects in a list of its own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.wanted = "a value"
        self.open: list[set[str] | None] = []  # the names of an object; None is a list
        self.repeated: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.depth = 0

    def run(self) -> Findings:
        end = 0
        fault = None
        while fault is None and (match := _TOKEN.match(self.text, end)):
            kind = match.lastgroup or ""
            token = match[kind]
            if not self._take(token if kind == "mark" else kind, token):
                fault = self._unexpected(match.start(kind))
            end = match.end()
        if fault is None and (self.wanted != "the end" or not _END.match(self.text, end)):
            fault = self._unexpected(end)
        return Findings(fault, list(self.repeated), list(self.notes), self.depth)

    def _take(self, kind: str, token: str) -> bool:
        if kind not in _ALLOWED[self.wanted]:
            return False
        if kind in "[{":
            self.open.append(set() if kind == "{" else None)
            self.depth = max(self.depth, len(self.open))
            self.wanted = "a name or }" if kind == "{" else "a value or ]"
        elif kind == ":":
            self.wanted = "a value"
        elif kind == ",":
            self.wanted = "a value" if self.open[-1] is None else "a name"
        elif self.wanted.startswith("a name") and kind == "text":
            self._name(token)
            self.wanted = "a colon"
        else:
            self._close_or_value(kind, token)
        return True

    def _name(self, token: str) -> None:
        name = json.loads(token) if "\\" in token else token[1:-1]
        names = self.open[-1]
        if names is not None and name in names:
            self.repeated[name] = None
        elif names is not None:
            names.add(name)

    def _close_or_value(self, kind: str, token: str) -> None:
        if kind in "]}":
            self.open.pop()
        elif kind == "number" and float(token) in (float("inf"), float("-inf")):
            self.notes[f"{shorten(token)[1:-1]} is beyond the range of double precision"] = None
        if not self.open:
            self.wanted = "the end"
        else:
            self.wanted = "a comma or ]" if self.open[-1] is None else "a comma or }"

    def _unexpected(self, place: int) -> str:
        rest = self.text[place : place + 60].lstrip(" \t\n\r")
        at = len(self.text) if not rest else self.text.index(rest[0], place)
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        found = shorten(rest[:20]) if rest else "the end"
        return f"line {line}, column {column}: expected {self.wanted}, found {found}"


def findings(text: str) -> Findings:
    """Read the whole text by the grammar."""
    return _Parser(text).run()


def unfenced(text: str) -> str:
    """Return what stands inside one Markdown fence that is the whole text, else the text."""
    fence = _FENCE.fullmatch(text)
    return fence[1] if fence else text


def parse(text: str) -> Any:
    """Parse a text that the grammar has found to be JSON.

    Numbers that Python's own would not hold are decimals: those beyond every double, and those of
    thousands of digits.
    """
    return json.loads(text, parse_float=_real, parse_int=_integer)


def _real(token: str) -> float | Decimal:
    number = float(token)
    return Decimal(token) if number in (float("inf"), float("-inf")) else number


def _integer(token: str) -> int | Decimal:
    return int(token) if len(token) <= 4000 else Decimal(token)


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


def parsed_fault(value: Any, max_depth: int = MAX_PARSED_DEPTH) -> str | None:
    """Say why a parsed value is not JSON, None where it is.

    JSON's own are None, bool, int, finite float, str, list or tuple, and dict with texts as keys.
    """
    stack: list[tuple[Any, _Trail | None, int]] = [(value, None, 0)]
    while stack:
        item, trail, depth = stack.pop()
        fault = None
        if isinstance(item, (dict, list, tuple)):
            if depth >= max_depth:
                return f"nested more than {max_depth} deep, or contains itself"
            stack += [(inner, _Trail(trail, at), depth + 1) for at, inner in _parts(item)]
            if isinstance(item, dict):
                fault = next(
                    (f"the name {shorten(k)} is no text" for k in item if type(k) is not str), None
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
