"""The lines of a session log, which is one trajectory: objects with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from trajgrade.errors import shorten
from trajgrade.formats.assembly import Assembly
from trajgrade.trajectory import Step

_KEPT = 200
"""So much of a result says whether its tool was allowed to run."""


class Recent:
    """The keys that were met lately: as many as a log of a gigabyte has, and no more."""

    MOST: ClassVar[int] = 50_000

    def __init__(self) -> None:
        self._met: dict[int, None] = {}

    def __contains__(self, key: str) -> bool:
        """Whether the key was met lately."""
        return hash(key) in self._met

    def is_new(self, key: str) -> bool:
        """Whether the key was not met lately; now it is."""
        number = hash(key)  # of 64 bits: of so few keys no two have the same
        if number in self._met:
            return False
        self._met[number] = None
        if len(self._met) > self.MOST:
            del self._met[next(iter(self._met))]
        return True


def done(assembly: Assembly, tell: Callable[[str], None], *, last: bool = False) -> Iterator[Step]:
    """Yield the steps that are done, and tell what was unusual; the assembly keeps neither.

    Args:
        assembly: What the lines so far were read into.
        tell: Called with what was unusual, a sentence each.
        last: Whether there are no more lines.
    """
    for note in assembly.notes:
        tell(note)
    assembly.notes.clear()
    yield from assembly.taken(last=last)


def lines_of(data: Any) -> list[Any]:
    """Return the lines; an object alone is one line."""
    if isinstance(data, dict):
        return [data]
    return data if isinstance(data, list) else []


def without_results(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of Anthropic's content blocks with what tools gave back cut to its start."""
    inner = line.get("message")
    content = inner.get("content") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(content, list):
        return line
    blocks = [_cut(block) if isinstance(block, dict) else block for block in content]
    told = line.get("toolUseResult")
    agent = {"agentId": told.get("agentId")} if isinstance(told, dict) else None
    return {**line, "message": {**inner, "content": blocks}, "toolUseResult": agent}


def _cut(block: dict[str, Any]) -> dict[str, Any]:
    kind, told = block.get("type"), block.get("content")
    if not isinstance(kind, str) or not kind.endswith("tool_result"):
        return block
    if isinstance(told, list):
        first = told[0] if told and isinstance(told[0], dict) else {}
        told = first.get("text")
    return {**block, "content": told[:_KEPT] if isinstance(told, str) else None}


def records(data: Any, notes: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the object of each line; a line that holds none is noted."""
    for at, line in enumerate(data if isinstance(data, Iterator) else lines_of(data)):
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
