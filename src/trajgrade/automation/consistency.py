"""Consistency: what is wrong between the rules of one file, or with the fields they look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trajgrade.automation.items import SEEN
from trajgrade.errors import unknown
from trajgrade.matching.paths import parse

if TYPE_CHECKING:
    from trajgrade.automation.rules import Rule

_TRAJECTORY = "trajectory"


def faults_between(rules: Sequence[Rule]) -> list[str]:
    """Return what is wrong with rules, each of which may be right by itself.

    Two evaluators that give one score, of which the last would silently count; a score that is
    looked at, and that no rule gives; a field that no trajectory has.
    """
    return [*_twice(rules), *_never_given(rules), *_never_there(rules)]


def _twice(rules: Sequence[Rule]) -> Iterator[str]:
    givers: dict[str, list[str]] = {}
    for rule in rules:
        for key in rule.gives if rule.enabled else ():
            givers.setdefault(key, []).append(rule.name)
    for key, names in givers.items():
        if len(names) > 1:
            yield (
                f"automation.rules: the score {key!r} is given {_by(names)}; give each a `key` of "
                "its own"
            )


def _by(names: Sequence[str]) -> str:
    unique = [*dict.fromkeys(names)]
    return f"by {' and by '.join(unique)}" if len(unique) > 1 else f"twice by {unique[0]}"


def _never_given(rules: Sequence[Rule]) -> Iterator[str]:
    if any(rule.may_give_any for rule in rules):
        return
    given = [*dict.fromkeys(key for rule in rules for key in rule.gives)]
    for rule in rules:
        for key in sorted(rule.scores_read.difference(given)):
            said = unknown("score", key, given) if given else "no rule has a `run_evaluator`"
            yield f"automation.rules: {rule.name} looks at scores.{key}: {said}"


def _never_there(rules: Sequence[Rule]) -> Iterator[str]:
    for rule in rules:
        for path in sorted(rule.when.fields):
            first, *rest = parse(path)
            if first == _TRAJECTORY and rest and rest[0] not in SEEN:
                said = unknown("field of a trajectory", rest[0], SEEN)
                yield f"automation.rules: {rule.name} looks at {path}: {said}"


def names_given_twice(names: Sequence[object]) -> list[str]:
    """Return what is wrong with the names of rules, as they are written."""
    counts = Counter(name for name in names if isinstance(name, str))
    return [
        f"automation.rules: the name {name!r} is given twice"
        for name, count in counts.items()
        if count > 1
    ]
