"""The lines of a session log, which is one trajectory: objects with their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajgrade.errors import shorten


def lines_of(data: Any) -> list[Any]:
    """Return the lines; an object alone is one line."""
    if isinstance(data, dict):
        return [data]
    return data if isinstance(data, list) else []


def records(data: Any, notes: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the object of each line; a line that holds none is noted."""
    for at, line in enumerate(lines_of(data)):
        if isinstance(line, dict):
            yield f"line {at}", line
        else:
            notes.append(f"line {at}: no object, and left out: {shorten(line)}")


def is_older_codex(line: Any) -> bool:
    """Whether the line is the header of Codex's older log, or its mark of a state."""
    if not isinstance(line, dict) or "type" in line:
        return False
    if line.get("record_type") == "state":
        return True
    return {"id", "timestamp"} <= line.keys() and ("instructions" in line or "git" in line)


def text_in(record: dict[str, Any], *keys: str) -> str | None:
    """Return the first text under one of the keys; None where there is none."""
    return next((record[key] for key in keys if isinstance(record.get(key), str)), None)
