"""Graph trajectories of LangGraph threads, as data."""

from __future__ import annotations

from typing import Any

import pytest

from trajgrade.detection import claimants
from trajgrade.errors import TraceError
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


def graph(*runs: list[str], **more: Any) -> dict[str, Any]:
    return {
        "inputs": [{"__start__": {"n": at}} for at in range(len(runs))],
        "results": [{"n": at} for at in range(len(runs))],
        "steps": list(runs),
        **more,
    }


def test_each_run_is_a_turn_and_each_node_a_call_without_arguments():
    run = Trajectory.from_any(graph(["__start__", "a"], [], ["b", "sub", "sub:c"]))
    assert [[call.name for call in turn.tool_calls] for turn in run.turns] == [
        ["__start__", "a"], [], ["b", "sub", "sub:c"],
    ]  # fmt: skip
    assert {call.args_state for call in run.tool_calls} == {"ok"}
    assert [call.turn for call in run.tool_calls] == [0, 0, 2, 2, 2]
    assert run.agents == ["sub"]
    assert run.final_response == '{"n":2}'


@pytest.mark.parametrize("inputs", [[], None])
def test_inputs_may_be_left_out(inputs: Any):
    run = Trajectory.from_any(graph(["a"], ["b"], inputs=inputs))
    assert len(run.turns) == 2


def test_a_thread_without_runs_is_an_empty_trajectory():
    assert Trajectory.from_any(graph()).tool_calls == ()


@pytest.mark.parametrize("odd", [{"results": []}, {"inputs": [{}]}, {"steps": [["a"], ["b"], []]}])
def test_lists_of_different_lengths_are_an_error(odd: dict[str, Any]):
    with pytest.raises(TraceError, match="one of each for every run"):
        Trajectory.from_any(graph(["a"], ["b"], **odd))


@pytest.mark.parametrize(
    "data",
    [
        graph(["a"], steps=["a"]), graph(["a"], steps=[["a", 1]]), graph(["a"], steps=[{"n": 1}]),
        graph(["a"], results=None), graph(["a"], messages=[]),
    ],
)  # fmt: skip
def test_what_has_other_steps_is_of_another_format(data: Any):
    assert "graph_trajectory" not in claimants(Glimpse(data))


def test_in_its_name_other_data_is_refused():
    data: Any
    for data in ([], {}, graph(["a"], steps=[[""]]), graph(["a"], steps=["a"])):
        with pytest.raises(TraceError):
            Trajectory.from_any(data, format="graph_trajectory")
