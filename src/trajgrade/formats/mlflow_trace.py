r"""MLflow's traces. The marks: `info` beside `data`, which has `spans` with a `span_id`.

    {"info": {"trace_id": "tr-1", "state": "OK"},
     "data": {"spans": [
       {"trace_id": "t", "span_id": "a", "parent_span_id": null, "name": "chat",
        "start_time_unix_nano": 1000000000, "end_time_unix_nano": 2000000000,
        "status": {"code": "STATUS_CODE_OK"}, "events": [],
        "attributes": {
          "mlflow.spanType": "\"CHAT_MODEL\"",
          "mlflow.spanInputs": "{\"messages\": []}",
          "mlflow.spanOutputs":
            "{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"Hi.\"}}]}"}},
       {"trace_id": "t", "span_id": "b", "parent_span_id": null, "name": "trains",
        "start_time_unix_nano": 500000000, "end_time_unix_nano": 600000000,
        "status": {"code": "STATUS_CODE_OK"}, "events": [],
        "attributes": {
          "mlflow.spanType": "\"TOOL\"", "mlflow.spanInputs": "{\"to\": \"Oslo\"}",
          "mlflow.spanOutputs": "\"09:14\""}}]}}

As `trace.to_dict()` and `trace.to_json()` write one; also a list of traces. Each attribute is JSON
text of its own. What else a span's attributes tell is read as for every span.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.instant import instant
from trajgrade.formats.span_attributes import describe
from trajgrade.formats.span_runs import trajectory_of
from trajgrade.formats.span_tools import Event
from trajgrade.formats.spans import Span
from trajgrade.formats.utterances import last_text
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Trajectory

_STATUSES: dict[Any, CallStatus] = {
    "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error", "OK": "ok", "ERROR": "error",
}  # fmt: skip
_TYPE = "mlflow.spanType"
_WORDS = {"CHAT_MODEL": "chat", "LLM": "llm"}


class MLflowTrace:
    """A trace; the module shows one."""

    keys = frozenset({"info"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item has spans with MLflow's attributes."""
        traces = seen.data if isinstance(seen.data, list) else [seen.data]
        return bool(traces) and all(map(_is_trace, traces))

    def read(self, data: Any) -> list[Trajectory]:
        """Read each trace."""
        traces = data if isinstance(data, list) else [data]
        return [_trace(expect.record(one, f"trace {at}")) for at, one in enumerate(traces)]


def _is_trace(trace: Any) -> bool:
    held = trace.get("data") if isinstance(trace, dict) else None
    spans = held.get("spans") if isinstance(held, dict) else None
    return (
        "info" in (trace if isinstance(trace, dict) else {})
        and isinstance(spans, list)
        and bool(spans)
        and all(isinstance(span, dict) and "span_id" in span for span in spans)
    )


def _trace(trace: dict[str, Any]) -> Trajectory:
    info = expect.record(trace.get("info"), "info")
    held = expect.record(trace.get("data"), "data")
    spans = []
    outputs: Any = None
    for at, item in enumerate(expect.array(held.get("spans"), "spans")):
        raw = expect.record(item, f"span {at}")
        attributes = _attributes(raw.get("attributes"), f"span {at}")
        spans.append(_span(raw, attributes, f"span {at}"))
        if spans[-1].parent is None:
            outputs = attributes.get("mlflow.spanOutputs")
    if not spans:
        raise MalformedTraceError("the trace holds no spans")
    key = expect.identifier(info.get("trace_id", info.get("request_id")), "trace_id")
    return trajectory_of(spans, "mlflow_trace", id=key, answer=last_text(outputs))


def _attributes(held: Any, place: str) -> dict[str, Any]:
    raw = {} if held is None else expect.record(held, f"{place}, attributes")
    return {key: _value(value) for key, value in raw.items()}


def _value(value: Any) -> Any:
    if isinstance(value, str):
        with suppress(ValueError):
            return jsontext.loads(value)
    return value


def _span(raw: dict[str, Any], attributes: dict[str, Any], place: str) -> Span:
    span = Span(
        id=expect.text(raw.get("span_id"), f"{place}, span_id") or place,
        parent=expect.text(raw.get("parent_span_id"), f"{place}, parent_span_id") or None,
        name=expect.text(raw.get("name"), f"{place}, name") or "",
        began=instant(raw.get("start_time_unix_nano")),
        ended=instant(raw.get("end_time_unix_nano")),
    )
    kind = attributes.get(_TYPE)
    told = {**attributes, _TYPE: _WORDS.get(kind, kind)} if isinstance(kind, str) else attributes
    events: list[Event] = []
    for at, item in enumerate(expect.array(raw.get("events"), f"{place}, events")):
        event = expect.record(item, f"{place}, event {at}")
        name = expect.text(event.get("name"), f"{place}, event {at}, name") or ""
        events.append((name, _attributes(event.get("attributes"), f"{place}, event {at}")))
    describe(span, told, events)
    status = raw.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    span.status = _STATUSES.get(code, "unknown") if isinstance(code, str) else "unknown"
    return span


FORMAT = MLflowTrace()
