"""Vertex AI's trajectories and rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.samples import OPENAI, VERTEX
from trajgrade import detection
from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.trajectory import Trajectory


def test_without_tool_input_there_are_no_arguments():
    (call,) = Trajectory.from_any([{"tool_name": "now"}]).tool_calls
    assert (call.args, call.args_state) == ({}, "ok")


def test_each_call_stands_in_a_step_of_its_own():
    assert len(Trajectory.from_any(VERTEX * 3).steps) == 3


@pytest.mark.parametrize("given", [VERTEX, json.dumps(VERTEX), OPENAI, json.dumps(OPENAI)])
def test_a_row_holds_any_trace_also_as_text(given: Any):
    trajectory = Trajectory.from_any({"predicted_trajectory": given, "response": "r"})
    assert [(c.name, c.args) for c in trajectory.tool_calls] == [("trains", {"to": "Oslo"})]
    assert trajectory.final_response == "r"


def test_the_prediction_is_read_and_not_the_reference():
    row = {"predicted_trajectory": [], "reference_trajectory": VERTEX, "reference": "x"}
    assert Trajectory.from_any(row).tool_calls == ()
    assert Trajectory.from_any(row).final_response is None


def test_a_missing_prediction_is_not_read_from_the_reference():
    with pytest.raises(TraceError):
        Trajectory.from_any({"predicted_trajectory": None, "reference_trajectory": VERTEX})


def test_columns_are_rows():
    columns = {
        "prompt": ["a", "b"],
        "predicted_trajectory": [VERTEX, json.dumps(VERTEX * 2)],
        "reference_trajectory": [VERTEX, VERTEX],
        "response": ["x", "y"],
    }
    rows = detection.read(columns)
    assert [len(row.tool_calls) for row in rows] == [1, 2]
    assert [row.final_response for row in rows] == ["x", "y"]


def test_columns_of_different_lengths_are_an_error():
    with pytest.raises(MalformedTraceError, match="predicted_trajectory 1, response 2"):
        detection.read({"predicted_trajectory": [VERTEX], "response": ["x", "y"]})


@pytest.mark.parametrize("broken", ["[{", 5, {"foo": 1}, [{"tool_name": ""}]])
def test_a_broken_trajectory_in_a_row_says_where(broken: Any):
    with pytest.raises(TraceError, match=r"^predicted_trajectory: "):
        Trajectory.from_any({"predicted_trajectory": broken, "response": "x"})


@pytest.mark.parametrize("name", [None, 5, "", []])
def test_a_call_without_a_name_is_an_error(name: Any):
    with pytest.raises(MalformedTraceError, match="call 1, tool_name"):
        Trajectory.from_any([*VERTEX, {"tool_name": name}])


@pytest.mark.parametrize("inner", [{"predicted_trajectory": []}, '{"reference_trajectory": []}'])
def test_a_row_inside_a_row_is_refused(inner: Any):
    with pytest.raises(MalformedTraceError, match="a row inside a row"):
        Trajectory.from_any({"predicted_trajectory": inner})
