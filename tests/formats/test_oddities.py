"""No call is lost and none is counted twice: each kind of oddity that real traces have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.run_samples import otlp
from trajgrade import read_traces
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory

OSLO = {"to": "Oslo"}
ASKED = {"role": "user", "content": "Any trains?"}


def calls(data: Any) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in Trajectory.from_any(data).tool_calls]


def openai(*some: tuple[Any, Any], name: str = "trains") -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": key, "type": "function", "function": {"name": name, "arguments": raw}}
            for key, raw in some
        ],
    }


def answer(key: Any, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": content}


def ran(name: str, **more: Any) -> dict[str, Any]:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}


# 1
def test_a_call_in_tool_calls_in_content_and_in_additional_kwargs_is_one():
    function = {"name": "trains", "arguments": json.dumps(OSLO)}
    message = {
        "type": "ai",
        "content": [{"type": "tool_use", "id": "fc_1", "name": "trains", "input": {}}],
        "tool_calls": [{"name": "trains", "args": OSLO, "id": "call_1"}],
        "additional_kwargs": {"tool_calls": [{"id": "call_1", "function": function}]},
    }
    assert calls([{"type": "human", "content": "Any?"}, message]) == [("trains", OSLO)]


def test_a_call_that_a_model_span_asks_for_and_a_tool_span_runs_is_one():
    said = [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "trains", "arguments": OSLO}],
        }
    ]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said)}
    tool = ran("trains", **{"gen_ai.tool.call.id": "c1"})
    assert calls(otlp(("a", 1, chat), ("b", 2, tool))) == [("trains", OSLO)]


# 2
def test_a_history_that_every_request_repeats_has_its_calls_once():
    first = openai(("c1", '{"to": "Oslo"}'))
    done = {"role": "assistant", "content": "Yes."}
    lines = [
        {"request": {"messages": [ASKED]}, "response": {"choices": [{"message": first}]}},
        {
            "request": {"messages": [ASKED, first, answer("c1", "09:14")]},
            "response": {"choices": [{"message": done}]},
        },
    ]
    assert calls(lines) == [("trains", OSLO)]


# 3
def test_spans_come_in_the_order_of_time_and_parallel_ones_as_they_stand():
    spans = [
        ("c", 3, ran("last")),
        ("b", 1, ran("left")),
        ("a", 1, ran("right")),
        ("d", 0, ran("first")),
    ]
    assert [name for name, _ in calls(otlp(*spans))] == ["first", "left", "right", "last"]


# 4
@pytest.mark.parametrize(
    ("raw", "args", "state"),
    [
        ('{"to": "Oslo"}', OSLO, "ok"),
        (OSLO, OSLO, "ok"),
        ("", {}, "ok"),
        (None, {}, "ok"),
        ('{"to": "Oslo"', '{"to": "Oslo"', "unparseable"),
        ("{'to': 'Oslo'}", "{'to': 'Oslo'}", "unparseable"),
    ],
)
def test_arguments_are_read_in_whatever_way_they_are_written(raw: Any, args: Any, state: str):
    run = Trajectory.from_any([ASKED, openai(("c1", raw))])
    assert [(call.args, call.args_state) for call in run.tool_calls] == [(args, state)]


def test_arguments_that_a_recorder_may_leave_out_are_unknown():
    (call,) = Trajectory.from_any(otlp(("a", 1, ran("trains")))).tool_calls
    assert (call.args, call.args_state) == (None, "unknown")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_know_are_noted(number: float):
    run = Trajectory.from_any([ASKED, openai(("c1", {"at": [{"x": number}]}))])
    assert len(run.tool_calls) == 1
    assert any("NaN" in note for note in run.notes)


# 5
@pytest.mark.parametrize("key", ["", None])
def test_results_without_ids_belong_to_calls_in_order(key: str | None):
    messages = [ASKED, openai((key, "{}"), (key, OSLO)), answer(key, "1"), answer(key, "2")]
    run = Trajectory.from_any(messages)
    assert [(call.args, call.result) for call in run.tool_calls] == [({}, "1"), (OSLO, "2")]


@pytest.mark.parametrize(("given", "key"), [(["c1"], "c1"), ([7], "7")])
def test_an_id_that_stands_in_a_list_is_that_id(given: list[Any], key: str):
    messages: list[Any] = [ASKED, openai(("c0", {}), (given, OSLO)), answer(given, "09:14")]
    run = Trajectory.from_any(messages)
    assert [(call.id, call.result) for call in run.tool_calls] == [
        ("c0", None),
        (key, "09:14"),
    ]


@pytest.mark.parametrize("some", [["c1", "c2"], [], [[]], [None], [True]])
def test_a_list_that_is_no_one_id_is_an_error_that_says_where(some: list[Any]):
    with pytest.raises(MalformedTraceError, match=r"message 1, call 0, id: expected an id, found"):
        Trajectory.from_any([ASKED, openai((some, OSLO))])


def test_a_result_with_the_ids_of_several_calls_is_that_of_each():
    asks = openai(("c1", OSLO), ("c2", {"to": "Bergen"}))
    told = {"role": "tool", "content": "none", "tool_call_ids": ["c1", "c2"], "agent": "main"}
    history = [{**ASKED, "agent": "main"}, {**asks, "agent": "main", "action": "trains"}, told]
    step = {"action": "trains", "observation": "none", "response": "", "state": "{}"}
    run = Trajectory.from_any({"history": history, "trajectory": [step]})
    assert [(call.id, call.result) for call in run.tool_calls] == [("c1", "none"), ("c2", "none")]


def test_an_id_that_is_the_path_of_a_class_is_no_id_of_a_call():
    fields = {"content": "", "tool_calls": [{"name": "trains", "args": OSLO, "id": "c1"}]}
    path = ["langchain", "schema", "messages", "AIMessage"]
    messages = [{"lc": 1, "type": "constructor", "id": path, "kwargs": fields}]
    (call,) = Trajectory.from_any(messages).tool_calls
    assert (call.name, call.args, call.id) == ("trains", OSLO, "c1")


# 6
def test_a_run_that_ends_on_an_output_tool_has_no_call_of_it():
    parameters = {"output_tools": [{"name": "final_result"}]}
    part = {"type": "tool_call", "id": "c9", "name": "final_result", "arguments": {"at": 9}}
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [part]}]),
        "model_request_parameters": json.dumps(parameters),
    }
    run = Trajectory.from_any(otlp(("a", 1, ran("trains")), ("b", 2, chat)))
    assert [call.name for call in run.tool_calls] == ["trains"]
    assert any("final_result" in note for note in run.notes)


# 7
def test_a_wrapper_is_one_call_unless_it_is_to_be_unwrapped():
    inner = [{"recipient_name": "functions.trains", "parameters": {"to": to}} for to in "ab"]
    trace = [ASKED, openai(("c1", {"tool_uses": inner}), name="multi_tool_use.parallel")]
    assert [name for name, _ in calls(trace)] == ["multi_tool_use.parallel"]
    run = Trajectory.from_any(trace, unwrap=True)
    assert [(c.name, c.args) for c in run.tool_calls] == [
        ("trains", {"to": "a"}),
        ("trains", {"to": "b"}),
    ]


# 8
def test_an_id_that_the_model_uses_again_is_another_call():
    messages = [
        ASKED,
        openai(("c1", {"to": "Oslo"})),
        answer("c1", "09:14"),
        openai(("c1", {"to": "Bergen"})),
        answer("c1", "10:20"),
    ]
    run = Trajectory.from_any(messages)
    assert [(call.args["to"], call.result) for call in run.tool_calls] == [
        ("Oslo", "09:14"),
        ("Bergen", "10:20"),
    ]


# 9
def test_observations_inside_the_assistants_text_are_results_and_no_calls():
    text = (
        'Thought: I look.\nAction: trains\nAction Input: {"to": "Oslo"}\n'
        "Observation: Action: none\n\nThought: Done.\nFinal Answer: Yes."
    )  # fmt: skip
    run = Trajectory.from_any([ASKED, {"role": "assistant", "content": text}])
    assert [(call.name, call.args) for call in run.tool_calls] == [("trains", OSLO)]
    assert run.final_response == "Yes."


# 10
def test_blank_lines_and_lines_that_are_no_objects_lose_no_call(tmp_path: Any):
    def line(kind: str, content: Any) -> str:
        message = {"role": kind, "content": content}
        return json.dumps({"type": kind, "sessionId": "s", "uuid": kind, "message": message})

    use = {"type": "tool_use", "id": "t1", "name": "trains", "input": OSLO}
    lines = ["", line("user", "Any?"), "", "17", line("assistant", [use]), ""]
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(lines))
    (run,) = read_traces(file)
    assert [(call.name, call.args) for call in run.tool_calls] == [("trains", OSLO)]
    assert any("17" in note for note in run.notes)


def test_a_trajectory_that_a_column_holds_as_json_text_is_read():
    text = json.dumps([{"tool_name": "trains", "tool_input": OSLO}])
    row = {"prompt": "Any?", "response": "Yes.", "predicted_trajectory": text}
    assert calls(row) == [("trains", OSLO)]
