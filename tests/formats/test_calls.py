"""Calls and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from trajgrade.errors import MalformedTraceError, TraceError, UnknownTraceError
from trajgrade.trajectory import ToolCall, Trajectory


def read(data: Any) -> Any:
    return Trajectory.from_any(data).tool_calls


def test_each_call_stands_in_a_step_of_its_own():
    steps = Trajectory.from_any([{"name": "f"}, {"name": "g"}]).steps
    assert [[call.name for call in step.tool_calls] for step in steps] == [["f"], ["g"]]


def test_a_bare_call_has_no_turn():
    assert read([{"name": "f"}])[0].turn is None


def test_without_arguments_there_are_none():
    assert (read([{"name": "f"}])[0].args, read([{"name": "f"}])[0].args_state) == ({}, "ok")


def test_a_bare_name_among_calls_has_unknown_arguments():
    assert [(c.name, c.args_state) for c in read(["f", {"name": "g"}])] == [
        ("f", "unknown"),
        ("g", "ok"),
    ]


def test_a_list_of_texts_only_is_no_list_of_calls():
    with pytest.raises(UnknownTraceError, match=r'calls are \{"name"'):
        read(["search", "book"])


@pytest.mark.parametrize("names", [["search"], ["search", {"name": "f"}]])
def test_under_a_key_that_says_so_bare_names_are_calls(names: Any):
    assert read({"tool_calls": names})[0].args_state == "unknown"


def test_the_answer_may_stand_beside_the_calls():
    trajectory = Trajectory.from_any({"calls": [{"name": "f"}], "response": "done"})
    assert trajectory.final_response == "done"


@pytest.mark.parametrize(
    "groups",
    [
        [[{"name": "f"}], [{"name": "g"}]],
        [[{"name": "f"}], []],
        [[{"tool_name": "f"}]],
        [[{"function": {"name": "f"}}]],
    ],
)
def test_a_list_of_lists_of_calls_is_an_error_that_names_both_meanings(groups: Any):
    with pytest.raises(TraceError, match=r"any_of.*turns"):
        read(groups)


def test_everything_that_is_known_of_our_own_calls_comes_back():
    call = ToolCall(
        "f",
        {"a": 1},
        id="i",
        result=[1],
        status="not_run",
        agent="x",
        turn=2,
        children=(ToolCall("g", "t", "text"), ToolCall("h", None, "unknown")),
        started_at=datetime(2024, 5, 1, tzinfo=UTC),
        ended_at=datetime(2024, 5, 2, tzinfo=UTC),
    )
    assert read([call]) == (call,)
    assert read([call.to_dict()]) == (call,)


def test_anything_with_a_name_and_args_is_a_call():
    assert read([SimpleNamespace(name="f", args={"a": 1})])[0].args == {"a": 1}
    assert read(SimpleNamespace(name="f", args={"a": 1}))[0].args == {"a": 1}


@pytest.mark.parametrize(
    "item",
    [
        {"name": "Alice", "age": 5},
        {"name": "f", "description": "a tool", "parameters": {}},
        {"name": "f", "description": "a tool", "input": {}},
        {"name": "f", "args": {}, "steps": [1]},
        {"name": "f", "type": "tool_result"},
    ],
)
def test_what_only_looks_like_a_call_is_none(item: Any):
    with pytest.raises(UnknownTraceError):
        read([item])


def test_one_name_alone_is_no_call():
    with pytest.raises(UnknownTraceError):
        read({"name": "Alice"})


@pytest.mark.parametrize(
    "item",
    [
        {"name": ""},
        {"name": "f", "turn": "x"},
        {"name": "f", "id": []},
        {"name": "f", "args_state": "perhaps"},
        {"name": "f", "children": [{"name": ""}]},
        {"name": "f", "children": 5},
    ],
)
def test_a_broken_call_is_an_error_that_says_which(item: Any):
    with pytest.raises(MalformedTraceError, match="call 1"):
        read([{"name": "ok"}, item])


def test_a_call_that_contains_itself_is_refused():
    loop: dict[str, Any] = {"name": "f"}
    loop["children"] = [loop]
    with pytest.raises(TraceError):
        read([loop])


@pytest.mark.parametrize(
    ("call", "keys"),
    [
        ({"tool": "f", "args": {"a": 1}}, "['args', 'tool']"),
        ({"action": "f", "action_input": {"a": 1}}, "['action', 'action_input']"),
        ({"function": "f", "arguments": {"a": 1}}, "['arguments', 'function']"),
        ({"name": "f", "argz": {"a": 1}}, "['argz', 'name']"),
    ],
)
@pytest.mark.parametrize("place", ["list", "alone", "message", "tool_calls"])
def test_a_call_under_other_keys_is_unknown_and_the_keys_that_would_do_are_named(
    call: dict[str, Any], keys: str, place: str
):
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    shapes = {
        "list": [call], "alone": call, "message": [message], "tool_calls": {"tool_calls": [call]},
    }  # fmt: skip
    with pytest.raises(UnknownTraceError) as raised:
        Trajectory.from_any(shapes[place])
    told = str(raised.value)
    assert 'A call is {"name": …, "args": {…}}, or has arguments, input, kwargs' in told
    assert f"found one with {keys}" in told


def test_an_object_that_is_like_no_call_gets_no_advice_on_calls():
    with pytest.raises(UnknownTraceError) as raised:
        Trajectory.from_any([{"foo": 1}])
    assert "A call is" not in str(raised.value)
