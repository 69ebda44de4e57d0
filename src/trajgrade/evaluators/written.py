"""What can be written for an evaluator's parameters: their names, types and defaults.

YAML and the command hold data only. Of a parameter that also takes a function or a compiled
pattern, the other types remain; one that takes nothing else cannot be written.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from trajgrade.errors import shorten, unknown


class Parameter(NamedTuple):
    """One parameter as it is written: `pass`, where Python must say `pass_`."""

    name: str
    type: Any
    required: bool
    default: Any = None


def parameters_of(factory: Callable[..., Any]) -> dict[str, Parameter] | None:
    """Return the parameters of an evaluator by their written names; None where any name goes."""
    given = inspect.signature(factory).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in given):
        return None
    hints = _hints(factory)
    found: dict[str, Parameter] = {}
    for parameter in given:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            continue
        name = parameter.name.removesuffix("_")
        required = parameter.default is parameter.empty
        type_ = _writable(hints.get(parameter.name, Any))
        found[name] = Parameter(name, type_, required, None if required else parameter.default)
    return found


def _hints(factory: Callable[..., Any]) -> dict[str, Any]:
    constructed = inspect.isclass(factory) and "__init__" in vars(factory)
    plain = constructed and not hasattr(factory, "__dataclass_fields__")
    try:
        return get_type_hints(factory.__init__ if plain else factory)
    except (NameError, TypeError):
        return {}  # a plugin's annotations need not resolve; its constructor checks then


def _writable(hint: Any) -> Any:
    """Return the part of a type that plain data can be of; None where there is no such part."""
    arguments = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        kept = [inner for part in arguments if (inner := _writable(part)) is not None]
        return reduce(or_, kept) if set(kept) - {types.NoneType} else None
    if get_origin(hint) is Literal:
        return hint
    if arguments and issubclass(get_origin(hint) or object, Mapping):
        key, value = map(_writable, arguments)
        return dict[key, value] if value is not None else None  # type: ignore[valid-type]  # made at run time
    return hint if _is_plain(hint) else None


def _is_plain(hint: Any) -> bool:
    try:
        msgspec.json.schema(hint)
    except TypeError:
        return False
    return True


def type_fault(name: str, hint: Any, value: Any) -> str | None:
    """Return what is wrong with the type of a value, as a sentence that begins with the name."""
    if hint is None:
        return f"{name}: takes a function, which cannot be written; use it from Python"
    choices = choices_of(hint)
    if choices and value is not None and value not in choices:
        return f"{name}: {unknown('choice', value, choices)}"
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as wrong:
        message, _, place = str(wrong).partition(" - at `$")
        got = "" if ", got " in message else ", got"
        return f"{name}{place.removesuffix('`')}: {_said(message)}{got} {shorten(value)}"
    return None


def choices_of(hint: Any) -> list[str]:
    """Return the texts that a type is limited to; none where it takes other texts too."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if str in parts:
        return []
    literals = [part for part in parts if get_origin(part) is Literal]
    return [choice for part in literals for choice in get_args(part) if isinstance(choice, str)]


_SAID = {
    "`str`": "text", "`bool`": "true or false", "`int`": "a whole number", "`float`": "a number",
    "`null`": "nothing", "`array`": "a list", "`object`": "an object",
}  # fmt: skip


def _said(message: str) -> str:
    """Return a message of msgspec in the words of someone who writes YAML."""
    message = message.replace(" | ", "` or `")
    for type_, words in _SAID.items():
        message = message.replace(type_, words)
    return message[:1].lower() + message[1:]
