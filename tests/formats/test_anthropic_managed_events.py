"""Sessions of Managed Agents: events sent and streamed, refusals, agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.formats.session_samples import MANAGED
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError


def use(key: Any = "sevt_1", **more: Any) -> dict[str, Any]:
    return {
        "type": "agent.tool_use",
        "id": key,
        "name": "bash",
        "input": {"command": "date"},
    } | more


def test_what_was_sent_and_came_back_counts_once():
    (trajectory,) = read_traces(MANAGED)
    assert [step.role for step in trajectory.steps] == ["user", "assistant", "tool", "assistant"]
    (call,) = trajectory.tool_calls
    assert (call.id, call.result, call.status, call.turn) == ("sevt_2", "09:14", "ok", 0)
    assert trajectory.id == "sesn_1"
    assert trajectory.notes == ()


def test_what_was_sent_and_never_came_back_counts_too():
    sent = {"events": [{"type": "user.message", "content": "Hi"}] * 2}
    lines = [["client.beta.sessions.events.send", ["sesn_1", sent]], use()]
    assert [step.role for step in Trajectory.from_any(lines).steps] == ["user", "user", "assistant"]


def test_an_event_that_came_again_counts_once_and_equal_calls_twice():
    trajectory = Trajectory.from_any([use(), use(), use("sevt_2")])
    assert [call.id for call in trajectory.tool_calls] == ["sevt_1", "sevt_2"]


@pytest.mark.parametrize(
    ("use_id", "kind"),
    [
        ("tool_use_id", "agent.tool_result"),
        ("mcp_tool_use_id", "agent.mcp_tool_result"),
        ("custom_tool_use_id", "user.custom_tool_result"),
    ],
)
def test_every_kind_of_result(use_id: str, kind: str):
    result = {"type": kind, use_id: "sevt_1", "content": [], "is_error": True}
    (call,) = Trajectory.from_any([use(), result]).tool_calls
    assert call.status == "error"


def test_a_call_that_was_denied_was_not_run():
    denial = {"type": "user.tool_confirmation", "tool_use_id": "sevt_1", "result": "deny"}
    told = {"type": "agent.tool_result", "tool_use_id": "sevt_1", "is_error": True, "content": "no"}
    (call,) = Trajectory.from_any([use(), denial, told]).tool_calls
    assert (call.status, call.result) == ("not_run", "no")
    (call,) = Trajectory.from_any([use(evaluated_permission="deny")]).tool_calls
    assert call.status == "not_run"


def test_the_agent_of_a_thread_makes_its_calls():
    thread = {"type": "session.thread_status_running", "session_thread_id": "t1"}
    lines = [{**thread, "agent_name": "Helper"}, use(session_thread_id="t1"), use("sevt_9")]
    assert [call.agent for call in Trajectory.from_any(lines).tool_calls] == ["Helper", None]


def test_a_file_that_begins_with_a_blank_line(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n" + b"\n".join(map(msgspec.json.encode, MANAGED)))
    (trajectory,) = read_traces(path)
    assert trajectory == Trajectory.from_any(MANAGED)
    (by_name,) = read_traces(path, format="anthropic_managed_events")
    assert by_name == trajectory


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        (use("sevt_9", name=5), "line 1, name"),
        (["client.beta.sessions.events.send", ["s", {"events": 5}]], "line 1, events"),
        ({"type": "user.message", "content": 5}, "line 1"),
    ],
)
def test_what_is_broken_is_named(broken: Any, place: str):
    with pytest.raises(MalformedTraceError, match=place):
        Trajectory.from_any([use(), broken])
