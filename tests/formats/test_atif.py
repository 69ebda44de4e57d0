"""The Agent Trajectory Interchange Format."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.run_samples import ATIF
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def steps(*items: dict[str, Any]) -> dict[str, Any]:
    return {**ATIF, "steps": [{"source": "agent", "message": "", **item} for item in items]}


def called(*names: str, **fields: Any) -> dict[str, Any]:
    calls = [{"tool_call_id": n, "function_name": n, "arguments": {}} for n in names]
    return {"tool_calls": calls, **fields}


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(ATIF)
    (call,) = trajectory.tool_calls
    assert (call.id, call.result, call.agent, call.turn) == ("call_1", "09:14", "guide", 0)
    assert call.started_at is not None
    assert (trajectory.id, call.ended_at) == ("s1", None)


def test_results_without_an_id_belong_to_the_calls_in_order():
    results = [{"content": "1"}, {"content": None}]
    trajectory = Trajectory.from_any(steps(called("f", "g", observation={"results": results})))
    assert [call.result for call in trajectory.tool_calls] == ["1", None]


def test_results_with_an_id_belong_to_that_call():
    results = [{"source_call_id": "g", "content": "2"}, {"source_call_id": "f", "content": "1"}]
    trajectory = Trajectory.from_any(steps(called("f", "g", observation={"results": results})))
    assert [call.result for call in trajectory.tool_calls] == ["1", "2"]


def test_what_the_system_observes_belongs_to_no_call():
    seen = {"source": "system", "message": "Summarised.",
            "observation": {"results": [{"subagent_trajectory_ref": [{"session_id": "s2"}]}]}}  # fmt: skip
    trajectory = Trajectory.from_any(steps(called("f"), seen))
    assert [call.result for call in trajectory.tool_calls] == [None]
    assert trajectory.notes == ()


def test_steps_that_are_copies_call_nothing_again():
    trajectory = Trajectory.from_any(steps(called("f", is_copied_context=True), called("g")))
    assert [call.name for call in trajectory.tool_calls] == ["g"]
    assert "copies" in trajectory.notes[0]


def test_the_final_response_may_stand_beside_a_call():
    trajectory = Trajectory.from_any(steps(called("finish", message="Done.")))
    assert trajectory.final_response == "Done."


@pytest.mark.parametrize(
    "broken",
    [{"source": "wizard"}, called(""), {"tool_calls": [{}]}, {"tool_calls": 5}, {"message": 5},
     {"observation": [1]}, {"observation": {"results": [5]}}],
)  # fmt: skip
def test_a_broken_step_is_an_error_that_says_which(broken: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match="step 1"):
        Trajectory.from_any(steps(called("f"), broken))
