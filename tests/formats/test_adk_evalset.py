"""ADK's eval sets."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.formats.run_samples import ADK_EVALSET, ADK_OLD
from trajgrade import detection, read_traces
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory

INVOCATION = ADK_EVALSET["eval_cases"][0]["conversation"][0]


def cases(*conversations: Any) -> dict[str, Any]:
    made = [{"eval_id": f"c{at}", "conversation": held} for at, held in enumerate(conversations)]
    return {"eval_set_id": "s", "eval_cases": made}


def invocation(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(INVOCATION), **fields}


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(ADK_EVALSET)
    (call,) = trajectory.tool_calls
    assert (trajectory.id, call.id, call.turn) == ("oslo#0", "adk-1", 0)
    assert call.result == {"result": "09:14"}


def test_each_invocation_is_a_trajectory():
    found = detection.read(cases([INVOCATION, INVOCATION], [INVOCATION]))
    assert [t.id for t in found] == ["c0#0", "c0#1", "c1#0"]


def test_older_rows_are_a_trajectory_each_alone_or_in_groups():
    rows = [ADK_OLD, {"query": "hi", "expected_tool_use": [], "reference": "Hello."}]
    for found in (
        detection.read(rows),
        list(read_traces(rows)),
        list(read_traces(rows, "adk_evalset")),
    ):
        assert [(t.id, len(t.tool_calls)) for t in found] == [("0", 1), ("1", 0)]
    grouped = detection.read([{"name": "g", "data": rows, "initial_session": {}}])
    assert [t.id for t in grouped] == ["g#0", "g#1"]


def test_newer_sets_keep_events_between():
    events = [{"author": "a", "content": {"parts": [
        {"text": "Let me look."}, {"function_call": {"name": "f", "args": {"a": 1}}}]}}]  # fmt: skip
    trajectory = Trajectory.from_any(
        cases([invocation(intermediate_data={"invocation_events": events}, final_response=None)])
    )
    assert [(c.name, c.args, c.agent) for c in trajectory.tool_calls] == [("f", {"a": 1}, "a")]
    assert trajectory.final_response is None


def test_names_in_camel_case():
    data = {"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [{
        "userContent": {"parts": [{"text": "hi"}]},
        "intermediateData": {"toolUses": [{"name": "f", "args": {}}]},
        "finalResponse": {"parts": [{"text": "Hello."}]}}]}]}  # fmt: skip
    trajectory = Trajectory.from_any(data)
    assert ([c.name for c in trajectory.tool_calls], trajectory.final_response) == (["f"], "Hello.")


def test_a_scenario_holds_no_conversation():
    data = cases([INVOCATION])
    data["eval_cases"].append({"eval_id": "s", "conversation_scenario": {}, "conversation": None})
    assert len(detection.read(data)) == 1
    with pytest.raises(MalformedTraceError, match="no case"):
        detection.read(cases(None))


@pytest.mark.parametrize(
    "change",
    [{"intermediate_data": {"tool_uses": [{"args": {}}]}}, {"intermediate_data": [1]},
     {"final_response": {"parts": 5}}, {"user_content": {"parts": [5]}}],
)  # fmt: skip
def test_a_broken_invocation_is_an_error_that_says_which(change: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match="case 0, invocation 1"):
        Trajectory.from_any(cases([INVOCATION, invocation(**change)]))


def test_a_broken_row_is_an_error_that_says_which():
    with pytest.raises(MalformedTraceError, match="row 1, call 0"):
        detection.read([ADK_OLD, {"query": "", "expected_tool_use": [{"tool_input": {}}]}])
