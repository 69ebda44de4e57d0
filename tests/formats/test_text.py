"""Texts: an answer, or a trace as JSON."""

from __future__ import annotations

import json

import pytest

from trajgrade.errors import MalformedTraceError, TraceError, UnknownTraceError
from trajgrade.trajectory import Step, Trajectory

ITEM = '{"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": "{}"}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "[1] Smith says so.",
        "{name}, hello",
        "[] is empty",
        "[[link]] text",
        "5",
        "{ x }",
    ],
)
def test_prose_is_one_message_by_the_assistant(text: str):
    trajectory = Trajectory.from_any(text)
    assert trajectory.steps == (Step("assistant", text),)
    assert trajectory.final_response == text
    assert trajectory.tool_calls == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (ITEM, ["lookup"]),
        (f"[{ITEM}]", ["lookup"]),
        (f"{ITEM}\n{ITEM}", ["lookup", "lookup"]),
        (f"\n {ITEM} \r\n\n{ITEM}\n", ["lookup", "lookup"]),
        (f"\ufeff{ITEM}", ["lookup"]),
        (json.dumps([{"tool_name": "f"}]), ["f"]),
        ("[]", []),
    ],
)
def test_a_trace_as_json_text_is_that_trace(text: str, names: list[str]):
    assert [call.name for call in Trajectory.from_any(text).tool_calls] == names


@pytest.mark.parametrize("text", ['{"answer": 42}', "[1, 2]", "{}", '["a"]', '[{"a": 1}]'])
def test_json_that_is_no_trace_is_an_error(text: str):
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"role": "user", "content": "x',
        '[{"tool_name": "f"}',
        "[{'tool_name': 'f'}]",
        '{"a":' * 50_000,
        "[" * 50_000,
        '[{"a": 1}] and more',
    ],
)
def test_text_that_begins_like_a_trace_and_is_none_is_an_error(text: str):
    with pytest.raises(MalformedTraceError, match="begins like JSON"):
        Trajectory.from_any(text)


def test_a_huge_text_survives():
    text = "x" * 100_000_000
    assert Trajectory.from_any(text).final_response is text


@pytest.mark.parametrize("text", ["[" + "1," * 2_000_000 + "1]", '[{"a": "' + "x" * 10_000_000])
def test_a_huge_text_of_nothing_is_refused_in_a_few_words(text: str):
    with pytest.raises(TraceError) as refused:
        Trajectory.from_any(text)
    assert len(str(refused.value)) < 2_000


def test_lone_surrogates_survive():
    assert Trajectory.from_any("\ud800").final_response == "\ud800"
    (call,) = Trajectory.from_any('[{"name": "f", "args": {"a": "\\ud800"}}]').tool_calls
    assert call.args == {"a": "\ud800"}
