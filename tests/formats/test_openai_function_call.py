"""OpenAI chat messages of the older kind."""

from __future__ import annotations

from typing import Any

import pytest

from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def ask(name: Any, arguments: Any = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "function_call": function}


def answer(name: str, content: str) -> dict[str, Any]:
    return {"role": "function", "name": name, "content": content}


def test_results_belong_to_the_first_open_call_of_their_name():
    trajectory = Trajectory.from_any(
        [
            ask("f", '{"n": 1}'),
            answer("f", "1"),
            ask("g"),
            ask("f"),
            answer("f", "2"),
            answer("g", "3"),
        ]
    )
    assert [(c.name, c.result) for c in trajectory.tool_calls] == [
        ("f", "1"),
        ("g", "3"),
        ("f", "2"),
    ]


def test_null_is_no_call():
    trajectory = Trajectory.from_any(
        [ask("f"), {"role": "assistant", "content": "a", "function_call": None}]
    )
    assert [c.name for c in trajectory.tool_calls] == ["f"]


@pytest.mark.parametrize("name", [None, "", 5])
def test_a_call_without_a_name_is_an_error(name: Any):
    with pytest.raises(MalformedTraceError, match="message 1, function_call"):
        Trajectory.from_any([ask("f"), ask(name)])


def test_cut_off_arguments_are_kept_as_text_and_noted():
    trajectory = Trajectory.from_any([ask("f", '{"a": 1')])
    assert (trajectory.tool_calls[0].args, trajectory.tool_calls[0].args_state) == (
        '{"a": 1',
        "unparseable",
    )
    assert "message 0, function_call (f)" in trajectory.notes[0]
