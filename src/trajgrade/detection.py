"""Which format a raw trace has, found by evidence and never by guessing.

Every format is asked. One that recognises the data reads it. Where several do and read equal
trajectories there is no conflict; otherwise, or where none does, the error names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajgrade.errors import AmbiguousTraceError, MalformedTraceError, TraceError, UnknownTraceError
from trajgrade.glimpse import Glimpse
from trajgrade.registry import formats

if TYPE_CHECKING:
    from trajgrade.contracts import Format
    from trajgrade.trajectory import Trajectory


def read(data: Any, format: str | None = None) -> list[Trajectory]:  # noqa: A002 the field's word
    """Read the trajectories that the data holds, at least one.

    Args:
        data: The raw trace, parsed or as an object.
        format: The name of its format, where it should not be detected.

    Raises:
        UnknownNameError: There is no format of that name.
        TraceError: The data cannot be read.
    """
    seen = Glimpse(data)
    if format is not None:
        return _read(format, formats.find(format), seen)
    claims = claimants(seen)
    if not claims:
        raise UnknownTraceError(
            f"no format recognises {seen}. Formats tried: {', '.join(formats)}. "
            "If it is one of them, name it (format=…, --format …)"
        )
    if len(claims) == 1:
        ((name, reader),) = claims.items()
        return _read(name, reader, seen)
    return _agreed(claims, seen)


def claimants(seen: Glimpse) -> dict[str, Format]:
    """Return every format that recognises the data, by name."""
    readers = {name: formats.find(name) for name in formats}
    return {name: reader for name, reader in readers.items() if reader.recognises(seen)}


def _read(name: str, reader: Format, seen: Glimpse) -> list[Trajectory]:
    try:
        found = list(reader.read(seen.data))
    except TraceError:
        raise
    except RecursionError:
        raise MalformedTraceError(f"{name}: nested too deeply to be read") from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as broken:
        raise MalformedTraceError(
            f"{name}: {type(broken).__name__}: {broken}; seen: {seen}"
        ) from broken
    if not found:
        raise MalformedTraceError(f"{name}: the data holds no trajectory; seen: {seen}")
    return found


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
