"""A protobuf message `ExportTraceServiceRequest` → the object of OTLP JSON.

Ids are hexadecimal, as OTLP has them in JSON; 64-bit numbers and times are text, bytes are base64,
and what a field is by default is left out, as protobuf's JSON has it. Written out by hand: the
general way from a message to an object asks for each field's description, and takes seven times as
long.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

_LEVELS = 100


def object_of(request: Any) -> dict[str, Any]:
    """Return a request as OTLP JSON has it.

    Raises:
        ValueError: A value is nested too deeply.
    """
    found = [
        {
            **_resource(held),
            "scopeSpans": [
                {**_scope(inner), "spans": [_span(span) for span in inner.spans]}
                for inner in held.scope_spans
            ],
        }
        for held in request.resource_spans
    ]
    return {"resourceSpans": found} if found else {}


def _resource(held: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if held.HasField("resource"):
        found["resource"] = _bearing(held.resource)
    return found | ({"schemaUrl": held.schema_url} if held.schema_url else {})


def _scope(held: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if held.HasField("scope"):
        found["scope"] = _bearing(held.scope, ("name", "version"))
    return found | ({"schemaUrl": held.schema_url} if held.schema_url else {})


def _span(span: Any) -> dict[str, Any]:
    """Return a span as OTLP JSON has it.

    Raises:
        ValueError: A value is nested too deeply.
    """
    found: dict[str, Any] = {"traceId": span.trace_id.hex(), "spanId": span.span_id.hex()}
    if span.trace_state:
        found["traceState"] = span.trace_state
    if span.parent_span_id:
        found["parentSpanId"] = span.parent_span_id.hex()
    if span.flags:
        found["flags"] = span.flags
    found["name"] = span.name
    if span.kind:
        found["kind"] = span.kind
    found["startTimeUnixNano"] = str(span.start_time_unix_nano)
    found["endTimeUnixNano"] = str(span.end_time_unix_nano)
    if span.attributes:
        found["attributes"] = _pairs(span.attributes)
    if span.events:
        found["events"] = [_event(event) for event in span.events]
    if span.links:
        found["links"] = [_link(link) for link in span.links]
    if span.HasField("status"):
        status = span.status
        told = {"code": status.code, "message": status.message}
        found["status"] = {key: value for key, value in told.items() if value}
    dropped = {
        "droppedAttributesCount": span.dropped_attributes_count,
        "droppedEventsCount": span.dropped_events_count,
        "droppedLinksCount": span.dropped_links_count,
    }
    return found | {name: count for name, count in dropped.items() if count}


def _bearing(held: Any, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a resource, or a scope, with its attributes."""
    found = {name: value for name in names if (value := getattr(held, name))}
    if held.attributes:
        found["attributes"] = _pairs(held.attributes)
    if held.dropped_attributes_count:
        found["droppedAttributesCount"] = held.dropped_attributes_count
    return found


def _event(event: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"timeUnixNano": str(event.time_unix_nano), "name": event.name}
    if event.attributes:
        found["attributes"] = _pairs(event.attributes)
    if event.dropped_attributes_count:
        found["droppedAttributesCount"] = event.dropped_attributes_count
    return found


def _link(link: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": link.trace_id.hex(), "spanId": link.span_id.hex()}
    if link.trace_state:
        found["traceState"] = link.trace_state
    if link.attributes:
        found["attributes"] = _pairs(link.attributes)
    if link.dropped_attributes_count:
        found["droppedAttributesCount"] = link.dropped_attributes_count
    if link.flags:
        found["flags"] = link.flags
    return found


def _pairs(pairs: Any, levels: int = _LEVELS) -> list[dict[str, Any]]:
    return [{"key": pair.key, "value": _value(pair.value, levels)} for pair in pairs]


def _value(value: Any, levels: int) -> dict[str, Any]:
    match value.WhichOneof("value"):
        case "string_value":
            return {"stringValue": value.string_value}
        case "int_value":
            return {"intValue": str(value.int_value)}
        case "bool_value":
            return {"boolValue": value.bool_value}
        case "double_value":
            return {"doubleValue": _number(value.double_value)}
        case "bytes_value":
            return {"bytesValue": b64encode(value.bytes_value).decode()}
        case None:
            return {}
        case kind:
            if not levels:
                raise ValueError(f"a value nested more than {_LEVELS} levels deep")
            return _nested(value, kind, levels - 1)


def _nested(value: Any, kind: str, levels: int) -> dict[str, Any]:
    if kind == "array_value":
        return {"arrayValue": {"values": [_value(v, levels) for v in value.array_value.values]}}
    if kind == "kvlist_value":
        return {"kvlistValue": {"values": _pairs(value.kvlist_value.values, levels)}}
    return {}  # a kind of value that a later version of the protocol has


def _number(value: float) -> float | str:
    """Return a number as protobuf's JSON has it, where those without a number's form are text."""
    if value != value:  # noqa: PLR0124 what is no number does not equal itself
        return "NaN"
    if value in {float("inf"), float("-inf")}:
        return "Infinity" if value > 0 else "-Infinity"
    return value
