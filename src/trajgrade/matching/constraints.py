"""Constraints on the tools that are called, where no one list of calls is right (SEMANTICS A9).

    required     each was called at least once
    forbidden    none was called
    before       of each pair [a, b]: before b is first called, a was called; without b it holds
    one_of       of each group: exactly one of its members was called, once or more often
    min_calls    by tool: it was called that often at least
    max_calls    by tool: it was called that often at most
    optional     may be called; where this is given, a tool that no constraint names may not be

A tool is a name or a glob (`*` any text, `?` one character), and a glob stands for all tools that
it matches together: `max_calls: {"*": 5}` limits all calls. Arguments do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.matching.paths import glob

_glob = lru_cache(maxsize=1024)(glob)


class Constraints(msgspec.Struct, frozen=True, kw_only=True):
    """What holds of the names of the tools that a run calls, in order; the module says how."""

    required: Sequence[str] = ()
    forbidden: Sequence[str] = ()
    before: Sequence[Sequence[str]] = ()
    one_of: Sequence[Sequence[str]] = ()
    min_calls: Mapping[str, int] = {}
    max_calls: Mapping[str, int] = {}
    optional: Sequence[str] | None = None

    @property
    def count(self) -> int:
        """How many constraints there are."""
        return (
            sum(len(getattr(self, name)) for name in FIELDS if name != "optional")
            + (self.optional is not None)
        )  # fmt: skip


FIELDS = Constraints.__struct_fields__


class Violation(NamedTuple):
    """One constraint that does not hold.

    Attributes:
        constraint: Its kind, a field of `Constraints`.
        tools: The tools that it names.
        why: What was found instead.
        calls: The positions of the calls at fault.
    """

    constraint: str
    tools: tuple[str, ...]
    why: str
    calls: tuple[int, ...] = ()


class Called:
    """The names of the tools that were called, in order, asked by glob."""

    def __init__(self, names: Sequence[str]) -> None:
        self.places: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            self.places.setdefault(name, []).append(at)

    def matching(self, tool: str) -> list[int]:
        """Return the positions of the calls of a tool, in order."""
        if "*" not in tool and "?" not in tool:
            return self.places.get(tool, [])
        fits = _glob(tool).fullmatch
        return sorted(chain.from_iterable(at for name, at in self.places.items() if fits(name)))


def violations(constraints: Constraints, names: Sequence[str]) -> Iterator[Violation]:
    """Yield the constraints that the calls do not keep, in the order in which they are listed."""
    called = Called(names)
    for check in _CHECKS:
        yield from check(constraints, called)


def _required(constraints: Constraints, called: Called) -> Iterator[Violation]:
    for tool in constraints.required:
        if not called.matching(tool):
            yield Violation("required", (tool,), "was never called")


def _forbidden(constraints: Constraints, called: Called) -> Iterator[Violation]:
    for tool in constraints.forbidden:
        at = called.matching(tool)
        if at:
            yield Violation("forbidden", (tool,), "was called", tuple(at))


def _before(constraints: Constraints, called: Called) -> Iterator[Violation]:
    for first, then in constraints.before:
        later, earlier = called.matching(then), called.matching(first)
        if later and not (earlier and earlier[0] < later[0]):
            why = "was called only later" if earlier else "was never called"
            yield Violation("before", (first, then), why, (later[0],))


def _one_of(constraints: Constraints, called: Called) -> Iterator[Violation]:
    for group in constraints.one_of:
        found = [(tool, called.matching(tool)) for tool in group]
        some = [(tool, at) for tool, at in found if at]
        if len(some) == 1:
            continue
        why = f"{len(some)} of them were called" if some else "none of them was called"
        calls = tuple(sorted({place for _, at in some for place in at}))
        yield Violation("one_of", tuple(group), why, calls)


def _min_calls(constraints: Constraints, called: Called) -> Iterator[Violation]:
    for tool, least in constraints.min_calls.items():
        at = called.matching(tool)
        if len(at) < least:
            why = f"was called {len(at)} times, at least {least} are needed"
            yield Violation("min_calls", (tool,), why, tuple(at))


def _max_calls(constraints: Constraints, called: Called) -> Iterator[Violation]:
    for tool, most in constraints.max_calls.items():
        at = called.matching(tool)
        if len(at) > most:
            why = f"was called {len(at)} times, at most {most} are allowed"
            yield Violation("max_calls", (tool,), why, tuple(at[most:]))


def _optional(constraints: Constraints, called: Called) -> Iterator[Violation]:
    if constraints.optional is None:
        return
    allowed = {place for tool in named(constraints) for place in called.matching(tool)}
    others = {name: at for name, at in called.places.items() if at[0] not in allowed}
    if others:
        calls = tuple(sorted(chain.from_iterable(others.values())))
        yield Violation("optional", tuple(others), "was called, and no constraint names it", calls)


_CHECKS: Sequence[Callable[[Constraints, Called], Iterator[Violation]]] = (
    _required, _forbidden, _before, _one_of, _min_calls, _max_calls, _optional,
)  # fmt: skip


def named(constraints: Constraints) -> Iterator[str]:
    """Yield the tools that are named; a count by `*` limits all tools and names none."""
    yield from constraints.required
    yield from constraints.optional or ()
    yield from chain.from_iterable((*constraints.before, *constraints.one_of))
    for tool in (*constraints.min_calls, *constraints.max_calls):
        if tool.strip("*"):
            yield tool


def constraints_of(given: Mapping[str, Any], where: str = "") -> Constraints:
    """Return the constraints that are written.

    Args:
        given: The kinds, as in `Constraints`.
        where: The path to them, for messages.

    Raises:
        ConfigError: A kind that does not exist, one that has another form than it must, or none at
            all; holds all faults.
    """
    start = f"{where}." if where else ""
    faults = []
    for name, value in given.items():
        if name not in FIELDS:
            faults.append(f"{start}{unknown('constraint', name, FIELDS)}")
        elif value is not None:
            faults += [f"{start}{name}{fault}" for fault in _FORMS[name](value)]
    found = {name: value for name, value in given.items() if value is not None}
    if not faults:
        made = Constraints(**found)
        faults = [f"{start}{fault}" for fault in _contradictions(made)]
        if made.count and not faults:
            return made
    if not faults:
        faults = [f"{where or 'constraints'}: there are none; known are {', '.join(FIELDS)}"]
    raise ConfigError(*faults)


def _contradictions(made: Constraints) -> Iterator[str]:
    for tool in made.required:
        if tool in made.forbidden:
            yield f"forbidden: {shorten(tool)} is required as well"
    for tool, least in made.min_calls.items():
        if made.max_calls.get(tool, least) < least:
            yield f"max_calls: {shorten(tool)} has at least {least} calls by min_calls"


def _is_tool(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _listed(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _tools(value: Any) -> Iterator[str]:
    if not _listed(value) or not all(map(_is_tool, value)):
        yield f": a list of tools is needed, got {shorten(value)}"


def _pairs(value: Any) -> Iterator[str]:
    if not _listed(value):
        yield f": a list of pairs [first, then] is needed, got {shorten(value)}"
        return
    for at, pair in enumerate(value):
        if not _listed(pair) or len(pair) != 2 or not all(map(_is_tool, pair)):
            yield f"[{at}]: a pair of tools [first, then] is needed, got {shorten(pair)}"


def _groups(value: Any) -> Iterator[str]:
    if not _listed(value):
        yield f": a list of groups of tools is needed, got {shorten(value)}"
        return
    for at, group in enumerate(value):
        if not _listed(group) or len(group) < 2 or not all(map(_is_tool, group)):
            yield f"[{at}]: a list of two or more tools is needed, got {shorten(group)}"


def _counts(value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f": a mapping from tool to number is needed, got {shorten(value)}"
        return
    for tool, number in value.items():
        if not _is_tool(tool) or type(number) is not int or number < 0:
            yield f".{tool}: a number of calls from 0 is needed, got {shorten(number)}"


_FORMS: Mapping[str, Callable[[Any], Iterable[str]]] = {
    "required": _tools, "forbidden": _tools, "optional": _tools, "before": _pairs,
    "one_of": _groups, "min_calls": _counts, "max_calls": _counts,
}  # fmt: skip
