"""tau-bench's runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.run_samples import MESSAGES, TAU
from trajgrade import detection, read_traces
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def test_the_calls_are_those_of_the_agent_and_not_of_the_reference():
    trajectory = Trajectory.from_any(TAU)
    (call,) = trajectory.tool_calls
    assert (call.name, call.id, call.result, call.turn) == ("trains", "call_1", "09:14", 0)
    assert (trajectory.id, trajectory.final_response) == ("task3_trial1", "Yes, at 09:14.")


def test_a_list_of_runs_is_a_trajectory_for_each():
    runs = [TAU, {"reward": 1.0, "traj": []}]
    for found in (
        detection.read(runs),
        list(read_traces(runs)),
        list(read_traces(runs, "tau_bench")),
    ):
        assert [(t.id, len(t.tool_calls)) for t in found] == [("task3_trial1", 1), (None, 0)]


def test_ids_that_the_agent_reuses_merge_no_calls():
    run = {**TAU, "traj": [*MESSAGES[1:3], *MESSAGES[1:3]]}
    assert [call.id for call in Trajectory.from_any(run).tool_calls] == ["call_1", "call_1"]


@pytest.mark.parametrize("traj", [[5], [{"role": "wizard", "content": ""}]])
def test_a_broken_message_is_an_error_that_says_which(traj: Any):
    with pytest.raises(MalformedTraceError, match="message 1"):
        Trajectory.from_any({**TAU, "traj": [MESSAGES[0], *traj]})
