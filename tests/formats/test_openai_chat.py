"""OpenAI chat messages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.formats.samples import ANSWER, CALL, OPENAI, TEXT, TOOL
from trajgrade.errors import AmbiguousTraceError, MalformedTraceError, TraceError
from trajgrade.trajectory import Trajectory

USER = {"role": "user", "content": "q"}


def ask(*calls: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def call(name: Any = "f", arguments: Any = "{}", key: Any = "c1") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(content: Any, key: Any = "c1", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": content, **fields}


def one(*messages: Any) -> Any:
    (found,) = Trajectory.from_any(list(messages)).tool_calls
    return found


def test_every_part_of_a_call():
    (found,) = Trajectory.from_any(OPENAI).tool_calls
    assert (found.name, found.args, found.args_state) == ("trains", {"to": "Oslo"}, "ok")
    assert (found.id, found.result, found.status) == ("call_1", "09:14", "unknown")
    assert (found.turn, found.hosted) == (0, False)


def test_steps_have_the_five_roles_as_four():
    trajectory = Trajectory.from_any(
        [
            {"role": "developer", "content": "d"},
            USER,
            ask(call()),
            {"role": "function", "name": "f", "content": "r"},
            {"role": "assistant", "content": "a"},
        ]
    )
    roles = [step.role for step in trajectory.steps]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    assert [step.content for step in trajectory.steps] == ["d", "q", "", "r", "a"]


def test_a_reused_id_merges_no_calls():
    trajectory = Trajectory.from_any(
        [
            ask(call("f", '{"n": 1}')),
            tool("1"),
            ask(call("f", '{"n": 2}')),
            tool("2"),
            ask(call("f", '{"n": 2}'), call("f", '{"n": 2}')),
            tool("3"),
            tool("4"),
        ]
    )
    assert [c.args["n"] for c in trajectory.tool_calls] == [1, 2, 2, 2]
    assert [c.result for c in trajectory.tool_calls] == ["1", "2", "3", "4"]


def test_results_out_of_order_are_paired_by_id():
    trajectory = Trajectory.from_any(
        [ask(call("f", "", "x"), call("g", "", "y")), tool("gy", "y"), tool("fx", "x")]
    )
    assert [(c.name, c.result) for c in trajectory.tool_calls] == [("f", "fx"), ("g", "gy")]


def test_a_result_before_its_call_is_none_of_it():
    trajectory = Trajectory.from_any([tool("early"), ask(call())])
    assert trajectory.tool_calls[0].result is None
    assert len(trajectory.notes) == 1


def test_results_without_id_are_paired_by_name_then_in_order():
    trajectory = Trajectory.from_any(
        [
            ask(call("f", "", None), call("g", "", None), call("f", "", None)),
            {"role": "tool", "name": "g", "content": "g1"},
            {"role": "tool", "content": "f1"},
            {"role": "tool", "name": "f", "content": "f2"},
        ]
    )
    assert [c.result for c in trajectory.tool_calls] == ["f1", "g1", "f2"]


def test_turns_count_the_users_messages():
    trajectory = Trajectory.from_any(
        [ask(call()), USER, ask(call()), tool("x"), USER, USER, ask(call())]
    )
    assert [c.turn for c in trajectory.tool_calls] == [None, 0, 2]


def test_calls_of_one_message_stand_in_one_step():
    trajectory = Trajectory.from_any([USER, ask(call(key="x"), call(key="y")), ask(call(key="z"))])
    assert [len(step.tool_calls) for step in trajectory.steps] == [0, 2, 1]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("t", "t"),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        (["a", {"type": "image_url", "image_url": {"url": "u"}}], "a"),
        ([{"type": "refusal", "refusal": "no"}], "no"),
    ],
)
def test_content_may_have_several_shapes(content: Any, text: str):
    trajectory = Trajectory.from_any([ask(call()), {"role": "assistant", "content": content}])
    assert trajectory.steps[1].content == text
    assert trajectory.final_response == (text or None)


def test_a_refusal_is_the_text_of_a_message_without_content():
    trajectory = Trajectory.from_any([{"role": "assistant", "content": None, "refusal": "No."}])
    assert trajectory.final_response == "No."


def test_blocks_of_a_result_are_its_text_and_other_structures_stay():
    trajectory = Trajectory.from_any(
        [
            ask(call(key="x"), call(key="y")),
            tool([{"type": "text", "text": "r"}], "x"),
            tool({"a": 1}, "y"),
        ]
    )
    assert [c.result for c in trajectory.tool_calls] == ["r", {"a": 1}]
    assert [step.content for step in trajectory.steps[1:]] == ["r", '{"a":1}']


@pytest.mark.parametrize("arguments", [TEXT, CALL[1]])
def test_arguments_are_json_text_or_an_object(arguments: Any):
    assert one(ask(call("trains", arguments))).args == {"to": "Oslo"}


def test_a_custom_tool_takes_text():
    found = one(ask({"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}))
    assert (found.name, found.args, found.args_state) == ("sql", "select 1", "text")


def test_a_call_in_both_the_old_place_and_the_new_was_made_once():
    both = ask(call("f", '{"a": 1}'), function_call={"name": "f", "arguments": '{"a":1}'})
    assert one(both).args == {"a": 1}
    differs = ask(call("f", '{"a": 1}'), function_call={"name": "g", "arguments": "{}"})
    assert [c.name for c in Trajectory.from_any([differs]).tool_calls] == ["f", "g"]


def test_each_choice_of_a_response_is_a_trajectory():
    response = {"choices": [{"message": ask(call("f"))}, {"message": ask(call("g"))}]}
    with pytest.raises(TraceError, match="holds 2 trajectories"):
        Trajectory.from_any(response)


def test_objects_of_the_sdk_are_asked_what_they_hold():
    class Dumped(SimpleNamespace):
        def model_dump(self) -> Any:
            return vars(self)

    message = Dumped(role="assistant", content=None, tool_calls=[call("f")], audio=None)
    assert one(message).name == "f"
    assert one({"role": "assistant", "tool_calls": [Dumped(**call("f"))]}).name == "f"
    response = Dumped(id="r", choices=[{"message": ask(call("f"))}])
    assert Trajectory.from_any(response).id == "r"


def test_an_object_that_cannot_say_what_it_holds_is_a_trace_error():
    class Broken:
        def model_dump(self) -> Any:
            raise RuntimeError("no")

    with pytest.raises(TraceError, match="RuntimeError: no"):
        Trajectory.from_any([Broken()])


@pytest.mark.parametrize("name", ["", None, 5, [], {}])
def test_a_call_without_a_name_is_an_error_that_says_which(name: Any):
    with pytest.raises(MalformedTraceError, match="message 1, call 1"):
        Trajectory.from_any([USER, ask(call(), call(name))])


def test_a_call_without_a_name_key_is_an_error():
    with pytest.raises(MalformedTraceError, match="message 0, call 0"):
        Trajectory.from_any([ask({"id": "x", "type": "function", "function": {"arguments": "{}"}})])


@pytest.mark.parametrize(
    "messages",
    [
        [ask(call()), 5],
        [ask(call()), {"role": 5, "content": ""}],
        [ask(call()), {"role": "wizard", "content": ""}],
        [ask(call()), {"role": "user", "content": 5}],
        [ask(call()), {"role": "user", "content": [5]}],
        [ask(call()), {"role": "user", "content": "", "tool_calls": {"a": 1}}],
        [ask(call()), tool("x", ["not", "an", "id"])],
        [ask(call(), 5)],
    ],
)
def test_a_wrong_type_in_any_place_is_an_error(messages: Any):
    with pytest.raises(MalformedTraceError):
        Trajectory.from_any(messages)


def test_marks_of_two_origins_are_ambiguous_unless_they_tell_the_same():
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    same = [USER, ask(call("f"), content=[block]), {"role": "assistant", "content": ANSWER}]
    assert [c.name for c in Trajectory.from_any(same).tool_calls] == ["f"]
    differs = [USER, ask(call("g"), content=[block])]
    with pytest.raises(AmbiguousTraceError, match="anthropic_messages and as openai_chat"):
        Trajectory.from_any(differs)
    assert [c.name for c in Trajectory.from_any(differs, "openai_chat").tool_calls] == ["g"]


def test_a_long_conversation_and_a_long_text_survive():
    long = "x" * 10_000_000
    trajectory = Trajectory.from_any(
        [USER, ask(call("f", f'{{"t": "{long}"}}')), TOOL | {"content": long}]
    )
    assert len(trajectory.tool_calls[0].args["t"]) == len(long)
