"""Jaeger's JSON."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.formats.run_samples import JAEGER
from trajgrade import detection
from trajgrade.errors import MalformedTraceError
from trajgrade.trajectory import Trajectory


def changed(at: int, **fields: Any) -> dict[str, Any]:
    document = copy.deepcopy(JAEGER)
    document["data"][0]["spans"][at].update(fields)
    return document


def test_every_part_of_a_call():
    (call,) = Trajectory.from_any(JAEGER).tool_calls
    assert (call.id, call.result, call.turn) == ("call_1", "09:14", 0)
    assert call.started_at is not None
    assert call.ended_at is not None
    assert (call.ended_at - call.started_at).microseconds == 5


def test_a_tag_says_that_a_span_failed():
    tags = [*JAEGER["data"][0]["spans"][2]["tags"], {"key": "error", "type": "bool", "value": True}]
    assert Trajectory.from_any(changed(2, tags=tags)).tool_calls[0].status == "error"


def test_a_span_that_follows_from_another_is_not_part_of_it():
    inside = [{"refType": "CHILD_OF", "traceID": "t1", "spanID": "b"}]
    after = [{"refType": "FOLLOWS_FROM", "traceID": "t1", "spanID": "b"}]
    tags = [{"key": "gen_ai.tool.name", "type": "string", "value": "g"}]
    within = Trajectory.from_any(changed(0, references=inside, tags=tags))
    assert [[inner.name for inner in call.children] for call in within.tool_calls] == [["g"]]
    beside = Trajectory.from_any(changed(0, references=after, tags=tags))
    assert [call.name for call in beside.tool_calls] == ["trains", "g"]


def test_logs_are_events():
    fields = [
        {"key": "event", "type": "string", "value": "gen_ai.choice"},
        {"key": "message", "type": "string", "value": '{"role": "assistant", "content": "ok"}'},
    ]
    tags = [{"key": "gen_ai.operation.name", "type": "string", "value": "chat"}]
    document = changed(0, tags=tags, logs=[{"timestamp": 1, "fields": fields}])
    assert Trajectory.from_any(document).final_response == "ok"


def test_each_trace_is_a_trajectory():
    second = {**copy.deepcopy(JAEGER["data"][0]), "traceID": "t2"}
    found = detection.read({"data": [JAEGER["data"][0], second]})
    assert [t.id for t in found] == ["t1", "t2"]


@pytest.mark.parametrize("change", [{"tags": {}}, {"tags": [5]}, {"spanID": 5}, {"logs": [1]}])
def test_a_broken_span_is_an_error_that_says_which(change: dict[str, Any]):
    with pytest.raises(MalformedTraceError, match="trace 0, span 1"):
        Trajectory.from_any(changed(1, **change))
