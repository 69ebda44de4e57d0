"""ADK's sessions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.run_samples import ADK_EVENTS, ADK_SESSION
from trajgrade import read_traces
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def event(*parts: Any, author: str = "a", **fields: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"author": author, "invocation_id": "e", "content": content, **fields}


def asks(name: str = "f", **fields: Any) -> dict[str, Any]:
    return {"function_call": {"name": name, "args": {}, **fields}}


def test_every_part_of_a_call():
    trajectory = Trajectory.from_any(ADK_SESSION)
    (call,) = trajectory.tool_calls
    assert (trajectory.id, call.id, call.agent, call.turn) == ("s1", "adk-1", "guide", 0)
    assert call.result == {"result": "09:14"}


def test_times_are_those_of_the_events():
    answer = {"function_response": {"name": "f", "response": {}}}
    (call,) = Trajectory.from_any(
        [event(asks(), timestamp=1741218414.5), event(answer, timestamp=1741218415.0)]
    ).tool_calls
    assert call.started_at is not None
    assert call.ended_at is not None
    assert (call.ended_at - call.started_at).total_seconds() == 0.5


@pytest.mark.parametrize("partial", [{"partial": True}, {"options": {"partial": True}}])
def test_partial_events_of_a_stream_are_left_out(partial: dict[str, Any]):
    trajectory = Trajectory.from_any([event(asks(), **partial), event(asks())])
    assert len(trajectory.tool_calls) == 1


def test_names_in_camel_case_and_events_on_lines():
    line = ('{"author": "a", "invocationId": "e", "content": {"role": "model", "parts": '
            '[{"functionCall": {"name": "f", "args": {}}}]}}')  # fmt: skip
    (trajectory,) = read_traces(f"{line}\n{line}")
    assert len(trajectory.tool_calls) == 2


def test_the_agents_are_told_apart_and_events_without_content_are_nothing():
    trajectory = Trajectory.from_any(
        [event(asks("f"), author="a"), event(content=None), event(asks("g"), author="b")]
    )
    assert [(c.name, c.agent) for c in trajectory.tool_calls] == [("f", "a"), ("g", "b")]


def test_an_error_of_the_model_is_noted():
    trajectory = Trajectory.from_any(
        [*ADK_EVENTS, event(content=None, error_code="500", error_message="overloaded")]
    )
    assert "overloaded" in trajectory.notes[0]


@pytest.mark.parametrize(
    "broken", [event(5), event({"function_call": {}}), event(content=5), event({"text": 5})]
)
def test_a_broken_event_is_an_error_that_says_which(broken: Any):
    with pytest.raises(MalformedTraceError, match="event 4"):
        Trajectory.from_any([*ADK_EVENTS, broken])
