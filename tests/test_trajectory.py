"""Trajectory: what it says of a run, and that it travels whole."""

from __future__ import annotations

import pickle

from trajgrade.evaluators import TrajectoryMatchEvaluator
from trajgrade.trajectory import (
    Step,
    ToolCall,
    Trajectory,
    extract_tool_calls,
    normalize_trajectory,
)

CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
MESSAGES = [
    {"role": "user", "content": "Please."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "ok"},
    {"role": "assistant", "content": "Done."},
]


def test_none_gives_an_empty_list_and_data_its_steps_and_calls():
    assert normalize_trajectory(None) == []
    assert extract_tool_calls(None) == []
    assert [step.role for step in normalize_trajectory(MESSAGES)] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    (call,) = extract_tool_calls(MESSAGES)
    assert (call.name, call.args, call.result, call.id) == ("f", {"n": 1}, "ok", "1")


def test_potatos_positional_arguments():
    assert ToolCall("f", {"n": 1}).to_dict() == {"name": "f", "args": {"n": 1}}
    assert ToolCall("f").args == {}
    assert Step("assistant", "Done.").tool_calls == []


def test_a_trajectory_is_pickled_also_after_a_function_compared_its_calls():
    trajectory = Trajectory.from_any(MESSAGES)
    anything = TrajectoryMatchEvaluator(tool_args_match_overrides={"f": lambda got, want: True})
    assert anything.evaluate(outputs=trajectory, reference_outputs=[{"name": "f"}]).score == 1.0
    assert pickle.loads(pickle.dumps(trajectory)) == trajectory  # noqa: S301 our own bytes
