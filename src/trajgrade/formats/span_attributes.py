"""The attributes and events of an OpenTelemetry span → what it tells of an agent.

    gen_ai.operation.name, gen_ai.tool.*, gen_ai.input.messages, gen_ai.output.messages
    gen_ai.prompt.0.content, gen_ai.completion.0.tool_calls.0.name      Traceloop, and before
    events gen_ai.user.message, gen_ai.choice, gen_ai.content.completion, …
    openinference.span.kind, llm.output_messages.0.message.…, tool.name, input.value
    gcp.vertex.agent.llm_response, ai.response.toolCalls, traceloop.entity.input, tool_arguments

All versions of the convention at once; what says the same in several of them counts once. Evidence
are the attributes, never a span's name; the tools that a model may call (`gen_ai.tool.definitions`,
`llm.request.functions.0.name`) are no calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats.message_pieces import Asked
from trajgrade.formats.span_tools import Event, describe_tool, first_text
from trajgrade.formats.span_usage import counts
from trajgrade.formats.spans import Kind, Span
from trajgrade.formats.utterances import Said, parsed, utterances
from trajgrade.glimpse import members, texts

_DIGITS = 7  # no request has a million messages


_KINDS: dict[str, Kind] = {
    "execute_tool": "tool", "tool": "tool", "ai.toolcall": "tool", "mcp": "tool",
    "chat": "model", "text_completion": "model", "completion": "model",
    "generate_content": "model", "llm": "model", "generation": "model",
    "invoke_agent": "agent", "create_agent": "agent", "agent": "agent", "chain": "agent",
    "workflow": "agent", "task": "agent", "invoke_workflow": "agent", "crew": "agent",
}  # fmt: skip
_SAYS_KIND = (
    "gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind",
    "langsmith.span.kind", "langfuse.observation.type", "mlflow.spanType", "ai.operationId",
)  # fmt: skip
_SPEAKS = frozenset({
    "gen_ai.output.messages", "gcp.vertex.agent.llm_response", "llm.request.type",
    "gen_ai.completion.0.role", "gen_ai.prompt.0.role",
})  # fmt: skip
_TOLD_ALL = frozenset({"pydantic_ai.all_messages", "all_messages_events"})
_TELL = frozenset({*_SAYS_KIND, "gen_ai.tool.name", *_SPEAKS, *_TOLD_ALL})
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name")
_SAID = ("gen_ai.output.messages", "gcp.vertex.agent.llm_response")
_TOLD = (
    "gen_ai.input.messages", "gcp.vertex.agent.llm_request", "ai.prompt.messages", "ai.prompt",
    "pydantic_ai.all_messages", "all_messages_events",
)  # fmt: skip
_LATER_SAID = ("output.value", "traceloop.entity.output", "mlflow.spanOutputs")
_LATER_TOLD = ("input.value", "traceloop.entity.input", "mlflow.spanInputs")
_EVENT_ROLE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_NUMBERED = ("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages.")
_INDEXED = re.compile(r"(gen_ai\.prompt|gen_ai\.completion)\.(\d+)\.(.+)")
_MESSAGE = re.compile(r"llm\.(input|output)_messages\.(\d+)\.message\.(.+)")
_CALL = re.compile(r"(?:message\.)?tool_calls\.(\d+)\.(?:tool_call\.)?(.+)")
_BLOCK = re.compile(r"contents\.(\d+)\.message_content\.text")


def describe(span: Span, attributes: dict[str, Any], events: Sequence[Event] = ()) -> None:
    """Fill in the span.

    Args:
        span: The span, of which ids and times are known.
        attributes: Its attributes, by name.
        events: Its events: their names and attributes, in order.
    """
    written = attributes.get("events")
    events = events if written is None else [*events, *_written(written)]
    span.kind = kind_of(attributes, events)
    span.agent = first_text(attributes, _AGENTS)
    if span.kind == "tool":
        describe_tool(span, attributes, events)
    elif span.kind in ("model", "agent"):
        span.counted = (counts, attributes)
        flat = _indexed(attributes)
        said = flat["said"] or _of_events(events, said=True) or _of_sdk(attributes)
        told = flat["told"] or _of_events(events, said=False)
        span.said = _speech(attributes, _SAID, said, _LATER_SAID, "assistant")
        span.told = _speech(attributes, _TOLD, told, _LATER_TOLD, "user")
        span.outputs = _output_tools(attributes.get("model_request_parameters"))


def _written(held: Any) -> list[Event]:
    """Return the events that Pydantic AI writes as one attribute."""
    return [
        (event["event.name"], event)
        for event in members([_list(held)])
        if isinstance(event.get("event.name"), str)
    ]


def kind_of(attributes: dict[str, Any], events: Sequence[Event] = ()) -> Kind:
    """Return what the attributes say that the span is."""
    if not events and _TELL.isdisjoint(attributes):
        return "other"
    for key in _SAYS_KIND:
        word = attributes.get(key)
        if not isinstance(word, str):
            continue
        if key == "ai.operationId" and word.endswith((".doGenerate", ".doStream")):
            return "model"
        kind = _KINDS.get(word.lower(), "agent" if key == "ai.operationId" else None)
        if kind is not None:
            return kind
    name = attributes.get("gen_ai.tool.name")
    if isinstance(name, str) and name[:1] not in ("[", "{", ""):
        return "tool"
    if not _SPEAKS.isdisjoint(attributes):
        return "model"
    if any(name == "gen_ai.choice" for name, _ in events):
        return "model"
    return "other" if _TOLD_ALL.isdisjoint(attributes) else "agent"


def _speech(
    attributes: dict[str, Any],
    first: tuple[str, ...],
    between: list[Said],
    later: tuple[str, ...],
    role: str,
) -> list[Said]:
    """Return the messages of the best source that has any."""
    for keys in (first, later):
        for key in keys:
            found = utterances(attributes.get(key), role)
            if found:
                return found
        if between:
            return between
    return []


def _of_sdk(attributes: dict[str, Any]) -> list[Said]:
    """Return what the AI SDK's telemetry says: a text and calls, apart."""
    text = attributes.get("ai.response.text")
    asked = utterances(attributes.get("ai.response.toolCalls"))
    calls = tuple(call for said in asked for call in said.calls)
    if not calls and not isinstance(text, str):
        return []
    return [Said("assistant", text if isinstance(text, str) else "", calls)]


