"""What an agent returned, as its response and its trace."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from trajgrade.errors import TraceError
from trajgrade.reply import Reply, calls_of_steps, read_reply
from trajgrade.trajectory import Step, Trajectory

CALLS = [{"tool_name": "trains", "tool_input": {"to": "Oslo"}}, {"tool_name": "now"}]


@pytest.mark.parametrize(
    ("returned", "response", "outputs"),
    [
        ("Yes.", "Yes.", None),
        ("", "", None),
        (None, None, None),
        (42, 42, None),
        ({"response": "Yes.", "predicted_trajectory": CALLS}, "Yes.", CALLS),
        ({"output": "Yes.", "predicted_trajectory": CALLS}, "Yes.", CALLS),
        (
            {"response": "Yes.", "predicted_trajectory": json.dumps(CALLS)},
            "Yes.",
            json.dumps(CALLS),
        ),
        ({"response": "Yes.", "predicted_trajectory": []}, "Yes.", []),
        ({"response": "Yes."}, "Yes.", None),
        ({"output": {"total": 3}}, {"total": 3}, None),
        ({"total": 3}, {"total": 3}, None),
        ({"response": None, "predicted_trajectory": None}, None, None),
        ({"predicted_trajectory": CALLS}, None, CALLS),
    ],
)
def test_response_and_trace_are_told_apart(returned, response, outputs):
    assert read_reply(returned) == Reply(response, outputs)


def test_a_text_that_holds_a_reply_is_read():
    returned = {"response": "Yes.", "predicted_trajectory": CALLS}
    assert read_reply(json.dumps(returned)) == read_reply(returned)
    assert read_reply('{"total": 3}').response == '{"total": 3}'
    assert read_reply("{not json").response == "{not json"


def test_any_trace_is_a_reply():
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]
    run = Trajectory([Step("assistant", "Yes.")])
    for trace in (messages, {"messages": messages}, run):
        assert read_reply(trace) == Reply(None, trace)
    assert read_reply({"messages": messages, "output": "Yes!"}).response == "Yes!"


def test_a_trace_that_has_the_key_output_is_a_trace():
    """OpenAI's Responses API."""
    response = {
        "object": "response",
        "output": [
            {
                "type": "function_call",
                "name": "trains",
                "arguments": '{"to": "Oslo"}',
                "call_id": "1",
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Yes."}],
            },
        ],
    }
    reply = read_reply(response)
    assert reply == Reply(None, response)
    assert Trajectory.from_any(reply.outputs).tool_calls[0].name == "trains"


@pytest.mark.parametrize(
    "action",
    [
        {
            "kwargs": {"tool": "trains", "tool_input": {"to": "Oslo"}},
            "lc": 1,
            "type": "constructor",
        },
        {"tool": "trains", "tool_input": {"to": "Oslo"}},
        {"tool_name": "trains", "tool_input": {"to": "Oslo"}},
        SimpleNamespace(tool="trains", tool_input={"to": "Oslo"}),
    ],
)
def test_intermediate_steps_are_calls(action):
    reply = read_reply(
        {"output": "Yes.", "intermediate_steps": [[action, "09:14"], (action,), action]}
    )
    assert reply.response == "Yes."
    calls = Trajectory.from_any(reply.outputs).tool_calls
    assert [(call.name, call.args) for call in calls] == [("trains", {"to": "Oslo"})] * 3
    assert calls[0].result == "09:14"


def test_steps_that_name_no_tool_are_refused():
    with pytest.raises(TraceError, match=r"intermediate_steps\[1\] names no tool"):
        calls_of_steps([[{"tool": "a"}, 1], "thinking"])
    assert calls_of_steps([]) == []
