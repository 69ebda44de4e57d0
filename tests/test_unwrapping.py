"""A wrapper stays one call, and is the calls that it holds where that is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.samples import SAMPLES, Sample
from trajgrade import read_traces
from trajgrade.trajectory import Step, ToolCall, Trajectory

INNER = [("weather", {"city": "Oslo"}), ("sights", {"city": "Rome"})]
USES = [{"recipient_name": f"functions.{name}", "parameters": args} for name, args in INNER]
WRAPPERS = {
    "multi_tool_use.parallel": {"tool_uses": USES},
    "batch_tool": {
        "invocations": [{"name": name, "arguments": json.dumps(args)} for name, args in INNER]
    },
    "batch": {"tool_calls": [{"tool": name, "parameters": args} for name, args in INNER]},
    "run": {"calls": [{"name": name, "args": args, "id": "x"} for name, args in INNER]},
}


def pairs(run: Trajectory) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in run.tool_calls]


def openai(name: str, args: Any, result: Any = None) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(args)}
    answer = [] if result is None else [{"role": "tool", "tool_call_id": "1", "content": result}]
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]},
        *answer,
    ]


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_is_one_call_and_the_calls_that_it_holds_where_that_is_asked_for(name: str):
    trace = openai(name, WRAPPERS[name])
    kept = Trajectory.from_any(trace)
    assert pairs(kept) == [(name, WRAPPERS[name])]
    for opened in (
        Trajectory.from_any(trace, unwrap=True),
        Trajectory.from_any(kept, unwrap=True),
        *read_traces(trace, unwrap=True),
        *read_traces(json.dumps(trace), unwrap=True),
    ):
        assert pairs(opened) == INNER
        assert [call.turn for call in opened.tool_calls] == [0, 0]
        assert [call for step in opened.steps for call in step.tool_calls] == [*opened.tool_calls]


def test_b031_a_single_call_inside_is_the_call():
    args = {"call": {"tool_name": "list_client", "args": {}}}
    opened = Trajectory.from_any(openai("ToolManager.handle", args, "done"), unwrap=True)
    assert pairs(opened) == [("list_client", {})]
    assert opened.tool_calls[0].result == "done"


def test_what_is_inside_has_the_wrapper_s_place_agent_and_status_and_its_share_of_the_result():
    wrapper = ToolCall(
        "batch", {"tool_calls": [{"tool": "a", "input": {}}, {"tool": "b", "input": "{"}]},
        id="w", result=["x", "y"], status="error", agent="planner", turn=3,
    )  # fmt: skip
    run = Trajectory([Step("assistant", "", [ToolCall("first"), wrapper, ToolCall("last")])])
    first, a, b, last = Trajectory.from_any(run, unwrap=True).tool_calls
    assert (first.name, last.name) == ("first", "last")
    assert a == ToolCall("a", {}, "ok", "w", "x", "error", agent="planner", turn=3)
    assert b == ToolCall("b", "{", "unparseable", "w", "y", "error", agent="planner", turn=3)


def test_one_result_for_several_calls_is_noted_and_given_to_none():
    opened = Trajectory.from_any(openai("p", {"tool_uses": USES}, "both"), unwrap=True)
    assert [call.result for call in opened.tool_calls] == [None, None]
    assert "one for 2 calls" in opened.notes[-1]


def test_wrappers_inside_wrappers_are_opened_and_a_tower_of_them_ends():
    args: Any = {"tool_uses": USES}
    for _ in range(40):
        args = {"tool_uses": [{"recipient_name": "p", "parameters": args}]}
    (left,) = Trajectory.from_any(openai("p", args), unwrap=True).tool_calls
    assert left.name == "p"
    twice = {"tool_uses": [{"recipient_name": "p", "parameters": {"tool_uses": USES}}]}
    assert pairs(Trajectory.from_any(openai("p", twice), unwrap=True)) == INNER


def test_what_the_trace_records_as_run_inside_is_what_ran():
    children = (ToolCall("weather", {"city": "Oslo"}, result=1), ToolCall("sights", result=2))
    run = Trajectory(tool_calls=[ToolCall("p", {"tool_uses": USES}, children=children)])
    assert Trajectory.from_any(run, unwrap=True).tool_calls == children
    fewer = Trajectory(tool_calls=[ToolCall("p", {"tool_uses": USES}, children=children[:1])])
    assert Trajectory.from_any(fewer, unwrap=True) is fewer


@pytest.mark.parametrize(
    "args",
    [
        {}, [], None, "text", {"tool_uses": []}, {"tool_uses": "x"}, {"tool_uses": [1]},
        {"tool_uses": [{"recipient_name": "f"}]}, {"tool_uses": [{"parameters": {}}]},
        {"tool_uses": USES, "limit": 2}, {"tool_uses": [{**USES[0], "odd": 1}]},
        {"tool_uses": [{"recipient_name": "functions.", "parameters": {}}]},
        {"calls": [{"name": "f", "tool": "g", "args": {}}]}, {"items": USES}, {"call": "home"},
    ],
)  # fmt: skip
def test_what_holds_more_or_less_than_calls_is_no_wrapper(args: Any):
    run = Trajectory(tool_calls=[ToolCall("p", args)])
    assert Trajectory.from_any(run, unwrap=True) is run


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_no_sample_holds_a_wrapper(sample: Sample):
    run = Trajectory.from_any(sample.data)
    assert Trajectory.from_any(run, unwrap=True) is run
