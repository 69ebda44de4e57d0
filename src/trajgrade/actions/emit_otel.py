"""`emit_otel`: send the scores of an item to an OpenTelemetry collector, as events.

Each score becomes one log record, OTLP/HTTP in JSON, with the event name
`gen_ai.evaluation.result` and the attributes `gen_ai.evaluation.name`,
`gen_ai.evaluation.score.value` and `gen_ai.evaluation.explanation`, in the trace and under the span
that was evaluated where the item names them (`trace_id`, `span_id`). What the agent said is not
sent. Source: OpenTelemetry's semantic conventions for generative AI, event
`gen_ai.evaluation.result`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trajgrade.actions.addresses import Answered, Target, post, target_of
from trajgrade.errors import ConfigError
from trajgrade.event import Event, TryAgainError
from trajgrade.jsontext import dumps

EVENT_NAME = "gen_ai.evaluation.result"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_LOGS_ENDPOINT = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"
_IDS = {"traceId": ("trace_id", "traceId", 32), "spanId": ("span_id", "spanId", 16)}


@dataclass(frozen=True)
class EmitOtel:
    """Send the scores of an item to an OpenTelemetry collector.

    Attributes:
        endpoint: The collector's address, to which `/v1/logs` is added; by default that of
            `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT`, which is used as it stands, or
            `OTEL_EXPORTER_OTLP_ENDPOINT`.
        headers: Further headers.
        timeout: How long each step may take, in seconds.

    Raises:
        ConfigError: There is no endpoint, or it is no URL.
    """

    fast: ClassVar[bool] = False

    endpoint: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
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
        records = records_of(event, time.time_ns())
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


def records_of(event: Event, now: int) -> list[dict[str, Any]]:
    """Return one log record for each score of an event.

    Args:
        event: The event.
        now: The time, in nanoseconds since 1970.
    """
    base = {
        "timeUnixNano": str(now),
        "observedTimeUnixNano": str(now),
        "severityNumber": 9,
        "eventName": EVENT_NAME,
        **_ids(event.trace),
    }
    found = []
    for key, score in event.scores.items():
        if score is not None:
            attributes = [
                _attribute("gen_ai.evaluation.name", key),
                _attribute("gen_ai.evaluation.score.value", score),
                _attribute("gen_ai.evaluation.explanation", event.because),
            ]
            found.append({**base, "attributes": attributes})
    return found


def _ids(trace: Any) -> dict[str, str]:
    """Return the ids of the trace and span that the item names, if they are OpenTelemetry's."""
    if not isinstance(trace, Mapping):
        return {}
    found = {}
    for name, (snake, camel, length) in _IDS.items():
        value = trace.get(snake, trace.get(camel))
        if isinstance(value, str) and re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", value):
            found[name] = value.lower()
    return found


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
