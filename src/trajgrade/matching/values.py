"""Equality of values (SEMANTICS A2), and the key that equal values share.

JSON semantics: numbers compare by value and exactly, a boolean is no number, a text is no number,
the order of an object's keys does not count, that of a list does, NaN equals NaN. `same` is an
equivalence, and `canonical(a) == canonical(b)` exactly where `same(a, b)`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any, Final, NamedTuple


class _Mark:
    """A value that equals itself only, and prints as its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


MISSING: Final = _Mark("missing")
_TRUE: Final = _Mark("true")
_FALSE: Final = _Mark("false")
_NAN: Final = _Mark("NaN")

_NUMBERS = (int, float)
_TEXTS = frozenset({str, type(None)})


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal as JSON values."""
    if left is right:
        return True
    kind = type(left)
    if kind is str:
        return isinstance(right, str) and bool(left == right)
    if kind is dict and type(right) is dict:
        if _TEXTS.issuperset(map(type, left.values())):
            return bool(left == right)  # Python's own equality errs on numbers only
        if len(left) != len(right):
            return False
        for key, value in left.items():
            other = right.get(key, MISSING)
            if other is MISSING or not same(value, other):
                return False
        return True
    if kind is list and type(right) is list:
        return len(left) == len(right) and all(map(same, left, right))
    return bool(canonical(left) == canonical(right))


def canonical(value: Any) -> Hashable:
    """Return a hashable key that two values share exactly when they are equal as JSON values."""
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return value
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, _NUMBERS):
        return _NAN if value != value else value  # noqa: PLR0124 only NaN differs from itself
    if isinstance(value, dict):
        return frozenset((key, canonical(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple([canonical(item) for item in value])
    return _object_key(value)


def _object_key(value: Any) -> Hashable:
    """Return a key for what JSON has no place for: itself, or its repr, or which object it is."""
    try:
        hash(value)
    except TypeError:
        try:
            return (type(value), repr(value))
        except Exception:  # noqa: BLE001 a caller's __repr__ may raise anything
            return (type(value), id(value))
    return (type(value), value)


def is_number(value: Any) -> bool:
    """Whether the value is a JSON number: a boolean is none."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def has_nan(value: Any) -> bool:
    """Whether a NaN stands anywhere in the value."""
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    return isinstance(value, (list, tuple)) and any(map(has_nan, value))


class Difference(NamedTuple):
    """One place in which two values differ.

    Attributes:
        path: Where, as `a.b[0].c`; `""` is the whole.
        expected: The reference's value, `MISSING` where it has none.
        got: The agent's value, `MISSING` where it has none.
    """

    path: str
    expected: Any
    got: Any


def differences(got: Any, expected: Any, path: str = "") -> Iterator[Difference]:
    """Yield each innermost place in which two values differ, in the reference's order."""
    if isinstance(got, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            inner = f"{path}.{escape(key)}" if path else escape(key)
            yield from differences(got.get(key, MISSING), expected.get(key, MISSING), inner)
    elif (
        isinstance(got, (list, tuple))
        and isinstance(expected, (list, tuple))
        and len(got) == len(expected)
    ):
        for index, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
            yield from differences(ours, theirs, f"{path}[{index}]")
    elif not same(got, expected):
        yield Difference(path, expected, got)


def escape(key: Any) -> str:
    """Write a key as one segment of a path."""
    return str(key).replace("\\", "\\\\").replace(".", "\\.").replace("[", "\\[")
