"""The JSON Schema of evaluators as they are written, for editors: names, parameters, types."""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec

from trajgrade.evaluators.written import parameters_of
from trajgrade.registry import evaluators

_ENTRY = re.compile(r"^    (\w+): (.+(?:\n {8}.*)*)", re.MULTILINE)


def evaluators_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of one item of the list `evaluators`, and the definitions it refers to."""
    names = sorted(evaluators.entries)
    parameters = {name: _parameters(name) for name in names}
    ready = [name for name in names if not parameters[name].get("required")]
    short = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            name: _ref(name) if name not in ready else {"anyOf": [_ref(name), {"type": "null"}]}
            for name in names
        },
    }
    long = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"enum": names},
            "params": {"type": ["object", "null"]},
            "key": {"type": "string", "minLength": 1},
            "pass": {"type": "number"},
        },
        "allOf": [
            {
                "if": {"properties": {"name": {"const": name}}},
                "then": {"properties": {"params": _ref(name)}, "required": needed},
            }
            for name in names
            for needed in [["params"] if name not in ready else []]
            if needed or parameters[name].get("properties")
        ],
    }
    return {"anyOf": [{"enum": ready}, short, long]}, parameters


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _parameters(name: str) -> dict[str, Any]:
    """Return the schema of an evaluator's parameters."""
    found: dict[str, Any] = {"type": "object", "description": evaluators.entries[name].description}
    known = parameters_of(evaluators.find(name))
    if known is None:
        return found
    properties = {
        one.name: _typed(one.type, one.default) for one in known.values() if one.type is not None
    }
    properties.setdefault("pass", {"type": "number"})
    required = [one.name for one in known.values() if one.required]
    described(properties, evaluators.find(name))
    return {
        **found,
        "properties": properties,
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def described(properties: dict[str, dict[str, Any]], owner: Any) -> None:
    """Give each property the description that the docstring of its class or a parent has of it."""
    for kind in getattr(owner, "__mro__", (owner,)):
        for name, text in _ENTRY.findall(inspect.getdoc(kind) or ""):
            schema = properties.get(name.removesuffix("_"))
            if schema is not None:
                schema.setdefault("description", " ".join(text.split()))


def _typed(hint: Any, default: Any) -> dict[str, Any]:
    schema = msgspec.json.schema(hint)
    plain = default is not None and isinstance(default, (bool, int, float, str))
    return {**schema, "default": default} if plain else schema
