"""Messages without any origin's mark."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from trajgrade import detection
from trajgrade.errors import MalformedTraceError, UnknownTraceError
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import (
    Step,
    ToolCall,
    Trajectory,
    extract_tool_calls,
    normalize_trajectory,
)

USER = {"role": "user", "content": "q"}


def ask(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def calls(*messages: Any) -> Any:
    return Trajectory.from_any(list(messages)).tool_calls


def test_a_bare_name_is_a_call_with_unknown_arguments():
    (found,) = calls(ask("search"))
    assert (found.name, found.args, found.args_state) == ("search", None, "unknown")


def test_a_builtin_tool_is_kept_apart():
    trajectory = Trajectory.from_any([ask({"type": "builtin", "name": "search"}, {"name": "f"})])
    assert [c.name for c in trajectory.tool_calls] == ["f"]
    assert [(c.name, c.hosted) for c in trajectory.hosted_calls] == [("search", True)]
    assert len(trajectory.steps[0].tool_calls) == 2


@pytest.mark.parametrize("key", ["args", "arguments", "input", "kwargs"])
def test_a_plain_call_has_its_arguments_under_one_of_four_keys(key: str):
    (found,) = calls(ask({"name": "f", key: {"a": 1}}))
    assert found.args == {"a": 1}


def test_a_result_and_a_status_beside_the_call_are_kept():
    (found,) = calls(ask({"name": "f", "args": {}, "output": "r", "status": "failed"}))
    assert (found.result, found.status) == ("r", "error")


def test_a_tool_message_may_say_that_it_failed():
    found = calls(
        ask({"name": "f"}, {"name": "g"}),
        {"role": "tool", "content": "r", "is_error": True},
        {"role": "tool", "content": "r", "status": "success"},
    )
    assert [c.status for c in found] == ["error", "ok"]


@dataclass
class PotatoCall:
    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class PotatoStep:
    role: str
    content: str = ""
    tool_calls: list[PotatoCall] = field(default_factory=list)


def test_steps_of_potato_are_messages():
    trajectory = Trajectory.from_any(
        [PotatoStep("user", "q"), PotatoStep("assistant", "", [PotatoCall("f", {"a": 1})])]
    )
    assert [(c.name, c.args, c.turn) for c in trajectory.tool_calls] == [("f", {"a": 1}, 0)]


def test_anything_with_a_role_and_a_content_is_a_message():
    messages = [SimpleNamespace(role="user", content="q"), SimpleNamespace(role="ai", content="a")]
    assert Trajectory.from_any(messages).final_response == "a"


def test_our_own_steps_come_back_equal():
    call = ToolCall("f", "raw", "unparseable", "id", {"r": 1}, "error", agent="x", turn=3)
    steps = [Step("user", "q"), Step("assistant", "a", [call]), Step("tool", "t")]
    assert normalize_trajectory(steps) == steps
    assert extract_tool_calls(steps) == [call]


def test_none_is_no_steps_and_no_calls():
    assert normalize_trajectory(None) == []
    assert extract_tool_calls(None) == []


def test_a_tuple_is_as_good_as_a_list():
    assert len(Trajectory.from_any((USER, ask({"name": "f"}))).tool_calls) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "human", "content": "q"},
        {"role": "assistant", "content": "a", "timestamp": 5, "agent": "x", "uuid": "y"},
        {"role": "assistant", "content": "a", "usage": {"tokens": 5}, "metadata": {"a": [1]}},
        {"role": "tool", "content": {"a": 1}},
        {"role": "user", "content": ["a", {"text": "b"}, {"type": "image_url", "image_url": {}}]},
    ],
)
def test_is_a_message(message: Any):
    assert list(detection.claimants(Glimpse([message]))) == ["chat"]
    assert len(Trajectory.from_any([message]).steps) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"role": "wizard", "content": ""},
        {"role": "assistant", "content": "", "toolCalls": [{"name": "f"}]},
        {"role": "assistant", "content": "", "action": {"name": "f"}},
        {"role": "assistant", "content": [{"type": "toolUse", "name": "f"}]},
        {"role": "assistant", "content": [{"toolCall": {"name": "f"}}]},
        {"role": "assistant", "content": "", "tool_calls": {"name": "f"}},
        {"role": "assistant", "content": "", "tool_calls": [{"tool": "f"}]},
        {"role": "assistant", "content": 5},
        {"role": "assistant", "content": "", "parts": [{"type": "tool-invocation"}]},
    ],
)
def test_a_message_that_may_hide_a_call_is_not_read_as_one_without(message: Any):
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any([USER, message])


def test_other_keys_around_the_messages_must_not_hide_a_call_either():
    assert Trajectory.from_any({"messages": [USER], "model": "m", "tools": [{}], "n": 5}).steps
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any({"messages": [USER], "actions": [{"name": "f"}]})


def test_two_keys_of_arguments_that_differ_are_an_error():
    with pytest.raises(MalformedTraceError, match="under args and under input"):
        calls(ask({"name": "f", "args": {}, "input": {"a": 1}}))


def test_several_conversations_are_no_single_one():
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any([[USER], [USER]])


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"reference": [{"name": "f"}]},
        {"reference_trajectory": [{"tool_name": "f"}]},
        {"thread": {"a": 1}},
        {"gold": [{"name": "f"}]},
        {"outputs": {}},
    ],
)
def test_a_row_without_messages_is_zero_calls(beside: dict[str, Any]):
    found = Trajectory.from_any({"messages": [], **beside})
    assert (found.tool_calls, found.format) == ((), "chat")


def test_no_messages_beside_what_was_done_are_not_zero_calls():
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any({"messages": [], "actions": [{"name": "f"}]})


def test_what_a_row_expects_is_not_what_its_messages_did():
    spoken = [USER, {"role": "assistant", "content": "no"}]
    row = {"messages": spoken, "reference_trajectory": [{"tool_name": "f"}]}
    found = Trajectory.from_any(row)
    assert (found.tool_calls, found.final_response, found.format) == ((), "no", "chat")


def test_a_row_of_messages_with_calls_is_read_from_them():
    row = {"messages": [USER, ask({"name": "g"})], "reference_trajectory": [{"tool_name": "f"}]}
    assert [call.name for call in Trajectory.from_any(row).tool_calls] == ["g"]
