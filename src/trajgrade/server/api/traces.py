"""Traces: what came, as it came and as it is read, and what was said of it."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from trajgrade.automation.pieces import trace_of
from trajgrade.errors import TraceError
from trajgrade.inbox import Outcome, TraceRecord
from trajgrade.production import Inbox
from trajgrade.server.api.paging import Before, Limit, Page, numbered
from trajgrade.server.documented import doc
from trajgrade.server.guard import needs
from trajgrade.server.incoming import read
from trajgrade.server.refusal import RefusedError, answer

router = APIRouter(prefix="/api/traces", dependencies=[needs("read")], tags=["traces"])

_OUTCOMES = 1000


class ShownTrace(msgspec.Struct, frozen=True):
    """A trace.

    Attributes:
        record: Its record, with the scores.
        trace: The trace, as it came.
        trajectory: The trace, as trajgrade reads it; null where it cannot.
        unreadable: Why it cannot be read; null where it can.
        outcomes: What was done with it, the newest first.
    """

    record: TraceRecord
    trace: Any
    trajectory: dict[str, Any] | None
    unreadable: str | None
    outcomes: tuple[Outcome, ...]


@router.get("", summary="List traces", **doc(Page[TraceRecord]))
def traces(request: Request, before: Before = None, limit: Limit = 100) -> Response:
    """Return the records of traces, the newest first."""
    inbox: Inbox = request.app.state.inbox
    return answer(numbered(inbox.traces(before=before, limit=limit + 1), limit))


@router.get("/{trace_id:path}", summary="Read a trace", **doc(ShownTrace, 404))
def trace(request: Request, trace_id: str) -> Response:
    """Return one trace with what is read from it, its scores, and what was done with it."""
    inbox: Inbox = request.app.state.inbox
    record = inbox.trace(trace_id)
    if record is None:
        raise RefusedError("not_found", f"there is no trace {trace_id[:200]!r}")
    raw = trace_of(inbox.pieces(trace_id))
    outcomes = tuple(inbox.outcomes(trace_id=trace_id, limit=_OUTCOMES))
    try:
        found = read(raw)
    except TraceError as broken:
        return answer(ShownTrace(record, raw, None, str(broken), outcomes))
    return answer(ShownTrace(record, raw, found[0].to_dict(), None, outcomes))
