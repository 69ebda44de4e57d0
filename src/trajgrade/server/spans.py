"""Spans: those of one export → one piece for each trace that they belong to.

A piece is an export itself, of the spans of one trace, each under its scope and resource, in the
form in which it came. What names it is its content,
so that an export that is sent again, because its answer was lost, counts once. It ends its trace if
it has the root, a span without parent: exporters send spans that have ended. A span without an id
of its own or of its trace belongs nowhere, and is rejected.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from trajgrade.errors import MissingExtraError, shorten
from trajgrade.inbox import Piece
from trajgrade.jsontext import dumps
from trajgrade.server.refusal import RefusedError

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans")
_TRACE, _SPAN = ("traceId", "trace_id"), ("spanId", "span_id")
_PARENT, _ENDED = ("parentSpanId", "parent_span_id"), ("endTimeUnixNano", "end_time_unix_nano")
_HEX = re.compile(r"[0-9A-Fa-f]*")
_TRACE_BYTES, _SPAN_BYTES = 16, 8
_NO_TRACE, _NO_SPAN = bytes(_TRACE_BYTES), bytes(_SPAN_BYTES)
_NO_TRACE_ID = "traceId: 16 bytes in hexadecimal, not all zero"
_NO_SPAN_ID = "spanId: 8 bytes in hexadecimal, not all zero"
_TOLD = 3  # rejected spans of which the reason is told
_QUICK = 2000  # bytes that are hashed without letting another thread in between

Group = tuple[dict[str, Any], dict[str, Any], Iterable[dict[str, Any]]]


class Parted(NamedTuple):
    """What is accepted of an export, and what is not.

    Attributes:
        pieces: One for each trace.
        rejected: How many spans belong nowhere.
        reason: Why, of the first of them.
    """

    pieces: list[Piece]
    rejected: int = 0
    reason: str = ""


class _Trace:
    """The spans of one trace, under their scopes and resources, as they come."""

    def __init__(self) -> None:
        self.ends = False
        self._resources: list[dict[str, Any]] = []
        self._spans: list[dict[str, Any]] = []
        self._last: tuple[int, int] | None = None

    def add(
        self, resource: dict[str, Any], scope: dict[str, Any], span: dict[str, Any], place: Any
    ) -> None:
        if place != self._last:
            self._spans = []
            held = {**scope, "spans": self._spans}
            if self._last is None or place[0] != self._last[0]:
                self._resources.append({**resource, "scopeSpans": [held]})
            else:
                self._resources[-1]["scopeSpans"].append(held)
            self._last = place
        self._spans.append(span)

    def piece(self, trace_id: str, at: float) -> Piece:
        body = dumps({"resourceSpans": self._resources})
        return _piece(trace_id, body, at, ends=self.ends)


def of_message(body: bytes, at: float) -> Parted:
    """Return the pieces of an export as protobuf.

    They stay protobuf: to have them as JSON takes ten times as long as to part them, and is left to
    who reads the trace.

    Raises:
        RefusedError: It is no such message.
        MissingExtraError: The package that knows the message is not installed.
    """
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
    except ImportError:
        raise MissingExtraError("OTLP as protobuf", "opentelemetry-proto", "server") from None
    new = service.ExportTraceServiceRequest
    request = new()
    try:
        request.ParseFromString(body)
    except (DecodeError, RecursionError) as broken:
        raise RefusedError("unreadable", f"no OTLP message: {broken}") from None
    parts: dict[bytes, _Part] = {}
    rejected = 0
    reasons: list[str] = []
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                trace_id = span.trace_id
                fault = _fault(trace_id, span.span_id)
                if fault:
                    rejected += 1
                    _tell(reasons, span.name, fault)
                    continue
                part = parts.get(trace_id)
                if part is None:
                    part = parts[trace_id] = _Part(new())
                part.add(resource, scope, span)
    pieces = [part.piece(trace_id.hex(), at) for trace_id, part in parts.items()]
    return Parted(pieces, rejected, "; ".join(reasons))


def _fault(trace_id: bytes, span_id: bytes) -> str:
    """Return what is wrong with the ids of a span; nothing where all is right."""
    if len(trace_id) != _TRACE_BYTES or trace_id == _NO_TRACE:
        return _NO_TRACE_ID
    return "" if len(span_id) == _SPAN_BYTES and span_id != _NO_SPAN else _NO_SPAN_ID


def _tell(reasons: list[str], name: Any, fault: str) -> None:
    if len(reasons) < _TOLD:
        reasons.append(f"span {shorten(name, 40)}: {fault}")


class _Part:
    """The spans of one trace, as a message of its own."""

    __slots__ = ("_request", "_resource", "_scope", "_spans", "ends")

    def __init__(self, request: Any) -> None:
        self.ends = False
        self._request = request
        self._resource: Any = None
        self._scope: Any = None
        self._spans: Any = None

    def add(self, resource: Any, scope: Any, span: Any) -> None:
        if scope is not self._scope:
            if resource is not self._resource:
                held = self._request.resource_spans.add(schema_url=resource.schema_url)
                if resource.HasField("resource"):
                    held.resource.CopyFrom(resource.resource)
                self._resource = resource
            inner = self._request.resource_spans[-1].scope_spans.add(schema_url=scope.schema_url)
            if scope.HasField("scope"):
                inner.scope.CopyFrom(scope.scope)
            self._scope, self._spans = scope, inner.spans
        self._spans.append(span)
        if not span.parent_span_id and span.end_time_unix_nano:
            self.ends = True

    def piece(self, trace_id: str, at: float) -> Piece:
        return _piece(trace_id, self._request.SerializeToString(), at, ends=self.ends)


def _piece(trace_id: str, body: bytes, at: float, *, ends: bool) -> Piece:
    digest = hashlib.sha256()
    for begin in range(0, len(body), _QUICK):
        digest.update(body[begin : begin + _QUICK])
    key = digest.hexdigest()[:32]
    return Piece(trace_id=trace_id, key=key, body=body, is_spans=True, ends=ends, at=at)


def of_document(document: Any, at: float) -> Parted:
    """Return the pieces of an export as OTLP JSON.

    Raises:
        RefusedError: It is none.
    """
    return _parted(_groups(document), at)


def _groups(document: Any) -> Iterator[Group]:
    if not isinstance(document, dict):
        raise _no_export("an object with resourceSpans is needed", document)
    for resource in _array(document, _RESOURCES, "resourceSpans"):
        bare = {key: value for key, value in resource.items() if key not in _SCOPES}
        for scope in _array(resource, _SCOPES, "scopeSpans"):
            spans = _array(scope, ("spans",), "spans")
            yield bare, {key: value for key, value in scope.items() if key != "spans"}, spans


def _array(held: dict[str, Any], names: tuple[str, ...], called: str) -> list[dict[str, Any]]:
    found = _first(held, names)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _no_export(f"{called}: a list of objects is needed", found)
    return found


def _no_export(needed: str, found: Any) -> RefusedError:
    return RefusedError("unreadable", f"no OTLP export: {needed}, got {shorten(found)}")


def _first(held: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((held[name] for name in names if name in held), None)


def _parted(groups: Iterable[Group], at: float) -> Parted:
    traces: dict[str, _Trace] = {}
    rejected = 0
    reasons: list[str] = []
    last: dict[str, Any] | None = None
    number = -1
    for place, (resource, scope, spans) in enumerate(groups):
        if resource is not last:
            last, number = resource, number + 1
        for span in spans:
            trace_id = _identity(_first(span, _TRACE), _TRACE_BYTES)
            if trace_id is None or not _identity(_first(span, _SPAN), _SPAN_BYTES):
                rejected += 1
                fault = _NO_TRACE_ID if trace_id is None else _NO_SPAN_ID
                _tell(reasons, span.get("name", ""), fault)
                continue
            trace = traces.get(trace_id)
            if trace is None:
                trace = traces[trace_id] = _Trace()
            trace.add(resource, scope, span, (number, place))
            if not _first(span, _PARENT) and _first(span, _ENDED) not in {None, 0, "0", ""}:
                trace.ends = True
    pieces = [trace.piece(name, at) for name, trace in traces.items()]
    return Parted(pieces, rejected, "; ".join(reasons))


def _identity(given: Any, size: int) -> str | None:
    """Return an id in lower-case hexadecimal; None where it is none, or all zero."""
    if not isinstance(given, str):
        return None
    if len(given) != 2 * size or not _HEX.fullmatch(given):
        try:  # as protobuf's own JSON has bytes
            raw = b64decode(given, validate=True)
        except ValueError:
            return None
        given = raw.hex() if len(raw) == size else ""
    found = given.lower()
    return found if found.strip("0") else None
