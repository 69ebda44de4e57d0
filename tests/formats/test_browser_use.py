"""browser-use's histories."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.formats.run_samples import BROWSER
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def step(actions: Any, results: Any, **output: Any) -> dict[str, Any]:
    return {"model_output": {"action": actions, **output}, "result": results, "state": {}}


def test_what_the_results_do_not_reach_was_not_run():
    calls = Trajectory.from_any(BROWSER).tool_calls
    assert [(c.name, c.status, c.result) for c in calls] == [
        ("trains", "error", "no such page"),
        ("wait", "not_run", None),
        ("done", "ok", "Yes, at 09:14."),
    ]


def test_the_actions_that_were_not_chosen_are_null():
    action = {"go_back": None, "click": {"index": 1}, "interacted_element": {"tag": "a"}}
    trajectory = Trajectory.from_any({"history": [step([action, {"go_back": None}], [{}, {}])]})
    assert [(c.name, c.args) for c in trajectory.tool_calls] == [
        ("click", {"index": 1}),
        ("go_back", {}),
    ]


def test_the_final_response_is_the_text_of_done_or_what_was_extracted():
    done = step(
        [{"done": {"data": {"a": 1}}}], [{"is_done": True, "extracted_content": '{"a": 1}'}]
    )
    assert Trajectory.from_any({"history": [done]}).final_response == '{"a": 1}'
    search = step([{"search": {}}], [{"extracted_content": "found"}], next_goal="look")
    trajectory = Trajectory.from_any({"history": [search]})
    assert trajectory.final_response is None
    assert trajectory.steps[0].content == "look"


def test_a_step_whose_model_call_failed():
    failed: dict[str, Any] = {
        "model_output": None,
        "result": [{"error": "429 too many requests"}],
        "state": {},
    }
    trajectory = Trajectory.from_any({"history": [failed, *copy.deepcopy(BROWSER["history"])]})
    assert len(trajectory.tool_calls) == 3
    assert "429" in trajectory.notes[0]


@pytest.mark.parametrize(
    "broken",
    [step([{}], []), step([{"a": {}, "b": {}}], []), step([5], []), step([{"a": {}}], [5]),
     step({}, []), {"model_output": [1], "result": []}],
)  # fmt: skip
def test_a_broken_step_is_an_error_that_says_which(broken: Any):
    with pytest.raises(MalformedTraceError, match="step 2"):
        Trajectory.from_any({"history": [*BROWSER["history"], broken]})
