"""AutoGen's and AG2's group chats."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.run_samples import AUTOGEN
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def chat(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"history": list(messages), "question_ID": "q", **fields}


def test_all_speakers_but_humans_are_agents():
    trajectory = Trajectory.from_any(AUTOGEN)
    assert [step.role for step in trajectory.steps] == ["user", "assistant", "assistant"]
    assert (trajectory.id, trajectory.tool_calls) == ("q1", ())


@pytest.mark.parametrize("role", ["user", "system", "human", "X (thought)"])
def test_the_final_response_is_the_last_message_whoever_speaks(role: str):
    last = {"role": role, "content": "exitcode: 0", "name": "Executor"}
    assert (
        Trajectory.from_any(chat({"role": "human", "content": "q"}, last)).final_response
        == "exitcode: 0"
    )


def test_what_a_chat_returned():
    messages = [{"role": "assistant", "name": "a", "content": "hi"}]
    trajectory = Trajectory.from_any(
        {"chat_id": 7, "chat_history": messages, "summary": "", "cost": {}}
    )
    assert (trajectory.id, trajectory.final_response) == ("7", "hi")


def test_calls_that_a_message_asks_for():
    asks = {"role": "assistant", "name": "a", "content": None, "tool_calls": [
        {"id": "1", "function": {"name": "f", "arguments": "{}"}},
        {"id": "2", "function": {"name": "f", "arguments": '{"a": 1}'}}]}  # fmt: skip
    told = {"role": "tool", "content": "r1\n\nr2", "name": "b", "tool_responses": [
        {"tool_call_id": "2", "role": "tool", "content": "r2"},
        {"tool_call_id": "1", "role": "tool", "content": "r1"}]}  # fmt: skip
    trajectory = Trajectory.from_any(chat(asks, told))
    assert [(c.args, c.result, c.agent) for c in trajectory.tool_calls] == [
        ({}, "r1", "a"),
        ({"a": 1}, "r2", "a"),
    ]


@pytest.mark.parametrize("message", [5, {"role": 5, "content": ""}, {"role": "a", "content": 5}])
def test_a_broken_message_read_by_name_is_an_error_that_says_which(message: Any):
    with pytest.raises(MalformedTraceError, match="message 1"):
        Trajectory.from_any(chat({"role": "human", "content": "q"}, message), "autogen_history")
