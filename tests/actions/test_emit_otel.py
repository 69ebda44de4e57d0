"""Scores as OpenTelemetry events: what a collector gets, and what it does not."""

from __future__ import annotations

import json

import pytest

from trajgrade.actions.emit_otel import EmitOtel
from trajgrade.errors import ConfigError
from trajgrade.event import Event, TryAgainError

TRACE = {"trace_id": "0AF7651916CD43DD8448EB211C80319C", "span_id": "b7ad6b7169203331"}
EVENT = Event(
    id="e", rule="r", item_id="t", because="status: error", trace={**TRACE, "text": "my secret"},
    scores={"f1": 0.5, "unscored": None, "exact": 1},
)  # fmt: skip


def endpoint(hook) -> str:
    return hook.url.partition("/in")[0]


def attributes(record) -> dict:
    return {one["key"]: next(iter(one["value"].values())) for one in record["attributes"]}


def test_each_score_is_an_event_in_the_trace_that_was_evaluated(hook):
    assert EmitOtel(endpoint(hook)).act(EVENT) == "2 sent, HTTP 200"
    ((path, headers, body),) = hook.came
    assert (path, headers["Content-Type"]) == ("/v1/logs", "application/json")
    (logs,) = json.loads(body)["resourceLogs"][0]["scopeLogs"]
    first, second = logs["logRecords"]
    assert first["eventName"] == "gen_ai.evaluation.result"
    assert (first["traceId"], first["spanId"]) == (TRACE["trace_id"].lower(), TRACE["span_id"])
    assert attributes(first) == {
        "gen_ai.evaluation.name": "f1",
        "gen_ai.evaluation.score.value": 0.5,
    }
    assert attributes(second)["gen_ai.evaluation.name"] == "exact"
    assert b"my secret" not in body


def test_the_request_is_one_that_opentelemetrys_own_types_read(hook):
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    EmitOtel(endpoint(hook)).act(EVENT)
    sent = json.loads(hook.came[0][2])
    for record in sent["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
        record["traceId"] = record["spanId"] = ""  # OTLP's JSON has hex where protobuf's has base64
    read = ParseDict(sent, ExportLogsServiceRequest())
    assert len(read.resource_logs[0].scope_logs[0].log_records) == 2


@pytest.mark.parametrize(
    "trace", [[], {}, {"trace_id": "x"}, {"trace_id": 3}, {"trace_id": "ab"}, None]
)
def test_ids_that_are_not_opentelemetrys_are_left_out(hook, trace):
    EmitOtel(endpoint(hook)).act(Event(id="e", rule="r", item_id="t", trace=trace, scores={"f": 1}))
    (record,) = json.loads(hook.came[0][2])["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert "traceId" not in record


def test_the_endpoint_may_come_from_the_environment(hook, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint(hook) + "/")
    EmitOtel().act(EVENT)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", endpoint(hook) + "/as/it/stands")
    EmitOtel().act(EVENT)
    assert [path for path, _, _ in hook.came] == ["/v1/logs", "/as/it/stands"]


def test_without_an_endpoint_it_is_refused(monkeypatch):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", raising=False)
    with pytest.raises(ConfigError, match="OTEL_EXPORTER_OTLP_ENDPOINT"):
        EmitOtel()


def test_a_collector_that_is_busy_is_tried_again_and_one_that_refuses_is_not(hook):
    hook.answer = (503, {})
    with pytest.raises(TryAgainError):
        EmitOtel(endpoint(hook)).act(EVENT)
    hook.answer = (400, {})
    with pytest.raises(OSError, match="HTTP 400"):
        EmitOtel(endpoint(hook)).act(EVENT)


def test_an_item_without_scores_sends_nothing(hook):
    event = Event(id="e", rule="r", item_id="t", scores={"x": None})
    assert EmitOtel(endpoint(hook)).act(event) == "no scores"
    assert hook.came == []


def test_a_trace_of_spans_is_named_by_its_root(hook):
    spans = [
        {"traceId": "a" * 32, "spanId": "2" * 16, "parentSpanId": "1" * 16},
        {"traceId": "a" * 32, "spanId": "1" * 16, "parentSpanId": ""},
    ]
    trace = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    event = Event(id="e", rule="r", item_id="a" * 32, trace=trace, scores={"f1": 1})
    EmitOtel(endpoint(hook)).act(event)
    (record,) = json.loads(hook.came[0][2])["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert (record["traceId"], record["spanId"]) == ("a" * 32, "1" * 16)


def test_a_verdict_is_a_label_and_why_is_sent_only_where_that_is_asked_for(hook):
    results = {"polite": {"value": True, "comment": "it said thank you"}}
    event = Event(
        id="e", rule="r", item_id="t", because="always", scores={"polite": 1, "f1": 0.5},
        results=results,
    )  # fmt: skip
    EmitOtel(endpoint(hook)).act(event)
    EmitOtel(endpoint(hook), explain=True).act(event)
    assert b"thank you" not in hook.came[0][2]
    logs = json.loads(hook.came[1][2])["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    polite, f1 = map(attributes, logs)
    assert polite["gen_ai.evaluation.score.label"] == "pass"
    assert polite["gen_ai.evaluation.explanation"] == "it said thank you"
    assert f1["gen_ai.evaluation.explanation"] == "always"
