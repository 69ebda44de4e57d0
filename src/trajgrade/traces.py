"""read_traces: files, text or data that hold traces → trajectories, one at a time.

A text is a path if it is one that exists, or a glob pattern that matches, or ends like a file's
name (`.json`, `.jsonl`, …), and is then an error if it does not exist. Any other text is the trace
itself.

A document is one trace if some format recognises it as a whole; else, if it is a list, each of its
items is one. JSON Lines likewise: where the first lines together are one session (messages, items,
calls), all lines are; else each line is a trace of its own, and lines are read one by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from trajgrade import detection, jsontext, sources
from trajgrade.errors import DatasetError, MalformedTraceError, TraceError, UnknownTraceError
from trajgrade.glimpse import Glimpse
from trajgrade.registry import formats
from trajgrade.trajectory import Step, ToolCall, Trajectory
from trajgrade.unwrapping import unwrapped

OnError = Callable[[TraceError], None]

_SHOWN = 50
_LONGEST_PATH = 4096
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # no text has those; ESC colours some
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".gz", ".txt", ".log", ".csv", ".tsv")


def read_traces(
    source: Any,
    format: str | None = None,  # noqa: A002 the field's word for it
    *,
    on_error: OnError | None = None,
    unwrap: bool = False,
    results: bool = True,
) -> Iterator[Trajectory]:
    """Yield the trajectories that a source holds, at least one.

    Args:
        source: A path, a glob pattern or a directory; the text or the bytes of a trace; or data:
            a trace in any shape that trajgrade knows, or a list of such.
        format: The name of the format, where it should not be detected.
        on_error: Called with the error of each line or item that cannot be read, to go on with the
            next; by default it is raised.
        unwrap: Whether a call that holds several (`multi_tool_use.parallel`) is replaced by those.
        results: Whether what tools gave back is kept. Without it a log of one session that is
            longer than the memory can be read: of Codex, Claude Code and Gemini CLI, line by line,
            and then without its telemetry. `read_steps` keeps nothing at all.

    Raises:
        DatasetError: A file does not exist, is no trace but a table, or cannot be opened.
        TraceError: A trace cannot be read; the message names file and line, or item.
        UnknownNameError: There is no format of that name.
    """
    found = _of_source(source, format, on_error, results=results)
    if not results:
        found = map(_without_results, found)
    yield from map(unwrapped, found) if unwrap else found


def read_steps(
    source: Any,
    format: str | None = None,  # noqa: A002 the field's word for it
    *,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Step]:
    """Yield the steps of one run, with their calls and results, and keep none of them.

    The log of a session of Codex, Claude Code or Gemini CLI, as JSON Lines in a file, is read in
    memory that does not grow with it. A step is yielded when each of its calls has its result, or
    two hundred steps later without. Calls of a sub-agent stand in steps of their own, under its
    name; `read_traces` puts them inside the call that started it. What is written anew or repeated
    more than a hundred messages later is told of, and not taken back. Any other source is read as
    `read_traces` reads it.

    Args:
        source: A file, or what else `read_traces` takes, with one run in it.
        format: The name of its format, where it should not be detected.
        tell: Called with what was unusual in the trace, a sentence each: the notes of a trajectory.

    Raises:
        DatasetError: A file does not exist, is no trace but a table, or cannot be opened.
        TraceError: The trace cannot be read, or the source holds several.
        UnknownNameError: There is no format of that name.
    """
    tell = tell or _no_one
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        files = sources.find(source)
        if len(files) == 1 and files[0].kind == "jsonl":
            found = _steps_of_lines(files[0].path, format, tell)
            if found is not None:
                with _placed(str(files[0])):
                    yield from found
                return
    runs = list(islice(read_traces(source, format), 2))
    if len(runs) > 1:
        raise TraceError(
            "the source holds several runs, of which read_steps reads one: "
            "take the steps of each run of read_traces(source)"
        )
    for run in runs:
        for note in run.notes:
            tell(note)
        yield from run.steps


def _no_one(_note: str) -> None:
    return


def _steps_of_lines(
    path: sources.File,
    format: str | None,  # noqa: A002 the field's word for it
    tell: Callable[[str], None],
) -> Iterator[Step] | None:
    values = _values(path)
    try:
        first = [value for _, value in islice(values, _SHOWN)]
    except MalformedTraceError:
        return None  # a document on several lines, or broken
    every = chain(first, (value for _, value in values))
    return detection.steps(Glimpse(first, parsed=True), format, every, tell)


def _without_results(run: Trajectory) -> Trajectory:
    """Return the run without what tools gave back."""
    kept = {id(call): call for call in (*run.tool_calls, *run.hosted_calls)}
    for step in run.steps:
        kept.update((id(call), call) for call in step.tool_calls)
    bare = {key: _bare(call) for key, call in kept.items()}
    return Trajectory(
        [
            msgspec.structs.replace(
                step,
                content="" if step.role == "tool" else step.content,
                tool_calls=[bare[id(call)] for call in step.tool_calls],
            )
            for step in run.steps
        ],
        tool_calls=[bare[id(call)] for call in run.tool_calls],
        hosted_calls=[bare[id(call)] for call in run.hosted_calls],
        final_response=run.final_response,
        id=run.id,
        format=run.format,
        notes=run.notes,
        actions=run.actions,
        telemetry=run.telemetry_source,
    )


def _bare(call: ToolCall) -> ToolCall:
    children = tuple(map(_bare, call.children))
    if call.result is None and children == call.children:
        return call
    return msgspec.structs.replace(call, result=None, children=children)


def _of_source(
    source: Any,
    format: str | None,  # noqa: A002 the field's word for it
    on_error: OnError | None,
    *,
    results: bool,
) -> Iterator[Trajectory]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        document, text = _held(bytes(source), "the bytes")
        if text is None or not _is_path(text):
            yield from _traces(document, format, on_error, parsed=True)
            return
        source = text
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        for file in sources.find(source):
            yield from _of_file(file, format, on_error, results=results)
    elif isinstance(source, Trajectory):
        yield source
    else:
        written = isinstance(source, str)
        data = detection.parsed(source) if written else source
        yield from _traces(data, format, on_error, parsed=written)


def _is_path(text: str) -> bool:
    if not text or len(text) > _LONGEST_PATH or "\n" in text or text.lstrip()[:1] in ("{", "["):
        return False
    if " " not in text and text.lower().endswith(_SUFFIXES):
        return True
    try:
        if Path(text).exists():
            return True
        return any(mark in text for mark in "*?[") and bool(sources.find(text))
    except (OSError, ValueError, DatasetError):
        return False


def _message(content: bytes) -> bytes | None:
    """Return bytes that some format reads as they are, a protobuf message; None for text."""
    begin = content[:_LONGEST_PATH]
    if content.lstrip()[:1] in (b"{", b"[") or not (begin[:1] == b"\n" or _BINARY.search(begin)):
        return None
    return content if detection.claimants(Glimpse(content, parsed=True)) else None


def _held(content: bytes, place: str) -> tuple[Any, str | None]:
    """Return what bytes hold, and the text that they are where that is all.

    Raises:
        MalformedTraceError: They begin like the JSON of a trace, and are none, or are no text.
    """
    if content[:1] in (b"{", b"["):
        with suppress(ValueError):
            return jsontext.read_back(content), None
    elif (message := _message(content)) is not None:
        return message, None
    text = _decoded(content, place)
    held = detection.parsed(text)
    return held, text if held is text else None


def _decoded(text: bytes, place: str) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as broken:
        raise MalformedTraceError(f"{place}: not UTF-8 text: {broken}") from None


def _of_file(
    file: sources.Source,
    format: str | None,  # noqa: A002 the field's word for it
    on_error: OnError | None,
    *,
    results: bool,
) -> Iterator[Trajectory]:
    if file.kind == "jsonl":
        yield from _of_lines(file.path, format, on_error, results=results)
        return
    if file.path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        raise DatasetError(f"{file} is a table; load it as a dataset (trajgrade.Dataset.load)")
    with _placed(str(file)):
        document, text = _held(sources.content(file.path), str(file))
        if text is not None and file.path.name.lower().removesuffix(".gz").endswith(".json"):
            raise MalformedTraceError("the file is not JSON")
    yield from _traces(document, format, on_error, str(file), parsed=True)


def _of_lines(
    path: sources.File,
    format: str | None,  # noqa: A002 the field's word for it
    on_error: OnError | None,
    *,
    results: bool,
) -> Iterator[Trajectory]:
    values = _values(path)
    try:
        first = list(islice(values, _SHOWN))
    except MalformedTraceError:
        document = _whole(path)  # a document on several lines, whatever the file's name
        if document is None:
            raise
        yield from _traces(document[0], format, on_error, str(path), parsed=True)
        return
    session = [value for _, value in first]
    seen = Glimpse(session, parsed=True)
    if _is_one(seen, format):
        with _placed(str(path)):
            if not results:
                every = chain(session, (value for _, value in values))
                streamed = detection.stream(seen, format, every)
                if streamed is not None:
                    yield from streamed
                    return
            whole = [*session, *(value for _, value in values)]
            found = detection.read(Glimpse(whole, parsed=True), format)
        yield from found
        return
    for number, value in chain(first, values):
        found = []
        with _told(on_error), _placed(f"{path} line {number}"):
            found = detection.read(_seen(value), format)
        yield from found


def _seen(value: Any) -> Any:
    """Return a glimpse of what a JSON text holds; a text stays, since it may hold one itself."""
    return value if isinstance(value, str) else Glimpse(value, parsed=True)


def _values(path: sources.File) -> Iterator[tuple[int, Any]]:
    for number, line in sources.lines(path):
        try:
            yield number, jsontext.read_back(line)
        except ValueError as broken:
            fault = sources.broken_line(f"{path} line {number}", line, broken)
            raise MalformedTraceError(str(fault)) from None


def _whole(path: sources.File) -> tuple[Any] | None:
    try:
        return (jsontext.read_back(sources.content(path)),)
    except ValueError:
        return None


def _traces(
    data: Any,
    format: str | None,  # noqa: A002 the field's word for it
    on_error: OnError | None,
    place: str = "",
    *,
    parsed: bool = False,
) -> Iterator[Trajectory]:
    if format is None and type(data) is list and data:
        whole = detection.by_wire(data)
        if whole is not None:
            yield whole
            return
    with _placed(place):
        seen = Glimpse(data, parsed=parsed)
    if not isinstance(data, (list, tuple)) or not data or _is_one(seen, format):
        with _placed(place):
            found = detection.read(seen, format)
        yield from found
        return
    for number, item in enumerate(data):
        found = []
        try:
            if isinstance(item, Trajectory):
                found = [item]
            else:
                found = detection.read(_seen(item) if parsed else item, format)
        except TraceError as broken:
            strange = number == 0 and isinstance(broken, UnknownTraceError)
            if strange and not (
                on_error and any(_is_one(Glimpse(other), format) for other in data[1:])
            ):
                with _placed(place):  # not even a list of traces: the fault is that of the whole
                    detection.read(seen, format)
            with _told(on_error), _placed(f"{place} item {number}".strip()):
                raise
        yield from found


def _is_one(seen: Glimpse, format: str | None) -> bool:  # noqa: A002 the field's word for it
    """Whether a list is one trace, not a list of such."""
    data = seen.data
    if format is None:
        claims = set(detection.claimants(seen))
    else:
        claims = {format} if formats.find(format).recognises(seen) else set()
    if data and all(isinstance(item, (list, tuple)) for item in data):
        claims.discard("calls")  # lists of calls: here each is a trace
    return bool(claims)


@contextmanager
def _told(on_error: OnError | None) -> Iterator[None]:
    """Give a `TraceError` to whoever asked for it."""
    try:
        yield
    except TraceError as broken:
        if on_error is None:
            raise
        on_error(broken)


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Put the place before the message of a `TraceError`."""
    try:
        yield
    except TraceError as broken:
        if not place or str(broken).startswith(place):
            raise
        raise type(broken)(f"{place}: {broken}") from broken
