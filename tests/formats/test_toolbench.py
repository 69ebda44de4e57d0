"""ToolBench: the way to the answer, and a search that found none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.session_samples import ANSWER, CALL, FINISH, TOOLBENCH
from trajgrade import Trajectory
from trajgrade.errors import MalformedTraceError


def node(kind: str, text: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"node_type": kind, "description": text, "children": list(children), **more}


def failed(*children: dict[str, Any]) -> dict[str, Any]:
    root = node("Action Input", "", *children)
    answer = {"valid_data": False, "train_messages": []}
    return {"win": False, "tree": {"tree": root}, "answer_generation": answer}


def test_the_last_list_is_the_run_and_finish_holds_the_answer():
    trajectory = Trajectory.from_any(TOOLBENCH)
    assert [(call.name, call.args) for call in trajectory.tool_calls] == [CALL, FINISH]
    assert [call.result for call in trajectory.tool_calls] == ["09:14", None]
    assert trajectory.final_response == ANSWER


def test_a_search_without_answer_is_read_branch_by_branch():
    give_up = node("Action", "Finish", node("Action Input", '{"return_type": "give_up"}'))
    one = node("Action", "f", node("Action Input", '{"x": 1}', give_up, observation="first"))
    two = node("Thought", "Hm.", node("Action", "f", node("Action Input", '{"x": 2}')))
    trajectory = Trajectory.from_any(failed(one, two))
    assert [(call.name, call.args) for call in trajectory.tool_calls] == [
        ("f", {"x": 1}),
        ("Finish", {"return_type": "give_up"}),
        ("f", {"x": 2}),
    ]
    assert trajectory.tool_calls[0].result == "first"
    assert "every branch" in trajectory.notes[0]


@pytest.mark.parametrize(
    "broken",
    [
        {"win": False, "answer_generation": {"train_messages": []}},
        {"win": True, "answer_generation": {"train_messages": 5}},
        {"win": True, "answer_generation": {"train_messages": [[{"role": "wizard"}]]}},
        failed(node("Action", "", node("Action Input", "{}"))),
    ],
)
def test_what_is_broken_is_an_error(broken: Any):
    with pytest.raises(MalformedTraceError):
        Trajectory.from_any(broken)


def test_a_very_deep_search_is_no_hang():
    deep = node("Thought", "x")
    for _ in range(20_000):
        deep = {"node_type": "Thought", "description": "x", "children": [deep]}
    assert len(Trajectory.from_any(failed(deep)).steps) == 20_001
