"""LangSmith's runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.formats.run_samples import LANGSMITH
from trajgrade import detection
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def runs(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**copy.deepcopy(run), **changes.get(run["id"], {})} for run in LANGSMITH]


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(LANGSMITH)
    (call,) = trajectory.tool_calls
    assert (trajectory.id, call.id, call.result, call.turn) == ("r", "call_1", "09:14", 0)


def test_a_run_is_begun_by_one_part_of_a_batch_and_ended_by_the_other():
    begun = [{**run, "outputs": {}} for run in LANGSMITH]
    ended = [
        {"id": run["id"], "outputs": run["outputs"], "inputs": None, "end_time": None}
        for run in reversed(LANGSMITH)
    ]
    assert Trajectory.from_any({"post": begun, "patch": ended}) == Trajectory.from_any(LANGSMITH)


def test_messages_as_langchain_dumps_them():
    def dumped(kind: str, **fields: Any) -> dict[str, Any]:
        path = ["langchain", "schema", "messages", kind]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}

    call = {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "type": "tool_call"}
    message = dumped("AIMessage", content="", tool_calls=[call])
    given = {"messages": [[dumped("HumanMessage", content="Trains?")]]}
    outputs = {"generations": [[{"text": "", "message": message}]], "llm_output": None}
    answer = {"output": dumped("ToolMessage", content="09:14", tool_call_id="call_1")}
    trajectory = Trajectory.from_any(
        runs(a={"inputs": given, "outputs": outputs}, b={"outputs": answer})
    )
    (found,) = trajectory.tool_calls
    assert (found.name, found.args, found.result) == ("trains", {"to": "Oslo"}, "09:14")
    assert trajectory.steps[0].content == "Trains?"


def test_an_error_says_that_the_tool_failed():
    (call,) = Trajectory.from_any(runs(b={"error": "boom", "outputs": None})).tool_calls
    assert (call.status, call.result) == ("error", "boom")


def test_each_trace_is_a_trajectory():
    other = [
        {**run, "id": f"2{run['id']}", "trace_id": "s", "parent_run_id": None} for run in LANGSMITH
    ]
    assert [t.id for t in detection.read([*LANGSMITH, *other])] == ["r", "s"]


@pytest.mark.parametrize("change", [{"id": []}, {"name": ""}, {"trace_id": {}}, {"child_runs": 5}])
def test_a_broken_run_is_an_error_that_says_which(change: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match="run 2"):
        Trajectory.from_any(runs(b=change))
