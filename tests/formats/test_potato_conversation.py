"""Potato's conversations, and the texts of actions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.formats.action_text import call_in
from trajgrade.trajectory import Trajectory


def turn(speaker: str, text: Any) -> dict[str, Any]:
    return {"speaker": speaker, "text": text}


def act(text: str) -> dict[str, Any]:
    return turn("Agent (Action)", text)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('f({"a": 1})', ("f", {"a": 1}, "ok")),
        ('f({"a": "b=c, (d)"})', ("f", {"a": "b=c, (d)"}, "ok")),
        ("f()", ("f", {}, "ok")),
        (" f \n", ("f", {}, "ok")),
        ("get_weather", ("get_weather", {}, "ok")),
        ("mcp.server/tool-name", ("mcp.server/tool-name", {}, "ok")),
        ('search(query="cats")', ("search", {"query": "cats"}, "ok")),
        ("search(query='cats', n=-1, deep=True)", ("search", {"query": "cats", "n": -1, "deep": True}, "ok")),
        ('f(a=true, b=null, c=[false, {"x": null}])', ("f", {"a": True, "b": None, "c": [False, {"x": None}]}, "ok")),
        (r"f(path='C:\dir')", ("f", {"path": r"C:\dir"}, "ok")),
        ("f({'a': 1})", ("f", {"a": 1}, "ok")),
        ("f([1, 2])", ("f", [1, 2], "ok")),
        ('f("cats")', ("f", "cats", "ok")),
        ("f(cats)", ("f", "cats", "unparseable")),
        ("f(a=open('x'))", ("f", "a=open('x')", "unparseable")),
        ("f(a=1, a=2)", ("f", "a=1, a=2", "unparseable")),
        ("f(a=__import__('os').getpid())", ("f", "a=__import__('os').getpid()", "unparseable")),
        ("f(a=" + "-" * 50_000 + "1)", ("f", "a=" + "-" * 50_000 + "1", "unparseable")),
        ("f(a=" + "(" * 5_000 + ")" * 5_000 + ")", ("f", "a=" + "(" * 5_000 + ")" * 5_000, "unparseable")),
    ],
)  # fmt: skip
def test_the_text_of_an_action_is_a_call(text: str, call: Any):
    assert call_in(text, []) == call


@pytest.mark.parametrize(
    "text",
    [
        "Let me look that up for you.",
        "Done.",
        "",
        "f (a)",
        "I will call f(x)",
        "f(x) now",
        "42",
        "a, b",
    ],
)
def test_a_sentence_is_no_call(text: str):
    assert call_in(text, []) is None
    trajectory = Trajectory.from_any([turn("User", "q"), act(text)])
    assert trajectory.tool_calls == ()
    assert trajectory.notes == (f"turn 1: an action whose text is no call: {text!r}",)


@given(st.text(max_size=30) | st.text("f(){}[]=\"',: a1\\\n", max_size=30))
def test_any_text_is_a_call_or_none(text: str):
    found = call_in(text, [])
    assert found is None or (found[0] and found[2] in ("ok", "unparseable"))


def test_what_the_environment_says_next_is_the_result():
    trajectory = Trajectory.from_any(
        [
            turn("User", "q"),
            act("f()"),
            turn("Environment", "one"),
            act("g()"),
            turn("Agent (Thought)", "hm"),
            turn("Tool", "two"),
            turn("Environment", "idle"),
        ]
    )
    assert [(c.result, c.turn) for c in trajectory.tool_calls] == [("one", 0), ("two", 0)]
    roles = [step.role for step in trajectory.steps]
    assert roles == ["user", "assistant", "tool", "assistant", "assistant", "tool", "tool"]


@pytest.mark.parametrize(
    ("turns", "final"),
    [
        ([turn("Agent", "a"), act("f()")], "a"),
        ([turn("Agent", "a"), turn("Agent (Thought)", "hm")], "a"),
        ([turn("Agent (Thought)", "hm")], "hm"),
        ([act("f()")], None),
        ([turn("Agent", "a"), turn("User", "q"), turn("Agent", "b")], "b"),
    ],
)
def test_the_answer_is_neither_an_action_nor_a_thought(turns: Any, final: Any):
    assert Trajectory.from_any(turns).final_response == final


def test_the_speaker_decides_what_is_an_action():
    turns = [turn("Agent (action)", "f()"), turn("Action", "g()"), turn("Agent (f)", "f()")]
    assert [c.name for c in Trajectory.from_any(turns).tool_calls] == ["f"]


def test_structured_turns_win_over_the_conversation_made_of_them():
    structured = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "reasoning": "hm",
            "tool_calls": [
                {"tool": "Read", "input": {"p": 1}, "output": "r", "output_type": "code"},
                {"name": "Edit", "input": {}},
            ],
        },
    ]
    for data in (
        {"id": "t", "conversation": [act("x()")], "structured_turns": structured},
        {"id": "t", "conversation": [act("x()")], "extra_fields": {"structured_turns": structured}},
        {"id": "t", "structured_turns": structured},
    ):
        trajectory = Trajectory.from_any(data)
        assert [(c.name, c.args, c.result) for c in trajectory.tool_calls] == [
            ("Read", {"p": 1}, "r"),
            ("Edit", {}, None),
        ]
        assert (trajectory.final_response, trajectory.id) == ("hm", "t")


def test_structured_turns_do_not_change():
    call = {"tool": "Read", "input": {}}
    Trajectory.from_any({"structured_turns": [{"role": "assistant", "tool_calls": [call]}]})
    assert call == {"tool": "Read", "input": {}}


def test_an_empty_conversation_is_one():
    assert Trajectory.from_any({"id": "t", "conversation": []}).steps == ()


@pytest.mark.parametrize(
    "data",
    [
        [turn("User", 5)],
        {"structured_turns": [{"role": "wizard"}]},
        {"structured_turns": [{"role": "assistant", "tool_calls": [{"tool": ""}]}]},
        {"structured_turns": [{"role": "assistant", "tool_calls": [{"input": {}}]}]},
    ],
)
def test_a_broken_turn_is_an_error_that_says_which(data: Any):
    with pytest.raises(MalformedTraceError, match="turn 0"):
        Trajectory.from_any(data)


@pytest.mark.parametrize(
    "data", [{"conversation": 5}, {"conversation": [5]}, [{"speaker": 5}], {"conversation": None}]
)
def test_what_holds_no_turns_is_an_error(data: Any):
    with pytest.raises(TraceError):
        Trajectory.from_any(data)


@pytest.mark.parametrize("speaker", ["Agent", "Agent (Action)", "Agent (Thought)"])
def test_the_calls_of_a_turn_are_its_calls(speaker: str):
    held = [{"name": "f", "args": {"a": 1}}, {"tool": "g", "input": {"b": 2}, "output": "o"}]
    turns = [{"speaker": speaker, "text": "h()", "tool_calls": held}, turn("Environment", "r")]
    found = Trajectory.from_any(turns)
    assert [(c.name, c.args, c.result) for c in found.tool_calls] == [
        ("f", {"a": 1}, "r"),
        ("g", {"b": 2}, "o"),
    ]
    assert found.notes == ()


def test_a_call_of_a_turn_without_arguments_under_a_known_key_is_an_error():
    with pytest.raises(MalformedTraceError, match=r"turn 0, call 0 \(f\).*'argz'"):
        Trajectory.from_any(
            [{"speaker": "Agent", "text": "t", "tool_calls": [{"tool": "f", "argz": {"a": 1}}]}]
        )
