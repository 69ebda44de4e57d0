"""Comments and evidence: what a result says of the calls that were compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from trajgrade.errors import near, shorten
from trajgrade.matching.arguments import CompiledRule, none_as_empty
from trajgrade.matching.pairing import Pairing
from trajgrade.matching.paths import lookup
from trajgrade.matching.values import MISSING
from trajgrade.trajectory import ToolCall

LONGEST = 400
"""No comment is longer, whatever stands in a trace."""

_SAME_NAME = 85
"""How alike two tools' names are, of 100, when one is likely meant for the other."""


def clip(text: str, limit: int = LONGEST) -> str:
    """Cut a text that is too long."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def plain(text: str, limit: int = 60) -> str:
    """Write a name or a path of a trace on one line: what is not printable is escaped."""
    return clip(repr(text[:limit])[1:-1] + "…" * (len(text) > limit), limit)


def shown(value: Any, limit: int = 80) -> str:
    """Write a value of a trace on one line."""
    text = shorten(value, limit)
    return clip(text, limit) if text.isprintable() else plain(text, limit)


def show(call: ToolCall) -> str:
    """Write a call as a person would: `get_weather(city='Oslo')`."""
    args = none_as_empty(call.args)
    if call.args_state == "unknown":
        inner = "?"
    elif isinstance(args, dict):
        some = list(args.items())[:6]
        inner = ", ".join([f"{plain(str(name), 30)}={shown(value, 40)}" for name, value in some])
        inner += ", …" if len(args) > 6 else ""
    else:
        inner = shown(args)
    return f"{plain(call.name)}({clip(inner, 110)})"


def count(number: int, noun: str) -> str:
    """Write a number of things: `1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def contrast(rule: CompiledRule, expected: ToolCall, got: ToolCall) -> str:
    """Say how two calls differ under a rule: by name, or where in the arguments."""
    tool = rule.name(expected.name)
    if tool != rule.name(got.name):
        hint = " (a near name)" if near(got.name, [expected.name], _SAME_NAME) else ""
        return f"expected {show(expected)}, got {show(got)}{hint}"
    place = None
    if "unknown" not in (expected.args_state, got.args_state):
        place = next(rule.comparer(tool).disagreements(got.args, expected.args), None)
    if place is None:
        return f"expected {show(expected)}, got {show(got)}"
    where = f".{plain(place.path, 80)}" if place.path else ""
    return (
        f"{plain(expected.name)}{where}: expected {_value(place.expected)}, "
        f"got {_value(place.got)}{_types(place.expected, place.got)}"
    )


def _value(value: Any) -> str:
    return "nothing" if value is MISSING else shown(value)


def _types(expected: Any, got: Any) -> str:
    """Name the types where the values look alike."""
    kinds = type(expected), type(got)
    if expected is MISSING or got is MISSING or kinds[0] is kinds[1]:
        return ""
    return f" ({plain(kinds[0].__name__, 20)} against {plain(kinds[1].__name__, 20)})"


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
    return f"call {index}: {contrast(pairing.rule, pairing.theirs[index], pairing.ours[index])}"


@once
def first_missing(pairing: Pairing) -> str:
    """Say which call of the reference was not made, and the extra call that is most like it."""
    return _missing(pairing, pairing.missing, pairing.unmatched)


@once
def first_extra(pairing: Pairing) -> str:
    """Say which call of the agent has no partner in the reference."""
    return _extra(pairing, pairing.unmatched, pairing.missing)


@once
def first_unlike_any_made(pairing: Pairing) -> str:
    """Say which call of the reference agrees with no call of the agent."""
    return _missing(pairing, *_without_any(pairing))


@once
def first_unlike_any_expected(pairing: Pairing) -> str:
    """Say which call of the agent agrees with no call of the reference."""
    alone, extra = _without_any(pairing)
    return _extra(pairing, extra, alone)


def _without_any(pairing: Pairing) -> tuple[list[int], list[int]]:
    """Return the calls of the reference and of the agent that agree with none of the other side."""
    ours, theirs = pairing.partnered
    return (
        [j for j in range(len(pairing.theirs)) if j not in theirs],
        [i for i in range(len(pairing.ours)) if i not in ours],
    )


def _missing(pairing: Pairing, missing: Sequence[int], extra: Sequence[int]) -> str:
    if not missing:
        return "no call is missing"
    name, wanted = pairing.rule.name, pairing.theirs[missing[0]]
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    text = f"reference call {missing[0]} not made{more}"
    for i in extra:
        if name(pairing.ours[i].name) == name(wanted.name):
            return f"{text}: {contrast(pairing.rule, wanted, pairing.ours[i])} in call {i}"
    guess = near(wanted.name, {pairing.ours[i].name for i in extra}, _SAME_NAME)
    return f"{text}: {show(wanted)}" + (f" (called instead: {shown(guess)}?)" if guess else "")


def _extra(pairing: Pairing, extra: Sequence[int], missing: Sequence[int]) -> str:
    if not extra:
        return "no call is extra"
    name, call = pairing.rule.name, pairing.ours[extra[0]]
    more = f" and {len(extra) - 1} more" if len(extra) > 1 else ""
    text = f"call {extra[0]} is extra{more}"
    for j in missing:
        if name(pairing.theirs[j].name) == name(call.name):
            return f"{text}: {contrast(pairing.rule, pairing.theirs[j], call)}"
    return f"{text}: {show(call)}"


@once
def first_displaced(pairing: Pairing) -> str:
    """Say which call of the reference does not come in its order."""
    index = pairing.unembedded
    if index is None:
        return "every reference call comes in order"
    wanted = pairing.theirs[index]
    made = any(pairing.agree(call, wanted) for call in pairing.ours)
    if pairing.missing and (index in pairing.missing or not made):
        return first_missing(pairing)
    return f"reference call {index} is out of order: {show(wanted)}; {first_unequal(pairing)}"


@once
def first_apart(pairing: Pairing) -> str:
    """Say why calls do not match that are compared by message."""
    if pairing.missing:
        return first_missing(pairing)
    ours, theirs = pairing.messages or ((), ())
    why = f"messages of {_sizes(ours)} calls, expected {_sizes(theirs)}"
    if pairing.unmatched:
        return f"{why}; {first_extra(pairing)}"
    return why if pairing.strict else f"{why}; {first_unequal(pairing)}"


def _sizes(messages: Sequence[int]) -> str:
    return ", ".join(map(str, messages[:12])) + ", …" * (len(messages) > 12) or "no"


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
                        f"{turn_of(pairings, at)}the arguments of {side} {index} "
                        f"({plain(call.name)}) "
                        "were not recorded, and the outcome hangs on them"
                    )
    return "arguments were not recorded, and the outcome hangs on them"


def overrides_met(pairings: Sequence[Pairing]) -> dict[str, list[str]]:
    """Return what the rule names that some call has (`seen`), and which paths no call has."""
    seen: set[str] = set()
    named: set[str] = set()
    absent: set[str] = set()
    for pairing in pairings:
        rule = pairing.rule
        for call in (*pairing.ours, *pairing.theirs):
            tool = rule.name(call.name)
            alias = rule.alias_of(call.name)
            if alias is not None:
                named.add(alias)
            if rule.rule.ignore_keys:
                named |= rule.ignored_in(call.args)
            comparer = rule.by_tool.get(tool)
            if comparer is None:
                continue
            named.add(tool)
            args = comparer.prepare(call.args)
            for path, segments in zip(comparer.paths, comparer.comparators, strict=True):
                spot = f"{tool}: {path}"
                (absent if lookup(args, segments) is MISSING else seen).add(spot)
    return {"seen": sorted(seen | named), "absent": sorted(absent - seen)}
