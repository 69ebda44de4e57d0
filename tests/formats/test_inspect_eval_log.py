"""Inspect's evaluation logs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.run_samples import INSPECT
from trajgrade import detection
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def log(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    sample = {**INSPECT["samples"][0], "messages": list(messages), **fields}
    return {**INSPECT, "samples": [sample]}


def assistant(*calls: dict[str, Any], content: Any = "") -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(key: str, content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": content, "function": "f", **fields}


CALL = {"id": "1", "function": "f", "arguments": {"a": 1}}


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(INSPECT)
    (call,) = trajectory.tool_calls
    assert (trajectory.id, call.id, call.result, call.status) == ("a/2", "call_1", "09:14", "ok")


def test_each_sample_is_a_trajectory_and_a_sample_may_stand_alone():
    sample = INSPECT["samples"][0]
    found = detection.read({**INSPECT, "samples": [sample, {**sample, "epoch": 3}]})
    assert [t.id for t in found] == ["a/2", "a/3"]
    assert Trajectory.from_any(sample) == found[0]


@pytest.mark.parametrize("key", ["error", "tool_error"])
def test_an_error_says_that_the_call_failed(key: str):
    trajectory = Trajectory.from_any(log(assistant(CALL), tool("1", "no", **{key: {"type": "x"}})))
    assert [(c.status, c.result) for c in trajectory.tool_calls] == [("error", "no")]


def test_arguments_that_inspect_could_not_parse():
    broken = {**CALL, "arguments": {}, "parse_error": "unexpected end"}
    kept = {**CALL, "arguments": {"a": "["}, "parse_error": "unexpected end"}
    trajectory = Trajectory.from_any(log(assistant(broken, kept)))
    assert [c.args_state for c in trajectory.tool_calls] == ["unknown", "unparseable"]
    assert "unexpected end" in trajectory.notes[0]


def test_results_without_a_call_are_noted():
    trajectory = Trajectory.from_any(log(tool("bash_1")))
    assert (trajectory.tool_calls, trajectory.final_response) == ((), None)
    assert "bash_1" in trajectory.notes[0]


def test_tools_that_the_provider_ran_are_hosted():
    block = {"type": "tool_use", "tool_type": "web_search", "id": "w", "name": "search",
             "arguments": '{"q": "a"}', "result": "found"}  # fmt: skip
    trajectory = Trajectory.from_any(
        log(assistant(content=[block, {"type": "text", "text": "ok"}]))
    )
    assert trajectory.tool_calls == ()
    assert [(c.name, c.args, c.result) for c in trajectory.hosted_calls] == [
        ("search", {"q": "a"}, "found")
    ]


def test_attachments_are_put_back():
    call = {**CALL, "arguments": {"text": "attachment://abc"}}
    messages = [assistant(call), tool("1", "see attachment://abc and attachment://none")]
    trajectory = Trajectory.from_any(log(*messages, attachments={"abc": "long"}))
    (found,) = trajectory.tool_calls
    assert (found.args, found.result) == ({"text": "long"}, "see long and attachment://none")


def test_a_log_without_samples_is_an_error_that_says_why():
    with pytest.raises(MalformedTraceError, match="without them"):
        Trajectory.from_any({**INSPECT, "samples": None})


@pytest.mark.parametrize(
    "message",
    [{"role": "wizard"}, assistant({"id": "1"}), assistant({**CALL, "id": []}), assistant(5)],  # type: ignore[arg-type]
)
def test_a_broken_message_is_an_error_that_says_which(message: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match="sample 0, message 1"):
        Trajectory.from_any(log(assistant(CALL), message))
