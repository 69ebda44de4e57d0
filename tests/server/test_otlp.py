"""Spans come in as OpenTelemetry's own exporter sends them, and as the protocol says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.trace import Tracer

from tests.server.conftest import Served, running
from trajgrade import Trajectory
from trajgrade.automation.pieces import trace_of
from trajgrade.errors import StoreError

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}


@contextmanager
def tracing(url: str, processor: Any = BatchSpanProcessor, **settings: Any) -> Iterator[Tracer]:
    """An agent's tracer, whose spans have left when the block ends."""
    provider = TracerProvider(resource=Resource({"service.name": "guide"}))
    provider.add_span_processor(processor(OTLPSpanExporter(f"{url}/v1/traces", **settings)))
    try:
        yield provider.get_tracer("agent", "1.0")
    finally:
        provider.shutdown()


def answer(tracer: Tracer) -> str:
    """Have the agent answer; return the trace's id."""
    with tracer.start_as_current_span("invoke_agent guide") as root:
        root.set_attribute("gen_ai.operation.name", "invoke_agent")
        with tracer.start_as_current_span("execute_tool trains") as call:
            call.set_attribute("gen_ai.operation.name", "execute_tool")
            call.set_attribute("gen_ai.tool.name", "trains")
            call.set_attribute("gen_ai.tool.call.arguments", '{"to": "Oslo"}')
            call.set_attribute("gen_ai.tool.call.result", "09:14")
        return f"{root.get_span_context().trace_id:032x}"


def read(served: Served, trace_id: str) -> Trajectory:
    return Trajectory.from_any(trace_of(served.store.inbox.pieces(trace_id)))


def revision(served: Served, trace_id: str) -> int:
    record = served.store.inbox.trace(trace_id)
    assert record is not None
    return record.revision


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_an_agent_that_exports_with_opentelemetrys_sdk_is_read(
    served: Served, compression: Compression
):
    with tracing(served.url, compression=compression) as tracer:
        name = answer(tracer)
    record = served.store.inbox.trace(name)
    assert record is not None
    assert record.is_complete
    (call,) = read(served, name).tool_calls
    assert (call.name, call.args, call.result) == ("trains", {"to": "Oslo"}, "09:14")


def test_spans_that_come_one_by_one_are_one_trace_complete_with_its_root(served: Served):
    with tracing(served.url, SimpleSpanProcessor) as tracer:
        name = answer(tracer)
    pieces = served.store.inbox.pieces(name)
    assert [piece.ends for piece in pieces] == [False, True]
    assert [call.name for call in read(served, name).tool_calls] == ["trains"]


def test_the_sdk_finds_the_server_by_its_usual_variable(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", served.url)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    name = answer(provider.get_tracer("agent"))
    provider.shutdown()
    assert served.store.inbox.trace(name) is not None


def test_the_sdk_shows_a_key_where_one_is_needed(served: Served):
    key = served.key("agent", "ingest")
    with tracing(served.url) as tracer:
        refused = answer(tracer)
    with tracing(served.url, headers={"authorization": f"Bearer {key}"}) as tracer:
        taken = answer(tracer)
    assert served.store.inbox.trace(refused) is None
    assert served.store.inbox.trace(taken) is not None


# ------------------------------------------------------------------------------ by hand


def span(trace: str = "a" * 32, name: str = "b" * 16, **more: Any) -> dict[str, Any]:
    return {
        "traceId": trace, "spanId": name, "name": "execute_tool trains",
        "startTimeUnixNano": "1", "endTimeUnixNano": "2",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
            {"key": "gen_ai.tool.name", "value": {"stringValue": "trains"}},
        ],
        **more,
    }  # fmt: skip


