"""Arguments under a key that the format does not expect: read, or an error, never dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.trajectory import Trajectory

GIVEN = {"eur": 1000}
KEYS = ("args", "arguments", "input", "kwargs", "parameters", "tool_input", "tool_args")


def asked(call: dict[str, Any], **beside: Any) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Pay"},
        {"role": "assistant", "content": "", "tool_calls": [call], **beside},
    ]


SHAPES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "vertex": lambda call: [{"tool_name": "pay", **call}],
    "openai": lambda call: asked({"id": "c1", "type": "function", "function": named(call)}),
    "beside the function": lambda call: asked({"id": "c1", "function": {"name": "pay"}, **call}),
    "bare functions": lambda call: [{"type": "function", "function": named(call)}],
    "function_call": lambda call: [
        {"role": "assistant", "content": None, "function_call": named(call)}
    ],
    "anthropic": lambda call: said({"type": "tool_use", "id": "t1", **named(call)}),
    "gemini": lambda call: [{"role": "model", "parts": [{"functionCall": named(call)}]}],
    "langchain": lambda call: [
        {"type": "ai", "content": "", "tool_calls": [{"id": "c1", **named(call)}]}
    ],
    "responses": lambda call: [{"type": "function_call", "call_id": "c1", **named(call)}],
    "bedrock": lambda call: said({"toolUse": {"toolUseId": "t1", **named(call)}}),
    "cohere": lambda call: {
        "chat_history": [{"role": "CHATBOT", "message": "", "tool_calls": [named(call)]}]
    },
    "atif": lambda call: {
        "schema_version": "ATIF-v1.5",
        "steps": [{"source": "agent", "tool_calls": [{"function_name": "pay", **call}]}],
    },
    "mcp": lambda call: [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": named(call)}
    ],
    "evalset": lambda call: [
        {"query": "Pay", "expected_tool_use": [{"tool_name": "pay", **call}], "reference": "ok"}
    ],
    "trajgrade": lambda call: {
        "trajgrade": 1,
        "steps": [{"role": "assistant", "text": "", "tool_calls": [named(call)]}],
    },
    "plain": lambda call: [named(call)],
    "chat": lambda call: asked(named(call)),
}
KINDS = tuple(SHAPES)


def named(call: dict[str, Any]) -> dict[str, Any]:
    return {"name": "pay", **call}


def said(block: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [block]}]


def message(kind: str, call: dict[str, Any]) -> Any:
    """Return a trace of one call of the tool `pay`, whose other keys are those of `call`."""
    return SHAPES[kind](call)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", KINDS)
def test_arguments_are_read_under_every_name_that_is_given_to_them(kind: str, key: str):
    (call,) = Trajectory.from_any(message(kind, {key: GIVEN})).tool_calls
    assert (call.name, call.args, call.args_state) == ("pay", GIVEN, "ok")


@pytest.mark.parametrize("value", [GIVEN, [1000], "eur 1000"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_may_be_arguments_under_an_unknown_key_is_an_error(kind: str, value: Any):
    with pytest.raises(TraceError):
        Trajectory.from_any(message(kind, {"toolinput": value}))


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_without_arguments_has_none(kind: str):
    (call,) = Trajectory.from_any(message(kind, {})).tool_calls
    assert (call.name, call.args, call.args_state) == ("pay", {}, "ok")


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_that_differ_under_two_keys_are_an_error(kind: str):
    both = {"args": GIVEN, "arguments": {"eur": 10}}
    with pytest.raises(MalformedTraceError, match=r"under .* and under .*, and they differ"):
        Trajectory.from_any(message(kind, both))


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_that_are_equal_under_two_keys_are_those(kind: str):
    both = {"args": GIVEN, "arguments": '{"eur": 1000}'}
    (call,) = Trajectory.from_any(message(kind, both)).tool_calls
    assert call.args == GIVEN


def test_the_error_names_the_message_the_call_the_key_and_those_that_would_do():
    with pytest.raises(MalformedTraceError) as raised:
        Trajectory.from_any(message("openai", {"argumnts": GIVEN}))
    told = str(raised.value)
    assert "message 1, call 0 (pay)" in told
    assert "'argumnts'" in told
    assert "'arguments' (or args, input, kwargs, parameters, tool_args, tool_input)" in told
    assert "did you mean 'arguments'?" in told


def test_a_misspelt_key_of_vertex_is_named_with_the_right_one():
    with pytest.raises(MalformedTraceError, match=r"call 0 \(pay\).*mean 'tool_input'"):
        Trajectory.from_any(message("vertex", {"toolinput": GIVEN}))


@pytest.mark.parametrize("kind", KINDS[:-2])
def test_a_call_with_its_arguments_may_hold_anything_beside_them(kind: str):
    own = {
        "vertex": "tool_input", "gemini": "args", "langchain": "args", "anthropic": "input",
        "bedrock": "input", "cohere": "parameters", "evalset": "tool_input", "trajgrade": "args",
    }  # fmt: skip
    held = {own.get(kind, "arguments"): {}, "vendor": {"eur": 5}}
    (call,) = Trajectory.from_any(message(kind, held)).tool_calls
    assert call.args == {}


def test_the_definition_of_a_tool_is_no_call():
    schema = {"type": "object", "properties": {"eur": {"type": "number"}}}
    with pytest.raises(MalformedTraceError, match="definition of a tool"):
        Trajectory.from_any(message("bare functions", {"parameters": schema}))


def test_a_call_in_a_tag_with_arguments_under_an_unknown_key_has_no_known_arguments():
    tag = '<tool_call>{"name": "pay", "argumnts": {"eur": 5}}</tool_call>'
    turns = [{"from": "human", "value": "Pay"}, {"from": "gpt", "value": tag}]
    found = Trajectory.from_any({"conversations": turns})
    assert [(c.name, c.args_state) for c in found.tool_calls] == [("pay", "unparseable")]
    assert "'argumnts'" in found.notes[0]
