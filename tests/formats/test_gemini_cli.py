"""Gemini CLI's sessions: messages written anew, rewound, shortened."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.session_samples import GEMINI_CLI
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError

HEAD = GEMINI_CLI[0]


def gemini(key: str, *calls: dict[str, Any], text: Any = "") -> dict[str, Any]:
    return {"id": key, "type": "gemini", "content": text, "toolCalls": list(calls)}


def call(key: str | None, name: str = "f", **more: Any) -> dict[str, Any]:
    return {"id": key, "name": name, "args": {"x": key}, **more}


def args(trajectory: Trajectory) -> list[Any]:
    return [made.args["x"] for made in trajectory.tool_calls]


def test_the_last_writing_of_a_message_counts_in_the_place_of_the_first():
    (trajectory,) = read_traces(GEMINI_CLI)
    assert [step.role for step in trajectory.steps] == ["system", "user", "assistant", "assistant"]
    (made,) = trajectory.tool_calls
    assert (made.id, made.result, made.status) == ("t1", {"output": "09:14"}, "ok")
    assert made.ended_at is not None
    again = [HEAD, gemini("1"), gemini("2", call("b")), gemini("1", call("a"))]
    assert args(Trajectory.from_any(again)) == ["a", "b"]


def test_a_rewind_takes_back_what_follows():
    lines = [HEAD, gemini("1", call("a")), gemini("2", call("b")), {"$rewindTo": "2"}]
    assert args(Trajectory.from_any(lines)) == ["a"]
    assert args(Trajectory.from_any([*lines[:-1], {"$rewindTo": "9"}])) == ["a", "b"]


def test_a_shortened_history_loses_no_call_and_counts_none_twice():
    shortened = {"$set": {"messages": [gemini("9", call("b")), gemini("1", call("a"))]}}
    lines = [
        HEAD,
        gemini("1", call("a")),
        gemini("2", call("b")),
        gemini("3", call("c")),
        shortened,
    ]
    assert args(Trajectory.from_any(lines)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("word", "status"),
    [("success", "ok"), ("error", "error"), ("cancelled", "not_run"), ("executing", "unknown")],
)
def test_the_status_of_a_call(word: str, status: str):
    (made,) = Trajectory.from_any([HEAD, gemini("1", call("a", status=word))]).tool_calls
    assert made.status == status


def test_equal_calls_without_ids_are_all_kept():
    lines = [HEAD, gemini("1", call(None), call(None)), gemini("2", call(None))]
    assert len(Trajectory.from_any(lines).tool_calls) == 3


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        (gemini("1", call("a", name="")), "line 1, toolCalls 0, name"),
        ({"id": "1", "type": "gemini", "content": "", "toolCalls": 5}, "line 1, toolCalls"),
        (gemini("1", text=5), "line 1, content"),
        ({"$set": {"messages": 5}}, "line 1, messages"),
    ],
)
def test_what_is_broken_is_named(broken: Any, place: str):
    with pytest.raises(MalformedTraceError, match=place):
        Trajectory.from_any([HEAD, broken])
