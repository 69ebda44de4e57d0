"""Comments and evidence: what a result says of the calls that were compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from trajgrade.errors import near, shorten
from trajgrade.matching.arguments import none_as_empty
from trajgrade.matching.pairing import Pairing
from trajgrade.matching.paths import lookup
from trajgrade.matching.values import MISSING, differences
from trajgrade.trajectory import ToolCall


def show(call: ToolCall) -> str:
    """Write a call as a person would: `get_weather(city='Oslo')`."""
    args = none_as_empty(call.args)
    if call.args_state == "unknown":
        return f"{shorten(call.name)[1:-1]}(?)"
    if isinstance(args, dict):
        inner = ", ".join(f"{name}={shorten(value, 40)}" for name, value in list(args.items())[:6])
        inner += ", …" if len(args) > 6 else ""
    else:
        inner = shorten(args)
    return f"{shorten(call.name)[1:-1]}({inner})"


def contrast(expected: ToolCall, got: ToolCall) -> str:
    """Say how two calls differ: by name, or where in the arguments."""
    if expected.name != got.name:
        hint = " (a near name)" if near(got.name, [expected.name]) else ""
        return f"expected {show(expected)}, got {show(got)}{hint}"
    places = differences(none_as_empty(got.args), none_as_empty(expected.args))
    place = next(places, None)
    if place is None:
        return f"expected {show(expected)}, got {show(got)}"
    where = f".{place.path}" if place.path else ""
    return (
        f"{shorten(expected.name)[1:-1]}{where}: expected {_value(place.expected)}, "
        f"got {_value(place.got)}{_types(place.expected, place.got)}"
    )


def _value(value: Any) -> str:
    return "nothing" if value is MISSING else shorten(value)


def _types(expected: Any, got: Any) -> str:
    """Name the types where the values look alike."""
    if MISSING in (expected, got) or type(expected) is type(got):
        return ""
    return f" ({type(expected).__name__} against {type(got).__name__})"


def once(say: Callable[[Pairing], str]) -> Callable[[Pairing], str]:
    """Let a pairing be put into words once, for all metrics that say the same of it."""
    name = say.__name__

    @wraps(say)
    def remembered(pairing: Pairing) -> str:
        words = pairing.words
        if name not in words:
            words[name] = say(pairing)
        said: str = words[name]
        return said

    return remembered


@once
def first_unequal(pairing: Pairing) -> str:
    """Say where two lists of calls first differ, position by position."""
    index = pairing.first_unequal
    if index is None:
        return "every call agrees"
    if index == len(pairing.ours):
        return f"call {index}: expected {show(pairing.theirs[index])}, got no call"
    if index == len(pairing.theirs):
        return f"call {index}: expected no more calls, got {show(pairing.ours[index])}"
    return f"call {index}: {contrast(pairing.theirs[index], pairing.ours[index])}"


@once
def first_missing(pairing: Pairing) -> str:
    """Say which call of the reference was not made, and the extra call that is most like it."""
    missing = pairing.missing
    if not missing:
        return "no call is missing"
    wanted = pairing.theirs[missing[0]]
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    candidates = [i for i in pairing.unmatched if pairing.ours[i].name == wanted.name]
    if candidates:
        found = pairing.ours[candidates[0]]
        return f"reference call {missing[0]} not made{more}: {contrast(wanted, found)}"
    guess = near(wanted.name, {pairing.ours[i].name for i in pairing.unmatched})
    hint = f" (called instead: {guess!r}?)" if guess else ""
    return f"reference call {missing[0]} not made{more}: {show(wanted)}{hint}"


@once
def first_extra(pairing: Pairing) -> str:
    """Say which call of the agent has no partner in the reference."""
    extra = pairing.unmatched
    if not extra:
        return "no call is extra"
    more = f" and {len(extra) - 1} more" if len(extra) > 1 else ""
    call = pairing.ours[extra[0]]
    candidates = [j for j in pairing.missing if pairing.theirs[j].name == call.name]
    if candidates:
        return f"call {extra[0]} is extra{more}: {contrast(pairing.theirs[candidates[0]], call)}"
    return f"call {extra[0]} is extra{more}: {show(call)}"


@once
def first_displaced(pairing: Pairing) -> str:
    """Say which call of the reference does not come in its order."""
    index = pairing.unembedded
    if index is None:
        return "every reference call comes in order"
    wanted = pairing.theirs[index]
    made = any(pairing.agree(call, wanted) for call in pairing.ours)
    if not made:
        return first_missing(pairing) if pairing.missing else f"{show(wanted)} was not made"
    return f"reference call {index} is out of order: {show(wanted)}; {first_unequal(pairing)}"


def turn_of(pairings: Sequence[Pairing], at: int) -> str:
    """Name the turn where there are several."""
    return f"turn {at}: " if len(pairings) > 1 else ""


def hinges_on(pairings: Sequence[Pairing]) -> str:
    """Say which call's arguments were not recorded, on which the outcome hangs."""
    for at, pairing in enumerate(pairings):
        for side, calls in (("call", pairing.ours), ("reference call", pairing.theirs)):
            for index, call in enumerate(calls):
                if call.args_state == "unknown":
                    return (
                        f"{turn_of(pairings, at)}the arguments of {side} {index} ({call.name}) "
                        "were not recorded, and the outcome hangs on them"
                    )
    return "arguments were not recorded, and the outcome hangs on them"


def overrides_met(pairings: Sequence[Pairing]) -> dict[str, list[str]]:
    """Return which overrides and paths some call has (`seen`), and which paths no call has."""
    seen: set[str] = set()
    named: set[str] = set()
    absent: set[str] = set()
    for pairing in pairings:
        rule = pairing.rule
        for call in (*pairing.ours, *pairing.theirs):
            tool = rule.name(call.name)
            comparer = rule.by_tool.get(tool)
            if comparer is None:
                continue
            named.add(tool)
            args = comparer.prepare(call.args)
            for path, segments in zip(comparer.paths, comparer.comparators, strict=True):
                spot = f"{tool}: {path}"
                (absent if lookup(args, segments) is MISSING else seen).add(spot)
    return {"seen": sorted(seen | named), "absent": sorted(absent - seen)}
