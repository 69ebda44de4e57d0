"""Evaluators as they are written: the spellings of YAML and the command, their keys, their success.

    name                                     trajectory_match
    {name: parameters}                       trajectory_match: {mode: unordered}
    {name, params, key, pass}                name: trajectory_f1, key: f1, pass: 0.8

`pass` is the least score that is a success, for pass@k and pass^k; it may stand among the
parameters as well. Every fault begins with its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trajgrade.contracts import EvaluatorLike
from trajgrade.errors import ConfigError, TrajgradeError, UnknownNameError, near, shorten, unknown
from trajgrade.evaluators.function import FunctionEvaluator, function_evaluator
from trajgrade.evaluators.naming import build_evaluator, with_key
from trajgrade.evaluators.written import parameters_of, type_fault
from trajgrade.matching.values import is_number
from trajgrade.registry import evaluators as registry

_LONG = ("name", "params", "key", "pass")
_HOW = (
    "is no evaluator: write a name, `name: {parameters}`, or `{name: …, params: {…}, key: …, "
    "pass: …}`"
)


class Graders(NamedTuple):
    """Evaluators with keys that differ, and the least score that is a success, by key."""

    evaluators: list[EvaluatorLike]
    passes: dict[str, float]

    @property
    def keys(self) -> list[str] | None:
        """The keys of all results; None where an evaluator may name its results itself."""
        if all(_names_one(evaluator) for evaluator in self.evaluators):
            return [evaluator.key for evaluator in self.evaluators]
        return None


def _names_one(evaluator: EvaluatorLike) -> bool:
    ours = type(evaluator).__module__.startswith("trajgrade.evaluators.")
    return ours and not isinstance(evaluator, FunctionEvaluator)


class Spelling(NamedTuple):
    """One evaluator as it is written; `at` is the path to its parameters."""

    name: str
    params: Mapping[str, Any]
    at: str
    key: Any = None
    passes: Any = None


def graders(specs: Iterable[Any], where: str = "evaluators") -> Graders:
    """Make the evaluators of their written forms; functions and evaluators stand for themselves.

    Args:
        specs: What is written, in order.
        where: The path to the list, for messages.

    Raises:
        ConfigError: Any is wrong, or two have one key; holds all faults. One fault alone is raised
            as it is: an unknown name is a `KeyError`, an unknown parameter a `TypeError`.
    """
    if isinstance(specs, (str, Mapping)) or not isinstance(specs, Iterable):
        raise ConfigError(f"{where}: expected a list, got {shorten(specs)}: put it in [ ]")
    built: list[tuple[EvaluatorLike, float | None]] = []
    wrong: list[TrajgradeError] = []
    for index, spec in enumerate(specs):
        try:
            built.append(grader(spec, f"{where}[{index}]"))
        except TrajgradeError as fault:
            wrong.append(fault)
    apart: list[EvaluatorLike] = []
    try:
        apart = name_apart([evaluator for evaluator, _ in built])
    except ConfigError as fault:
        wrong.append(fault)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise ConfigError(*(line for fault in wrong for line in faults_of(fault)))
    least = zip(apart, (passes for _, passes in built), strict=True)
    return Graders(apart, {one.key: passes for one, passes in least if passes is not None})


def likely_keys(specs: Iterable[Any]) -> tuple[list[str], set[str]]:
    """Return the keys of those that can be built, and what the others' may be meant to be."""
    found: dict[str, None] = {}
    meant: set[str] = set()
    for spec in specs:
        try:
            found[grader(spec)[0].key] = None
        except TrajgradeError:
            words = set(_texts(spec))
            guesses = {guess for word in words if (guess := near(word, registry)) is not None}
            meant |= words | guesses | {f"{name}:{word}" for name in guesses for word in words}
    return [*found], meant


def _texts(spec: Any) -> Iterator[str]:
    if isinstance(spec, str):
        yield spec
    elif isinstance(spec, Mapping):
        for part in (*spec, *spec.values()):
            yield from _texts(part)


def faults_of(error: TrajgradeError) -> tuple[str, ...]:
    """Return all faults that an error holds."""
    return error.faults if isinstance(error, ConfigError) else (str(error),)


def grader(spec: Any, where: str = "evaluator") -> tuple[EvaluatorLike, float | None]:
    """Return the evaluator that a spelling, a function or an evaluator stands for, and its success.

    Raises:
        ConfigError: It stands for none, or the evaluator refuses its parameters.
        UnknownNameError: There is no evaluator of that name.
    """
    if isinstance(spec, (str, Mapping)):
        return _built(_spelt(spec, where), where)
    return _as_evaluator(spec, where), None


