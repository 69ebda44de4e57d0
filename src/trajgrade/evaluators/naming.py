"""Evaluators by name, with Potato's four functions, and the three spellings of YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from trajgrade.contracts import EvaluatorLike
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.registry import evaluators


def build_evaluator(name: str, params: Mapping[str, Any] | None = None) -> EvaluatorLike:
    """Make the evaluator of that name.

    Args:
        name: One of `get_supported_evaluators()`.
        params: Its parameters by name.

    Raises:
        UnknownNameError: There is none of that name (a `KeyError`).
        ParameterError: A parameter that it does not have (a `TypeError`).
        ConfigError: A parameter has a value that it cannot have (a `ValueError`).
    """
    built: EvaluatorLike = evaluators.build(name, params)
    return built


def register_evaluator(
    name: str, factory: Callable[..., EvaluatorLike], description: str = ""
) -> None:
    """Let an evaluator be named in a config, on the command, and in `build_evaluator`.

    Raises:
        ConfigError: The name is taken.
    """
    evaluators.register(name, factory, description)


def list_evaluators() -> list[dict[str, str]]:
    """Return `{"name", "description"}` of every evaluator, by name; aliases are left out."""
    return [
        {"name": name, "description": evaluators.entries[name].description} for name in evaluators
    ]


def get_supported_evaluators() -> list[str]:
    """Return the names of all evaluators, sorted; aliases are left out."""
    return list(evaluators)


def evaluator_from(spec: Any, where: str = "evaluator") -> EvaluatorLike:
    """Make an evaluator of its written form.

    Args:
        spec: `name`; `{name: params}`; `{name: …, params: …, key: …}`.
        where: The place in the config, for the message.

    Raises:
        ConfigError: The form is none of the three, or the evaluator refuses its parameters.
        UnknownNameError: There is no evaluator of that name.
    """
    name, params, key = _spelt(spec, where)
    built = build_evaluator(name, params)
    return with_key(built, key) if key is not None else built


def _spelt(spec: Any, where: str) -> tuple[str, Mapping[str, Any], str | None]:
    if isinstance(spec, str):
        return spec, {}, None
    if isinstance(spec, Mapping) and "name" in spec:
        allowed = ("name", "params", "key")
        faults = [f"{where}: {unknown('key', k, allowed)}" for k in spec if k not in allowed]
        if faults:
            raise ConfigError(*faults)
        params, key = spec.get("params") or {}, spec.get("key")
        if isinstance(params, Mapping) and (key is None or isinstance(key, str)):
            return spec["name"], params, key
    elif isinstance(spec, Mapping) and len(spec) == 1:
        ((name, params),) = spec.items()
        if params is None or isinstance(params, Mapping):
            return name, params or {}, None
    raise ConfigError(
        f"{where}: {shorten(spec)} is no evaluator: write a name, `name: {{parameters}}`, or "
        "`{name: …, params: {…}, key: …}`"
    )


def with_key(evaluator: EvaluatorLike, key: str) -> EvaluatorLike:
    """Return the evaluator under another key.

    Raises:
        ConfigError: Its key cannot be changed from outside.
    """
    if is_dataclass(evaluator) and any(field.name == "key" for field in fields(evaluator)):
        return replace(evaluator, key=key)
    raise ConfigError(f"{type(evaluator).__name__} has no parameter `key` to rename it by")
