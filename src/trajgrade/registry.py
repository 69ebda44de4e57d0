"""Name and parameters in, object out: the tables of what exists behind each seam.

A table holds text only, `"module:attribute"`; a target is imported when it is named. Built-ins and
plugins are registered through the same `Entry`: a plugin's come from the entry-point group
`trajgrade.<seam>` of an installed package, read when the first name is looked up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any, NamedTuple

from trajgrade.errors import ConfigError, ParameterError, UnknownNameError, unknown


class Entry(NamedTuple):
    """One thing behind a seam: where it is, and what it does in a line."""

    target: str | Callable[..., Any]
    description: str = ""
    alias_of: str | None = None

    def load(self) -> Any:
        """Import the target, if it is text, and return it."""
        if not isinstance(self.target, str):
            return self.target
        module, _, attribute = self.target.partition(":")
        return getattr(import_module(module), attribute)


class Registry:
    """The names of one seam, built-in and plugged in.

    Args:
        kind: What one thing is called in messages, for example `"evaluator"`.
        group: The seam, which names the entry-point group and the module with the built-ins' table.
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._entries: dict[str, Entry] | None = None
        self._found: dict[str, Any] = {}

    @property
    def entries(self) -> dict[str, Entry]:
        """Every entry by name: built-ins, then plugins, then those registered by the program."""
        if self._entries is None:
            from importlib.metadata import entry_points  # takes longer than all else together

            builtin: Mapping[str, Entry] = import_module(f"trajgrade.{self.group}").BUILTINS
            self._entries = dict(builtin)
            for point in entry_points(group=f"trajgrade.{self.group}"):
                self.register(point.name, point.value, f"from the package {_package(point)}")
        return self._entries

    def register(self, name: str, target: str | Callable[..., Any], description: str = "") -> None:
        """Add a thing under a name that is still free.

        Raises:
            ConfigError: The name is taken by another target.
        """
        taken = self.entries.get(name)
        if taken is not None and taken.target != target:
            raise ConfigError(
                f"{self.kind} {name!r} is registered already ({taken.target}); choose another name"
            )
        self.entries[name] = Entry(target, description)

    def find(self, name: str) -> Any:
        """Return the thing of that name, importing it.

        Raises:
            UnknownNameError: There is none.
        """
        entry = self.entries.get(name) if isinstance(name, str) else None
        if entry is None:
            raise UnknownNameError(self.kind, name, self.entries)
        if name not in self._found:
            self._found[name] = entry.load()
        return self._found[name]

    def build(self, name: str, params: Mapping[str, Any] | None = None) -> Any:
        """Call the thing of that name with the parameters given.

        Raises:
            UnknownNameError: There is none of that name.
            ParameterError: A parameter that it does not have, or one missing that it needs.
        """
        factory = self.find(name)
        given = {_as_python(key): value for key, value in (params or {}).items()}
        check_parameters(factory, given, f"{self.kind} {name!r}")
        return factory(**given)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name, entry in self.entries.items() if not entry.alias_of))


def _as_python(name: str) -> str:
    """Return the name that Python spells a parameter by: `pass` is `pass_` there."""
    return f"{name}_" if iskeyword(name) else name


def _package(point: Any) -> str:
    return str(point.dist.name if point.dist is not None else point.value)


def check_parameters(factory: Callable[..., Any], given: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that `factory` does not have, and calls that lack a required one."""
    signature = inspect.signature(factory)
    takes = {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return
    faults = [
        f"{where}: {unknown('parameter', name, sorted(takes))}"
        for name in given
        if name not in takes
    ]
    faults += [
        f"{where}: the parameter {name!r} is required"
        for name, parameter in takes.items()
        if parameter.default is parameter.empty and name not in given
    ]
    if faults:
        raise ParameterError(*faults)


evaluators = Registry("evaluator", "evaluators")
formats = Registry("format", "formats")
judges = Registry("judge", "judges")
reports = Registry("report format", "report")
comparisons = Registry("format of a comparison", "report.versus")
actions = Registry("action", "actions")
stores = Registry("store", "stores")
engines = Registry("engine", "engines")