def _as_evaluator(made: Any, where: str, name: str | None = None) -> EvaluatorLike:
    """Return an evaluator as it is, and a function as the evaluator that it stands for."""
    if isinstance(made, type):
        raise ConfigError(f"{where}: {made.__name__} is a class; give an instance of it")
    if hasattr(made, "evaluate") and isinstance(getattr(made, "key", None), str):
        return made  # type: ignore[no-any-return]  # it has what the protocol asks for
    if callable(made):
        return function_evaluator(made, name)  # type: ignore[return-value]  # results_of reads its list
    raise ConfigError(f"{where}: {shorten(made)} is no evaluator: it needs `key` and `evaluate`")


def _spelt(spec: str | Mapping[str, Any], where: str) -> Spelling:
    if isinstance(spec, str):
        return Spelling(spec, {}, where)
    if "name" in spec and isinstance(spec["name"], str):
        faults = [
            f"{where}.{key}: {unknown('key', key, _LONG)}" for key in spec if key not in _LONG
        ]
        params = {} if spec.get("params") is None else spec["params"]
        if not isinstance(params, Mapping):
            faults.append(f"{where}.params: expected an object, got {shorten(params)}")
        if faults:
            raise ConfigError(*faults)
        return Spelling(spec["name"], params, f"{where}.params", spec.get("key"), spec.get("pass"))
    if len(spec) == 1:
        ((name, params),) = spec.items()
        if isinstance(name, str) and isinstance(params, Mapping | None):
            return Spelling(name, params or {}, f"{where}.{name}")
    raise ConfigError(f"{where}: {shorten(spec)} {_HOW}")


def _built(spelt: Spelling, where: str) -> tuple[EvaluatorLike, float | None]:
    try:
        factory = registry.find(spelt.name)
    except UnknownNameError as wrong:
        raise UnknownNameError(wrong.kind, wrong.name, wrong.known, f"{where}: ") from None
    known = parameters_of(factory)
    params, passes = dict(spelt.params), spelt.passes
    if "pass" in params and known is not None and "pass" not in known:
        passes = params.pop("pass")
    faults = [] if known is None else [
        f"{spelt.at}.{fault}"
        for name, value in params.items()
        if name in known and (fault := type_fault(name, known[name].type, value)) is not None
    ]  # fmt: skip
    if spelt.key is not None and (not isinstance(spelt.key, str) or not spelt.key):
        faults.append(f"{where}.key: expected text, got {shorten(spelt.key)}")
    if passes is not None and not is_number(passes):
        faults.append(f"{where}.pass: expected a number, got {shorten(passes)}")
    if known is not None:
        faults += [
            f"{spelt.at}.{name}: {unknown('parameter', name, sorted(known))}"
            for name in params
            if name not in known
        ]
    if faults:
        raise ConfigError(*faults)
    try:
        made = build_evaluator(spelt.name, params)
        evaluator = _as_evaluator(made, where, spelt.name)
        return (evaluator if spelt.key is None else with_key(evaluator, spelt.key)), passes
    except ConfigError as wrong:
        raise type(wrong)(
            *(_placed(fault, spelt, where, known or ()) for fault in wrong.faults)
        ) from wrong


def _placed(fault: str, spelt: Spelling, where: str, known: Iterable[str]) -> str:
    """Return a fault with its path in front: that of the parameter, where it begins with one."""
    first = re.match(r"\w+", fault)
    place = f"{spelt.at}." if first is not None and first[0] in known else f"{where}: "
    return f"{place}{fault}"


def name_apart(evaluators: Sequence[EvaluatorLike]) -> list[EvaluatorLike]:
    """Return the evaluators with keys that differ.

    Raises:
        ConfigError: Two have one key; the message says how to name them apart.
    """
    keys = [evaluator.key for evaluator in evaluators]
    apart = [
        with_key(evaluator, evaluator.distinct_key)
        if keys.count(evaluator.key) > 1 and hasattr(evaluator, "distinct_key")
        else evaluator
        for evaluator in evaluators
    ]
    keys = [evaluator.key for evaluator in apart]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ConfigError(
            *(
                f"evaluators: {keys.count(key)} have the key {key!r}; name them apart: `key:` in a "
                f"config, key= in Python, -e NAME={key}:… on the command"
                for key in twice
            )
        )
    return apart
