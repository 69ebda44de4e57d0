"""The calls of one row beside what was expected, place by place.

same     as expected          differs   called with other arguments
lacks    not called           besides   called besides
moved    called out of order

Where the alignment of the calls was kept, arguments are compared; else names alone are, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from trajgrade.errors import shorten
from trajgrade.report.plain import printable, printable_lines
from trajgrade.run import Row

Mark = Literal["same", "differs", "lacks", "besides", "moved"]
SIGNS: dict[Mark, tuple[str, str]] = {
    "same": ("=", "as expected"),
    "differs": ("~", "differs"),
    "lacks": ("-", "not called"),
    "besides": ("+", "called besides"),
    "moved": ("!", "out of order"),
}
MOST = 60
_MOST_NAMES = 2000


class Call(NamedTuple):
    """A call: its tool, and its arguments, one on a line."""

    name: str
    args: tuple[str, ...] = ()


class Place(NamedTuple):
    """What was expected, and what was called for it; None on the side that has nothing."""

    expected: Call | None
    got: Call | None
    mark: Mark
    differences: tuple[str, ...] = ()


class Turn(NamedTuple):
    """The calls of one turn, or of the whole row.

    Attributes:
        title: Which turn it is; empty where there is one only.
        places: The calls.
        hidden: How many more there are.
    """

    title: str
    places: list[Place]
    hidden: int


def turns_of(row: Row) -> list[Turn]:
    """Return the calls of a row; nothing where no metric noted those of both sides."""
    found: list[Turn] = []
    noted = [result.metadata for result in row.results.values() if _is_noted(result.metadata)]
    aligned = [metadata for metadata in noted if metadata.get("alignment")]
    for metadata in aligned or noted[:1]:
        found += [turn for turn in _turns(metadata) if turn not in found]
    return found


def _is_noted(metadata: dict[str, Any]) -> bool:
    sides = (metadata.get("agent_tools"), metadata.get("reference_tools"))
    return all(isinstance(side, list) for side in sides) and any(sides)


def _turns(metadata: dict[str, Any]) -> Iterator[Turn]:
    ours, theirs = (
        [str(name) for name in metadata[f"{side}_tools"]] for side in ("agent", "reference")
    )
    kept = metadata.get("alignment")
    if not kept:
        yield _cut("", _by_name(ours[:_MOST_NAMES], theirs[:_MOST_NAMES]))
        return
    turns = kept if isinstance(kept, list) else [kept]
    for at, one in enumerate(turns):
        got = len(one["matched"]) + len(one["extra"])
        expected = len(one["matched"]) + len(one["missing"])
        sides = (
            _calls(ours[:got], one.get("got_args", ())),
            _calls(theirs[:expected], one.get("expected_args", ())),
        )
        yield _cut(f"turn {at}" if len(turns) > 1 else "", _aligned(one, *sides))
        ours, theirs = ours[got:], theirs[expected:]


def _cut(title: str, places: Iterator[Place]) -> Turn:
    found = [*places]
    return Turn(title, found[:MOST], max(0, len(found) - MOST))


def _calls(names: Sequence[str], args: Sequence[str]) -> list[Call]:
    texts = [*args, *([""] * (len(names) - len(args)))]
    return [
        Call(printable(name), tuple(printable_lines(text)) if text else ())
        for name, text in zip(names, texts, strict=False)
    ]


def _aligned(one: dict[str, Any], ours: list[Call], theirs: list[Call]) -> Iterator[Place]:
    """Yield the places in the order of what was expected; what was called besides after it."""
    pairs = {pair["expected"]: pair for pair in one["matched"]}
    answers = {pair["got"]: pair["expected"] for pair in one["matched"]}
    moved = set(one["misordered"])
    after: dict[int, list[Call]] = {}
    last = -1
    for index, call in enumerate(ours):
        last = answers.get(index, last)
        if index not in answers:
            after.setdefault(last, []).append(call)
    for index in range(-1, len(theirs)):
        if index in pairs:
            yield _pair(pairs[index], ours, theirs, moved)
        elif index >= 0:
            yield Place(theirs[index], None, "lacks")
        yield from (Place(None, call, "besides") for call in after.get(index, ()))


def _pair(pair: dict[str, Any], ours: list[Call], theirs: list[Call], moved: set[int]) -> Place:
    mark: Mark = "moved" if pair["got"] in moved else "same"
    if pair["similarity"] < 1:
        mark = "differs"
    told = tuple(_difference(place) for place in pair["differences"])
    return Place(_at(theirs, pair["expected"]), _at(ours, pair["got"]), mark, told)


def _at(calls: list[Call], index: int) -> Call:
    return calls[index] if index < len(calls) else Call("?")


def _by_name(ours: list[str], theirs: list[str]) -> Iterator[Place]:
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    got, expected = _calls(ours, ()), _calls(theirs, ())
    for what, start, end, first, last in matcher.get_opcodes():
        if what == "equal":
            for wanted, call in zip(expected[start:end], got[first:last], strict=True):
                yield Place(wanted, call, "same")
            continue
        yield from (Place(wanted, None, "lacks") for wanted in expected[start:end])
        yield from (Place(None, call, "besides") for call in got[first:last])


def _difference(place: dict[str, Any]) -> str:
    sides = [
        f"{side} {shorten(place[side], 200)}" if side in place else f"{side} nothing"
        for side in ("expected", "got")
    ]
    return printable(f"{place['path']}: {', '.join(sides)}" if place["path"] else ", ".join(sides))
