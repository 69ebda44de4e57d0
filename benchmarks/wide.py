"""One long trajectory against a shuffled reference: how the time grows with the number of calls.

Four workloads: calls that are all distinct, many equal (ten kinds), all equal, and distinct with a
tenth changed. For each argument mode the time is that of one unordered match, trajectories in; for
alignment that of the pairs and their differences. `worst` are cases made to be hard: calls that all
contain each other's arguments, nested sets, comparators, one tool only.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from measure import best_of, say, show, table

from trajgrade.evaluators import TrajectoryMatchEvaluator
from trajgrade.trajectory import ToolCall, Trajectory

Calls = list[ToolCall]
Both = tuple[Calls, Calls]
Make = Callable[[int], Both]
SIZES = (10, 100, 1000, 5000)
TOOLS = ("search", "book", "cancel", "pay", "look_up")


class Case(NamedTuple):
    """One line of the table: what is timed, on which calls, and in how many ms it should be done.

    Attributes:
        what: Its name.
        calls: Makes the agent's calls and the reference's, not yet shuffled.
        params: The evaluator's parameters.
        align: The order of the alignment; None where calls are matched only.
        aims: The most milliseconds, by the number of calls.
        upto: The largest size that is tried.
    """

    what: str
    calls: Make
    params: dict[str, Any]
    align: str | None = None
    aims: Mapping[int, float] = MappingProxyType({})
    upto: int = 5000


def _call(number: int, tools: int = len(TOOLS), **more: Any) -> ToolCall:
    args = {"id": f"R{number}", "city": f"c{number % 7}", "count": number % 3, **more}
    return ToolCall(TOOLS[number % tools], args)


def distinct(size: int) -> Both:
    """Return calls of which no two are equal."""
    return [_call(n) for n in range(size)], [_call(n) for n in range(size)]


def many_equal(size: int) -> Both:
    """Return calls of ten kinds."""
    return [_call(n % 10) for n in range(size)], [_call(n % 10) for n in range(size)]


def all_equal(size: int) -> Both:
    """Return one call, many times."""
    return [_call(0) for _ in range(size)], [_call(0) for _ in range(size)]


def changed(size: int) -> Both:
    """Return distinct calls, of which the reference has a tenth otherwise."""
    ours, theirs = distinct(size)
    for place in range(0, size, 10):
        theirs[place] = _call(place, city="elsewhere")
    return ours, theirs


def all_changed(size: int) -> Both:
    """Return calls that all differ from the reference's in one argument."""
    return [_call(n) for n in range(size)], [_call(n, city="elsewhere") for n in range(size)]


def narrower(size: int) -> Both:
    """Return calls whose arguments are a part of the reference's."""
    return [_call(n) for n in range(size)], [_call(n, extra=n) for n in range(size)]


def wider(size: int) -> Both:
    """Return calls whose arguments have the reference's as a part."""
    ours, theirs = narrower(size)
    return theirs, ours


ODD = ToolCall("search", {"odd": "one out"})  # so that the lists do not agree call by call


def each_in_each(size: int) -> Both:
    """Return equal calls, contained in every call of the reference."""
    ours = [ToolCall("search", {"city": "Oslo"}) for _ in range(size)]
    return [*ours, ODD], [ToolCall("search", {"city": "Oslo", "page": n}) for n in range(size)]


def each_in_each_distinct(size: int) -> Both:
    """Return calls of up to 4096 kinds, contained in every call of the reference."""
    keys = range(12)
    sets = [{f"k{key}": 1 for key in keys if number >> key & 1} for number in range(size)]
    ours = [ToolCall("search", args) for args in sets]
    whole = {f"k{key}": 1 for key in keys}
    return [*ours, ODD], [ToolCall("search", {**whole, "page": n}) for n in range(size)]


def too_few(size: int) -> Both:
    """Return calls of which half have no partner, though every one has many candidates."""
    ours, theirs = each_in_each(size)
    half = size // 2
    return ours, theirs[:half] + [ToolCall("search", {"page": n}) for n in range(size - half)]


def no_rare_item(size: int) -> Both:
    """Return calls whose every argument is one of two values."""

    def args(number: int, bits: int) -> dict[str, Any]:
        return {f"k{bit}": (number >> bit) & 1 for bit in range(bits)}

    ours = [ToolCall("search", args(n, 4)) for n in range(size)]
    return ours, [ToolCall("search", args(n, 13)) for n in range(size)]


def chain(size: int) -> Both:
    """Return calls of 40 kinds, each contained in those that come after it."""
    sets = [{f"k{key}": 1 for key in range(n % 40 + 1)} for n in range(size)]
    ours = [ToolCall("search", args) for args in sets]
    return ours, [ToolCall("search", {**args, f"k{len(args)}": 1}) for args in sets]


def nested(size: int) -> Both:
    """Return calls whose nested arguments are a part of the reference's."""
    ours = [_call(n, of={"a": n % 5, "b": [{"c": 1}]}) for n in range(size)]
    return ours, [_call(n, of={"a": n % 5, "b": [{"c": 1, "d": n}]}) for n in range(size)]


