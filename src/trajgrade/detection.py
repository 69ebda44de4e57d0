"""Which format a raw trace has, found by evidence and never by guessing.

Every format is asked that could recognise it. One that recognises the data reads it. Where several
do and read equal trajectories there is no conflict; otherwise, or where none does, the error names
them.

Two short cuts lead to the same end. A text that holds JSON, as one text or one on each line, is
taken for what it holds. Data that a format's strict type (`wire`) accepts belongs to that format,
and nobody else is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from trajgrade import jsontext
from trajgrade.errors import (
    AmbiguousTraceError,
    MalformedTraceError,
    TraceError,
    UnknownTraceError,
    shorten,
)  # fmt: skip
from trajgrade.glimpse import Glimpse
from trajgrade.registry import formats
from trajgrade.telemetry import attach

if TYPE_CHECKING:
    from trajgrade.contracts import Format
    from trajgrade.trajectory import Step, Trajectory

# An object with a key, a list of objects, or a very deep list; prose begins like none of them.
_LIKE_JSON = re.compile(r"""\s*(\{\s*["']|(\[\s*)+\{|(\[\s*){20})""")

_CLAIMS = "claimants"


def read(data: Any, format: str | None = None) -> list[Trajectory]:  # noqa: A002 the field's word
    """Read the trajectories that the data holds, at least one.

    Args:
        data: The raw trace, parsed or as an object, or a glimpse of it.
        format: The name of its format, where it should not be detected.

    Raises:
        UnknownNameError: There is no format of that name.
        TraceError: The data cannot be read.
    """
    seen = data if isinstance(data, Glimpse) else None
    text = isinstance(data, str)
    raw = parsed(data) if text else data if seen is None else seen.data
    if format is None and type(raw) is list and (seen is None or _CLAIMS not in seen.memo):
        found = by_wire(raw)
        if found is not None:
            return [found]
    seen = Glimpse(raw, parsed=text) if seen is None else seen
    if format is not None:
        return _read(format, formats.find(format), seen)
    claims = claimants(seen)
    if not claims:
        raise UnknownTraceError(
            f"no format recognises {seen}. {seen.advice}"
            f"Formats tried: {', '.join(formats)}. "
            "If it is one of them, name it (format=…, --format …)",
            brief=f"no format recognises {seen}. {seen.advice}"
            "`trajgrade list formats` says what marks each",
        )
    if len(claims) == 1:
        ((name, reader),) = claims.items()
        return _read(name, reader, seen)
    return _agreed(claims, seen)


def parsed(text: str) -> Any:
    """Return what a text holds as JSON, one text or one on each line; else the text itself.

    Raises:
        MalformedTraceError: It begins like the JSON of a trace, and is none.
    """
    begin = text.lstrip("\ufeff \t\r\n")[:1]
    if begin not in ("{", "["):
        return text
    try:
        return jsontext.read_back(text)
    except ValueError as broken:
        lines = [line for line in text.splitlines() if line.strip()]
        values = _each(lines) if len(lines) > 1 else None
        if values is not None:
            return values
        if _LIKE_JSON.match(text.lstrip("\ufeff")):
            raise MalformedTraceError(
                f"a text that begins like JSON and is none ({broken}): {shorten(text)}"
            ) from None
        return text


def _each(lines: list[str]) -> list[Any] | None:
    try:
        return [jsontext.read_back(line) for line in lines]
    except ValueError:
        return None


def by_wire(data: list[Any]) -> Trajectory | None:
    """Return the trajectory of data that a format's strict type accepts; None where none does."""
    for reader in _readers(len(formats.entries))[1]:
        try:
            strict = msgspec.convert(data, reader.wire)
        except (ValueError, RecursionError):
            continue
        found: Trajectory = reader.read_wire(strict)
        return found
    return None


@lru_cache(maxsize=1)
def _readers(_registered: int) -> tuple[dict[str, Format], list[Any]]:
    """Return every format by name, and those with a strict type; anew when formats are added."""
    readers = {name: formats.find(name) for name in formats}
    wired = {repr(reader.wire): reader for reader in readers.values() if hasattr(reader, "wire")}
    return readers, list(wired.values())


@lru_cache(maxsize=1)
def _index(registered: int) -> tuple[frozenset[str], dict[str, frozenset[str] | None]]:
    """Return every key that some format asks for, and the keys of each format; None for any."""
    readers, _ = _readers(registered)
    keys = {name: getattr(reader, "keys", None) for name, reader in readers.items()}
    return frozenset().union(*(one for one in keys.values() if one)), keys


@lru_cache(maxsize=1024)
def _asked(registered: int, names: frozenset[str]) -> tuple[tuple[str, Format], ...]:
    """Return the formats that may recognise data with those keys, all others having none."""
    readers, _ = _readers(registered)
    keys = _index(registered)[1]
    return tuple(
        (name, reader)
        for name, reader in readers.items()
        if (some := keys[name]) is None or not some.isdisjoint(names)
    )


def claimants(seen: Glimpse) -> dict[str, Format]:
    """Return every format that recognises the data, by name."""
    if _CLAIMS not in seen.memo:
        number = len(formats.entries)
        asked = _asked(number, seen.names & _index(number)[0])
        seen.memo[_CLAIMS] = {name: reader for name, reader in asked if reader.recognises(seen)}
    found: dict[str, Format] = seen.memo[_CLAIMS]
    return dict(found)


def stream(
    seen: Glimpse,
    format: str | None,  # noqa: A002 the field's word for it
    lines: Iterator[Any],
) -> list[Trajectory] | None:
    """Read a session log line by line, without what tools gave back.

    Args:
        seen: Its first lines.
        format: The name of its format, where it should not be detected.
        lines: All of its lines.

    Returns:
        The trajectories; None where its format, if it has one, must see all lines at once.

    Raises:
        TraceError: The log cannot be read.
    """
    name, reader = _reader(seen, format)
    if not hasattr(reader, "read_lines"):
        return None
    return _guarded(name, lambda: reader.read_lines(lines, results=False), seen)


def steps(
    seen: Glimpse,
    format: str | None,  # noqa: A002 the field's word for it
    lines: Iterator[Any],
    tell: Callable[[str], None],
) -> Iterator[Step] | None:
    """Read the steps of a session log as its lines come.

    Args:
        seen: Its first lines.
        format: The name of its format, where it should not be detected.
        lines: All of its lines.
        tell: Called with what was unusual, a sentence each.

    Returns:
        The steps, each as soon as it is done, which raise a `TraceError` where the log cannot be
        read; None where its format, if it has one, must see all lines at once.
    """
    name, reader = _reader(seen, format)
    if not hasattr(reader, "read_steps"):
        return None
    return _guarded_steps(name, reader.read_steps(lines, tell), seen)


def _guarded_steps(name: str, steps: Iterable[Step], seen: Glimpse) -> Iterator[Step]:
    with _guard(name, seen):
        yield from steps


def _reader(seen: Glimpse, format: str | None) -> tuple[str, Any]:  # noqa: A002
    """Return the one format of a log; None where there is none, or more than one."""
    found = {format: formats.find(format)} if format else claimants(seen)
    return next(iter(found.items())) if len(found) == 1 else ("", None)


def _read(name: str, reader: Format, seen: Glimpse) -> list[Trajectory]:
    found = _guarded(name, lambda: reader.read(seen.data), seen)
    if hasattr(reader, "measure"):
        attach(found, reader.measure, seen.data)
    return found


def _guarded(
    name: str, read: Callable[[], Iterable[Trajectory]], seen: Glimpse
) -> list[Trajectory]:
    """Return what a format reads."""
    with _guard(name, seen):
        found = list(read())
    if not found:
        raise MalformedTraceError(f"{name}: the data holds no trajectory; seen: {seen}")
    return found


@contextmanager
def _guard(name: str, seen: Glimpse) -> Iterator[None]:
    """Make what a format stumbles over a `TraceError`."""
    try:
        yield
    except TraceError:
        raise
    except RecursionError:
        raise MalformedTraceError(f"{name}: nested too deeply to be read") from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as broken:
        raise MalformedTraceError(
            f"{name}: {type(broken).__name__}: {broken}; seen: {seen}"
        ) from broken


def _agreed(claims: dict[str, Format], seen: Glimpse) -> list[Trajectory]:
    readings: dict[str, list[Trajectory]] = {}
    for name, reader in claims.items():
        try:
            readings[name] = _read(name, reader, seen)
        except TraceError:
            continue
    first, *others = readings.values() if readings else [[]]
    if len(readings) != len(claims) or any(reading != first for reading in others):
        raise AmbiguousTraceError(
            f"{seen} is recognised as {' and as '.join(claims)}, which read it differently; "
            f"name the right one (format=…, --format …). Formats: {', '.join(formats)}"
        )
    return first
