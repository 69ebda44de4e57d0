"""The JSON Schema of automation rules as they are written, for editors."""

from __future__ import annotations

from typing import Any

import msgspec

from trajgrade.automation.conditions import OPERATORS
from trajgrade.automation.rules import QUIET, Rule
from trajgrade.evaluators.schema import described
from trajgrade.evaluators.written import parameters_of
from trajgrade.registry import actions

_NUMBER = {"type": "number"}
_ANYTHING: dict[str, Any] = {}
_WANTED: dict[str, dict[str, Any]] = {
    "equals": _ANYTHING,
    "in": {"type": "array", "minItems": 1},
    "contains": _ANYTHING,
    "exists": {"type": "boolean"},
    "lt": _NUMBER,
    "lte": _NUMBER,
    "gt": _NUMBER,
    "gte": _NUMBER,
    "matches": {"type": "string"},
}
_CONDITION = {"$ref": "#/$defs/Condition"}
_SEVERAL = {"type": "array", "minItems": 1, "items": _CONDITION}


def automation_schema(evaluator: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of the block `automation`, and the definitions that it refers to.

    Args:
        evaluator: The schema of an evaluator as it is written.
    """
    rule: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "when", "actions"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "when": _CONDITION,
            "actions": {
                "type": "array",
                "minItems": 1,
                "items": {"anyOf": [_action(name, evaluator) for name in actions]},
            },
            "sample_rate": {"type": "number", "minimum": 0, "maximum": 1, "default": 1.0},
            "enabled": {"type": "boolean", "default": True},
            "after": {"const": "trace_complete", "default": "trace_complete"},
            "quiet": {"type": "number", "minimum": 0, "default": QUIET},
        },
    }
    described(rule["properties"], Rule)
    block = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "enabled": {"type": "boolean", "default": True},
            "rules": {"type": "array", "items": {"$ref": "#/$defs/Rule"}},
        },
    }
    return block, {"Rule": rule, "Condition": _condition()}


def _condition() -> dict[str, Any]:
    field = {
        "type": "object",
        "additionalProperties": False,
        "required": ["field"],
        "minProperties": 2,
        "properties": {
            "field": {"type": "string", "minLength": 1},
            "numbers": {"const": "text"},
            **{name: _WANTED[name] for name in OPERATORS},
        },
    }
    group = {
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {"all": _SEVERAL, "any": _SEVERAL, "not": _CONDITION},
    }
    return {"anyOf": [{"const": "always"}, _SEVERAL, field, group]}


def _action(name: str, evaluator: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one action; of a plugin that takes anything, only its type."""
    factory = actions.find(name)
    found: dict[str, Any] = {
        "type": "object",
        "description": actions.entries[name].description,
        "required": ["type"],
    }
    known = parameters_of(factory)
    properties: dict[str, Any] = {"type": {"const": name}}
    if known is None:
        return {**found, "properties": properties}
    given = getattr(factory, "context", ())
    taken = {one.name: one for one in known.values() if one.name not in given}
    inner = {key: msgspec.json.schema(one.type) for key, one in taken.items() if one.type}
    described(inner, factory)
    if name == "run_evaluator":
        text = {"type": "string", "description": "An evaluator's name."}
        inner["evaluator"] = {"anyOf": [text, evaluator]}
    return {
        **found,
        "additionalProperties": False,
        "required": ["type", *(key for key, one in taken.items() if one.required)],
        "properties": {**properties, **inner},
    }
