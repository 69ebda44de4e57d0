"""Agreement of two calls' arguments (SEMANTICS A1), always read from the agent's side.

`subset` means agent ⊆ reference and `superset` reference ⊆ agent, whatever the trajectory mode.
A rule is compiled per tool into a `Comparer`, whose `relation` says what the matching may assume:

    ignore     every two calls of the tool agree
    equal      an equivalence: calls can be counted by `key`
    preorder   reflexive and transitive: equal calls may be paired first
    general    nothing: a maximum matching must look at every pair
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args

import msgspec

from trajgrade.errors import ConfigError, unknown
from trajgrade.matching import comparators, paths
from trajgrade.matching.values import MISSING, Difference, canonical, differences, escape, same

ArgsMode = Literal["exact", "ignore", "subset", "superset"]
UnicodeForm = Literal["NFC", "NFKC"]
Relation = Literal["ignore", "equal", "preorder", "general"]
Override = ArgsMode | Sequence[str] | Mapping[str, Any] | Callable[[Any, Any], bool]

IGNORED = "ignore_keys: "
ALIASED = "name_aliases: "
MODES: tuple[str, ...] = get_args(ArgsMode)


class ArgumentRule(msgspec.Struct, frozen=True, kw_only=True):
    """How the arguments of two calls are compared.

    Attributes:
        mode: For every tool without an override.
        overrides: By tool: a mode; a list of key paths, only those are compared; a mapping from
            key path to comparator, the other keys following `mode`; a function
            `(agent_args, reference_args) -> bool`.
        deep: Whether `subset` and `superset` also hold inside nested objects.
        ignore_keys: Globs over key paths that are left out on both sides.
        name_aliases: Other names of tools, by alias.
        unicode: The form that text is normalised to, if any.
    """

    mode: ArgsMode = "exact"
    overrides: Mapping[str, Override] = {}
    deep: bool = False
    ignore_keys: tuple[str, ...] = ()
    name_aliases: Mapping[str, str] = {}
    unicode: UnicodeForm | None = None


class Comparer:
    """A rule for the calls of one tool.

    Attributes:
        relation: What a matching may assume.
        agrees: Whether the agent's arguments agree with the reference's.
        paths: The key paths that an override names, as written.

    Args:
        rule: The rule.
        tool: The tool whose override counts; None for the tools that have none.
    """

    def __init__(self, rule: ArgumentRule, tool: str | None) -> None:
        where = f"tool_args_match_overrides[{tool!r}]"
        override = None if tool is None else rule.overrides[tool]
        self.deep = rule.deep
        self._written: dict[tuple[paths.Segment, ...], str] = {}
        self.comparators: dict[tuple[paths.Segment, ...], comparators.Comparator] = {}
        self.mode: ArgsMode = rule.mode
        self._ignored = tuple(map(paths.glob, rule.ignore_keys))
        self._unicode = rule.unicode
        self._function: Callable[[Any, Any], bool] | None = None
        self._by_identity = False
        self.only_listed = False
        if tool is None:
            pass
        elif isinstance(override, str):
            self.mode = check_mode(override, where)
        elif isinstance(override, Mapping):
            for path, spec in override.items():
                comparator = comparators.build(spec, f"{where}[{path!r}]")
                self._compare(path, comparator, where)
                self._by_identity |= callable(spec)
        elif isinstance(override, Sequence):
            for path in override:
                self._compare(path, same, where)
            self.only_listed = True
        elif callable(override):
            self._function = override
            self._by_identity = True
        else:
            raise ConfigError(
                f"{where}: {override!r} is no override: give a mode ({', '.join(MODES)}), a list "
                "of key paths, a mapping from key path to comparator, or a function"
            )
        self.paths: tuple[str, ...] = tuple(self._written.values())
        self.relation: Relation = self._relation()
        self.agrees = self._agreement()

    def _compare(self, path: str, comparator: comparators.Comparator, where: str) -> None:
        if not isinstance(path, str):
            raise ConfigError(f"{where}: a key path is text, got {path!r}")
        try:
            segments = paths.parse(path)
        except ConfigError as wrong:
            raise ConfigError(f"{where}: {wrong}") from wrong
        self.comparators[segments] = comparator
        self._written[segments] = path

    def _relation(self) -> Relation:
        if self._function is not None:
            return "general"
        if self.only_listed:
            return "equal"
        if self.comparators:
            return "general"
        if self.mode == "ignore":
            return "ignore"
        return "equal" if self.mode == "exact" else "preorder"

    def _agreement(self) -> Callable[[Any, Any], bool]:
        if self._function is not None:
            return self._asked
        if self.relation == "ignore":
            return comparators.always
        plain = self.mode == "exact" and not (self.comparators or self.only_listed)
        if plain and not self._ignored and self._unicode is None:
            return same_arguments
        return self._prepared_agree

    def _asked(self, got: Any, expected: Any) -> bool:
        function = cast("Callable[[Any, Any], bool]", self._function)
        return bool(function(self.prepare(got), self.prepare(expected)))

    def prepare(self, args: Any) -> Any:
        """Return the arguments as they are compared: normalised, without ignored keys."""
        args = none_as_empty(args)
        if self._unicode is not None:
            args = normalise(args, self._unicode)
        return paths.prune(args, self._ignored) if self._ignored else args

    def key(self, args: Any) -> Hashable:
        """Return a key that arguments share only if they agree with the same arguments.

        A caller's function may tell apart what is equal, such as 1 and 1.0.
        """
        if self._by_identity:
            return id(args)
        args = self.prepare(args)
        if self.only_listed and isinstance(args, dict):
            listed = [canonical(paths.lookup(args, path)) for path in self.comparators]
            return (MISSING, *listed)  # which no list of values begins with
        return canonical(args)

    def fixed(self, args: Any) -> Hashable:
        """Return a key that arguments share with all that they agree with.

        Under `exact`, what comparators do not decide must be equal; of listed paths, what stands
        there; else nothing must be.
        """
        if self.only_listed:
            return self.key(args)
        if self._function is not None or self.mode != "exact":
            return None
        args = self.prepare(args)
        if isinstance(args, dict):
            for path in self.comparators:
                args = paths.without(args, path)
        return canonical(args)

    def _prepared_agree(self, got: Any, expected: Any) -> bool:
        got, expected = self.prepare(got), self.prepare(expected)
        objects = isinstance(got, dict) and isinstance(expected, dict)
        if not objects and (self.only_listed or self.mode != "ignore"):
            return same(got, expected)
        for path, comparator in self.comparators.items():
            if not compare_at(path, comparator, got, expected):
                return False
        if self.only_listed or not objects:
            return True
        for path in self.comparators:
            got, expected = paths.without(got, path), paths.without(expected, path)
        return holds(self.mode, got, expected, deep=self.deep)

    def disagreements(self, got: Any, expected: Any) -> Iterator[Difference]:
        """Yield the places that keep two arguments from agreeing, in the reference's order.

        What the rule leaves out or tolerates is none. A function's reasons are its own: what
        differs is then the whole of the difference, which may be nothing.
        """
        got, expected = self.prepare(got), self.prepare(expected)
        if self._function is not None or not (isinstance(got, dict) and isinstance(expected, dict)):
            yield from differences(got, expected)
            return
        for path, comparator in self.comparators.items():
            if not compare_at(path, comparator, got, expected):
                found = paths.lookup(expected, path), paths.lookup(got, path)
                yield Difference(self._written[path], *found)
        if self.only_listed or self.mode == "ignore":
            return
        for path in self.comparators:
            got, expected = paths.without(got, path), paths.without(expected, path)
        for name in {**expected, **got}:
            sides = got.get(name, MISSING), expected.get(name, MISSING)
            if self._tolerates(*sides):
                continue
            for place in differences(*sides, escape(name)):
                if not (self.deep and self._tolerates(place.got, place.expected)):
                    yield place

    def _tolerates(self, got: Any, expected: Any) -> bool:
        """Whether the mode allows that one side lacks what the other has."""
        return (self.mode == "subset" and got is MISSING) or (
            self.mode == "superset" and expected is MISSING
        )


def compare_at(
    path: Sequence[paths.Segment], comparator: comparators.Comparator, got: Any, expected: Any
) -> bool:
    """Whether what stands at the path agrees: absent on both sides it does, on one it does not."""
    ours, theirs = paths.lookup(got, path), paths.lookup(expected, path)
    if comparator is comparators.always or (ours is MISSING and theirs is MISSING):
        return True
    return ours is not MISSING and theirs is not MISSING and bool(comparator(ours, theirs))


def holds(mode: ArgsMode, got: Any, expected: Any, *, deep: bool) -> bool:
    """Whether two prepared values agree under a mode."""
    if mode == "ignore":
        return True
    if mode == "exact" or not (isinstance(got, dict) and isinstance(expected, dict)):
        return _items_hold(mode, got, expected) if deep else same(got, expected)
    smaller, larger = (got, expected) if mode == "subset" else (expected, got)
    for name in smaller:
        if name not in larger:
            return False
        if not deep:
            if not same(got[name], expected[name]):
                return False
        elif not holds(mode, got[name], expected[name], deep=True):
            return False
    return True


def _items_hold(mode: ArgsMode, got: Any, expected: Any) -> bool:
    if not (isinstance(got, (list, tuple)) and isinstance(expected, (list, tuple))):
        return same(got, expected)
    return len(got) == len(expected) and all(
        holds(mode, ours, theirs, deep=True) for ours, theirs in zip(got, expected, strict=True)
    )


def same_arguments(got: Any, expected: Any) -> bool:
    """Equality of whole arguments: null, empty text and the empty object are no arguments."""
    if type(got) is dict and type(expected) is dict:
        return same(got, expected)
    return same(none_as_empty(got), none_as_empty(expected))


def none_as_empty(args: Any) -> Any:
    """Return `{}` for any of the ways to write no arguments, else the arguments themselves."""
    return {} if args is None or args == "" else args


def normalise(value: Any, form: UnicodeForm) -> Any:
    """Return the value with every text in it, keys included, in a Unicode normal form."""
    if isinstance(value, str):
        return unicodedata.normalize(form, value)
    if isinstance(value, dict):
        return {normalise(key, form): normalise(item, form) for key, item in value.items()}
    return [normalise(item, form) for item in value] if isinstance(value, (list, tuple)) else value


def check_mode(mode: str, where: str) -> ArgsMode:
    """Return the mode, if it is one.

    Raises:
        ConfigError: It is not; the message names the nearest.
    """
    if mode not in MODES:
        raise ConfigError(f"{where}: {unknown('argument mode', mode, MODES)}")
    return cast("ArgsMode", mode)


class CompiledRule:
    """An `ArgumentRule` with its comparers, one per tool that has an override and one for the rest.

    Attributes:
        renames: Whether `name` may return another name than it is given.
        countable: Whether agreement is an equivalence for every tool.
        spots: What it names of calls: tools, `tool: path`, `ignore_keys: …`, `name_aliases: …`. One
            that no call of a run has may be misspelt.

    Raises:
        ConfigError: The rule names a mode, a path or a comparator that does not exist.
    """

    def __init__(self, rule: ArgumentRule) -> None:
        check_mode(rule.mode, "tool_args_match_mode")
        if rule.unicode not in (None, *get_args(UnicodeForm)):
            raise ConfigError(f"unicode: {unknown('form', rule.unicode, get_args(UnicodeForm))}")
        self.rule = rule
        self.aliases = {
            self._normal(alias): self._normal(tool) for alias, tool in rule.name_aliases.items()
        }
        self.default = Comparer(rule, None)
        self.renames = bool(self.aliases) or rule.unicode is not None
        self.by_tool = {self.name(tool): Comparer(rule, tool) for tool in rule.overrides}
        relations = {comparer.relation for comparer in (self.default, *self.by_tool.values())}
        self.countable = relations <= {"equal", "ignore"}
        self.spots = [
            *(
                spot
                for tool, comparer in self.by_tool.items()
                for spot in (tool, *(f"{tool}: {path}" for path in comparer.paths))
            ),
            *(f"{IGNORED}{pattern}" for pattern in rule.ignore_keys),
            *(f"{ALIASED}{alias}" for alias in self.aliases),
        ]

    def ignored_in(self, args: Any) -> set[str]:
        """Return which of `ignore_keys` leave something out of the arguments, as spots."""
        form = self.rule.unicode
        args = none_as_empty(args) if form is None else normalise(none_as_empty(args), form)
        patterns = zip(self.rule.ignore_keys, map(paths.glob, self.rule.ignore_keys), strict=True)
        return {f"{IGNORED}{written}" for written, glob in patterns if paths.has(args, glob)}

    def alias_of(self, tool: str) -> str | None:
        """Return the alias that a call's name is, as a spot; None where it is none."""
        tool = self._normal(tool)
        return f"{ALIASED}{tool}" if tool in self.aliases else None

    def name(self, tool: str) -> str:
        """Return the name that a tool is compared by."""
        tool = self._normal(tool)
        return self.aliases.get(tool, tool)

    def _normal(self, tool: str) -> str:
        form = self.rule.unicode
        return tool if form is None else unicodedata.normalize(form, tool)

    def comparer(self, tool: str) -> Comparer:
        """Return the comparer of a tool, given the name that it is compared by."""
        return self.by_tool.get(tool, self.default)
