"""Langfuse's traces. The mark: `observations` of a trace.

    {"trace": {"id": "t1", "input": "Any trains to Oslo?"},
     "observations": [
       {"id": "b", "traceId": "t1", "parentObservationId": "a", "type": "TOOL", "name": "trains",
        "startTime": "2026-01-02T03:04:06Z", "input": {"to": "Oslo"}, "output": "09:14"},
       {"id": "a", "traceId": "t1", "parentObservationId": null, "type": "GENERATION",
        "name": "llm", "startTime": "2026-01-02T03:04:05Z", "metadata": {"attributes": {}},
        "output": {"role": "assistant", "content": "Yes, at 09:14."}}]}

As the user interface exports a trace, and as the API does: the trace with its observations inside.
What came through OpenTelemetry keeps its attributes in `metadata`, and they say more than an
observation's type. Observations are in no order of time.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from trajgrade import jsontext
from trajgrade.formats import expect
from trajgrade.formats.instant import instant
from trajgrade.formats.metering import number_in, usage_in
from trajgrade.formats.span_attributes import describe
from trajgrade.formats.span_runs import trajectory_of
from trajgrade.formats.span_tools import ended, unwrapped
from trajgrade.formats.span_usage import counts
from trajgrade.formats.spans import Count, Kind, Span
from trajgrade.formats.utterances import last_text, parsed, utterances
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_MARKS = ("parentObservationId", "traceId", "startTime")


class LangfuseTrace:
    """A trace with its observations; the module shows one."""

    keys = frozenset({"observations", "trace"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there are observations, each with Langfuse's keys."""
        data = seen.data
        held = _observations(data) if isinstance(data, dict) else None
        return (
            isinstance(held, list)
            and bool(held)
            and all(isinstance(o, dict) and "type" in o and _is_marked(o) for o in held)
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one trace."""
        record = expect.record(data, "the trace")
        trace = record.get("trace")
        outer = trace if isinstance(trace, dict) else record
        observations = expect.array(_observations(record), "observations")
        spans = [
            _span(expect.record(item, f"observation {at}"), f"observation {at}")
            for at, item in enumerate(observations)
        ]
        answer = last_text(_unquoted(outer.get("output")))
        key = expect.identifier(outer.get("id"), "id")
        return [trajectory_of(spans, "langfuse_trace", id=key, answer=answer)]


def _observations(data: dict[str, Any]) -> Any:
    trace = data.get("trace")
    inner = trace.get("observations") if isinstance(trace, dict) else None
    return data.get("observations") or inner


def _is_marked(observation: dict[str, Any]) -> bool:
    return sum(key in observation for key in _MARKS) > 1


def _unquoted(value: Any) -> Any:
    """Return a value that the export wrote as JSON text once more."""
    if isinstance(value, str) and value[:1] == '"':
        with suppress(ValueError):
            return jsontext.loads(value)
    return value


def _span(raw: dict[str, Any], place: str) -> Span:
    span = Span(
        id=expect.identifier(raw.get("id"), f"{place}, id") or place,
        parent=expect.identifier(raw.get("parentObservationId"), f"{place}, parentObservationId"),
        name=expect.text(raw.get("name"), f"{place}, name") or "",
        began=instant(raw.get("startTime")),
        ended=instant(raw.get("endTime")),
    )
    attributes = _attributes(raw.get("metadata"))
    kind = expect.text(raw.get("type"), f"{place}, type") or ""
    describe(span, {**attributes, "langfuse.observation.type": kind})
    given, output = raw.get("input"), raw.get("output")
    if span.kind == "tool":
        if span.raw is msgspec.UNSET and given is not None:
            span.raw = unwrapped(given)
        if span.result is None and output is not None:
            ended(span, output)
    elif span.kind in ("model", "agent"):
        span.said = span.said or utterances(output)
        span.told = span.told or utterances(given, "user")
    expect.text(raw.get("model"), f"{place}, model")
    span.counted = (_counts, (raw, attributes, span.kind))
    level = raw.get("level")
    if level == "ERROR":
        span.status = "error"
    return span


def _counts(told: tuple[dict[str, Any], dict[str, Any], Kind]) -> Count:
    raw, attributes, kind = told
    counts_ = kind in ("model", "agent")
    model, own = counts(attributes) if counts_ else (None, None)
    usage = usage_in(raw.get("usageDetails")) or usage_in(raw.get("usage")) or usage_in(raw)
    counted = usage is not None and (usage.input_tokens or usage.total_tokens)
    if counts_ and usage is not None and counted:  # 0: nothing recorded
        cost = number_in(raw.get("totalCost", raw.get("calculatedTotalCost")))
        own = msgspec.structs.replace(usage, cost=cost if cost is not None else usage.cost)
    return raw.get("model") or model, own


def _attributes(metadata: Any) -> dict[str, Any]:
    held = parsed(metadata) if isinstance(metadata, str) else metadata
    if not isinstance(held, dict):
        return {}
    inner = held.get("attributes")
    inner = parsed(inner) if isinstance(inner, str) else inner
    return inner if isinstance(inner, dict) else {}


FORMAT = LangfuseTrace()
