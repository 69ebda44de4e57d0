"""Langfuse's traces."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.formats.run_samples import LANGFUSE, MESSAGES
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def observed(at: int, **fields: Any) -> dict[str, Any]:
    trace = copy.deepcopy(LANGFUSE)
    trace["observations"][at].update(fields)
    return trace


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(LANGFUSE)
    (call,) = trajectory.tool_calls
    assert (trajectory.id, call.id, call.result, call.turn) == ("t1", "call_1", "09:14", 0)


def test_attributes_say_more_than_the_type_also_as_json_text():
    attributes = {"gen_ai.tool.name": "buses", "gen_ai.tool.call.id": "call_9"}
    for metadata in ({"attributes": attributes}, json.dumps({"attributes": attributes})):
        trace = observed(1, type="SPAN", metadata=metadata)
        calls = Trajectory.from_any(trace).tool_calls
        assert [call.name for call in calls] == ["trains", "buses"]
        assert calls[1].args == {"to": "Oslo"}


@pytest.mark.parametrize(
    "given",
    [{"to": "Oslo"}, '{"to": "Oslo"}', "{'to': 'Oslo'}", {"input": {"to": "Oslo"}},
     {"args": [], "kwargs": {"to": "Oslo"}}],
)  # fmt: skip
def test_arguments_without_what_a_recorder_puts_around_them(given: Any):
    trace = {**LANGFUSE, "observations": [{**LANGFUSE["observations"][1], "input": given}]}
    assert Trajectory.from_any(trace).tool_calls[0].args == {"to": "Oslo"}


@pytest.mark.parametrize(
    "output",
    [
        MESSAGES[1],
        [MESSAGES[1]],
        {"choices": [{"message": MESSAGES[1]}]},
        MESSAGES[1]["tool_calls"],
        [{"role": "assistant", "content": json.dumps(MESSAGES[1]["tool_calls"])}],
        {"role": "assistant", "content": "", "additional_kwargs": {
            "tool_calls": MESSAGES[1]["tool_calls"]}},
        {"output": [{"type": "function_call", "call_id": "call_1", "name": "trains",
                     "arguments": '{"to": "Oslo"}'}]},
        {"content": {"role": "model", "parts": [
            {"functionCall": {"name": "trains", "args": {"to": "Oslo"}}}]}},
        [{"toolCallId": "call_1", "toolName": "trains", "input": '{"to": "Oslo"}'}],
        [{"role": "assistant", "parts": [
            {"type": "tool_call", "id": "call_1", "name": "trains", "arguments": {"to": "Oslo"}}]}],
        {"content": [{"type": "tool_use", "id": "call_1", "name": "trains",
                      "input": {"to": "Oslo"}}], "role": "assistant"},
        "{'toolUse': {'toolUseId': 'call_1', 'name': 'trains', 'input': {'to': 'Oslo'}}}",
    ],
)  # fmt: skip
def test_what_a_model_said_in_the_shape_of_any_client(output: Any):
    for written in (output, json.dumps(output)) if not isinstance(output, str) else (output,):
        trace = {**LANGFUSE, "observations": [observed(2, output=written)["observations"][2]]}
        (call,) = Trajectory.from_any(trace).tool_calls
        assert (call.name, call.args) == ("trains", {"to": "Oslo"})


def test_the_trace_tells_the_final_response_where_no_model_call_does():
    trace: dict[str, Any] = {
        "trace": {"id": "t", "output": '"Done."'},
        "observations": [LANGFUSE["observations"][1]],
    }
    assert Trajectory.from_any(trace).final_response == "Done."
    trace["trace"]["output"] = json.dumps([{"toolCallId": "1", "toolName": "f", "input": "{}"}])
    assert Trajectory.from_any(trace).final_response is None


def test_a_level_says_that_a_tool_failed():
    trajectory = Trajectory.from_any(observed(1, level="ERROR", output="no such city"))
    assert [(c.status, c.result) for c in trajectory.tool_calls] == [("error", "no such city")]


def test_a_result_that_is_a_message_of_langchains():
    message = {"type": "tool", "content": "09:14", "tool_call_id": "call_1", "status": "error"}
    (call,) = Trajectory.from_any(observed(1, output=message)).tool_calls
    assert (call.result, call.status) == ("09:14", "error")


@pytest.mark.parametrize(
    "change", [{"id": []}, {"name": 5}, {"type": None, "parentObservationId": {}}]
)
def test_a_broken_observation_is_an_error_that_says_which(change: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match="observation 1"):
        Trajectory.from_any(observed(1, **change))
