"""The calls of one example in both runs, side by side, along what was expected.

=  as expected        ~  differs, and where        -  not called
+  called besides     !  called out of order
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, NamedTuple

from trajgrade.errors import shorten
from trajgrade.report.plain import printable
from trajgrade.run import Row

MOST = 40


class Line(NamedTuple):
    """What was expected at one place, and what each run has there."""

    expected: str
    old: str
    new: str


class _Calls(NamedTuple):
    expected: list[str]
    at: dict[int, str]
    besides: dict[int, list[str]]


def side_by_side(old: Row, new: Row) -> list[Line]:
    """Return the calls of two rows of one example; nothing where no metric has noted calls.

    At most 40 lines; the last one then says how many are left out.
    """
    found = [calls for calls in (_calls(old), _calls(new)) if calls is not None]
    if len(found) != 2 or found[0].expected != found[1].expected:
        return []
    lines: list[Line] = []
    expected = found[0].expected
    for place in range(-1, len(expected)):
        if place >= 0:
            sides = [calls.at.get(place, "-") for calls in found]
            lines.append(Line(printable(expected[place]), *sides))
        extra = [calls.besides.get(place, []) for calls in found]
        for number in range(max(map(len, extra))):
            sides = [some[number] if number < len(some) else "" for some in extra]
            lines.append(Line("", *sides))
    if len(lines) > MOST:
        return [*lines[: MOST - 1], Line(f"… {len(lines) - MOST + 1} more", "", "")]
    return lines


def _calls(row: Row) -> _Calls | None:
    noted = [
        result.metadata
        for result in row.results.values()
        if isinstance(result.metadata.get("reference_tools"), list)
        and isinstance(result.metadata.get("agent_tools"), list)
    ]
    if not noted:
        return None
    aligned = [one for one in noted if isinstance(one.get("alignment"), dict)]
    metadata = (aligned or noted)[0]
    ours = [str(name) for name in metadata["agent_tools"]]
    theirs = [str(name) for name in metadata["reference_tools"]]
    alignment = metadata.get("alignment")
    if isinstance(alignment, dict):
        return _aligned(alignment, ours, theirs)
    return _by_name(ours, theirs)


def _aligned(alignment: dict[str, Any], ours: list[str], theirs: list[str]) -> _Calls:
    at: dict[int, str] = {}
    place_of: dict[int, int] = {}
    moved = set(alignment["misordered"])
    for pair in alignment["matched"]:
        got, expected = pair["got"], pair["expected"]
        place_of[got] = expected
        name = printable(ours[got]) if got < len(ours) else "?"
        if pair["similarity"] < 1:
            places = "; ".join(_difference(place) for place in pair["differences"])
            at[expected] = f"~ {name} {places}"
        else:
            at[expected] = f"! {name}" if got in moved else "="
    besides: dict[int, list[str]] = {}
    last = -1
    for got, name in enumerate(ours):
        if got in place_of:
            last = place_of[got]
        else:
            mark = "!" if got in moved else "+"
            besides.setdefault(last, []).append(f"{mark} {printable(name)}")
    return _Calls(theirs, at, besides)


def _by_name(ours: list[str], theirs: list[str]) -> _Calls:
    """Align the names alone: how arguments agree is not kept for the row."""
    at: dict[int, str] = {}
    besides: dict[int, list[str]] = {}
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    for what, start, end, first, last in matcher.get_opcodes():
        if what == "equal":
            at |= dict.fromkeys(range(start, end), "=")
        else:
            names = [f"+ {printable(name)}" for name in ours[first:last]]
            if names:
                besides.setdefault(end - 1, []).extend(names)
    return _Calls(theirs, at, besides)


def _difference(place: dict[str, Any]) -> str:
    sides = [f"{side} {shorten(place[side], 40)}" for side in ("expected", "got") if side in place]
    return printable(f"{place['path']}: {', '.join(sides)}".removeprefix(": "))
