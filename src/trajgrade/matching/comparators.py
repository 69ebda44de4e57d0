"""Comparators of two argument values (SEMANTICS A1): each reads (agent, reference).

Written in data as a name (`casefold`), or as a mapping of one name to its parameter or parameters
(`{number: {abs: 0.5}}`, `{one_of: [a, b]}`, `{regex: "A-[0-9]+"}`); in Python also as a callable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

import regex

from trajgrade.errors import ConfigError, unknown
from trajgrade.jsontext import loads
from trajgrade.matching.values import canonical, is_number, same

Comparator = Callable[[Any, Any], bool]

REGEX_SECONDS = 1.0


def exact() -> Comparator:
    """Equality of SEMANTICS A2."""
    return same


def ignore() -> Comparator:
    """Whatever stands there agrees, also nothing."""
    return always


def always(_got: Any, _expected: Any) -> bool:
    """Agree."""
    return True


def casefold() -> Comparator:
    """Texts that differ in case only agree."""

    def agrees(got: Any, expected: Any) -> bool:
        if isinstance(got, str) and isinstance(expected, str):
            return got.casefold() == expected.casefold()
        return same(got, expected)

    return agrees


def number(abs: float = 0.0, rel: float = 0.0) -> Comparator:  # noqa: A002 the law's own word
    """`|agent - reference| <= max(abs, rel * |reference|)`, in exact decimal arithmetic."""
    for name, value in (("abs", abs), ("rel", rel)):
        if not _finite(value) or value < 0:
            raise ConfigError(f"comparator number: {name} must be a number >= 0, got {value!r}")
    absolute, relative = _decimal(abs), _decimal(rel)

    def agrees(got: Any, expected: Any) -> bool:
        if not (_finite(got) and _finite(expected)):
            return same(got, expected)
        theirs = _decimal(expected)
        distance = _decimal(got) - theirs
        return max(distance, -distance) <= max(absolute, relative * max(theirs, -theirs))

    return agrees


def _finite(value: Any) -> bool:
    """Whether the value is a number at a distance from others; an integer may be of any size."""
    return is_number(value) and (isinstance(value, int) or math.isfinite(value))


def _decimal(value: float) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def matches(pattern: str | None = None) -> Comparator:
    """The agent's text matches the pattern, or the reference read as one, in full."""
    if pattern is not None:
        _compiled(pattern)

    def agrees(got: Any, expected: Any) -> bool:
        source = expected if pattern is None else pattern
        if not isinstance(got, str) or not isinstance(source, str):
            return False
        return _compiled(source).fullmatch(got, timeout=REGEX_SECONDS) is not None

    return agrees


def _compiled(pattern: Any) -> regex.Pattern[str]:
    try:
        return regex.compile(pattern)
    except (regex.error, TypeError) as wrong:
        raise ConfigError(f"comparator regex: {pattern!r} is no pattern: {wrong}") from wrong


def one_of(values: list[Any] | None = None) -> Comparator:
    """The agent's value equals one of the list, or of the reference read as one."""
    if values is not None and not isinstance(values, (list, tuple)):
        raise ConfigError(f"comparator one_of: a list is needed, got {values!r}")

    def agrees(got: Any, expected: Any) -> bool:
        allowed = expected if values is None else values
        return isinstance(allowed, (list, tuple)) and any(same(got, value) for value in allowed)

    return agrees


def unordered() -> Comparator:
    """Lists agree as multisets."""

    def agrees(got: Any, expected: Any) -> bool:
        if isinstance(got, (list, tuple)) and isinstance(expected, (list, tuple)):
            return Counter(map(canonical, got)) == Counter(map(canonical, expected))
        return same(got, expected)

    return agrees


def instant() -> Comparator:
    """Equal instants of ISO 8601; a naive time is UTC; a date alone equals a date alone."""

    def agrees(got: Any, expected: Any) -> bool:
        ours, theirs = _instant(got), _instant(expected)
        if ours is None or theirs is None:
            return same(got, expected)
        return type(ours) is type(theirs) and ours == theirs

    return agrees


def _instant(value: Any) -> date | datetime | None:
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parsed() -> Comparator:
    """Text on either side is parsed as JSON first, then equality of SEMANTICS A2."""

    def agrees(got: Any, expected: Any) -> bool:
        return same(_parsed(got), _parsed(expected))

    return agrees


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except ValueError:
        return value


COMPARATORS: dict[str, Callable[..., Comparator]] = {
    "casefold": casefold,
    "date": instant,
    "exact": exact,
    "ignore": ignore,
    "json": parsed,
    "number": number,
    "one_of": one_of,
    "regex": matches,
    "unordered": unordered,
}


def build(spec: Any, where: str) -> Comparator:
    """Make a comparator of its written form.

    Raises:
        ConfigError: The form, the name or a parameter is wrong.
    """
    if callable(spec):
        return spec  # type: ignore[no-any-return]  # the caller's function
    if isinstance(spec, str):
        name, params = spec, None
    elif isinstance(spec, Mapping) and len(spec) == 1:
        ((name, params),) = spec.items()
    else:
        raise ConfigError(
            f"{where}: {spec!r} is no comparator: give a name, one name with its parameters, "
            f"or a function. Known: {', '.join(COMPARATORS)}"
        )
    factory = COMPARATORS.get(name)
    if factory is None:
        raise ConfigError(f"{where}: {unknown('comparator', name, sorted(COMPARATORS))}")
    try:
        if params is None:
            return factory()
        return factory(**params) if isinstance(params, Mapping) else factory(params)
    except ConfigError as wrong:
        raise ConfigError(f"{where}: {wrong}") from wrong
    except TypeError as wrong:
        raise ConfigError(f"{where}: comparator {name}: {wrong}") from wrong
