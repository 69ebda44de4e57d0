r"""OpenTelemetry spans as OTLP JSON. The marks: `resourceSpans`, or `batches` (Grafana Tempo).

    {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": [
      {"traceId": "t1", "spanId": "a", "name": "execute_tool trains",
       "startTimeUnixNano": "1000000000",
       "attributes": [
         {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
         {"key": "gen_ai.tool.name", "value": {"stringValue": "trains"}},
         {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": "{\"to\": \"Oslo\"}"}}]},
      {"traceId": "t1", "spanId": "b", "name": "chat", "startTimeUnixNano": "2000000000",
       "attributes": [
         {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
         {"key": "gen_ai.output.messages", "value": {"stringValue":
           "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"09:14\"}]}]"
         }}]}]}]}]}

Names of all versions: `scopeSpans`, `instrumentationLibrarySpans`; in camel or snake case; ids as
hex or base64. Also under `trace`, and a list or lines of such, whose spans are taken together. Each
trace is a trajectory; traces that tell of no agent are left out where others do. A span that stands
there twice, as exporters send it again that had no answer, counts once. Bytes of the
protobuf message `ExportTraceServiceRequest` are read alike (extra `server`); so are several with
their length before each, as the OpenTelemetry Collector's file exporter writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.instant import instant
from trajgrade.formats.otlp_bytes import are_spans, objects_in
from trajgrade.formats.span_attributes import describe
from trajgrade.formats.span_runs import trajectories_of
from trajgrade.formats.span_tools import Event
from trajgrade.formats.spans import Span
from trajgrade.glimpse import Glimpse
from trajgrade.glimpse import members as members_of
from trajgrade.trajectory import CallStatus, Trajectory

_RESOURCES = ("resourceSpans", "resource_spans", "batches")
_SCOPES = (
    "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans",
)  # fmt: skip
_TRACE, _SPAN = ("traceId", "trace_id"), ("spanId", "span_id")
_PARENT = ("parentSpanId", "parent_span_id")
_BEGAN = ("startTimeUnixNano", "start_time_unix_nano")
_ENDED = ("endTimeUnixNano", "end_time_unix_nano")
_PARTS = (*_SPAN, "name", "attributes")
_TIME = ("timeUnixNano", "time_unix_nano")
_VALUES = (
    "stringValue", "boolValue", "intValue", "doubleValue", "bytesValue",
    "string_value", "bool_value", "int_value", "double_value", "bytes_value",
)  # fmt: skip
_SCALARS = frozenset(_VALUES)
_STATUSES: dict[Any, CallStatus] = {
    1: "ok", 2: "error", "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error",
}  # fmt: skip
_BESIDE = frozenset({
    "scope", "schemaUrl", "schema_url", "instrumentationLibrary", "instrumentation_library",
})  # fmt: skip
_LEVELS = 50


class OTLPTempo:
    """OTLP JSON; the module shows it."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each document has resources with spans in scopes."""
        if isinstance(seen.data, bytes):
            return are_spans(seen.data)
        documents = seen.data if isinstance(seen.data, list) else [seen.data]
        return bool(documents) and all(map(_is_document, documents))

    def read(self, data: Any) -> list[Trajectory]:
        """Read each trace."""
        traces: dict[str, list[Span]] = {}
        data = objects_in(data) if isinstance(data, bytes) else data
        documents = data if isinstance(data, list) else [data]
        for at, document in enumerate(documents):
            place = f"document {at}, " if len(documents) > 1 else ""
            for raw, where in _spans(expect.record(document, f"{place}the export"), place):
                key = expect.text(_first(raw, _TRACE), f"{where}, traceId") or ""
                traces.setdefault(key, []).append(_span(raw, where))
        return trajectories_of(traces, "otlp_tempo")


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        found = record.get(key)
        if found is not None:
            return found
    return None


def _inner(document: dict[str, Any]) -> dict[str, Any]:
    trace = document.get("trace")
    return trace if isinstance(trace, dict) and _first(trace, _RESOURCES) is not None else document


def _is_document(document: Any) -> bool:
    resources = _first(_inner(document), _RESOURCES) if isinstance(document, dict) else None
    return (
        isinstance(resources, list)
        and bool(resources)
        and all(isinstance(one, dict) and any(key in one for key in _SCOPES) for one in resources)
    )


