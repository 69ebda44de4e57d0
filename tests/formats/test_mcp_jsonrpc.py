"""MCP: responses by id, session and direction."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.session_samples import MCP
from trajgrade import Trajectory, read_traces
from trajgrade.errors import MalformedTraceError, TraceError


def rpc(**message: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **message}


def call(key: Any, **more: Any) -> dict[str, Any]:
    params = {"name": "f", "arguments": {"x": 1}, **more}
    return rpc(id=key, method="tools/call", params=params)


def answer(key: Any, text: str = "ok", **more: Any) -> dict[str, Any]:
    return rpc(id=key, result={"content": [{"type": "text", "text": text}], **more})


def test_a_call_has_its_response():
    (trajectory,) = read_traces(MCP)
    (made,) = trajectory.tool_calls
    assert (made.id, made.result, made.status) == ("2", "09:14", "ok")
    assert trajectory.final_response is None
    assert [step.role for step in trajectory.steps] == ["assistant", "tool"]


def test_ids_begin_anew_with_each_session():
    begin = rpc(id=0, method="initialize", params={"protocolVersion": "1"})
    lines = [begin, call(1), begin, rpc(id=0, result={}), call(1), answer(1, "second")]
    assert [made.result for made in Trajectory.from_any(lines).tool_calls] == [None, "second"]


def test_responses_out_of_order_and_a_batch():
    lines = [[call(1), call("1")], answer("1", "text"), answer(1, "number")]
    assert [made.result for made in Trajectory.from_any(lines).tool_calls] == ["number", "text"]


def test_the_server_counts_its_own_requests():
    lines = [
        {"direction": "client->server", "message": call(1)},
        {"direction": "server->client", "message": rpc(id=1, method="sampling/createMessage")},
        {"direction": "client->server", "message": rpc(id=1, result={"role": "assistant"})},
        {"direction": "server->client", "message": answer(1, "mine")},
    ]
    (made,) = Trajectory.from_any(lines).tool_calls
    assert made.result == "mine"


@pytest.mark.parametrize(
    ("told", "result", "status"),
    [
        (answer(1, "no", isError=True), "no", "error"),
        (
            rpc(id=1, error={"code": -32602, "message": "?"}),
            {"code": -32602, "message": "?"},
            "error",
        ),
        (rpc(id=1, result={"content": [], "structuredContent": {"a": 1}}), {"a": 1}, "ok"),
        (rpc(id=1, result="odd"), "odd", "ok"),
    ],
)
def test_what_became_of_a_call(told: Any, result: Any, status: str):
    (made,) = Trajectory.from_any([call(1), told]).tool_calls
    assert (made.result, made.status) == (result, status)


def test_other_protocols_of_json_rpc_are_not_mcp():
    with pytest.raises(TraceError, match="no format"):
        Trajectory.from_any([rpc(id=1, method="message/send", params={})])
    with pytest.raises(TraceError, match="no format"):
        Trajectory.from_any([rpc(id=1, method="initialize", params={"rootUri": "file:///"})])


@pytest.mark.parametrize(
    "broken",
    [call(2, name=""), rpc(id=2, method="tools/call", params=[]), rpc(id=2, method=5)],
)
def test_what_is_broken_is_named(broken: Any):
    with pytest.raises(MalformedTraceError, match="line 1"):
        Trajectory.from_any([call(1), broken])
