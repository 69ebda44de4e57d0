"""Anthropic messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.samples import ANTHROPIC
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory

USER = {"role": "user", "content": "q"}


def use(name: Any = "f", key: Any = "t1", kind: str = "tool_use", **args: Any) -> dict[str, Any]:
    return {"type": kind, "id": key, "name": name, "input": args}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def result(content: Any, key: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": content, **fields}


def results(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def test_every_part_of_a_call():
    (found,) = Trajectory.from_any(ANTHROPIC).tool_calls
    assert (found.id, found.result, found.turn) == ("toolu_1", "09:14", 0)


def test_thoughts_are_no_text():
    steps = Trajectory.from_any(ANTHROPIC).steps
    assert [step.content for step in steps] == [
        "Any trains to Oslo?", "Let me look.", "09:14", "Yes, at 09:14.",
    ]  # fmt: skip


def test_several_results_in_one_message():
    trajectory = Trajectory.from_any(
        [said(use("f", "a"), use("g", "b")), results(result("B", "b"), result("A", "a"))]
    )
    assert [c.result for c in trajectory.tool_calls] == ["A", "B"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [({}, "unknown"), ({"is_error": False}, "ok"), ({"is_error": True}, "error")],
)
def test_a_result_may_say_whether_the_call_failed(fields: Any, status: str):
    trajectory = Trajectory.from_any([said(use()), results(result("r", **fields))])
    assert trajectory.tool_calls[0].status == status


def test_a_message_of_results_only_is_no_turn_of_the_user():
    trajectory = Trajectory.from_any(
        [
            USER,
            said(use()),
            results(result("r")),
            said(use()),
            results(result("r"), {"type": "text", "text": "q"}),
            said(use()),
        ]
    )
    assert [c.turn for c in trajectory.tool_calls] == [0, 0, 1]
    assert [step.role for step in trajectory.steps] == [
        "user", "assistant", "tool", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip


def test_tools_that_anthropic_runs_are_kept_apart_and_mcp_tools_are_not():
    trajectory = Trajectory.from_any(
        said(
            use("web_search", "s1", "server_tool_use", query="q"),
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]},
            use("echo", "m1", "mcp_tool_use", text="t"),
            {
                "type": "mcp_tool_result",
                "tool_use_id": "m1",
                "is_error": False,
                "content": [{"type": "text", "text": "t"}],
            },
            {"type": "text", "text": "a"},
        )
    )
    (hosted,) = trajectory.hosted_calls
    assert (hosted.name, hosted.args, hosted.result) == (
        "web_search",
        {"query": "q"},
        [{"url": "u"}],
    )
    (call,) = trajectory.tool_calls
    assert (call.name, call.args, call.result, call.status) == ("echo", {"text": "t"}, "t", "ok")
    assert trajectory.final_response == "a"


def test_a_failed_search_is_a_hosted_call_that_failed():
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    trajectory = Trajectory.from_any(
        said(
            use("web_search", "s1", "server_tool_use"),
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": error},
        )
    )
    assert trajectory.hosted_calls[0].status == "error"


@pytest.mark.parametrize(
    "message",
    [
        said(use(None)),
        said(use("")),
        said({"type": "tool_use"}),
        said(5),
        {"role": "wizard", "content": []},
        {"role": "user", "content": 5},
        said(use(key=[])),
        5,
    ],
)
def test_a_broken_message_is_an_error_that_says_which(message: Any):
    with pytest.raises(MalformedTraceError, match="message 1"):
        Trajectory.from_any([said(use()), message])
