"""Traces: what came, as trajgrade reads it, what was said of it, and what the rules say of it."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from trajgrade.automation.items import item_of
from trajgrade.automation.pieces import trace_of
from trajgrade.automation.rules import Rules
from trajgrade.inbox import TraceRecord
from trajgrade.production import Inbox
from trajgrade.report.beside import turns_of
from trajgrade.report.document import cut
from trajgrade.report.page import said_of, told_of
from trajgrade.report.plain import printable
from trajgrade.result import EvaluationResult
from trajgrade.run import Row
from trajgrade.server.guard import needs
from trajgrade.server.pages.asked import PER_PAGE, behind, whole
from trajgrade.server.pages.layout import render, segment, text_page
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.shown import pretty, seconds, shown
from trajgrade.server.pages.spans import Line, lines_of
from trajgrade.server.refusal import RefusedError

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

_MOST_OUTCOMES = 200
_MOST_SPANS = 500
_TONES = {"fires": "good", "does_not_fit": "dim", "disabled": "dim", "sampled_out": "dim"}


@router.get("/traces")
def traces(request: Request) -> Response:
    """List the traces, the newest first; one that is named is opened."""
    inbox: Inbox = request.app.state.inbox
    query = request.query_params
    wanted = query.get("id", "").strip()
    if wanted:
        if inbox.trace(wanted) is None:
            raise RefusedError("not_found", f"there is no trace {wanted[:100]!r}")
        return RedirectResponse(f"/traces/{segment(wanted)}", 303)
    found = inbox.traces(before=whole(query, "before", None), limit=PER_PAGE + 1)
    return render(request, "traces.html", page=behind(found, "/traces", query, "before"))


def record_of(inbox: Inbox, trace_id: str) -> TraceRecord:
    """Return the record of a trace.

    Raises:
        RefusedError: There is none of that id.
    """
    found = inbox.trace(trace_id)
    if found is None:
        raise RefusedError("not_found", f"there is no trace {trace_id[:100]!r}")
    return found


@router.get("/traces/{trace_id:path}")
def trace(request: Request, trace_id: str) -> Response:
    """Show one trace."""
    inbox: Inbox = request.app.state.inbox
    record = record_of(inbox, trace_id)
    pieces = inbox.pieces(record.id)
    data = trace_of(pieces)
    query = request.query_params
    if query.get("whole"):
        return text_page(pretty(data))
    spans = lines_of(data) if pieces[-1].is_spans else []
    return render(
        request,
        "trace.html",
        record=record,
        title=printable(cut(record.id)),
        shown=shown(data),
        whole="?whole=1",
        spans=spans[:_MOST_SPANS],
        n_spans=len(spans),
        lasted=_lasted(spans),
        results=results_of(record),
        turns=turns_of(row_of(record)),
        judged=[*said_of(row_of(record))],
        decisions=_decisions(request.app.state.rules, record, data),
        outcomes=inbox.outcomes(trace_id=record.id, limit=_MOST_OUTCOMES),
        reviews=inbox.reviews(trace_id=record.id, state=None),
    )


def _lasted(spans: list[Line]) -> str:
    return seconds(max(line.begins + line.lasts for line in spans)) if spans else ""


def results_of(record: TraceRecord) -> list[dict[str, Any]]:
    """Return what evaluators have said of a trace, as results are shown."""
    return [told_of(result) for result in _results(record).values()]


def row_of(record: TraceRecord) -> Row:
    """Return what evaluators have said of a trace, as a row of a run has it."""
    return Row(record.id, _results(record))


def _results(record: TraceRecord) -> dict[str, EvaluationResult]:
    found = {}
    for key, plain in record.results.items():
        try:
            found[key] = msgspec.convert(plain, EvaluationResult)
        except msgspec.ValidationError:  # of another version
            found[key] = EvaluationResult(key, record.scores.get(key), comment=pretty(plain))
    return found


def _decisions(rules: Rules, record: TraceRecord, data: Any) -> list[dict[str, Any]]:
    """Return what each rule says of a trace now, and why; nothing is counted or done."""
    item = item_of(data, record.scores)
    decided = [rule.decide(record.id, item) for rule in rules]
    return [
        {
            "rule": printable(one.rule)[:200],
            "decided": one.decided.replace("_", " "),
            "tone": _TONES[one.decided],
            "because": printable(one.because)[:500],
        }
        for one in decided
    ]