def _spans(document: dict[str, Any], place: str) -> Iterator[tuple[dict[str, Any], str]]:
    resources = expect.array(_first(_inner(document), _RESOURCES), f"{place}resourceSpans")
    for at, resource in enumerate(resources):
        where = f"{place}resource {at}"
        scopes = _first(expect.record(resource, where), _SCOPES)
        for number, scope in enumerate(expect.array(scopes, f"{where}, scopeSpans")):
            inner = f"{where}, scope {number}"
            held = expect.record(scope, inner)
            spans = held.get("spans")
            if "spans" not in held and held.keys() - _BESIDE:
                raise MalformedTraceError(f"{inner}: has no spans: {shorten(held)}")
            for index, span in enumerate(expect.array(spans, f"{inner}, spans")):
                spot = f"{inner}, span {index}"
                yield expect.record(span, spot), spot


def _span(raw: dict[str, Any], place: str) -> Span:
    if _first(raw, _PARTS) is None:
        raise MalformedTraceError(f"{place}: no span: {shorten(raw)}")
    span = Span(
        _text(_first(raw, _SPAN), place, "spanId") or place,
        _text(_first(raw, _PARENT), place, "parentSpanId"),
        _text(raw.get("name"), place, "name") or "",
        began=instant(_first(raw, _BEGAN)),
        ended=instant(_first(raw, _ENDED)),
    )
    events: list[Event] = []
    told = raw.get("events")
    for at, item in enumerate(expect.array(told, f"{place}, events") if told is not None else ()):
        event = expect.record(item, f"{place}, event {at}")
        name = expect.text(event.get("name"), f"{place}, event {at}, name") or ""
        events.append((name, _attributes(event.get("attributes"), f"{place}, event {at}")))
    describe(span, _attributes(raw.get("attributes"), place), events)
    status = raw.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    span.status = _STATUSES.get(code, "unknown") if isinstance(code, (str, int)) else "unknown"
    return span


def _text(value: Any, place: str, key: str) -> str | None:
    return value if type(value) is str else expect.text(value, f"{place}, {key}")


def _attributes(held: Any, place: str) -> dict[str, Any]:
    if isinstance(held, dict):
        if any("key" in one for one in members_of(held.values())):
            raise MalformedTraceError(f"{place}, attributes: pairs inside an object")
        return held
    found: dict[str, Any] = {}
    for at, item in enumerate(expect.array(held, f"{place}, attributes")):
        # Where all is as it nearly always is, no place is written out for a message.
        raw = item if type(item) is dict else expect.record(item, f"{place}, attribute {at}")
        key = raw.get("key")
        if type(key) is not str:
            key = expect.text(key, f"{place}, attribute {at}, key")
        if key is None:
            raise MalformedTraceError(f"{place}, attribute {at}: has no key: {shorten(raw)}")
        value = raw.get("value")
        if type(value) is dict and len(value) == 1:
            text = value.get("stringValue")
            if type(text) is str:
                found[key] = text
                continue
            ((kind, held_),) = value.items()
            if kind in _SCALARS and not isinstance(held_, (dict, list)):
                found[key] = held_
                continue
        found[key] = _value(value, f"{place}, attribute {at}")
    return found


def _value(held: Any, place: str, levels: int = _LEVELS) -> Any:
    if isinstance(held, list):
        raise MalformedTraceError(f"{place}: no value of an attribute: {shorten(held)}")
    if not isinstance(held, dict) or not levels:
        return held
    for key in _VALUES:
        if key in held:
            if isinstance(held[key], (dict, list)):
                raise MalformedTraceError(f"{place}: no {key}: {shorten(held[key])}")
            return held[key]
    listed = _first(held, ("arrayValue", "array_value"))
    if isinstance(listed, dict):
        values = listed.get("values")
        items = values if isinstance(values, list) else []
        return [_value(item, place, levels - 1) for item in items]
    pairs = _first(held, ("kvlistValue", "kvlist_value"))
    if isinstance(pairs, dict):
        members = members_of([pairs.get("values")])
        return {
            str(item.get("key")): _value(item.get("value"), place, levels - 1) for item in members
        }
    return None


FORMAT = OTLPTempo()