def _of_events(events: Iterable[Event], *, said: bool) -> list[Said]:
    found: list[Said] = []
    for name, held in events:
        if name == "gen_ai.client.inference.operation.details":
            key = "gen_ai.output.messages" if said else "gen_ai.input.messages"
            found += utterances(held.get(key), "assistant" if said else "user")
        elif name == ("gen_ai.content.completion" if said else "gen_ai.content.prompt"):
            key = "gen_ai.completion" if said else "gen_ai.prompt"
            found += utterances(held.get(key), "assistant" if said else "user")
        elif name == "gen_ai.choice" and said:
            message = held.get("message", held)
            if isinstance(held.get("tool_calls"), (str, list)):
                message = {"role": "assistant", **held, "tool_calls": _list(held["tool_calls"])}
            found += utterances(message)
        elif not said and (role := _EVENT_ROLE.fullmatch(name)):
            calls = {"tool_calls": _list(held["tool_calls"])} if "tool_calls" in held else {}
            message = {"content": "", "tool_call_id": held.get("id"), **held, **calls}
            found += utterances({**message, "role": role[1]})
    return found


def _list(held: Any) -> Any:
    return parsed(held) if isinstance(held, str) else held


def _indexed(attributes: dict[str, Any]) -> dict[str, list[Said]]:
    """Return the messages that stand in attributes with numbers in their names."""
    sides: dict[str, dict[int, dict[str, Any]]] = {"told": {}, "said": {}}
    for key, value in attributes.items():
        if not isinstance(key, str) or not key.startswith(_NUMBERED):
            continue
        found = _INDEXED.fullmatch(key) or _MESSAGE.fullmatch(key)
        if found is not None and len(found[2]) < _DIGITS:
            side = "said" if "completion" in found[1] or found[1] == "output" else "told"
            sides[side].setdefault(int(found[2]), {})[found[3]] = value
    return {
        side: [said for at in sorted(held) for said in _flat(held[at], side)]
        for side, held in sides.items()
    }


def _flat(fields: dict[str, Any], side: str) -> list[Said]:
    calls: dict[int, dict[str, Any]] = {}
    parts: dict[int, str] = {}
    rest: dict[str, Any] = {}
    for key, value in fields.items():
        call, block = _CALL.fullmatch(key), _BLOCK.fullmatch(key)
        if call is not None and len(call[1]) < _DIGITS:
            calls.setdefault(int(call[1]), {})[call[2].removeprefix("function.")] = value
        elif block is not None and len(block[1]) < _DIGITS and isinstance(value, str):
            parts[int(block[1])] = value
        else:
            rest[key] = value
    for held in calls.values():
        if held.get("arguments") and not _string(held.get("name")):
            raise MalformedTraceError(f"a call without a name: {shorten(held)}")
    asked = tuple(
        Asked(held["name"], held.get("arguments", msgspec.UNSET), _string(held.get("id")))
        for _, held in sorted(calls.items())
        if isinstance(held.get("name"), str) and held["name"]
    )
    if "content" not in rest and parts:
        rest["content"] = "".join(parts[at] for at in sorted(parts))
    rest.setdefault("content", "")
    content = _list(rest["content"])
    if any("type" in block for block in members([content])):
        rest["content"] = content
    if not isinstance(rest.get("role"), str):
        rest.pop("role", None)
    made = utterances({"role": "assistant" if side == "said" else "user", **rest})
    return [said._replace(calls=asked) if asked else said for said in made]


def _output_tools(parameters: Any) -> frozenset[str]:
    held = parsed(parameters) if isinstance(parameters, str) else parameters
    tools = held.get("output_tools") if isinstance(held, dict) else None
    return texts(tool.get("name") for tool in members([tools]))


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
