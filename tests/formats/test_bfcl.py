"""The Berkeley Function-Calling Leaderboard's records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trajgrade import detection, read_traces
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def expected(*turns: Any) -> dict[str, Any]:
    return {"id": "m_0", "ground_truth": list(turns)}


def test_the_calls_of_several_turns():
    trajectory = Trajectory.from_any(expected(["f(a=1)", "g('x')"], [], ["f()"]))
    assert [(c.name, c.args, c.turn) for c in trajectory.tool_calls] == [
        ("f", {"a": 1}, 0),
        ("g", {"__positional__": ["x"]}, 0),
        ("f", {}, 2),
    ]
    assert (trajectory.id, trajectory.final_response) == ("m_0", None)


def test_of_several_acceptable_values_the_first_is_read_and_the_others_are_noted():
    trajectory = Trajectory.from_any(expected({"f": {"a": [1, 2], "b": ["", "x"], "c": [[1]]}}))
    assert [(c.name, c.args) for c in trajectory.tool_calls] == [("f", {"a": 1, "c": [1]})]
    assert "of several acceptable values" in trajectory.notes[0]


@pytest.mark.parametrize(
    "result",
    ["[f(a=1), g()]", [{"f": '{"a": 1}'}, {"g": "{}"}], [[["f(a=1)"], ["g()"]]],
     [[[{"f": {"a": 1}}], [{"g": {}}]]]],
)  # fmt: skip
def test_results_written_and_called(result: Any):
    calls = Trajectory.from_any({"id": "s_0", "result": result, "latency": 0.5}).tool_calls
    assert [(c.name, c.args) for c in calls] == [("f", {"a": 1}), ("g", {})]


def test_a_result_that_is_an_answer_is_no_call_and_is_noted():
    trajectory = Trajectory.from_any({"id": "s_0", "result": "I cannot do that."})
    assert trajectory.tool_calls == ()
    assert "I cannot" in trajectory.notes[0]


def test_questions_have_no_calls():
    question = [[{"role": "system", "content": "Hi."}, {"role": "user", "content": "a"}],
                [{"role": "user", "content": "b"}]]  # fmt: skip
    trajectory = Trajectory.from_any(
        {"id": "m_0", "question": question, "function": [{"name": "f"}]}
    )
    assert [step.content for step in trajectory.steps] == ["Hi.", "a", "b"]
    assert (trajectory.tool_calls, trajectory.final_response) == ((), None)


def test_records_on_lines_and_in_a_list_are_a_trajectory_each():
    records = [expected(["f()"]), {**expected(["g()"]), "id": "m_1"}]
    lines = "\n".join(map(json.dumps, records))
    for found in (list(read_traces(lines)), detection.read(records), list(read_traces(records))):
        assert [t.id for t in found] == ["m_0", "m_1"]


@pytest.mark.parametrize("data", [{"id": "m_0"}, {"id": "m_0", "ground_truth": [5]}, {"id": []}])
def test_a_broken_record_read_by_name_is_an_error(data: Any):
    with pytest.raises(MalformedTraceError, match="the record"):
        detection.read(data, "bfcl")
