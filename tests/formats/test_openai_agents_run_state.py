"""Saved runs of OpenAI's Agents SDK."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.run_samples import RUN_STATE
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def call(key: str = "1", name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": key, "name": name, "arguments": arguments}


def item(raw: dict[str, Any], kind: str = "tool_call_item", agent: str = "a") -> dict[str, Any]:
    return {"type": kind, "raw_item": raw, "agent": {"name": agent}}


def state(*items: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "$schemaVersion": "1.13",
        "generated_items": list(items),
        "model_responses": [],
        **fields,
    }


def names(data: dict[str, Any]) -> list[str]:
    return [made.name for made in Trajectory.from_any(data).tool_calls]


def test_every_part_of_a_call():
    (made,) = Trajectory.from_any(RUN_STATE).tool_calls
    assert (made.id, made.result, made.agent, made.turn) == ("call_1", "09:14", "guide", 0)


def test_a_call_in_every_place_counts_once():
    pending = item(call(), "tool_approval_item")
    data = state(
        item(call()),
        pending,
        model_responses=[{"output": [call()]}],
        session_items=[item(call()), pending],
        last_processed_response={"functions": [{"tool_call": call()}], "new_items": [item(call())]},
        current_step={"type": "next_step_interruption", "data": {"interruptions": [pending]}},
    )
    (made,) = Trajectory.from_any(data).tool_calls
    assert (made.name, made.status) == ("f", "not_run")


def test_who_approves_a_call_may_change_its_arguments():
    pending = item(call(arguments='{"a": 2}'), "tool_approval_item")
    data = state(item(call(arguments='{"a": 1}')), pending,
                 current_step={"data": {"interruptions": [pending]}})  # fmt: skip
    (made,) = Trajectory.from_any(data).tool_calls
    assert (made.args, made.status) == ({"a": 1}, "not_run")


def test_an_id_merges_no_calls_within_the_items():
    assert names(state(item(call()), item(call()))) == ["f", "f"]


def test_what_only_the_responses_hold_is_added():
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x"}],
    }
    assert names(state(model_responses=[{"output": [call(), answer]}])) == ["f"]
    data = state(item(call()), model_responses=[{"output": [call(), call("2", "g")]}])
    assert names(data) == ["f", "g"]
    trajectory = Trajectory.from_any(state(model_responses=[{"output": [call(), answer]}]))
    assert trajectory.final_response == "x"


def test_the_session_may_have_kept_more_items():
    assert names(state(item(call()), session_items=[item(call("0", "e")), item(call())])) == [
        "e",
        "f",
    ]


def test_names_as_the_javascript_sdk_writes_them():
    data = {
        "$schemaVersion": "1.0",
        "originalInput": [{"type": "message", "role": "user", "content": "Trains?"}],
        "modelResponses": [],
        "generatedItems": [
            {"type": "tool_call_item", "agent": {"name": "a"},
             "rawItem": {"type": "function_call", "callId": "1", "name": "f", "arguments": "{}"}},
            {"type": "tool_call_output_item", "agent": {"name": "a"},
             "rawItem": {"type": "function_call_result", "callId": "1", "name": "f",
                         "output": {"type": "text", "text": "r"}}},
        ],
    }  # fmt: skip
    trajectory = Trajectory.from_any(data)
    (made,) = trajectory.tool_calls
    assert (made.id, made.result) == ("1", {"type": "text", "text": "r"})
    assert trajectory.steps[0].content == "Trains?"


def test_a_tool_that_takes_text():
    raw = {"type": "custom_tool_call", "call_id": "1", "name": "f", "input": "text"}
    (made,) = Trajectory.from_any(state(item(raw))).tool_calls
    assert (made.args, made.args_state) == ("text", "text")


@pytest.mark.parametrize("broken", [5, item({"type": "function_call"}), {"raw_item": [1]}])
def test_a_broken_item_is_an_error_that_says_which(broken: Any):
    with pytest.raises(MalformedTraceError, match="item 1"):
        Trajectory.from_any(state(item(call()), broken))
