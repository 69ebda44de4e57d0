"""Incoming: a body in any format that trajgrade reads → a piece for each trace, or why not.

What is one trace, and what several, is told as files are read: a document that some format
recognises as a whole is one; else, of a list, each item; of JSON Lines, all lines where they
together are one session, else each line. OTLP is taken apart by its spans. A document that holds
several traces becomes that many, in trajgrade's own shape. A trace is known by its own id, else by
its content; the same content sent again is a repeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from trajgrade import detection, jsontext
from trajgrade.dataset.example import NAMES
from trajgrade.errors import TraceError, UnknownTraceError
from trajgrade.glimpse import Glimpse
from trajgrade.inbox import Piece
from trajgrade.server import spans
from trajgrade.server.refusal import RefusedError
from trajgrade.trajectory import Trajectory

MOST = 10_000  # traces of one request
_LONGEST_ID = 200
_OTLP = "otlp_tempo"
_DID = NAMES["outputs"]
_NAMED = ("trace_id", *NAMES["id"])

State = Literal["accepted", "repeated", "refused"]


class Item(NamedTuple):
    """One trace of a request.

    Attributes:
        place: Its place in the request, from 0.
        pieces: What is kept of it; nothing where it is refused.
        why: Why it is refused.
        rejected: How many spans of it belong nowhere.
    """

    place: int
    pieces: tuple[Piece, ...] = ()
    why: str = ""
    rejected: int = 0


def items_of(body: bytes, at: float) -> list[Item]:
    """Return the traces of a request's body.

    Args:
        body: The body, unpacked.
        at: When it came.

    Raises:
        RefusedError: It is no text, holds nothing, or too many traces.
    """
    found: list[Item] = []
    for place, (trace, fault) in enumerate(_traces(body)):
        if place == MOST:
            raise RefusedError("too_large", "too many traces at once", f"up to {MOST} traces")
        found.append(Item(place, why=fault) if fault else _item(place, trace, at))
    if not found:
        raise RefusedError("unreadable", "the body holds no trace", "at least one trace")
    return found


def _traces(body: bytes) -> Iterator[tuple[Any, str]]:
    """Yield each trace as it stands there, or why it is none."""
    if not body.strip():
        return
    try:
        document = jsontext.read_back(body)
    except ValueError as broken:
        lines = [line for line in body.splitlines() if line.strip()]
        if len(lines) == 1 or body.lstrip()[:1] not in (b"{", b"["):
            raise RefusedError(
                "unreadable", f"the body is neither JSON nor JSON Lines: {broken}"
            ) from None
        yield from _of_lines(lines)
        return
    if isinstance(document, list) and document and not _is_one(document):
        for item in document:
            yield item, ""
    else:
        yield document, ""


def _of_lines(lines: list[bytes]) -> Iterator[tuple[Any, str]]:
    values: list[tuple[Any, str]] = []
    for number, line in enumerate(lines, 1):
        try:
            values.append((jsontext.read_back(line), ""))
        except ValueError as broken:
            values.append((None, f"line {number} is no JSON: {broken}"))
    session = [value for value, fault in values if not fault]
    if len(session) == len(values) and _is_one(session):
        yield session, ""
    else:
        yield from values


def _is_one(document: list[Any]) -> bool:
    """Whether a list is one trace, not a list of such."""
    claims = set(detection.claimants(Glimpse(document, parsed=True)))
    if all(isinstance(item, list) for item in document):
        claims.discard("calls")  # lists of calls: here each is a trace
    return bool(claims)


def _item(place: int, trace: Any, at: float) -> Item:
    try:
        found = read(trace)
    except UnknownTraceError as unknown:
        return Item(place, why=unknown.brief)
    except TraceError as broken:
        return Item(place, why=str(broken))
    if found and found[0].format == _OTLP:
        return _of_spans(place, trace, at)
    if not found:
        return Item(place, why="it holds no trajectory")
    if len(found) == 1:
        return Item(place, (whole(trace, found[0], at),))
    return Item(place, tuple(whole(one.to_dict(), one, at) for one in found))


def read(trace: Any) -> list[Trajectory]:
    """Return what trajgrade reads from a trace; of a dataset's row, from what the agent did.

    Raises:
        TraceError: It cannot be read.
    """
    try:
        return detection.read(Glimpse(trace, parsed=True))
    except UnknownTraceError:
        row = trace if isinstance(trace, dict) else {}
        did = next((row[name] for name in _DID if name in row), None)
        if did is None or isinstance(did, str):
            raise
        return detection.read(Glimpse(did, parsed=True))[:1]


def _of_spans(place: int, trace: Any, at: float) -> Item:
    documents = trace if isinstance(trace, list) else [trace]
    pieces: list[Piece] = []
    rejected, reason = 0, ""
    try:
        for document in documents:
            parted = spans.of_document(_plain(document), at)
            pieces += parted.pieces
            rejected += parted.rejected
            reason = reason or parted.reason
    except RefusedError as refused:
        return Item(place, why=refused.message)
    return Item(place, tuple(pieces), "" if pieces else reason, rejected)


def _plain(document: Any) -> Any:
    """Return an export of Grafana Tempo, or one under `trace`, as OTLP has it."""
    inner = document.get("trace")
    held = inner if isinstance(inner, dict) else document
    return {"resourceSpans": held["batches"]} if "batches" in held else held


def whole(trace: Any, read: Trajectory | None, at: float) -> Piece:
    """Return a whole trace as a piece.

    Args:
        trace: The trace.
        read: What trajgrade reads from it.
        at: When it came.
    """
    body = jsontext.dumps(trace)
    key = hashlib.sha256(body).hexdigest()[:32]
    return Piece(trace_id=_name(trace, read) or key, key=key, body=body, at=at)


def _name(trace: Any, read: Trajectory | None) -> str:
    """Return what names a trace; nothing where that is nothing that could be shown."""
    own = trace if isinstance(trace, dict) else {}
    given = [own.get(name) for name in _NAMED] + [read.id if read is not None else None]
    for name in given:
        if isinstance(name, int) and not isinstance(name, bool):
            return str(name)
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_ID and name.isprintable():
            return name
    return ""
