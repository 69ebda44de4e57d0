"""LangChain's AgentExecutor: actions as tuples, objects and constructors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.formats.session_samples import ANSWER, EXECUTOR
from trajgrade import Trajectory, read_traces
from trajgrade.errors import TraceError


class Action(NamedTuple):
    tool: str
    tool_input: Any
    log: str


def test_an_input_that_is_text_stays_text():
    trajectory = Trajectory.from_any(
        [(Action("Search", "1", "log"), "x"), (Action("C", {}, ""), 5)]
    )
    first, second = trajectory.tool_calls
    assert (first.args, first.args_state, first.result) == ("1", "text", "x")
    assert (second.args, second.args_state, second.result) == ({}, "ok", 5)
    assert trajectory.final_response is None


def test_a_run_has_question_and_answer():
    trajectory = Trajectory.from_any(EXECUTOR)
    assert [step.role for step in trajectory.steps] == ["user", "assistant", "tool", "assistant"]
    assert trajectory.tool_calls[0].turn == 0
    assert Trajectory.from_any({**EXECUTOR, "output": {"output": ANSWER}}).final_response == ANSWER
    assert Trajectory.from_any({**EXECUTOR, "intermediate_steps": []}).tool_calls == ()


def test_an_action_as_dumps_writes_it():
    action = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "agent", "OpenAIToolAgentAction"],
        "kwargs": {"tool": "f", "tool_input": {}, "log": "", "tool_call_id": "c1"},
    }
    (call,) = Trajectory.from_any([[action, "x"]]).tool_calls
    assert (call.name, call.id, call.result) == ("f", "c1", "x")


def test_a_list_of_pairs_is_one_trace_and_lists_of_messages_are_several(tmp_path: Path):
    steps = [[["f", "a", "l"], "x"], [["g", "b", "l"], "y"]]
    assert len(list(read_traces(steps))) == 1
    path = tmp_path / "steps.json"
    path.write_bytes(msgspec.json.encode(steps))
    (trajectory,) = read_traces(path, format="langchain_agent_executor")
    assert [call.name for call in trajectory.tool_calls] == ["f", "g"]
    chat = [{"role": "user", "content": "Hi"}]
    assert len(list(read_traces([chat, chat]))) == 2
    calls = [{"name": "f", "args": {}}]
    assert len(list(read_traces([calls, calls]))) == 2


@pytest.mark.parametrize(
    "broken",
    [
        {**EXECUTOR, "intermediate_steps": [[["f", "a", 5], "x"]]},
        {**EXECUTOR, "intermediate_steps": [["f"]]},
        {**EXECUTOR, "intermediate_steps": 5},
        [[["", "a", "l"], "x"]],
    ],
)
def test_what_is_broken_is_an_error(broken: Any):
    with pytest.raises(TraceError):
        Trajectory.from_any(broken, format="langchain_agent_executor")
