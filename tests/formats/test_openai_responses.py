"""OpenAI Responses items."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.samples import RESPONSES
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def call(name: Any = "f", key: Any = "c1", arguments: Any = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": key, "name": name, "arguments": arguments}


def output(value: Any, key: str = "c1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": key, "output": value}


def test_every_part_of_a_call():
    (found,) = Trajectory.from_any(RESPONSES).tool_calls
    assert (found.id, found.result, found.status, found.turn) == ("call_1", "09:14", "unknown", 0)


def test_calls_of_one_response_stand_in_one_step():
    trajectory = Trajectory.from_any([call("f", "a"), call("g", "b"), output("1", "a"), call("h")])
    assert [len(step.tool_calls) for step in trajectory.steps] == [2, 0, 1]


def test_an_output_of_text_blocks_is_their_text():
    blocks = [{"type": "input_text", "text": "r"}]
    assert Trajectory.from_any([call(), output(blocks)]).tool_calls[0].result == "r"


def test_a_custom_tool_takes_text():
    items = [
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    ]
    (found,) = Trajectory.from_any(items).tool_calls
    assert (found.args, found.args_state, found.result) == ("select 1", "text", "1")


@pytest.mark.parametrize(
    ("fields", "result", "status"),
    [
        ({"output": "r", "error": None}, "r", "ok"),
        ({"output": None, "error": "boom"}, "boom", "error"),
        ({"output": None, "error": None}, None, "unknown"),
    ],
)
def test_an_mcp_call_is_a_call_with_its_result_inline(fields: Any, result: Any, status: str):
    item = {"type": "mcp_call", "id": "m1", "name": "f", "arguments": '{"a": 1}', **fields}
    (found,) = Trajectory.from_any([item]).tool_calls
    assert (found.args, found.result, found.status) == ({"a": 1}, result, status)


def test_an_mcp_call_that_was_never_approved_was_not_run():
    ask = {"type": "mcp_approval_request", "id": "r1", "name": "f", "arguments": "{}"}
    (found,) = Trajectory.from_any([ask]).tool_calls
    assert found.status == "not_run"
    ran = {
        "type": "mcp_call",
        "approval_request_id": "r1",
        "name": "f",
        "arguments": "{}",
        "output": "",
    }
    (found,) = Trajectory.from_any([ask, ran]).tool_calls
    assert found.status == "ok"


def test_tools_that_openai_provides_are_kept_apart():
    trajectory = Trajectory.from_any(
        [
            {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "q"}},
            {"type": "code_interpreter_call", "id": "c", "code": "1+1", "outputs": [{"logs": "2"}]},
            {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
            {"type": "shell_call_output", "call_id": "s", "output": "a.txt"},
            call("f"),
        ]
    )
    assert [c.name for c in trajectory.tool_calls] == ["f"]
    assert [(c.name, c.args, c.result) for c in trajectory.hosted_calls] == [
        ("web_search_call", {"type": "search", "query": "q"}, None),
        ("code_interpreter_call", {"code": "1+1"}, [{"logs": "2"}]),
        ("shell_call", {"commands": ["ls"]}, "a.txt"),
    ]


def test_a_response_with_its_input_is_one_trajectory():
    response = {"id": "r", "object": "response", "input": "q", "output": [call()]}
    trajectory = Trajectory.from_any(response)
    assert [step.role for step in trajectory.steps] == ["user", "assistant"]
    assert (trajectory.id, trajectory.tool_calls[0].turn) == ("r", 0)


def test_items_that_are_not_known_are_noted():
    trajectory = Trajectory.from_any([call(), {"type": "telepathy"}])
    assert trajectory.notes == ("item 1: an item of type 'telepathy' is not read",)


@pytest.mark.parametrize(
    "item",
    [
        call(None),
        call(""),
        {"type": "mcp_call", "arguments": "{}"},
        {"type": 5},
        5,
        {"role": "wizard", "content": ""},
        {"type": "message", "role": "user", "content": 5},
        {"type": "custom_tool_call", "name": "f", "input": {}},
        call(key=[]),
    ],
)
def test_a_broken_item_is_an_error_that_says_which(item: Any):
    with pytest.raises(MalformedTraceError, match="item 1"):
        Trajectory.from_any([call(), item])
