"""Traces of any format come in, and for each is said what became of it."""

from __future__ import annotations

import gzip
import json
import socket
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Served, running
from trajgrade import Trajectory
from trajgrade.automation.pieces import trace_of

CHAT = [
    {"role": "user", "content": "Any trains to Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "trains", "arguments": '{"to": "Oslo"}'}}
    ]},
    {"role": "tool", "tool_call_id": "1", "content": "09:14"},
    {"role": "assistant", "content": "Yes, at 09:14."},
]  # fmt: skip
JSON = {"content-type": "application/json"}


def named(name: str) -> dict[str, Any]:
    return {"id": name, "messages": CHAT}


def kept(served: Served, name: str) -> Any:
    return trace_of(served.store.inbox.pieces(name))


def test_a_trace_is_kept_as_it_came_and_known_by_its_id(served: Served):
    answer = served.client.post("/api/traces", json=named("one"))
    assert answer.status_code == 200
    assert answer.json() == {
        "accepted": 1,
        "repeated": 0,
        "refused": 0,
        "items": [{"place": 0, "state": "accepted", "ids": ["one"]}],
    }
    assert kept(served, "one") == named("one")
    assert served.store.inbox.backlog() == 1


def test_what_comes_again_is_a_repeat_and_changes_nothing(served: Served):
    served.client.post("/api/traces", json=named("one"))
    again = served.client.post("/api/traces", json=named("one")).json()
    assert (again["accepted"], again["repeated"]) == (0, 1)
    assert served.store.inbox.backlog() == 1


def test_a_session_is_one_trace_and_a_list_of_sessions_several(served: Served):
    alone = served.client.post("/api/traces", json=CHAT).json()
    several = served.client.post("/api/traces", json=[CHAT, CHAT[:2]]).json()
    assert [one["state"] for one in alone["items"]] == ["accepted"]
    assert [one["state"] for one in several["items"]] == ["repeated", "accepted"]
    assert kept(served, alone["items"][0]["ids"][0]) == CHAT


def test_json_lines_are_one_trace_each_or_one_session(served: Served):
    lines = "\n".join(json.dumps(named(name)) for name in ("a", "b"))
    assert served.client.post("/api/traces", content=lines).json()["accepted"] == 2
    session = "\n".join(map(json.dumps, CHAT))
    assert served.client.post("/api/traces", content=session).json()["accepted"] == 1


def test_a_trace_that_cannot_be_read_is_refused_and_the_others_are_kept(served: Served):
    lines = "\n".join([json.dumps(named("good")), '{"shop": 1}', '{"broken": '])
    answer = served.client.post("/api/traces", content=lines)
    assert answer.status_code == 200
    good, unknown, broken = answer.json()["items"]
    assert (good["state"], unknown["state"], broken["state"]) == ("accepted", "refused", "refused")
    assert unknown["why"] == (
        "no format recognises an object with the keys ['shop']. `trajgrade list formats` says what "
        "marks each"
    )
    assert broken["why"].startswith("line 3 is no JSON")


def test_where_nothing_can_be_read_the_answer_is_an_error(served: Served):
    answer = served.client.post("/api/traces", json={"shop": 1})
    assert answer.status_code == 422
    assert answer.json()["error"]["kind"] == "invalid"
    assert answer.json()["refused"] == 1


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "holds no trace"),
        (b"  \n", "holds no trace"),
        (b"[]x", "neither JSON"),
        (b"{", "neither"),
    ],
)
def test_a_body_that_holds_nothing_is_refused(served: Served, body: bytes, says: str):
    answer = served.client.post("/api/traces", content=body)
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]


def test_a_document_of_several_traces_becomes_that_many(served: Served):
    runs = [
        {"id": f"r{n}", "trace_id": f"t{n}", "run_type": "tool", "name": "trains",
         "inputs": {"to": "Oslo"}, "outputs": {"output": "09:14"}}
        for n in range(3)
    ]  # fmt: skip
    (item,) = served.client.post("/api/traces", json=runs).json()["items"]
    assert item["ids"] == ["t0", "t1", "t2"]
    assert [call.name for call in Trajectory.from_any(kept(served, "t1")).tool_calls] == ["trains"]


def test_packed_bodies_are_unpacked(served: Served):
    for name, pack in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        body = pack(json.dumps(named(name)).encode())
        answer = served.client.post("/api/traces", content=body, headers={"content-encoding": name})
        assert answer.json()["accepted"] == 1, answer.text


@pytest.mark.parametrize(
    ("encoding", "body", "status"),
    [
        ("br", b"x", 415),
        ("gzip", b"no gzip", 400),
        ("gzip", gzip.compress(b"[]" * 99, mtime=0)[:-9], 400),
    ],
)
def test_packing_that_is_broken_or_unknown_is_refused(
    served: Served, encoding: str, body: bytes, status: int
):
    headers = {"content-encoding": encoding}
    answer = served.client.post("/api/traces", content=body, headers=headers)
    assert answer.status_code == status, answer.text


