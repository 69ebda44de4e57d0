"""Gemini contents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.samples import GEMINI
from trajgrade import detection
from trajgrade.errors import MalformedTraceError, UnknownTraceError
from trajgrade.trajectory import Trajectory


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def call(name: Any = "f", **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **fields}}


def response(name: str, value: Any, **fields: Any) -> dict[str, Any]:
    part = {"functionResponse": {"name": name, "response": value, **fields}}
    return {"role": "user", "parts": [part]}


def test_every_part_of_a_call():
    (found,) = Trajectory.from_any(GEMINI).tool_calls
    assert (found.id, found.result, found.turn) == (None, {"output": "09:14"}, 0)


def test_names_in_snake_case_and_empty_fields_are_as_good():
    trajectory = Trajectory.from_any(
        [
            {
                "role": "model",
                "parts": [{"function_call": {"name": "f", "args": None, "id": None}, "text": None}],
            },
            {
                "role": "user",
                "parts": [{"function_response": {"name": "f", "response": {"r": 1}}, "text": None}],
            },
        ]
    )
    assert [(c.name, c.args, c.result) for c in trajectory.tool_calls] == [("f", {}, {"r": 1})]


def test_ids_are_used_where_there_are_any():
    trajectory = Trajectory.from_any(
        [
            model(call("f", id="a"), call("f", id="b")),
            response("f", 1, id="b"),
            response("f", 2, id="a"),
        ]
    )
    assert [(c.id, c.result) for c in trajectory.tool_calls] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({"error": "boom"}, "error"),
        ({"error": "", "output": 1}, "unknown"),
        ({"output": 1}, "unknown"),
    ],
)
def test_a_response_with_an_error_says_that_the_call_failed(value: Any, status: str):
    trajectory = Trajectory.from_any([model(call("f")), response("f", value)])
    assert trajectory.tool_calls[0].status == status


def test_thoughts_are_no_text():
    trajectory = Trajectory.from_any(
        [model({"text": "hm", "thought": True}, {"text": "a"}, {"text": "b"})]
    )
    assert trajectory.final_response == "ab"


def test_code_that_google_runs_is_kept_apart():
    trajectory = Trajectory.from_any(
        model(
            {"executableCode": {"language": "PYTHON", "code": "1+1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
            {"text": "two"},
        )
    )
    (hosted,) = trajectory.hosted_calls
    assert (hosted.name, hosted.args["code"], hosted.result, hosted.status) == (
        "code_execution",
        "1+1",
        "2",
        "ok",
    )
    assert trajectory.tool_calls == ()


def test_each_candidate_is_a_trajectory_that_begins_with_the_contents():
    asked = [{"role": "user", "parts": [{"text": "q"}]}]
    data = {
        "contents": asked,
        "candidates": [{"content": model(call("f"))}, {"content": model(call("g"))}],
    }
    found = detection.read(data)
    assert [[c.name for c in t.tool_calls] for t in found] == [["f"], ["g"]]
    assert [t.tool_calls[0].turn for t in found] == [0, 0]


@pytest.mark.parametrize(
    "part", [{"type": "text", "text": "a"}, {"part_kind": "text", "text": "a"}, {"x": 1}]
)
def test_parts_of_another_origin_are_not_claimed(part: Any):
    with pytest.raises(UnknownTraceError):
        Trajectory.from_any([model(part)])


@pytest.mark.parametrize(
    "content",
    [
        model(call(None)),
        model(call("")),
        model({"functionCall": "f"}),
        {"role": "wizard", "parts": [{"text": "a"}]},
        model({"text": 5}),
        model(call("f", id=[])),
    ],
)
def test_a_broken_content_is_an_error_that_says_which(content: Any):
    with pytest.raises(MalformedTraceError, match="content 1"):
        Trajectory.from_any([model(call()), content])
