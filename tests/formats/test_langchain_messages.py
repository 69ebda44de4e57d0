"""LangChain messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.samples import LANGCHAIN, LC_DUMPED
from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.trajectory import Trajectory


def ai(content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"type": "ai", "content": content, **fields}


def call(name: Any = "f", key: Any = "c1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": key, "type": "tool_call"}


def openai(name: str = "f", key: str = "c1", arguments: str = "{}") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def names(*messages: Any) -> list[Any]:
    return [(c.name, c.args) for c in Trajectory.from_any(list(messages)).tool_calls]


def test_every_part_of_a_call():
    (found,) = Trajectory.from_any(LANGCHAIN).tool_calls
    assert (found.id, found.result, found.status, found.turn) == ("call_1", "09:14", "ok", 0)


def test_the_three_places_of_the_type_tell_the_same():
    nested = [{"type": m["type"], "data": {**m}} for m in LANGCHAIN]
    assert Trajectory.from_any(nested) == Trajectory.from_any(LANGCHAIN)
    assert [s.content for s in Trajectory.from_any(LC_DUMPED).steps] == [
        s.content for s in Trajectory.from_any(LANGCHAIN).steps
    ]


def test_objects_say_what_they_hold():
    class Message:
        def __init__(self, fields: dict[str, Any]) -> None:
            self.fields = fields

        def model_dump(self) -> dict[str, Any]:
            return self.fields

    objects = [Message(message) for message in LANGCHAIN]
    assert Trajectory.from_any(objects) == Trajectory.from_any(LANGCHAIN)
    assert Trajectory.from_any({"messages": objects}) == Trajectory.from_any(LANGCHAIN)


def test_a_tool_message_may_say_that_the_call_failed():
    trajectory = Trajectory.from_any(
        [
            ai(tool_calls=[call()]),
            {"type": "tool", "content": "boom", "tool_call_id": "c1", "status": "error"},
        ]
    )
    assert trajectory.tool_calls[0].status == "error"


def test_copies_of_a_call_count_once():
    copies = {
        "content": [
            {"type": "text", "text": "t"},
            {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
        ],
        "additional_kwargs": {"tool_calls": [openai(arguments='{"a": 1}')]},
    }
    assert names({"type": "ai", **copies, "tool_calls": [call(a=1)]}) == [("f", {"a": 1})]
    assert names({"type": "ai", **copies, "tool_calls": []}) == [("f", {"a": 1})]
    assert names({"type": "ai", "content": copies["content"]}) == [("f", {"a": 1})]


def test_equal_calls_in_one_place_stay_two():
    assert names(ai(tool_calls=[call(), call()])) == [("f", {}), ("f", {})]
    assert names(ai([{"type": "tool_call", **call()}, {"type": "tool_call", **call()}])) == [
        ("f", {}), ("f", {}),
    ]  # fmt: skip


def test_the_older_function_call_is_read_where_there_is_nothing_newer():
    old = {"function_call": {"name": "f", "arguments": '{"a": 1}'}}
    assert names(ai(additional_kwargs=old)) == [("f", {"a": 1})]
    assert names(ai(additional_kwargs=old, tool_calls=[call("g")])) == [("g", {})]


def test_an_invalid_call_is_a_call_whose_arguments_are_not_json():
    bad = {
        "name": "g",
        "args": '{"a": ',
        "id": "c2",
        "error": "cut off",
        "type": "invalid_tool_call",
    }
    trajectory = Trajectory.from_any(
        [
            ai(
                tool_calls=[call("f", "c3")],
                invalid_tool_calls=[bad],
                additional_kwargs={"tool_calls": [openai("g", "c2"), openai("f", "c3")]},
            )
        ]
    )
    assert [(c.name, c.args, c.args_state) for c in trajectory.tool_calls] == [
        ("g", '{"a": ', "unparseable"),
        ("f", {}, "ok"),
    ]
    assert "cut off" in trajectory.notes[0]


def test_tools_of_the_provider_are_kept_apart():
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}
    trajectory = Trajectory.from_any([ai([block], tool_calls=[])])
    assert [c.name for c in trajectory.hosted_calls] == ["web_search"]
    assert trajectory.tool_calls == ()


def test_a_chat_message_has_its_own_role():
    trajectory = Trajectory.from_any([{"type": "chat", "role": "assistant", "content": "a"}])
    assert trajectory.final_response == "a"


def test_chunks_are_messages():
    trajectory = Trajectory.from_any(
        [{"type": "AIMessageChunk", "content": "a", "tool_calls": [call()]}]
    )
    assert len(trajectory.tool_calls) == 1


@pytest.mark.parametrize(
    "message",
    [
        ai(tool_calls=[call(None)]),
        ai(tool_calls=[call("")]),
        ai(tool_calls=[5]),
        ai(tool_calls={"a": 1}),
        ai(5),
        ai(invalid_tool_calls=[{"name": None, "args": "{"}]),
        {"type": "chat", "role": "wizard", "content": ""},
        {"type": "tool", "content": "", "tool_call_id": []},
    ],
)
def test_a_broken_message_is_an_error_that_says_which(message: Any):
    with pytest.raises(MalformedTraceError, match="message 1"):
        Trajectory.from_any([ai(), message])


@pytest.mark.parametrize("message", [{"type": "wizard", "content": ""}, {"type": "ai"}, 5])
def test_what_is_no_message_of_langchains_is_not_claimed(message: Any):
    with pytest.raises(TraceError):
        Trajectory.from_any([ai(), message])
