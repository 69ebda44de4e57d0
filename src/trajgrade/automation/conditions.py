"""Conditions: whether an item fits `when:`, and if it does not, why.

    when: always
    when: {field: status, in: [error, failed]}
    when: {field: latency, gt: 5, lt: 10}                     every operator must hold
    when: [{field: a, exists: true}, {not: {field: b, equals: 1}}]     every one must hold
    when: {any: [{field: tags, contains: vip}, {field: trajectory.n_failed, gt: 0}]}

A field is a dotted path. Where the path meets a list, any of its items will do, unless an index is
given: `spans.status`, `spans[0].status`. What is compared is JSON: 1 is 1.0, a text is no number
and true is no number (SEMANTICS A2); numbers are compared with numbers only, unless
`numbers: text` asks for those in texts, too. A field that is not there fits `exists: false` and no
other operator. An operator or a key that does not exist is refused when the condition is read.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import regex

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.matching.paths import Segment, parse
from trajgrade.matching.values import is_number, same

TIMEOUT = 1.0  # seconds that one pattern may take on one text
_DEEPEST = 20


_SCORES = "scores."


class Fit(NamedTuple):
    """Whether an item fits.

    Attributes:
        holds: Whether it does.
        because: The part of the condition that decided, with what was found.
        is_unknown: Whether it cannot be said, since a score is not there; then it does not fit, and
            neither does the opposite.
    """

    holds: bool
    because: str
    is_unknown: bool = False


class Condition(Protocol):
    """What an item fits, or does not."""

    @abstractmethod
    def fit(self, item: Any) -> Fit:
        """Return whether the item fits, and why."""
        ...

    @property
    @abstractmethod
    def fields(self) -> Iterable[str]:
        """The paths that it looks at."""
        ...


@dataclass(frozen=True)
class Always:
    """Every item fits."""

    fields: tuple[str, ...] = ()

    def fit(self, _item: Any) -> Fit:
        """Return that it fits."""
        return Fit(holds=True, because="always")


@dataclass(frozen=True)
class Field:
    """A value at a path, for which every operator holds."""

    path: str
    tests: tuple[tuple[str, Any], ...]
    numbers_in_text: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The path."""
        return (self.path,)

    def fit(self, item: Any) -> Fit:
        """Return whether a value at the path fits every operator."""
        found = [*values_at(item, parse(self.path))]
        is_score = self.path.startswith(_SCORES)
        if is_score:  # one that was not evaluated is none
            found = [value for value in found if value is not None]
        tests = dict(self.tests)
        wanted = tests.pop("exists", None)
        if wanted is not None and bool(found) is not wanted:
            return Fit(holds=False, because=f"{self.path}: {_is_there(there=bool(found))}")
        if not tests:
            return Fit(holds=True, because=f"{self.path}: {_is_there(there=bool(found))}")
        if not found:
            because = f"{self.path}: is not there"
            return Fit(holds=False, because=because, is_unknown=is_score)
        failed: str = ""
        for value in found:
            given = _number_in(value) if self.numbers_in_text else value
            faults = [t for t, wanted in tests.items() if not OPERATORS[t].holds(given, wanted)]
            if not faults:
                return Fit(holds=True, because=f"{self.path}: {shorten(value)}")
            failed = failed or f"{faults[0]} {shorten(tests[faults[0]])}, found {shorten(value)}"
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return Fit(holds=False, because=f"{self.path}: {failed}{more}")


@dataclass(frozen=True)
class Every:
    """All conditions hold."""

    parts: tuple[Condition, ...]

    @property
    def fields(self) -> Iterator[str]:
        """The paths of all parts."""
        return (path for part in self.parts for path in part.fields)

    def fit(self, item: Any) -> Fit:
        """Return the first part that does not fit, or that all do."""
        fits = []
        unknown: Fit | None = None
        for part in self.parts:
            fit = part.fit(item)
            if fit.is_unknown:
                unknown = unknown or fit
            elif not fit.holds:
                return fit
            fits.append(fit.because)
        return unknown or Fit(holds=True, because="; ".join(fits))


