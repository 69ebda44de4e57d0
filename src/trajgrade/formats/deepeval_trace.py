"""DeepEval's traces. The marks: `llmSpans`, `toolSpans`, `agentSpans`, `baseSpans`.

    {"uuid": "t1", "status": "SUCCESS", "baseSpans": [], "agentSpans": [], "retrieverSpans": [],
     "llmSpans": [
       {"uuid": "a", "type": "llm", "name": "call", "startTime": "2026-01-02T03:04:05Z",
        "input": [{"role": "user", "content": "Any trains to Oslo?"}],
        "output": [{"id": "call_1", "type": "function",
                    "function": {"name": "trains", "arguments": {"to": "Oslo"}}}]},
       {"uuid": "c", "type": "llm", "name": "call", "startTime": "2026-01-02T03:04:07Z",
        "output": "Yes, at 09:14."}],
     "toolSpans": [
       {"uuid": "b", "type": "tool", "name": "trains", "startTime": "2026-01-02T03:04:06Z",
        "input": {"to": "Oslo"}, "output": "09:14"}]}

The name of a tool stands without what an integration puts before it. Where a span has no input,
the arguments are those of `toolsCalled`. Lists are in no order of time.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.instant import instant
from trajgrade.formats.metering import usage_in
from trajgrade.formats.span_runs import trajectory_of
from trajgrade.formats.span_tools import ended, unwrapped
from trajgrade.formats.spans import Count, Kind, Span
from trajgrade.formats.utterances import last_text, utterances
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Trajectory

_LISTS: dict[str, Kind] = {
    "baseSpans": "other", "agentSpans": "agent", "retrieverSpans": "other", "llmSpans": "model",
    "toolSpans": "tool",
}  # fmt: skip
_COUNTED = frozenset({"inputTokenCount", "outputTokenCount"})
_PREFIXES = ("Function tool: ", "execute_tool ", "running tool: ", "tool.")
_STATUSES: dict[Any, CallStatus] = {"SUCCESS": "ok", "ERRORED": "error", "ERROR": "error"}


class DeepEvalTrace:
    """A trace; the module shows one."""

    keys = frozenset(_LISTS)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object has lists of spans by their type."""
        data = seen.data
        return isinstance(data, dict) and sum(isinstance(data.get(k), list) for k in _LISTS) > 1

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one trace."""
        trace = expect.record(data, "the trace")
        spans = []
        for key, kind in _LISTS.items():
            for at, item in enumerate(expect.array(trace.get(key), key)):
                spans.append(_span(expect.record(item, f"{key}[{at}]"), kind, f"{key}[{at}]"))
        name = expect.identifier(trace.get("uuid"), "uuid")
        answer = last_text(trace.get("output"))
        return [trajectory_of(spans, "deepeval_trace", id=name, answer=answer)]


def _span(raw: dict[str, Any], kind: Kind, place: str) -> Span:
    span = Span(
        id=expect.identifier(raw.get("uuid"), f"{place}, uuid") or place,
        parent=expect.identifier(raw.get("parentUuid"), f"{place}, parentUuid"),
        name=expect.text(raw.get("name"), f"{place}, name") or "",
        kind=kind,
        began=instant(raw.get("startTime")),
        ended=instant(raw.get("endTime")),
    )
    if kind in ("model", "agent"):
        span.said = utterances(raw.get("output"))
        span.told = utterances(raw.get("input"), "user")
        expect.text(raw.get("model"), f"{place}, model")
        span.counted = (_counts, raw)
    elif kind == "tool":
        _tool(span, raw, place)
    return span


def _counts(raw: dict[str, Any]) -> Count:
    return raw.get("model"), usage_in(raw) if _COUNTED & raw.keys() else None


def _tool(span: Span, raw: dict[str, Any], place: str) -> None:
    called = expect.array(raw.get("toolsCalled"), f"{place}, toolsCalled")
    first = expect.record(called[0], f"{place}, toolsCalled") if called else {}
    name = first.get("name") or span.name
    span.tool = _plain(expect.name(name, f"{place}, name"))
    if not span.tool:
        raise MalformedTraceError(f"{place}: a tool without a name")
    if first.get("inputParameters") is not None:
        span.raw = first["inputParameters"]
    elif raw.get("input") is not None:
        span.raw = unwrapped(raw["input"])
    else:
        span.raw = msgspec.UNSET
    status = raw.get("status")
    span.status = _STATUSES.get(status, "unknown") if isinstance(status, str) else "unknown"
    ended(span, raw.get("output", first.get("output")))
    if raw.get("error"):
        span.status = "error"


def _plain(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


FORMAT = DeepEvalTrace()
