"""Spans: those of an OTLP document as lines: which within which, when, how long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trajgrade.report.document import cut
from trajgrade.report.plain import printable

_SECOND = 1e9
_NAMES = {
    "resources": ("resourceSpans", "resource_spans"),
    "scopes": ("scopeSpans", "scope_spans"),
    "id": ("spanId", "span_id"),
    "parent": ("parentSpanId", "parent_span_id"),
    "start": ("startTimeUnixNano", "start_time_unix_nano"),
    "end": ("endTimeUnixNano", "end_time_unix_nano"),
}
_FAILED = {"2", "STATUS_CODE_ERROR"}
_WIDTH = 200


class Line(NamedTuple):
    """A span.

    Attributes:
        name: Its name.
        depth: Within how many others it is.
        begins: Seconds after the first one.
        lasts: Seconds.
        failed: What its status says where it failed; empty where it did not.
        x: Where its bar begins, from 0 to 200.
        width: How wide its bar is.
    """

    name: str
    depth: int
    begins: float
    lasts: float
    failed: str
    x: float
    width: float


def lines_of(document: Mapping[str, Any]) -> list[Line]:
    """Return the spans of a document, each behind the one that it is within.

    A span whose parent is not there stands alone, and so does one of several that are within each
    other.
    """
    spans = [*_spans(document)]
    if not spans:
        return []
    first = min(_time(span, "start") for span in spans)
    last = max(max(_time(span, "end"), _time(span, "start")) for span in spans)
    whole = (last - first) or 1.0
    known = {_name(span, "id") for span in spans}
    within: dict[str | None, list[Any]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: _time(span, "start")):
        parent = _name(span, "parent")
        within[parent if parent in known and parent != _name(span, "id") else None].append(span)
    found: list[Line] = []
    outermost = within.pop(None, [])
    while outermost:
        waiting = [(span, 0) for span in reversed(outermost)]
        while waiting:
            span, depth = waiting.pop()
            found.append(_line(span, depth, first, whole))
            inner = within.pop(_name(span, "id"), [])
            waiting += [(one, depth + 1) for one in reversed(inner)]
        outermost = within.pop(next(iter(within), None), [])  # what is within each other
    return found


def _line(span: Mapping[str, Any], depth: int, first: float, whole: float) -> Line:
    begins, lasts = (
        _time(span, "start") - first,
        max(0.0, _time(span, "end") - _time(span, "start")),
    )
    status = span.get("status")
    failed = ""
    if isinstance(status, Mapping) and str(status.get("code")) in _FAILED:
        failed = printable(cut(str(status.get("message") or "failed")))
    return Line(
        printable(cut(str(span.get("name", "")))),
        min(depth, 20),
        begins,
        lasts,
        failed,
        round(begins / whole * _WIDTH, 1),
        max(1.0, round(lasts / whole * _WIDTH, 1)),
    )


def _spans(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in _several(_of(document, "resources")):
        for scope in _several(_of(resource, "scopes")):
            yield from _several(scope.get("spans"))


def _several(value: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _of(held: Mapping[str, Any], what: str) -> Any:
    return next((held[name] for name in _NAMES[what] if held.get(name)), None)


def _name(span: Mapping[str, Any], what: str) -> str | None:
    found = _of(span, what)
    return None if found is None else str(found)


def _time(span: Mapping[str, Any], what: str) -> float:
    """Return a time in seconds; 0 where it is none."""
    try:
        return int(_of(span, what) or 0) / _SECOND
    except (TypeError, ValueError, OverflowError):
        return 0.0
