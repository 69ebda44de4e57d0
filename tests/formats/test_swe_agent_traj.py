"""SWE-agent and mini-swe-agent: actions that are text, calls, observations."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.formats.session_samples import MINI, MINI_TOOLS, SWE_AGENT, SWE_AGENT_OLD
from trajgrade import Trajectory
from trajgrade.errors import MalformedTraceError
from trajgrade.formats.mini_swe_agent import commands_in


def test_calls_and_actions_of_one_run():
    trajectory = Trajectory.from_any(SWE_AGENT)
    (call,) = trajectory.tool_calls
    assert (call.id, call.result, call.agent, call.turn) == ("call_1", "09:14", "main", 0)
    assert trajectory.actions == ("trains Oslo",)
    assert trajectory.notes == ()


def test_text_actions_stay_as_they_stand_and_are_no_calls():
    trajectory = Trajectory.from_any(SWE_AGENT_OLD)
    assert trajectory.actions == ("trains Oslo\n", "submit\n")
    assert [step.role for step in trajectory.steps] == ["assistant", "tool"] * 2


def test_history_and_trajectory_tell_the_actions_once():
    both = {**SWE_AGENT, "trajectory": SWE_AGENT_OLD["trajectory"][:1]}
    assert Trajectory.from_any(both) == Trajectory.from_any(SWE_AGENT)
    silent = copy.deepcopy(both)
    for message in silent["history"]:
        message.pop("action", None)
    assert Trajectory.from_any(silent).actions == ("trains Oslo\n",)


def test_what_follows_an_action_is_no_turn_of_the_users():
    history = [
        {"role": "user", "content": "Do it", "agent": "a"},
        {"role": "assistant", "content": "x", "action": "ls", "agent": "a"},
        {"role": "user", "content": "a.txt", "agent": "a"},
    ]
    roles = [step.role for step in Trajectory.from_any({"history": history}).steps]
    assert roles == ["user", "assistant", "tool"]


def test_demonstrations_are_none_of_the_run():
    demo = [{**message, "is_demo": True} for message in SWE_AGENT["history"][1:4]]
    shown = {**SWE_AGENT, "history": [*demo, *SWE_AGENT["history"]]}
    assert Trajectory.from_any(shown) == Trajectory.from_any(SWE_AGENT)


def test_actions_are_part_of_what_makes_runs_equal_and_survive_a_round_trip():
    run = Trajectory.from_any(SWE_AGENT_OLD)
    other = copy.deepcopy(SWE_AGENT_OLD)
    other["trajectory"][0]["action"] = "ls"
    assert run != Trajectory.from_any(other)
    assert Trajectory.from_any(run.to_dict()) == run


def test_commands_of_mini_swe_agent():
    trajectory = Trajectory.from_any(MINI)
    assert trajectory.actions == ("trains Oslo",)
    assert [step.role for step in trajectory.steps][:4] == ["system", "user", "assistant", "tool"]


def test_the_tool_calls_of_its_second_version():
    trajectory = Trajectory.from_any(MINI_TOOLS)
    (call,) = trajectory.tool_calls
    assert call.result == "09:14"
    assert trajectory.actions == ("trains Oslo",)


def test_its_responses_of_the_responses_api():
    item = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c", "output": "x"}
    run = {"trajectory_format": "mini-swe-agent-1.1", "messages": [{"output": [item]}, answer]}
    (call,) = Trajectory.from_any(run).tool_calls
    assert (call.name, call.result) == ("bash", "x")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("```bash\nls\n```", ["ls"]),
        ("Run ```bash  \nls\n  cd x\n``` now", ["ls\n  cd x"]),
        ("```mswea_bash_command\nls\n```\n```bash\npwd\n```", ["ls", "pwd"]),
        ("```bash\n\n```", []),
        ("```bash\nls", []),
        ("```bashful\nls\n```", []),
        ("```python\nls\n```", []),
        ("```bash\n```", []),
    ],
)
def test_commands_in_a_text(text: str, commands: list[str]):
    assert list(commands_in(text)) == commands


def test_fences_without_end_take_no_time():
    assert list(commands_in("```bash\n" * 200_000)) == []
    assert len(list(commands_in("```bash\nx\n```\n" * 50_000))) == 50_000


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ({"history": [{"role": "x", "agent": "a", "action": "b"}]}, "message 0"),
        ({**SWE_AGENT, "history": [*SWE_AGENT["history"], 5]}, "message 5"),
        ({"history": [{"role": "assistant", "agent": "a", "action": 5}]}, "message 0, action"),
        ({**MINI, "messages": 5}, "messages"),
        ({**MINI, "messages": [{"role": "wizard"}]}, "message 0"),
    ],
)
def test_what_is_broken_is_named(broken: Any, place: str):
    with pytest.raises(MalformedTraceError, match=place):
        Trajectory.from_any(broken)