def test_a_body_is_limited_before_and_after_it_is_unpacked(tmp_path: Path):
    with running(tmp_path, max_body=10_000, max_unpacked=50_000) as served:
        large = json.dumps(named("x" * 100) | {"note": "y" * 20_000}).encode()
        assert served.client.post("/api/traces", content=large).status_code == 413
        headers = {"content-encoding": "gzip"}
        packed = gzip.compress(large)
        assert served.client.post("/api/traces", content=packed, headers=headers).status_code == 200
        bomb = gzip.compress(b"[" + b" " * 10_000_000 + b"]")
        answer = served.client.post("/api/traces", content=bomb, headers=headers)
        assert answer.status_code == 413
        assert answer.json()["error"]["allowed"] == "up to 50000 bytes"
        chunks = (b" " * 1000 for _ in range(20))
        assert served.client.post("/api/traces", content=chunks).status_code == 413


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path):
    with running(tmp_path, body_timeout=0.05) as served:
        address = served.url.removeprefix("http://").split(":")
        with socket.create_connection((address[0], int(address[1])), timeout=30) as sender:
            sender.sendall(
                b"POST /api/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
            )
            assert sender.recv(100).startswith(b"HTTP/1.1 408 ")
        with socket.create_connection((address[0], int(address[1])), timeout=30) as leaver:
            leaver.sendall(b"POST /api/traces HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        assert served.client.post("/api/traces", json=named("one")).status_code == 200


def test_json_that_is_nested_too_deeply_is_refused_before_it_is_read(served: Served):
    deep = b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    answer = served.client.post("/api/traces", content=deep)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "too_large")
    flat = {"id": "flat", "messages": [{"role": "user", "content": "[" * 500 + '"{' * 500}]}
    assert served.client.post("/api/traces", json=flat).status_code == 200


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path):
    with running(tmp_path, rate=3.0) as served:
        answers = [served.client.get("/healthz") for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 0 < len(refused) <= 9
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)


def test_where_jobs_pile_up_new_traces_are_refused_for_a_while(tmp_path: Path):
    with running(tmp_path, backlog=2) as served:
        served.client.post("/api/traces", json=[named("a"), named("b")])
        served.app.state.writer._looked_at = None
        served.app.state.writer._look()
        answer = served.client.post("/api/traces", json=named("c"))
        assert answer.status_code == 429
        assert answer.headers["retry-after"] == "5"
        assert served.store.inbox.trace("c") is None


# ------------------------------------------------------------------------------ Potato's webhook

POTATO = {
    "id": "run-1",
    "task_description": "Buy milk",
    "status": "error",
    "tags": ["vip"],
    "steps": [
        {"action_type": "click", "thought": "The shop.", "observation": "A list", "element": {"id": 4}},
        {"action_type": "finish"},
    ],
}  # fmt: skip


def test_potatos_webhook_answers_as_potato_does(served: Served):
    answer = served.client.post("/api/traces/webhook", json=POTATO)
    assert answer.status_code == 200
    assert answer.json() == {"status": "accepted", "trace_id": "run-1", "steps": 2}


def test_a_trace_of_potatos_webhook_keeps_what_rules_look_at_and_can_be_graded(served: Served):
    served.client.post("/api/traces/webhook", json=POTATO)
    trace = kept(served, "run-1")
    assert (trace["status"], trace["tags"]) == ("error", ["vip"])
    calls = Trajectory.from_any(trace).tool_calls
    assert [(call.name, call.args, call.result) for call in calls] == [
        ("click", {"element": {"id": 4}}, "A list"),
        ("finish", {}, None),
    ]


def test_langsmiths_runs_and_other_formats_come_by_the_webhook_too(served: Served):
    run = {"id": "r", "run_type": "tool", "name": "trains", "inputs": {}, "outputs": {}, "status": "error"}  # fmt: skip
    answer = served.client.post("/api/traces/webhook?format=langsmith", json={"runs": [run]})
    assert answer.json() == {"status": "accepted", "trace_id": "r", "steps": 1}
    trace = kept(served, "r")
    assert trace["status"] == "error"
    assert [call.name for call in Trajectory.from_any(trace).tool_calls] == ["trains"]
    assert (
        served.client.post("/api/traces/webhook", json=named("chat")).json()["trace_id"] == "chat"
    )


@pytest.mark.parametrize(
    ("body", "status"), [("[1]", 400), ("{", 400), ('{"steps": [1]}', 422), ('{"x": 1}', 422)]
)
def test_what_is_no_trace_is_refused_by_the_webhook(served: Served, body: str, status: int):
    answer = served.client.post("/api/traces/webhook", content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]


def test_a_trace_of_no_steps_is_a_trace(served: Served):
    answer = served.client.post("/api/traces/webhook", json={"steps": []})
    assert answer.status_code == 200, answer.text
    assert answer.json()["steps"] == 0
