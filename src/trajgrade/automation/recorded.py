"""Recorded: the traces of files as they stand, each with what names it, to try rules on.

A document, or a line of JSON Lines, is one trace, or a list of such; where all lines together are
one session, all of them are one trace. Spans of OpenTelemetry are gathered by their trace, wherever
in a file they stand, as the server gathers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from trajgrade import detection, jsontext, sources
from trajgrade.automation.items import id_of
from trajgrade.errors import DatasetError, MalformedTraceError
from trajgrade.glimpse import Glimpse

_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans")
_IDS = ("traceId", "trace_id")
_SHOWN = 50  # lines that show whether all lines are one session

Document = dict[str, Any]


class Recorded(NamedTuple):
    """One trace of a file.

    Attributes:
        id: What names it.
        trace: The trace, as it stands.
        fault: Why there is none; empty where there is one.
    """

    id: str
    trace: Any
    fault: str = ""


class _Broken(NamedTuple):
    """A line that is no JSON, and why."""

    error: DatasetError


def recorded(path: str) -> Iterator[Recorded]:
    """Yield the traces of files.

    Args:
        path: A path, a glob pattern, or a folder.

    A line that is no JSON is told of in its place, and those around it are read; in a log of one
    session it is an error, as what it held is missing from the trace.

    Raises:
        DatasetError: There is no such file.
        TraceError: A file is no JSON.
    """
    files = sources.find(path)
    for file in files:
        spans: dict[str, Document] = {}
        for number, value in enumerate(_values(file)):
            if _is_export(value):
                _gather(value, spans)
                continue
            otherwise = f"#{number}" if len(files) == 1 else f"{file.path.name}#{number}"
            if isinstance(value, _Broken):
                yield Recorded(otherwise, None, str(value.error))
                continue
            yield Recorded(id_of(value, otherwise), value)
        yield from (Recorded(name, document) for name, document in spans.items())


def _values(file: sources.Source) -> Iterator[Any]:
    lines = _lines(file) if file.kind == "jsonl" else None
    if lines is None:
        yield from _parts(_whole(file))
        return
    first = [*islice(lines, _SHOWN)]
    every = chain(first, lines)
    whole = [value for value in first if not isinstance(value, _Broken)]
    if len(whole) > 1 and _is_one(whole):
        session = [*every]
        for value in session:
            if isinstance(value, _Broken):
                raise value.error
        yield session
        return
    for value in every:
        yield from _parts(value)


def _lines(file: sources.Source) -> Iterator[Any] | None:
    """Return the values of the lines; None where a document stands on several lines."""
    lines = sources.lines(file.path)
    begun = next(lines, None)
    if begun is None:
        return iter(())
    try:
        first = jsontext.read_back(begun[1])
    except ValueError:
        return None
    return chain([first], (_read(file, *line) for line in lines))


def _read(file: sources.Source, number: int, line: bytes) -> Any:
    try:
        return jsontext.read_back(line)
    except ValueError as broken:
        return _Broken(sources.broken_line(f"{file} line {number}", line, broken))


def _whole(file: sources.Source) -> Any:
    content = sources.content(file.path)
    try:
        return jsontext.read_back(content)
    except ValueError as broken:
        for held in (content, content.decode("utf-8-sig", "replace")):
            if detection.claimants(Glimpse(held, parsed=True)):
                return held  # a protobuf message, or calls that are written in text
        raise MalformedTraceError(f"{file}: is no JSON: {broken}") from None


def _parts(value: Any) -> Iterator[Any]:
    """Yield the traces of a list that is none itself; else the value."""
    if isinstance(value, list) and value and not _is_one(value):
        yield from value
    else:
        yield value


def _is_one(values: list[Any]) -> bool:
    if any(map(_is_export, values)):
        return False
    claims = set(detection.claimants(Glimpse(values, parsed=True)))
    if all(isinstance(one, list) for one in values):
        claims.discard("calls")  # lists of calls: each is a trace
    return bool(claims)


def _is_export(value: Any) -> bool:
    return isinstance(value, dict) and any(name in value for name in _RESOURCES)


def _gather(document: Document, traces: dict[str, Document]) -> None:
    """Put the spans of an export to those of their traces, each under its scope and resource."""
    for resource in _first(document, _RESOURCES):
        bare = {key: value for key, value in resource.items() if key not in _SCOPES}
        for scope in _first(resource, _SCOPES):
            apart: dict[str, list[Any]] = {}
            for span in scope.get("spans", ()):
                apart.setdefault(str(_first(span, _IDS) or ""), []).append(span)
            for name, spans in apart.items():
                held = traces.setdefault(name, {"resourceSpans": []})["resourceSpans"]
                held.append({**bare, "scopeSpans": [{**scope, "spans": spans}]})


def _first(held: Document, names: tuple[str, ...]) -> Any:
    return next((held[name] for name in names if name in held), ())
