"""Calls in tags: ChatML, messages, ShareGPT's records."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.session_samples import CHATML, HERMES, SHAREGPT
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError


def chatml(*messages: tuple[str, str]) -> str:
    return "\n".join(f"<|im_start|>{role}\n{text}<|im_end|>" for role, text in messages)


def tagged(text: str) -> str:
    return chatml(("user", "Hi"), ("assistant", f"<tool_call>\n{text}\n</tool_call>"))


def test_text_and_messages_tell_the_same():
    one, other = Trajectory.from_any(CHATML), Trajectory.from_any(HERMES)
    assert one == other
    (call,) = one.tool_calls
    assert (call.result, call.turn) == ("09:14", 0)
    assert one.notes == ()


@pytest.mark.parametrize(
    ("text", "name", "args", "state"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', "f", {"a": 1}, "ok"),
        ('{"arguments": {"a": 1}, "name": "f"}', "f", {"a": 1}, "ok"),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', "f", {"a": 1}, "ok"),
        ("{'name': 'f', 'arguments': {'a': None}}", "f", {"a": None}, "ok"),
        ('{"name": "f", "arguments": {"a": 1}', "f", {"a": 1}, "ok"),
        ('{"name": "f", "arguments": {"a": {"b": 1}', "f", {"a": {"b": 1}}, "ok"),
        ('{"name": "f", "parameters": {}}', "f", {}, "ok"),
        ('{"name": "f"}', "f", {}, "ok"),
        ('{"type": "function", "function": {"name": "f", "arguments": {}}}', "f", {}, "ok"),
        ('{"name": "f", "arguments": {"a": "x"y"}}', "f", '{"a": "x"y"}}', "unparseable"),
        (
            "<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=b>\n[1]\n</parameter>\n",
            "f",
            {"a": "x", "b": [1]},
            "ok",
        ),
    ],
)
def test_the_shapes_of_a_call(text: str, name: str, args: Any, state: str):
    (call,) = Trajectory.from_any(tagged(text)).tool_calls
    assert (call.name, call.args, call.args_state) == (name, args, state)


def test_a_list_of_calls_in_one_tag():
    text = '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]'
    assert [c.name for c in Trajectory.from_any(tagged(text)).tool_calls] == ["f", "g"]


@pytest.mark.parametrize("text", ["", "no call", "[]", '{"name": 5}', "[1]", '{"a": 1}'])
def test_a_tag_without_a_call_is_noted_and_kept_as_text(text: str):
    trajectory = Trajectory.from_any(tagged(text))
    assert trajectory.tool_calls == ()
    if text != "[]":
        assert "no call" in trajectory.notes[0]
    assert trajectory.final_response == (None if text in ("", "[]") else text)


def test_examples_in_the_prompt_are_no_calls_and_thoughts_no_text():
    example = '<tool_call>{"name": "x", "arguments": {}}</tool_call>'
    said = f"<think>Shall I {example}?</think>Done."
    trajectory = Trajectory.from_any(chatml(("system", example), ("assistant", said)))
    assert trajectory.tool_calls == ()
    assert trajectory.final_response == "Done."


def test_tags_that_are_not_closed_end_with_the_next_one_or_the_text():
    one = '<tool_call>{"name": "f", "arguments": {}}'
    trajectory = Trajectory.from_any(chatml(("assistant", one + one)))
    assert [call.name for call in trajectory.tool_calls] == ["f", "f"]


@pytest.mark.parametrize("role", ["tool", "user"])
def test_several_responses_in_one_turn(role: str):
    calls = "".join(
        f'<tool_call>{{"name": "{n}", "arguments": {{}}}}</tool_call>' for n in ("f", "g", "f")
    )
    told = "".join(
        f"<tool_response>{text}</tool_response>"
        for text in (
            '{"name": "g", "content": {"a": 1}}',
            '{"name": "f", "content": "x"}',
            "plain",
        )
    )
    trajectory = Trajectory.from_any(
        chatml(("user", "Hi"), ("assistant", calls), (role, told), ("assistant", "Done."))
    )
    assert [c.result for c in trajectory.tool_calls] == ["x", {"a": 1}, "plain"]
    assert {c.turn for c in trajectory.tool_calls} == {0}


def test_what_a_model_wrote_alone_and_a_prompt_for_more():
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert [c.name for c in Trajectory.from_any(f"Look: {call}").tool_calls] == ["f"]
    trajectory = Trajectory.from_any(chatml(("user", "Hi")) + "\n<|im_start|>assistant\n")
    assert [step.role for step in trajectory.steps] == ["user"]


def test_an_unknown_role_is_named():
    with pytest.raises(MalformedTraceError, match="message 1: the role is 'wizard'"):
        Trajectory.from_any(chatml(("user", "Hi"), ("wizard", "Ho")))


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" * 20_000 + "</tool_call>",
        "<tool_call></tool_call>" * 10_000,
        "<|im_start|>assistant\n" + "<tool_response>" * 20_000,
        "<|im_start|>assistant\n" + "<think>" * 20_000 + "<tool_call>x</tool_call>",
        '<tool_call>{"name": ' + "'" * 100_000 + "</tool_call>",
        "<tool_call>" + "<function=" * 20_000 + "</tool_call>",
    ],
)
def test_long_texts_take_no_time(text: str):
    assert Trajectory.from_any(text).tool_calls == ()


def test_a_record_of_sharegpt_is_a_trajectory():
    found = list(read_traces([SHAREGPT, SHAREGPT]))
    assert len(found) == 2
    (call,) = found[0].tool_calls
    assert (call.result, call.turn) == ("09:14", 0)
    assert [len(list(read_traces([SHAREGPT] * n, format="sharegpt"))) for n in (1, 3)] == [1, 3]


def test_what_sharegpt_records_may_hold():
    turns = [
        {"from": "system", "value": "Be brief."},
        {"from": "user", "value": "Hi"},
        {"from": "function_call", "value": '[{"name": "f", "arguments": "{}"}, {"name": "g"}]'},
        {"from": "observation", "value": "[1]"},
        {"from": "observation", "value": "2"},
        {"from": "gpt", "value": '<tool_call>{"name": "h", "arguments": {}}</tool_call>'},
        {"from": "tool", "value": '<tool_response>{"name": "h", "content": 3}</tool_response>'},
    ]
    trajectory = Trajectory.from_any(turns)
    assert [(c.name, c.result) for c in trajectory.tool_calls] == [
        ("f", "[1]"),
        ("g", "2"),
        ("h", 3),
    ]
    assert trajectory.final_response is None


@pytest.mark.parametrize(
    "turn",
    [
        {"from": "wizard", "value": ""},
        {"from": "function_call", "value": "f(x)"},
        {"from": "function_call", "value": "5"},
        {"from": "function_call", "value": '{"name": ""}'},
        {"from": "gpt", "value": 5},
    ],
)
def test_what_is_broken_in_a_record_is_named(turn: Any):
    with pytest.raises(MalformedTraceError, match="turn 1"):
        Trajectory.from_any([{"from": "human", "value": "Hi"}, turn])
