"""Inputs on which other tools go wrong, with the right value; numbered as in the list of faults."""

from __future__ import annotations

from typing import Any

import pytest

from trajgrade.errors import TraceError
from trajgrade.trajectory import ToolCall, Trajectory

ITEM = '{"type":"function_call","call_id":"c1","name":"lookup","arguments":"{}"}'


def calls(data: Any) -> tuple[ToolCall, ...]:
    return Trajectory.from_any(data).tool_calls


def named(data: Any) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in calls(data)]


def openai(**function: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": None, "tool_calls": [{"function": function}]}]


def test_b035_a_bare_name_is_a_call_with_unknown_arguments():
    (call,) = calls({"tool_calls": ["azure_ai_search"]})
    assert (call.name, call.args_state) == ("azure_ai_search", "unknown")
    assert calls([{"role": "assistant", "tool_calls": ["azure_ai_search"]}]) == (call,)


def test_b035_a_builtin_tool_is_kept_apart():
    trajectory = Trajectory.from_any({"tool_calls": [{"type": "builtin", "name": "search"}]})
    assert trajectory.tool_calls == ()
    assert [call.name for call in trajectory.hosted_calls] == ["search"]


def test_b035_any_other_shape_is_an_error_that_names_the_type():
    for data in ({"tool_calls": [5]}, [{"role": "assistant", "tool_calls": [5]}]):
        with pytest.raises(TraceError, match="call 0: expected an object, found int 5"):
            calls(data)


@pytest.mark.parametrize("arguments", ["", "{}", None, "null"])
def test_b051_no_arguments_in_any_spelling(arguments: Any):
    assert named(openai(name="now", arguments=arguments)) == [("now", {})]
    assert named(openai(name="now")) == [("now", {})]


def test_b052_cut_off_arguments_are_kept_as_text_and_noted():
    trajectory = Trajectory.from_any(openai(name="f", arguments='{"a": 1'))
    (call,) = trajectory.tool_calls
    assert (call.args, call.args_state) == ('{"a": 1', "unparseable")
    assert len(trajectory.notes) == 1


@pytest.mark.parametrize(("text", "value"), [("[1]", [1]), ("5", 5)])
def test_b052_json_that_is_no_object_is_kept_as_a_value(text: str, value: Any):
    assert named(openai(name="f", arguments=text)) == [("f", value)]


def test_b056_a_sentence_is_no_call_and_keywords_are_arguments():
    def action(text: str) -> list[dict[str, str]]:
        return [{"speaker": "Agent (Action)", "text": text}]

    assert named(action("Let me look that up for you.")) == []
    assert named(action('search(query="cats")')) == [("search", {"query": "cats"})]


@pytest.mark.parametrize(("text", "count"), [(ITEM, 1), (f"[{ITEM}]", 1), (f"{ITEM}\n{ITEM}", 2)])
def test_b057_one_responses_item_alone_in_a_list_and_two_by_line(text: str, count: int):
    assert named(text) == [("lookup", {})] * count


def test_b059_a_call_in_content_and_in_tool_calls_was_made_once():
    message = {
        "type": "ai",
        "content": [{"type": "tool_call", "id": "fc_1", "name": "w", "args": {}}],
        "tool_calls": [{"id": "call_a", "name": "w", "args": {"city": "Oslo"}}],
    }
    assert named([message]) == [("w", {"city": "Oslo"})]
    message["tool_calls"] = [{"name": "w", "args": {}, "id": key} for key in ("a", "b")]
    assert named([message]) == [("w", {}), ("w", {})]


def test_b062_every_call_of_a_message_is_kept_in_order():
    blocks: list[Any] = [
        {"type": "tool_use", "id": key, "name": key, "input": {}} for key in ("a", "b")
    ]
    assert named([{"role": "assistant", "content": blocks}]) == [("a", {}), ("b", {})]


def test_b065_gemini_calls_without_id_get_their_results_in_order():
    def part(key: str, **fields: Any) -> dict[str, Any]:
        return {key: {"name": "w", **fields}}

    contents = [
        {
            "role": "model",
            "parts": [part("functionCall", args={"city": c}) for c in ("Oslo", "Pune")],
        },
        {"role": "user", "parts": [part("functionResponse", response={"t": t}) for t in (3, 30)]},
    ]
    assert [(call.args["city"], call.result) for call in calls(contents)] == [
        ("Oslo", {"t": 3}),
        ("Pune", {"t": 30}),
    ]


def test_b067_two_results_after_a_message_with_two_calls():
    def d(key: str) -> dict[str, Any]:
        return {"id": key, "type": "function", "function": {"name": "d", "arguments": f"[{key}]"}}

    messages = [
        {"role": "assistant", "content": None, "tool_calls": [d("1"), d("2")]},
        {"role": "tool", "tool_call_id": "1", "content": "one"},
        {"role": "tool", "tool_call_id": "2", "content": "two"},
        {"role": "assistant", "content": "done"},
    ]
    assert [call.result for call in calls(messages)] == ["one", "two"]
    assert Trajectory.from_any(messages).final_response == "done"


def test_b072_a_foreign_object_in_a_call_is_saved_as_a_stand_in():
    trajectory = Trajectory.from_any([{"name": "f", "args": {}, "result": pytest}])
    assert "<module 'pytest'" in str(trajectory.to_dict()["steps"][0]["tool_calls"][0]["result"])