@dataclass(frozen=True)
class AnyOf:
    """At least one condition holds."""

    parts: tuple[Condition, ...]

    @property
    def fields(self) -> Iterator[str]:
        """The paths of all parts."""
        return (path for part in self.parts for path in part.fields)

    def fit(self, item: Any) -> Fit:
        """Return the first part that fits, or why none does."""
        faults = []
        is_unknown = False
        for part in self.parts:
            fit = part.fit(item)
            if fit.holds:
                return fit
            is_unknown = is_unknown or fit.is_unknown
            faults.append(fit.because)
        because = f"none of: {'; '.join(faults)}"
        return Fit(holds=False, because=because, is_unknown=is_unknown)


@dataclass(frozen=True)
class Not:
    """The condition does not hold."""

    part: Condition

    @property
    def fields(self) -> Iterable[str]:
        """The paths of the part."""
        return self.part.fields

    def fit(self, item: Any) -> Fit:
        """Return the opposite; of what cannot be said, neither fits."""
        fit = self.part.fit(item)
        holds = not fit.holds and not fit.is_unknown
        return Fit(holds=holds, because=f"not: {fit.because}", is_unknown=fit.is_unknown)


def values_at(value: Any, path: Sequence[Segment]) -> Iterator[Any]:
    """Yield what stands at the path, in every item of a list that it meets without an index."""
    if not path:
        yield value
        return
    head, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        if head in value:
            yield from values_at(value[head], rest)
    elif isinstance(value, (list, tuple)):
        if isinstance(head, str):
            for item in value:
                yield from values_at(item, path)
        elif -len(value) <= head < len(value):
            yield from values_at(value[head], rest)


def _is_there(*, there: bool) -> str:
    return "is there" if there else "is not there"


def _number_in(value: Any) -> Any:
    """Return the number that a text holds, else the value."""
    if isinstance(value, str) and len(value) < 400:
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


# ------------------------------------------------------------------------------ operators


class Operator(NamedTuple):
    """One operator.

    Attributes:
        holds: Whether it holds between the value found and the one written.
        fault: What is wrong with the value written, None where nothing is.
    """

    holds: Callable[[Any, Any], bool]
    fault: Callable[[Any], str | None]


def _in(found: Any, wanted: Sequence[Any]) -> bool:
    return any(same(found, one) for one in wanted)


def _contains(found: Any, wanted: Any) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    if isinstance(found, (list, tuple)):
        return any(same(one, wanted) for one in found)
    return isinstance(found, Mapping) and wanted in found


def _compared(compare: Callable[[Any, Any], bool], found: Any, wanted: Any) -> bool:
    return is_number(found) and bool(compare(found, wanted))


def _matches(found: Any, wanted: str) -> bool:
    if not isinstance(found, str):
        return False
    return regex.search(wanted, found, timeout=TIMEOUT) is not None


def _anything(_wanted: Any) -> None:
    return None


def _list_fault(wanted: Any) -> str | None:
    good = isinstance(wanted, list) and wanted
    return None if good else f"a list of values is needed, got {shorten(wanted)}"


def _number_fault(wanted: Any) -> str | None:
    good = is_number(wanted) and wanted == wanted  # noqa: PLR0124 a NaN is the number that is not
    return None if good else f"a number is needed, got {shorten(wanted)}"


def _needle_fault(wanted: Any) -> str | None:
    return "an empty text is in every text" if wanted == "" else None


def _flag_fault(wanted: Any) -> str | None:
    return None if isinstance(wanted, bool) else f"true or false is needed, got {shorten(wanted)}"


def _pattern_fault(wanted: Any) -> str | None:
    if not isinstance(wanted, str):
        return f"a pattern is needed, got {shorten(wanted)}"
    try:
        regex.compile(wanted)
    except regex.error as wrong:
        return f"{shorten(wanted)} is no pattern: {wrong}"
    return None


