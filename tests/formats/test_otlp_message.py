"""A protobuf message becomes the object that protobuf's own JSON of it is, with ids in hex."""

from __future__ import annotations

import base64
from math import isfinite, isnan
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

from trajgrade.formats.otlp_message import object_of

IDS = {"traceId", "spanId", "parentSpanId"}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
counts = st.integers(0, 2**32 - 1)
instants = st.integers(0, 2**64 - 1).map(str)


def said(number: float) -> str:
    """A number that JSON has no place for, as protobuf writes it."""
    return "NaN" if isnan(number) else "Infinity" if number > 0 else "-Infinity"


def ids(size: int) -> st.SearchStrategy[str]:
    return st.binary(min_size=size, max_size=size).map(lambda raw: base64.b64encode(raw).decode())


scalars = st.one_of(
    st.just({}),
    texts.map(lambda text: {"stringValue": text}),
    st.booleans().map(lambda flag: {"boolValue": flag}),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: {"intValue": str(number)}),
    st.floats().map(lambda number: {"doubleValue": number if isfinite(number) else said(number)}),
    st.binary(max_size=4).map(lambda raw: {"bytesValue": base64.b64encode(raw).decode()}),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda many: {"arrayValue": {"values": many}}),
        st.lists(st.fixed_dictionaries({"key": texts, "value": inner}), max_size=3).map(
            lambda many: {"kvlistValue": {"values": many}}
        ),
    ),
    max_leaves=6,
)
attributes = st.lists(st.fixed_dictionaries({"key": texts, "value": values}), max_size=3)
events = st.fixed_dictionaries(
    {"timeUnixNano": instants, "name": texts},
    optional={"attributes": attributes, "droppedAttributesCount": counts},
)
links = st.fixed_dictionaries(
    {"traceId": ids(16), "spanId": ids(8)},
    optional={"traceState": texts, "attributes": attributes, "flags": counts},
)
spans = st.fixed_dictionaries(
    {"traceId": ids(16), "spanId": ids(8), "name": texts},
    optional={
        "parentSpanId": ids(8),
        "traceState": texts,
        "flags": counts,
        "kind": st.integers(0, 5),
        "startTimeUnixNano": instants,
        "endTimeUnixNano": instants,
        "attributes": attributes,
        "events": st.lists(events, max_size=2),
        "links": st.lists(links, max_size=2),
        "status": st.fixed_dictionaries({}, optional={"code": st.integers(0, 2), "message": texts}),
        "droppedAttributesCount": counts,
        "droppedEventsCount": counts,
        "droppedLinksCount": counts,
    },
)
bearing = st.fixed_dictionaries({}, optional={"attributes": attributes})
scopes = st.fixed_dictionaries(
    {"spans": st.lists(spans, max_size=2)}, optional={"scope": bearing, "schemaUrl": texts}
)
requests = st.fixed_dictionaries(
    {
        "resourceSpans": st.lists(
            st.fixed_dictionaries(
                {"scopeSpans": st.lists(scopes, max_size=2)},
                optional={"resource": bearing, "schemaUrl": texts},
            ),
            max_size=2,
        )
    }
)


def message_of(plain: dict[str, Any]) -> Any:
    return ParseDict(plain, service.ExportTraceServiceRequest())


@settings(max_examples=150)
@given(requests)
def test_the_object_is_protobufs_own_json_again(plain: dict[str, Any]):
    message = message_of(plain)
    assert without_defaults(object_of(message)) == without_defaults(named(MessageToDict(message)))
    assert message_of(in_base64(object_of(message))) == message or has_nan(plain)


def named(found: Any) -> Any:
    """Ids in hex, and kinds and codes as numbers."""
    kinds = {"SPAN_KIND_INTERNAL": 1, "SPAN_KIND_SERVER": 2, "SPAN_KIND_CLIENT": 3}
    kinds |= {"SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5}
    kinds |= {"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
    if isinstance(found, dict):
        return {
            key: base64.b64decode(value).hex()
            if key in IDS
            else kinds.get(value, value)
            if key in {"kind", "code"} and isinstance(value, str)
            else named(value)
            for key, value in found.items()
        }
    return [named(one) for one in found] if isinstance(found, list) else found


def in_base64(found: Any) -> Any:
    if isinstance(found, dict):
        return {
            key: base64.b64encode(bytes.fromhex(value)).decode() if key in IDS else in_base64(value)
            for key, value in found.items()
        }
    return [in_base64(one) for one in found] if isinstance(found, list) else found


def without_defaults(found: Any) -> Any:
    """What either may write out or leave out: empty texts, lists and objects, times of zero."""
    if isinstance(found, dict):
        kept = {key: without_defaults(value) for key, value in found.items()}
        return {key: value for key, value in kept.items() if value not in ("", "0", [], {})}
    if isinstance(found, list):
        return [without_defaults(one) for one in found]
    return repr(found) if isinstance(found, float) else found


def has_nan(found: Any) -> bool:
    """Whether there is a number that does not equal itself."""
    if isinstance(found, dict):
        return any(map(has_nan, found.values()))
    return any(map(has_nan, found)) if isinstance(found, list) else found != found  # noqa: PLR0124


def test_a_value_that_is_nested_too_deeply_is_refused():
    message = service.ExportTraceServiceRequest()
    span = message.resource_spans.add().scope_spans.add().spans.add()
    value = span.attributes.add().value
    for _ in range(101):
        value = value.array_value.values.add()
    with pytest.raises(ValueError, match="nested more than 100 levels deep"):
        object_of(message)
