"""Evaluators by name, with Potato's four functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

from trajgrade.contracts import EvaluatorLike
from trajgrade.errors import ConfigError
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


def with_key(evaluator: EvaluatorLike, key: str) -> EvaluatorLike:
    """Return the evaluator under another key.

    Raises:
        ConfigError: Its key cannot be changed from outside.
    """
    if is_dataclass(evaluator) and any(field.name == "key" for field in fields(evaluator)):
        return replace(evaluator, key=key)
    renamed = copy(evaluator)
    try:
        renamed.key = key
    except AttributeError:
        name = type(evaluator).__name__
        raise ConfigError(f"{name} has no `key` that could be changed") from None
    return renamed