def export(*spans: Any) -> dict[str, Any]:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "guide"}}]}
    scope = {"scope": {"name": "by hand"}, "spans": [*spans]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def test_json_is_taken_and_answered_in_json(served: Served):
    done = served.client.post("/v1/traces", json=export(span()))
    assert (done.status_code, done.content) == (200, b"{}")
    assert done.headers["content-type"] == "application/json"
    assert [call.name for call in read(served, "a" * 32).tool_calls] == ["trains"]
    kept = trace_of(served.store.inbox.pieces("a" * 32))
    assert kept["resourceSpans"][0]["resource"] == export()["resourceSpans"][0]["resource"]
    assert kept["resourceSpans"][0]["scopeSpans"][0]["scope"] == {"name": "by hand"}


def test_an_export_is_parted_by_its_traces_each_with_its_resource_and_scope(served: Served):
    one, two = "1" * 32, "2" * 32
    first = export(span(one, "1" * 16), span(two, "2" * 16), span(one, "3" * 16))
    second = export(span(one, "4" * 16))
    both = {"resourceSpans": first["resourceSpans"] + second["resourceSpans"]}
    assert served.client.post("/v1/traces", json=both).status_code == 200
    held = trace_of(served.store.inbox.pieces(one))["resourceSpans"]
    ids = [[s["spanId"][0] for s in r["scopeSpans"][0]["spans"]] for r in held]
    assert ids == [["1", "3"], ["4"]]
    assert len(trace_of(served.store.inbox.pieces(two))["resourceSpans"]) == 1


def test_an_export_that_is_sent_again_counts_once(served: Served):
    for _ in range(2):
        assert served.client.post("/v1/traces", json=export(span())).status_code == 200
    assert len(served.store.inbox.pieces("a" * 32)) == 1


def test_a_whole_trace_takes_the_place_of_spans_and_later_spans_take_its_place(served: Served):
    name = "e" * 32
    chat = {"id": name, "messages": [{"role": "assistant", "content": "Yes, at 09:14."}]}
    served.client.post("/v1/traces", json=export(span(name)))
    assert [call.name for call in read(served, name).tool_calls] == ["trains"]
    answer = served.client.post("/api/traces", json=chat).json()
    assert (answer["accepted"], answer["items"][0]["ids"]) == (1, [name])
    assert read(served, name).tool_calls == ()
    assert read(served, name).final_response == "Yes, at 09:14."
    assert revision(served, name) == 2
    served.client.post("/v1/traces", json=export(span(name, "c" * 16)))
    assert [call.name for call in read(served, name).tool_calls] == ["trains", "trains"]
    assert revision(served, name) == 3


def test_a_trace_whose_root_has_not_come_is_not_complete(served: Served):
    served.client.post("/v1/traces", json=export(span(parentSpanId="c" * 16)))
    record = served.store.inbox.trace("a" * 32)
    assert record is not None
    assert not record.is_complete
    served.client.post("/v1/traces", json=export(span(name="c" * 16)))
    record = served.store.inbox.trace("a" * 32)
    assert record is not None
    assert record.is_complete


def test_spans_that_belong_nowhere_are_rejected_and_the_others_kept(served: Served):
    bad = [span(trace="0" * 32), span(trace="xyz"), span(name="0" * 16)]
    done = served.client.post("/v1/traces", json=export(span(), *bad))
    assert done.status_code == 200
    partial = done.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "3"
    assert "16 bytes in hexadecimal" in partial["errorMessage"]
    assert served.store.inbox.trace("a" * 32) is not None


def test_partial_success_is_told_in_protobuf_where_protobuf_came(served: Served):
    request = service.ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, end_time_unix_nano=5)
    spans.add(trace_id=b"t" * 3, span_id=b"s" * 8)
    done = served.client.post("/v1/traces", content=request.SerializeToString(), headers=PROTOBUF)
    assert done.headers["content-type"] == "application/x-protobuf"
    told = service.ExportTraceServiceResponse.FromString(done.content)
    assert told.partial_success.rejected_spans == 1
    assert "traceId" in told.partial_success.error_message
    assert served.store.inbox.trace((b"t" * 16).hex()) is not None


def test_an_empty_export_is_fine(served: Served):
    assert served.client.post("/v1/traces", content=b"", headers=PROTOBUF).status_code == 200
    assert served.client.post("/v1/traces", json={"resourceSpans": []}).status_code == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff\xff", PROTOBUF, 400),
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b'{"resourceSpans": 5}', JSON, 400),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}', JSON, 400),
        (b"", {"content-type": "text/plain"}, 415),
        (b"x", {**JSON, "content-encoding": "br"}, 415),
        (b"x", {**JSON, "content-encoding": "gzip"}, 400),
        (
            gzip.compress(b"[" * 300 + b"]" * 300, mtime=0),
            {**JSON, "content-encoding": "gzip"},
            413,
        ),
    ],
)
def test_what_will_never_be_taken_is_refused_as_the_protocol_says(
    served: Served, body: bytes, headers: dict[str, str], status: int
):
    done = served.client.post("/v1/traces", content=body, headers=headers)
    assert done.status_code == status, done.content
    assert "retry-after" not in done.headers
    if headers["content-type"] == "application/json":
        assert done.json()["code"] == 3
        assert done.json()["message"]
    else:
        assert done.headers["content-type"] == "application/x-protobuf"
        assert done.content[:3] == b"\x08\x03\x12"  # google.rpc.Status: code, message


def test_what_may_come_again_is_told_when(tmp_path: Path):
    with running(tmp_path, waiting=1) as served:
        writer = served.app.state.writer

        def full(pieces: Any) -> list[bool]:
            raise StoreError("the disk is full")

        writer._inbox = type("Full", (), {"accept": staticmethod(full)})()
        done = served.client.post("/v1/traces", json=export(span()))
        assert done.status_code == 503
        assert done.json() == {
            "code": 14,
            "message": "the disk is full",
            "error": {"kind": "unavailable", "message": "the disk is full", "allowed": None},
        }
        assert int(done.headers["retry-after"]) > 0
        writer._waiting = 1
        done = served.client.post("/v1/traces", json=export(span()))
        assert (done.status_code, done.json()["code"]) == (429, 8)
        assert int(done.headers["retry-after"]) > 0
        writer._waiting = 0


def test_numbers_that_json_has_no_place_for_come_back(served: Served):
    body = json.dumps(export(span(note=float("nan"))))
    assert served.client.post("/v1/traces", content=body, headers=JSON).status_code == 200
    (held,) = trace_of(served.store.inbox.pieces("a" * 32))["resourceSpans"]
    assert repr(held["scopeSpans"][0]["spans"][0]["note"]) == "nan"
