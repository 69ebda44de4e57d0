"""`emit_otel`: send the scores of an item to an OpenTelemetry collector, as events.

Each score becomes one log record, OTLP/HTTP in JSON, with the event name
`gen_ai.evaluation.result` and the attributes `gen_ai.evaluation.name`,
`gen_ai.evaluation.score.value` and, where the verdict is a word or a flag,
`gen_ai.evaluation.score.label`. It is put into the trace that was evaluated, under its root span or
the span that the item names (`trace_id`, `span_id`). What the agent said is not sent, so
`gen_ai.evaluation.explanation`, which may quote it, only where that is asked for. Source:
OpenTelemetry's semantic conventions for generative AI, event `gen_ai.evaluation.result`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trajgrade.actions.addresses import Answered, Target, post, target_of
from trajgrade.errors import ConfigError
from trajgrade.event import Event, TryAgainError
from trajgrade.jsontext import dumps

EVENT_NAME = "gen_ai.evaluation.result"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_LOGS_ENDPOINT = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"
_LABEL = 100  # characters; a longer text is no label
_IDS = {"traceId": ("trace_id", "traceId", 32), "spanId": ("span_id", "spanId", 16)}


@dataclass(frozen=True)
class EmitOtel:
    """Send the scores of an item to an OpenTelemetry collector.

    Attributes:
        endpoint: The collector's address, to which `/v1/logs` is added; by default that of
            `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT`, which is used as it stands, or
            `OTEL_EXPORTER_OTLP_ENDPOINT`.
        headers: Further headers.
        explain: Whether the evaluator's comment, or why the rule fired, is sent, too.
        timeout: How long each step may take, in seconds.

    Raises:
        ConfigError: There is no endpoint, or it is no URL.
    """

    fast: ClassVar[bool] = False

    endpoint: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    explain: bool = False
    timeout: float = 10.0

    def __post_init__(self) -> None:
        """Check the endpoint."""
        self._target()

    def _target(self) -> Target:
        if self.endpoint is None and (whole := os.environ.get(_LOGS_ENDPOINT)):
            return target_of(whole)
        start = self.endpoint or os.environ.get(_ENDPOINT)
        if not start:
            raise ConfigError(f"emit_otel: give endpoint, or set {_ENDPOINT}")
        return target_of(f"{start.rstrip('/')}/v1/logs")

    def act(self, event: Event) -> str:
        """Send the event's scores; return how many there were.

        Raises:
            TryAgainError: It may succeed later.
            OSError: It never will.
        """
        records = records_of(event, time.time_ns(), explain=self.explain)
        if not records:
            return "no scores"
        resource = {"attributes": [_attribute("service.name", "trajgrade")]}
        logs = {"scope": {"name": "trajgrade"}, "logRecords": records}
        body = dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [logs]}]})
        target = self._target()
        headers = {"Content-Type": "application/json", **self.headers}
        try:
            answered = post(target, body, headers, allowed=[target.host], timeout=self.timeout)
        except OSError as broken:
            raise TryAgainError(f"{type(broken).__name__}: {broken}") from None
        return _judged(answered, len(records))


def records_of(event: Event, now: int, *, explain: bool = False) -> list[dict[str, Any]]:
    """Return one log record for each score of an event.

    Args:
        event: The event.
        now: The time, in nanoseconds since 1970.
        explain: Whether it is said why.
    """
    base = {
        "timeUnixNano": str(now),
        "observedTimeUnixNano": str(now),
        "severityNumber": 9,
        "eventName": EVENT_NAME,
        **_ids(event),
    }
    return [
        {**base, "attributes": [*_told(event, key, score, explain=explain)]}
        for key, score in event.scores.items()
        if score is not None
    ]


def _told(event: Event, key: str, score: float, *, explain: bool) -> Iterator[dict[str, Any]]:
    yield _attribute("gen_ai.evaluation.name", key)
    yield _attribute("gen_ai.evaluation.score.value", score)
    result = event.results.get(key, {})
    value = result.get("value")
    if isinstance(value, bool):
        yield _attribute("gen_ai.evaluation.score.label", "pass" if value else "fail")
    elif isinstance(value, str) and len(value) <= _LABEL:
        yield _attribute("gen_ai.evaluation.score.label", value)
    if explain:
        yield _attribute("gen_ai.evaluation.explanation", result.get("comment") or event.because)


def _ids(event: Event) -> dict[str, str]:
    """Return the ids of the trace and span that were evaluated, if they are OpenTelemetry's."""
    trace = event.trace if isinstance(event.trace, Mapping) else {}
    root = next(_roots(trace), {})
    found = {}
    for name, (snake, camel, length) in _IDS.items():
        own = event.item_id if name == "traceId" else None
        for value in (trace.get(snake, trace.get(camel)), root.get(camel, root.get(snake)), own):
            if isinstance(value, str) and re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", value):
                found[name] = value.lower()
                break
    return found


def _roots(trace: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the spans of OTLP that have no parent."""
    for resource in _listed(trace, "resourceSpans", "resource_spans"):
        for scope in _listed(resource, "scopeSpans", "scope_spans"):
            for span in _listed(scope, "spans", "spans"):
                if not (span.get("parentSpanId") or span.get("parent_span_id")):
                    yield span


def _listed(held: Mapping[str, Any], camel: str, snake: str) -> list[Mapping[str, Any]]:
    found = held.get(camel, held.get(snake))
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _attribute(name: str, value: str | float) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": name, "value": {kind: value}}


def _judged(answered: Answered, sent: int) -> str:
    told = f"HTTP {answered.status}"
    if 200 <= answered.status < 300:
        return f"{sent} sent, {told}"
    if answered.status in {429, 502, 503, 504}:  # OTLP/HTTP's list of what may be tried again
        raise TryAgainError(told)
    raise OSError(told)
