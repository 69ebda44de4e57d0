"""Rendering: a trajectory as text for a judge, within a budget, and what was left out.

    [1] user: Find me a flight.
    [2] assistant: I will look.
        call 1: search({"to": "LIS"})
        result: 3 flights
        call 2: book({"id": 3})
        failed: no such flight

Where it is too long, long texts lose their middle first, the longest ones most; if that does not
do, steps in the middle are left out, and the beginning and the end stay. Both are said in the text,
where it happens. Redaction is done before anything is cut. A token is taken to be four characters:
the judge's own counting is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from trajgrade.jsontext import dumps
from trajgrade.trajectory import ToolCall, Trajectory

CHARACTERS_PER_TOKEN = 4
BUDGET = 24_000  # tokens
_SHORTEST = 160  # characters that a text keeps at least


class Rendered(NamedTuple):
    """A trajectory as text.

    Attributes:
        text: The text.
        left_out: How many `characters` and `steps` are not in it; empty where all is.
    """

    text: str
    left_out: dict[str, int]


def rendered(
    trajectory: Trajectory,
    *,
    budget: int = BUDGET,
    redact: Callable[[str], str] | None = None,
) -> Rendered:
    """Return a trajectory as text.

    Args:
        trajectory: The trajectory.
        budget: How many tokens it may have, about.
        redact: What is done to each text before anything else.
    """
    texts = _texts(trajectory, redact or (lambda text: text))
    most = max(budget, 1) * CHARACTERS_PER_TOKEN
    longest = _longest(texts, most)
    cut = [[_cut(text, longest) for text in step] for step in texts]
    kept = _kept(cut, most)
    lines: list[str] = []
    for number, step in enumerate(cut):
        if number in kept:
            lines += step
        elif number - 1 in kept or number == 0:
            lines.append(_gap(number, kept, len(cut)))
    whole = sum(len(text) for step in texts for text in step)
    shown = sum(len(text) for number in kept for text in cut[number])
    left = {"characters": max(0, whole - shown), "steps": len(cut) - len(kept)}
    return Rendered("\n".join(lines), left if any(left.values()) else {})


def _texts(trajectory: Trajectory, redact: Callable[[str], str]) -> list[list[str]]:
    """Return the lines of each step."""
    number = 0
    found = []
    for place, step in enumerate(trajectory.steps, start=1):
        lines = [f"[{place}] {step.role}: {redact(step.content)}".rstrip()]
        for call in step.tool_calls:
            number += 1
            lines += _call(number, call, redact)
        found.append(lines)
    return found


def _call(number: int, call: ToolCall, redact: Callable[[str], str]) -> list[str]:
    given = "not recorded" if call.args_state == "unknown" else redact(_written(call.args))
    who = f" by {call.agent}" if call.agent is not None else ""
    lines = [f"    call {number}{who}: {redact(call.name)}({given})"]
    said = {"error": "failed", "not_run": "was not run"}.get(call.status, "result")
    if call.result is not None:
        lines.append(f"    {said}: {redact(_written(call.result))}")
    elif call.failed:
        lines.append(f"    {said}")
    return lines


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value).decode()


def _longest(texts: Sequence[Sequence[str]], most: int) -> int:
    """Return how long a text may be, so that all together are no longer than `most`."""
    lengths = sorted(len(text) + 1 for step in texts for text in step)
    left = most
    for place, length in enumerate(lengths):
        share = left // (len(lengths) - place)
        if length > share:
            return max(_SHORTEST, share - 1)
        left -= length
    return most


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    note = f" … {len(text) - longest:,} characters left out … "
    half = max(20, (longest - len(note)) // 2)
    return f"{text[:half]}{note}{text[-half:]}"


def _kept(steps: Sequence[Sequence[str]], most: int) -> set[int]:
    """Return the places of the steps that stay: from both ends, as many as there is room for."""
    sizes = [sum(len(text) + 1 for text in step) for step in steps]
    if sum(sizes) <= most:
        return set(range(len(steps)))
    room = most - 100  # for the line that says so
    kept: set[int] = set()
    low, high = 0, len(steps) - 1
    while low <= high:
        place = high if len(kept) % 2 == 0 else low
        if sizes[place] > room and kept:
            break
        room -= sizes[place]
        kept.add(place)
        low, high = (low, high - 1) if place == high else (low + 1, high)
    return kept


def _gap(first: int, kept: set[int], count: int) -> str:
    last = next((place for place in range(first, count) if place in kept), count)
    return f"[… steps {first + 1} to {last} left out …]"