OPERATORS: dict[str, Operator] = {
    "equals": Operator(same, _anything),
    "in": Operator(_in, _list_fault),
    "contains": Operator(_contains, _needle_fault),
    "exists": Operator(lambda _found, wanted: wanted is True, _flag_fault),
    "lt": Operator(partial(_compared, operator.lt), _number_fault),
    "lte": Operator(partial(_compared, operator.le), _number_fault),
    "gt": Operator(partial(_compared, operator.gt), _number_fault),
    "gte": Operator(partial(_compared, operator.ge), _number_fault),
    "matches": Operator(_matches, _pattern_fault),
}
_GROUPS = ("all", "any", "not")


# ------------------------------------------------------------------------------ reading


def read(when: Any, where: str = "when", depth: int = 0) -> Condition:
    """Read a condition.

    Args:
        when: What is written: `always`, an object, or a list of them.
        where: Its path, for messages.
        depth: How deep it is nested in others.

    Raises:
        ConfigError: Anything is wrong; holds all faults, each with its path.
    """
    if when == "always":
        return Always()
    if depth > _DEEPEST:
        raise ConfigError(f"{where}: nested more than {_DEEPEST} deep")
    if isinstance(when, list) and when:
        return Every(_all_read(when, where, depth))
    if isinstance(when, Mapping) and when:
        return _object(when, where, depth)
    raise ConfigError(
        f"{where}: a condition is needed: {{field: …, equals: …}}, a list of those, or `always` "
        f"for every item; got {shorten(when)}"
    )


def _all_read(parts: Sequence[Any], where: str, depth: int) -> tuple[Condition, ...]:
    found: list[Condition] = []
    faults: list[str] = []
    for place, part in enumerate(parts):
        try:
            found.append(read(part, f"{where}[{place}]", depth + 1))
        except ConfigError as wrong:
            faults += wrong.faults
    if faults:
        raise ConfigError(*faults)
    return tuple(found)


def _object(when: Mapping[Any, Any], where: str, depth: int) -> Condition:
    if "field" in when:
        return _field(when, where)
    faults = [
        f"{where}: {unknown('key', k, ['field', *_GROUPS])}" for k in when if k not in _GROUPS
    ]
    parts: list[Condition] = []
    for name in _GROUPS:
        if name not in when or faults:
            continue
        inner, place = when[name], f"{where}.{name}"
        if name == "not":
            parts.append(Not(read(inner, place, depth + 1)))
        elif not isinstance(inner, list) or not inner:
            faults.append(f"{place}: a list of conditions is needed, got {shorten(inner)}")
        else:
            group = Every if name == "all" else AnyOf
            parts.append(group(_all_read(inner, place, depth)))
    if faults:
        raise ConfigError(*faults)
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _field(when: Mapping[Any, Any], where: str) -> Condition:
    faults: list[str] = []
    path = when["field"]
    try:
        parse(path)
    except (ConfigError, TypeError):
        faults.append(rf"{where}.field: {shorten(path)} is no path: write a.b[0].c")
    known = ["field", "numbers", *OPERATORS]
    tests = {name: wanted for name, wanted in when.items() if name in OPERATORS}
    for name in when:
        if name not in known:
            hint = " (conditions are combined by a list, or by all, any and not)"
            note = hint if name in _GROUPS else ""
            faults.append(f"{where}: {unknown('operator', name, [*OPERATORS])}{note}")
    for name, wanted in tests.items():
        fault = OPERATORS[name].fault(wanted)
        if fault is not None:
            faults.append(f"{where}.{name}: {fault}")
    if when.get("numbers", "text") != "text":
        faults.append(f"{where}.numbers: `text` is the only choice, got {shorten(when['numbers'])}")
    if not tests and not faults:
        faults.append(f"{where}: an operator is needed: {', '.join(OPERATORS)}")
    if tests.get("exists") is False and len(tests) > 1:
        faults.append(f"{where}: `exists: false` and another operator never hold together")
    if faults:
        raise ConfigError(*faults)
    return Field(path, tuple(tests.items()), "numbers" in when)
