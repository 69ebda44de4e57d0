"""The attributes of a tool span → which tool, with which arguments, to what end."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats.assembly import status_of
from trajgrade.formats.spans import Span
from trajgrade.formats.utterances import parsed

Event = tuple[str, dict[str, Any]]

_TOOL = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args",
    "ai.toolCall.input", "tool_arguments", "gen_ai.tool.arguments", "input.value",
    "traceloop.entity.input", "mlflow.spanInputs", "langfuse.observation.input",
)  # fmt: skip
_RESULTS = (
    "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "ai.toolCall.result",
    "ai.toolCall.output", "tool_response", "gen_ai.tool.result", "output.value",
    "traceloop.entity.output", "mlflow.spanOutputs", "langfuse.observation.output",
)  # fmt: skip
_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")


def describe_tool(span: Span, attributes: dict[str, Any], events: Iterable[Event]) -> None:
    """Fill in the span of a tool.

    Raises:
        MalformedTraceError: The tool has no name.
    """
    entity = attributes.get("traceloop.entity.name")
    name = first_text(attributes, _TOOL) or (entity if isinstance(entity, str) else None)
    span.tool = name or span.name
    if not span.tool:
        raise MalformedTraceError(f"span {shorten(span.id)}: a tool without a name")
    span.key = first_text(attributes, _IDS)
    for key in _ARGUMENTS:
        if attributes.get(key) is not None:
            span.raw = unwrapped(attributes[key])
            break
    value = next((attributes[key] for key in _RESULTS if attributes.get(key) is not None), None)
    ended(span, value)
    for event, held in events:
        if event == "gen_ai.tool.message" and span.raw is msgspec.UNSET and "content" in held:
            span.raw = unwrapped(held["content"])
        elif event == "gen_ai.choice" and span.result is None:
            ended(span, held.get("message", held.get("content")))


def ended(span: Span, value: Any) -> None:
    """Give the span what its tool returned: also as JSON text, and as LangChain's message."""
    held = value
    if isinstance(value, str):
        held = parsed(value)
        if value[:1] == '"' and value[-1:] == '"':
            with suppress(ValueError):
                held = jsontext.loads(value)
    if isinstance(held, dict) and "response" in held and held.keys() <= {"id", "name", "response"}:
        held = held["response"]  # ADK's function response
    inner = held
    if isinstance(held, dict) and isinstance(held.get("output"), dict) and len(held) == 1:
        inner = held["output"]
    if isinstance(inner, dict) and isinstance(inner.get("kwargs"), dict) and "lc" in inner:
        inner = {"type": "tool", **inner["kwargs"]}
    if isinstance(inner, dict) and inner.get("type") == "tool" and "content" in inner:
        span.key = span.key or _string(inner.get("tool_call_id"))
        if span.status == "unknown":
            span.status = status_of(inner.get("status"))
        held = inner["content"]
    span.result = held


def unwrapped(raw: Any) -> Any:
    """Return the arguments of a tool without what recorders put around them.

    They put `input`, `kwargs` with empty `args`, or `inputs` beside `kwargs` around them, and write
    an object as JSON or as Python's repr.
    """
    held = parsed(raw) if isinstance(raw, str) else raw
    if not isinstance(held, dict):
        return held if held is not raw else raw
    keys = set(held)
    if keys == {"input"} and isinstance(held["input"], (dict, str)):
        inner = parsed(held["input"]) if isinstance(held["input"], str) else held["input"]
        return inner if isinstance(inner, dict) else held
    if "kwargs" in keys and keys <= {"args", "kwargs"} and not held.get("args"):
        return held["kwargs"] if isinstance(held["kwargs"], dict) else held
    if {"inputs", "kwargs"} <= keys and isinstance(held["inputs"], dict):
        return held["inputs"]
    if {"input_str", "kwargs"} <= keys and isinstance(held["input_str"], str):
        return parsed(held["input_str"])
    return held


def first_text(attributes: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    """Return the first text under the keys; None where there is none."""
    for key in keys:
        text = attributes.get(key)
        if isinstance(text, str) and text:
            return text
    return None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
