"""trajgrade's own shape."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.formats.samples import OWN
from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Step, ToolCall, Trajectory

CALL = ToolCall(
    "f",
    {"a": [1, {"b": None}]},
    id="i",
    result={"r": [1]},
    status="ok",
    agent="x",
    turn=1,
    children=(ToolCall("g", "t", "text"),),
    started_at=datetime(2024, 5, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    "trajectory",
    [
        Trajectory(),
        Trajectory([Step("user", "q"), Step("assistant", "", [CALL])], id="t", notes=["n"]),
        Trajectory([Step("assistant", "", [ToolCall("h", hosted=True), CALL])]),
        Trajectory(hosted_calls=[ToolCall("h", hosted=True)]),
        Trajectory(tool_calls=[CALL], final_response="a"),
        Trajectory([Step("assistant", "a")], final_response=None),
        Trajectory(
            [
                Step(
                    "assistant",
                    "",
                    [ToolCall("f", None, "unknown"), ToolCall("f", "{", "unparseable")],
                )
            ]
        ),
        Trajectory(
            [Step("assistant", "\ud800 trajgrade:text:x", [ToolCall("f", {"a": -math.inf})])]
        ),
    ],
)
def test_it_comes_back_equal_as_objects_and_as_json_text(trajectory: Trajectory):
    plain = trajectory.to_dict()
    for back in (Trajectory.from_any(plain), Trajectory.from_any(jsontext.dumps(plain).decode())):
        assert back == trajectory
        assert (back.id, back.format, back.notes) == (
            trajectory.id,
            trajectory.format,
            trajectory.notes,
        )


def test_an_object_that_json_has_no_place_for_gets_a_stand_in():
    trajectory = Trajectory(
        [Step("assistant", "", [ToolCall("f", {"a": object()}, result=object())])]
    )
    back = Trajectory.from_any(trajectory.to_dict())
    assert back.tool_calls[0].args["a"].startswith("<object object")


@pytest.mark.parametrize(
    "change",
    [
        {"trajgrade": 2},
        {"trajgrade": True},
        {"steps": 5},
        {"steps": [{"role": "assistant", "tool_calls": [{"name": ""}]}]},
        {"steps": [{"role": "assistant", "tool_calls": [{"args": {}}]}]},
        {"steps": [{"role": 5}]},
        {"steps": [{"role": "wizard"}]},
        {"hosted_calls": [{"name": "f", "status": "perhaps"}]},
        {"final_response": 5},
        {"notes": [5]},
    ],
)
def test_a_broken_one_is_an_error(change: Any):
    with pytest.raises(MalformedTraceError):
        Trajectory.from_any({**OWN, **change})
