"""OpenTelemetry spans as Jaeger exports them. The marks: `operationName` and `tags`.

    {"data": [{"traceID": "t1", "processes": {}, "spans": [
      {"traceID": "t1", "spanID": "a", "operationName": "chat", "references": [],
       "startTime": 1000000, "duration": 500,
       "tags": [
         {"key": "gen_ai.completion.0.role", "type": "string", "value": "assistant"},
         {"key": "gen_ai.completion.0.tool_calls.0.id", "type": "string", "value": "call_1"},
         {"key": "gen_ai.completion.0.tool_calls.0.name", "type": "string", "value": "trains"},
         {"key": "gen_ai.completion.0.tool_calls.0.arguments", "type": "string",
          "value": "{}"}]}]}]}

Also one trace alone, and a list of traces. Events are `logs`. Each trace is a trajectory; traces
that tell of no agent are left out where others do. Times are microseconds.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.instant import instant
from trajgrade.formats.span_attributes import describe
from trajgrade.formats.span_runs import trajectories_of
from trajgrade.formats.span_tools import Event
from trajgrade.formats.spans import Span
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_LONGEST = 1e15


class OTelJaeger:
    """Jaeger's JSON; the module shows it."""

    keys = frozenset({"data", "spans"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each trace has spans with an operation."""
        traces = _traces(seen.data)
        return bool(traces) and all(map(_is_trace, traces))

    def read(self, data: Any) -> list[Trajectory]:
        """Read each trace."""
        traces: dict[str, list[Span]] = {}
        for at, item in enumerate(_traces(data)):
            trace = expect.record(item, f"trace {at}")
            key = expect.text(trace.get("traceID"), f"trace {at}, traceID") or f"trace {at}"
            for number, raw in enumerate(expect.array(trace.get("spans"), f"trace {at}, spans")):
                place = f"trace {at}, span {number}"
                traces.setdefault(key, []).append(_span(expect.record(raw, place), place))
        return trajectories_of(traces, "otel_jaeger")


def _traces(data: Any) -> list[Any]:
    if isinstance(data, dict):
        held = data.get("data")
        return held if isinstance(held, list) else [data]
    return data if isinstance(data, list) else []


def _is_trace(trace: Any) -> bool:
    spans = trace.get("spans") if isinstance(trace, dict) else None
    return (
        isinstance(spans, list)
        and bool(spans)
        and all(isinstance(span, dict) and "operationName" in span for span in spans)
    )


def _span(raw: dict[str, Any], place: str) -> Span:
    began = instant(raw.get("startTime"))
    duration = raw.get("duration")
    ended = None
    if began is not None and isinstance(duration, (int, float)) and 0 <= duration < _LONGEST:
        ended = began + timedelta(microseconds=duration)
    parents = [
        expect.record(item, f"{place}, reference")
        for item in expect.array(raw.get("references"), f"{place}, references")
    ]
    inside = [one.get("spanID") for one in parents if one.get("refType") != "FOLLOWS_FROM"]
    parent = inside[0] if inside else None
    span = Span(
        id=expect.text(raw.get("spanID"), f"{place}, spanID") or place,
        parent=expect.text(parent or raw.get("parentSpanID"), f"{place}, parent"),
        name=expect.text(raw.get("operationName"), f"{place}, operationName") or "",
        began=began,
        ended=ended,
    )
    tags = _tags(raw.get("tags"), f"{place}, tags")
    events: list[Event] = []
    for at, item in enumerate(expect.array(raw.get("logs"), f"{place}, logs")):
        log = expect.record(item, f"{place}, log {at}")
        fields = _tags(log.get("fields"), f"{place}, log {at}")
        events.append((str(fields.get("event", fields.get("name", ""))), fields))
    describe(span, tags, events)
    failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
    span.status = "error" if failed else "ok" if tags.get("otel.status_code") == "OK" else "unknown"
    return span


def _tags(held: Any, place: str) -> dict[str, Any]:
    tags = [expect.record(tag, place) for tag in expect.array(held, place)]
    return {expect.text(tag.get("key"), f"{place}, key") or "": tag.get("value") for tag in tags}


FORMAT = OTelJaeger()
