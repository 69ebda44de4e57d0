"""What a reader expects in a place of a raw trace, else an error that names the place."""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten


def name(value: Any, place: str) -> str:
    """Return the name of a tool: a text that is not empty."""
    if isinstance(value, str) and value:
        return value
    raise _wrong("the name of a tool (a text that is not empty)", value, place)


def text(value: Any, place: str) -> str | None:
    """Return a text, or None."""
    if value is None or isinstance(value, str):
        return value
    raise _wrong("a text", value, place)


def identifier(value: Any, place: str) -> str | None:
    """Return an id as text, or None; numbers serve as ids too, and so does a list of one."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], (str, int)):
        value = value[0]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return str(value)
    raise _wrong("an id", value, place)


def record(value: Any, place: str) -> dict[str, Any]:
    """Return an object."""
    if isinstance(value, dict):
        return value
    raise _wrong("an object", value, place)


def array(value: Any, place: str) -> list[Any]:
    """Return a list; None is an empty one."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    raise _wrong("a list", value, place)


def _wrong(expected: str, value: Any, place: str) -> MalformedTraceError:
    found = "null" if value is None else f"{type(value).__name__} {shorten(value)}"
    return MalformedTraceError(f"{place}: expected {expected}, found {found}")
