"""Codex's sessions: each thing once, what Codex says of commands, its own turns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.session_samples import CODEX, CODEX_OLDER
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-09-19T09:02:27.9Z", "type": "response_item", "payload": payload}


def call(key: str = "c", **more: Any) -> dict[str, Any]:
    return item(type="function_call", name="shell", arguments="{}", call_id=key, **more)


def output(value: Any, key: str = "c") -> dict[str, Any]:
    return item(type="function_call_output", call_id=key, output=value)


def test_each_message_and_call_counts_once():
    (trajectory,) = read_traces(CODEX)
    assert [step.role for step in trajectory.steps] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    (made,) = trajectory.tool_calls
    assert (made.id, made.result, made.turn) == ("call_1", "09:14", 0)
    assert made.started_at is not None
    assert trajectory.id == "s1"
    assert trajectory.notes == ()


@pytest.mark.parametrize(
    ("told", "result", "status"),
    [
        (json.dumps({"output": "x", "metadata": {"exit_code": 0}}), "x", "ok"),
        (json.dumps({"output": "x", "metadata": {"exit_code": 2}}), "x", "error"),
        ('{"a": 1}', '{"a": 1}', "unknown"),
        ("{", "{", "unknown"),
        ("Exit code: 1\nOutput:\nno", "Exit code: 1\nOutput:\nno", "error"),
        (
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n",
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n",
            "ok",
        ),
        ("It said Exit code: 1", "It said Exit code: 1", "unknown"),
        ("patch rejected: empty patch", "patch rejected: empty patch", "not_run"),
        ({"content": "x", "success": False}, "x", "error"),
        ([{"type": "input_text", "text": "x"}], "x", "unknown"),
    ],
)
def test_what_became_of_a_call(told: Any, result: Any, status: str):
    (made,) = Trajectory.from_any([call(), output(told)]).tool_calls
    assert (made.result, made.status) == (result, status)


def test_a_custom_tool_takes_text_and_web_search_is_hosted():
    trajectory = Trajectory.from_any(
        [
            item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c"),
            item(type="custom_tool_call_output", call_id="c", output="Done"),
            item(type="web_search_call", status="completed", action={"query": "x"}),
        ]
    )
    (made,) = trajectory.tool_calls
    assert (made.args, made.args_state, made.result) == ("*** Begin", "text", "Done")
    assert [hosted.name for hosted in trajectory.hosted_calls] == ["web_search_call"]


def test_reused_ids_are_different_calls():
    trajectory = Trajectory.from_any([call(), output("1"), call(), output("2")])
    assert [made.result for made in trajectory.tool_calls] == ["1", "2"]


def test_lines_of_unknown_types_say_nothing():
    lines = [{"type": "world_state", "payload": {}}, *CODEX, {"type": "ghost"}]
    assert Trajectory.from_any(lines) == Trajectory.from_any(CODEX)


@pytest.mark.parametrize(
    "broken", [item(type="function_call", name=None), item(type="message", role="wizard")]
)
def test_what_is_broken_is_named(broken: Any):
    with pytest.raises(MalformedTraceError, match="line 1"):
        Trajectory.from_any([call(), broken])


def test_a_name_alone_makes_no_session_of_other_data():
    with pytest.raises(MalformedTraceError, match="Codex"):
        Trajectory.from_any([{"role": "user", "content": "Hi"}], format="codex_rollout")


def test_the_older_log_tells_the_same_but_for_times():
    older, newer = Trajectory.from_any(CODEX_OLDER), Trajectory.from_any(CODEX)
    assert [step.content for step in older.steps] == [step.content for step in newer.steps]
    assert [(c.name, c.args, c.result) for c in older.tool_calls] == [
        (c.name, c.args, c.result) for c in newer.tool_calls
    ]
    assert older.id == "s1"
    assert Trajectory.from_any(CODEX_OLDER[2:]).format == "openai_responses"
