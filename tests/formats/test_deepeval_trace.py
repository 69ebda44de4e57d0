"""DeepEval's traces."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.formats.run_samples import DEEPEVAL
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def tools(*spans: dict[str, Any]) -> dict[str, Any]:
    trace = copy.deepcopy(DEEPEVAL)
    trace["toolSpans"] = [
        {"uuid": f"x{at}", "type": "tool", "startTime": "2026-01-02T03:04:02Z", **span}
        for at, span in enumerate(spans)
    ]
    return trace


def test_every_part_of_a_call():
    (call,) = Trajectory.from_any(DEEPEVAL).tool_calls
    assert (call.name, call.result, call.turn) == ("trains", "09:14", 0)


@pytest.mark.parametrize("name", ["Function tool: trains", "execute_tool trains", "trains"])
def test_the_name_of_a_tool_without_the_integrations_prefix(name: str):
    trace = {**tools({"name": name, "input": {}}), "llmSpans": []}
    assert [call.name for call in Trajectory.from_any(trace).tool_calls] == ["trains"]


def test_arguments_are_those_that_the_model_gave_where_the_recorder_lost_them():
    span = {"name": "trains", "toolsCalled": [{"name": "trains", "inputParameters": {}}]}
    (call,) = Trajectory.from_any(tools(span)).tool_calls
    assert call.args == {"to": "Oslo"}
    alone = Trajectory.from_any({**tools(span), "llmSpans": []})
    assert [(c.args, c.args_state) for c in alone.tool_calls] == [({}, "ok")]


def test_a_span_without_any_input_has_unknown_arguments():
    alone = Trajectory.from_any({**tools({"name": "now"}), "llmSpans": []})
    assert [(c.args, c.args_state) for c in alone.tool_calls] == [(None, "unknown")]


def test_a_tool_span_inside_another_of_its_name_is_the_same_call():
    wrapper = {"name": "trains", "uuid": "w", "output": {"raw": 1},
               "toolsCalled": [{"name": "trains", "inputParameters": {"to": "Oslo"}}]}  # fmt: skip
    inner = {"name": "trains", "parentUuid": "w", "input": {"kwargs": {"to": "Oslo"}}}
    assert len(Trajectory.from_any(tools(wrapper, inner)).tool_calls) == 1


def test_a_failed_tool():
    (call,) = Trajectory.from_any(tools({"name": "trains", "status": "ERRORED"})).tool_calls
    assert call.status == "error"


@pytest.mark.parametrize("span", [{"name": None}, {"name": ""}, {"name": "f", "toolsCalled": [1]}])
def test_a_broken_span_is_an_error_that_says_which(span: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match=r"toolSpans\[1\]"):
        Trajectory.from_any(tools({"name": "f"}, span))