def one_tool_changed(size: int) -> Both:
    """Return calls of one tool that differ in a tenth."""
    ours = [_call(n, tools=1) for n in range(size)]
    theirs = [_call(n, tools=1) for n in range(size)]
    for place in range(0, size, 10):
        theirs[place] = _call(place, tools=1, city="elsewhere")
    return ours, theirs


def one_tool_all_changed(size: int) -> Both:
    """Return calls of one tool that all differ from the reference's."""
    ours = [_call(n, tools=1) for n in range(size)]
    return ours, [_call(n, tools=1, city="elsewhere") for n in range(size)]


def one_tool_random(size: int) -> Both:
    """Return calls of one tool with arguments drawn at random: all pairs are somewhat alike."""
    chance = random.Random(size)

    def drawn() -> ToolCall:
        return ToolCall("search", {f"k{key}": chance.randrange(20) for key in range(8)})

    return [drawn() for _ in range(size)], [drawn() for _ in range(size)]


WORKLOADS = {
    "distinct": distinct, "many equal": many_equal, "all equal": all_equal, "10 % changed": changed,
}  # fmt: skip
CONTAINED = {1000: 50.0, 5000: 500.0}
NEAR = {"tool_args_match_overrides": {tool: {"count": "number"} for tool in TOOLS}}


def cases() -> Iterator[Case]:
    """Yield all that is timed."""
    for mode in ("exact", "ignore", "subset", "superset"):
        aims = {5000: 50.0} if mode in ("exact", "ignore") else CONTAINED
        for name, make in WORKLOADS.items():
            params = {"mode": "unordered", "tool_args_match_mode": mode}
            yield Case(f"{mode}, {name}", make, params, aims=aims)
    for name, make in {
        "narrower": narrower, "each in each": each_in_each,
        "each in each, distinct": each_in_each_distinct, "too few": too_few,
        "no rare item": no_rare_item, "a chain": chain,
    }.items():  # fmt: skip
        params = {"mode": "subset", "tool_args_match_mode": "subset"}
        yield Case(f"worst: subset, {name}", make, params, aims=CONTAINED)
    params = {"mode": "superset", "tool_args_match_mode": "superset"}
    yield Case("worst: superset, wider", wider, params, aims=CONTAINED)
    params = {"mode": "subset", "tool_args_match_mode": "subset", "deep": True}
    yield Case("worst: subset, nested", nested, params)
    yield Case("worst: a comparator", changed, {"mode": "unordered", **NEAR})
    for order in ("any", "in_order"):
        for name, make in WORKLOADS.items():
            aims = {1000: 1000.0}
            yield Case(f"alignment {order}, {name}", make, {}, order, aims, 1000)
        for name, make in {
            "all changed": all_changed, "one tool, 10 % changed": one_tool_changed,
            "one tool, all changed": one_tool_all_changed, "one tool, random": one_tool_random,
        }.items():  # fmt: skip
            aims = {1000: 1000.0 if "10 %" in name else 3000.0}
            yield Case(f"alignment {order}, {name}", make, {}, order, aims, 1000)


def seconds(case: Case, size: int, rounds: int) -> float:
    """Return the best time of one case at one size."""
    chance = random.Random(size)
    ours, theirs = case.calls(size)
    chance.shuffle(theirs)
    evaluator = TrajectoryMatchEvaluator(**case.params)

    def fresh() -> dict[str, Any]:
        return {
            "outputs": Trajectory(tool_calls=ours),
            "reference_outputs": Trajectory(tool_calls=theirs),
        }

    def run(given: dict[str, Any]) -> None:
        if case.align:
            evaluator.alignment(**given, order=case.align)
        else:
            evaluator.evaluate(**given)

    return best_of(run, fresh, 1 if size > 1000 else rounds)


def main() -> None:
    """Run it all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts")
    parser.add_argument("--only", default="", help="a part of the names of the cases to run")
    given = parser.parse_args()
    lines = []
    missed = 0
    for case in cases():
        if given.only not in case.what:
            continue
        line = [case.what]
        verdicts = []
        for size in SIZES:
            say(f"{case.what}, {size} calls")
            if size > case.upto:
                line.append("")
                continue
            taken = 1000 * seconds(case, size, given.rounds)
            line.append(f"{taken:.1f}")
            if size in case.aims:
                verdicts.append(taken <= case.aims[size])
        aims = ", ".join(f"{most:g} at {size}" for size, most in case.aims.items())
        missed += verdicts.count(False)
        lines.append([*line, aims, "" if not verdicts else "met" if all(verdicts) else "missed"])
    say("")
    show("Milliseconds of CPU time, one trajectory against its shuffled reference")
    show()
    show(table(["calls", *map(str, SIZES), "aim", ""], lines))
    show()
    show(f"aims missed: {missed}")


if __name__ == "__main__":
    main()
