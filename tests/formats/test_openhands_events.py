"""OpenHands: one response in several events, actions without one, causes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.session_samples import OPENHANDS, OPENHANDS_SDK
from trajgrade import Trajectory
from trajgrade.errors import MalformedTraceError


def asked(at: int, key: str, keys: list[str], response: str = "r1") -> dict[str, Any]:
    calls = [{"id": k, "function": {"name": "f", "arguments": f'{{"x": "{k}"}}'}} for k in keys]
    message = {"role": "assistant", "content": "Both.", "tool_calls": calls}
    return {
        "id": at,
        "source": "agent",
        "action": "run",
        "args": {"command": "other"},
        "tool_call_metadata": {
            "function_name": "f",
            "tool_call_id": key,
            "model_response": {"id": response, "choices": [{"message": message}]},
        },
    }


def seen(cause: Any, content: str = "", kind: str = "run", **extras: Any) -> dict[str, Any]:
    event = {"id": 100, "source": "agent", "cause": cause, "observation": kind}
    return {**event, "content": content, "extras": extras}


def test_what_the_model_asked_for_counts_and_not_the_action():
    trajectory = Trajectory.from_any(OPENHANDS)
    (call,) = trajectory.tool_calls
    assert (call.id, call.result, call.status, call.turn) == ("call_1", "09:14", "ok", 0)
    assert call.started_at is not None
    assert [step.content for step in trajectory.steps[1:3]] == ["Let me look.", "09:14"]


def test_parallel_calls_of_one_response_in_several_events_count_once():
    events = [
        asked(1, "a", ["a", "b", "c"]),
        seen(1, "1"),
        asked(2, "b", ["a", "b", "c"]),
        seen(2, "2"),
    ]
    trajectory = Trajectory.from_any(events)
    assert [call.args["x"] for call in trajectory.tool_calls] == ["a", "b", "c"]
    assert [call.result for call in trajectory.tool_calls] == ["1", "2", None]
    assert [len(step.tool_calls) for step in trajectory.steps] == [3, 0, 0]


def test_another_response_may_use_an_id_again():
    events = [asked(1, "a", ["a"]), seen(1, "1"), asked(2, "a", ["a"], "r2"), seen(2, "2")]
    assert [call.result for call in Trajectory.from_any(events).tool_calls] == ["1", "2"]


def test_an_action_without_a_response_is_a_call_by_itself():
    action = {
        "id": 1,
        "source": "agent",
        "action": "run",
        "args": {"command": "ls", "thought": "Look.", "is_input": False},
    }
    trajectory = Trajectory.from_any([action, seen(1, "a.txt", exit_code=1)])
    (call,) = trajectory.tool_calls
    assert (call.name, call.args) == ("run", {"command": "ls", "is_input": False})
    assert (call.result, call.status) == ("a.txt", "error")
    assert trajectory.final_response == "Look."


def test_what_user_and_environment_do_is_no_call():
    events = [
        {"id": 1, "source": "user", "action": "run", "args": {"command": "ls"}},
        {"id": 2, "source": "environment", "action": "change_agent_state", "args": {}},
        {"id": 3, "source": "environment", "observation": "error", "content": "x", "extras": {}},
    ]
    assert Trajectory.from_any(events).tool_calls == ()


@pytest.mark.parametrize(
    ("kind", "extras", "status"),
    [
        ("error", {}, "error"),
        ("user_rejected", {}, "not_run"),
        ("run", {"metadata": {"exit_code": 0}}, "ok"),
        ("run", {"metadata": {"exit_code": -1}}, "unknown"),
        ("read", {}, "unknown"),
    ],
)
def test_what_became_of_a_call(kind: str, extras: dict[str, Any], status: str):
    (call,) = Trajectory.from_any([asked(1, "a", ["a"]), seen(1, "x", kind, **extras)]).tool_calls
    assert (call.result, call.status) == ("x", status)


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        (asked(2, "", []) | {"tool_call_metadata": {"tool_call_id": "q"}}, "function_name"),
        ({"id": 2, "source": "agent", "action": "run", "args": 5}, "line 1, args"),
        ({"id": 2, "source": "agent", "action": 5, "args": {}}, "line 1, action"),
        ({"id": 2, "source": "agent", "action": "message", "args": {"content": 5}}, "line 1"),
    ],
)
def test_what_is_broken_is_named(broken: Any, place: str):
    with pytest.raises(MalformedTraceError, match=place):
        Trajectory.from_any([asked(1, "a", ["a"]), broken])


def sdk(kind: str, **more: Any) -> dict[str, Any]:
    return {"id": "e", "kind": kind, "source": "agent", **more}


def sdk_call(key: str, response: str | None = None, **more: Any) -> dict[str, Any]:
    call = {"id": key, "name": "f", "arguments": "{}"}
    return sdk("ActionEvent", tool_call_id=key, tool_call=call, llm_response_id=response, **more)


def test_events_of_the_sdk():
    trajectory = Trajectory.from_any(OPENHANDS_SDK)
    (call,) = trajectory.tool_calls
    assert (call.id, call.args, call.result, call.status) == (
        "call_1",
        {"to": "Oslo"},
        "09:14",
        "ok",
    )
    assert [step.role for step in trajectory.steps] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_parallel_calls_of_the_sdk_stand_in_one_step():
    events = [sdk_call("a", "r1", thought=[]), sdk_call("b", "r1"), sdk_call("c", "r2")]
    trajectory = Trajectory.from_any(events)
    assert [len(step.tool_calls) for step in trajectory.steps] == [2, 1]


@pytest.mark.parametrize(
    ("told", "result", "status"),
    [
        (sdk("AgentErrorEvent", tool_call_id="a", error="no"), "no", "error"),
        (sdk("UserRejectObservation", tool_call_id="a", rejection_reason="no"), "no", "not_run"),
        (sdk("ObservationEvent", tool_call_id="a", observation={"output": "x"}), "x", "unknown"),
        (
            sdk("ObservationEvent", tool_call_id="a", observation={"is_error": True}),
            {"is_error": True},
            "error",
        ),
    ],
)
def test_what_became_of_a_call_of_the_sdk(told: Any, result: Any, status: str):
    (call,) = Trajectory.from_any([sdk_call("a"), told]).tool_calls
    assert (call.result, call.status) == (result, status)


def test_an_action_of_the_sdk_without_its_call():
    event = sdk("ActionEvent", tool_name="f", action={"kind": "FAction", "x": 1})
    (call,) = Trajectory.from_any([event, sdk("TokenEvent"), sdk("Condensation")]).tool_calls
    assert (call.name, call.args) == ("f", {"x": 1})
