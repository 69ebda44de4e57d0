"""Queue: what a person is to look at, by priority, and what they say of it.

What is said of an evaluator's verdict is a label: `/queue/labels.csv` has all of them, as
`trajgrade judge align` reads them. A reference that is corrected can go into a dataset, with the
trace as the row's answer, so that the next run grades by it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from time import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from trajgrade.agreement import Estimate
from trajgrade.aligning import align
from trajgrade.automation.pieces import trace_of
from trajgrade.automation.reviewed import QUEUE, has_changed, labels_in, row_in, run_in
from trajgrade.contracts import Store
from trajgrade.dataset.csvtext import escape
from trajgrade.errors import ChangedError, StoreError, TraceError, TrajgradeError, unknown
from trajgrade.inbox import Label, Review, ReviewState, TraceRecord
from trajgrade.jsontext import dumps, loads, read_back
from trajgrade.production import Inbox
from trajgrade.report import plain
from trajgrade.report.beside import turns_of
from trajgrade.report.document import cut
from trajgrade.report.page import said_of
from trajgrade.report.plain import printable
from trajgrade.server.guard import checked_form, needs
from trajgrade.server.pages.asked import PER_PAGE, behind, choice, whole
from trajgrade.server.pages.layout import render, segment, with_query
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.shown import pretty, shown
from trajgrade.server.pages.traces import results_of, row_of
from trajgrade.server.refusal import RefusedError
from trajgrade.trajectory import Trajectory

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

STATES: tuple[ReviewState, ...] = ("open", "done")
VERDICTS = {"accept": True, "reject": False, "": None}
JUDGED = "judged:"
_LONGEST = 10_000
_NUMBERS = {
    "accuracy": "accuracy", "kappa": "Cohen's kappa", "sensitivity": "sensitivity",
    "specificity": "specificity",
}  # fmt: skip
_AT_ONCE = 500

Form = Annotated[dict[str, str], Depends(checked_form)]


@router.get("/queue")
def queue(request: Request) -> Response:
    """List what waits to be looked at."""
    query = request.query_params
    inbox: Inbox = request.app.state.inbox
    state: Any = choice(query, "state", (*STATES, "all"), "open")
    name = query.get("queue", "")[:100]
    found = inbox.reviews(
        queue=name or None,
        state=None if state == "all" else state,
        after=whole(query, "after", None),
        limit=PER_PAGE + 1,
    )
    return render(
        request,
        "queue.html",
        page=behind(found, "/queue", query, "after"),
        queues=sorted({*_queues(inbox), name} - {""}),
        asked={"state": state, "queue": name},
        states=STATES,
    )


@router.get("/queue/labels.csv")
def labels(request: Request) -> Response:
    """Return what people said of evaluators' verdicts, as `trajgrade judge align` reads it."""
    inbox: Inbox = request.app.state.inbox
    name = _asked(request)
    text = io.StringIO()
    rows = csv.writer(text)  # lines end in CR LF, so that a CR or LF in a cell is quoted
    rows.writerow(["id", "label", "criterion"])
    for review in _all(inbox, name):
        for key, said in (review.label or Label()).judged.items():
            word = ("pass" if said else "fail") if isinstance(said, bool) else said
            rows.writerow([escape(review.trace_id), word, escape(key)])
    return Response(
        text.getvalue().encode("utf-8", "backslashreplace"),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": 'attachment; filename="labels.csv"'},
    )


def _asked(request: Request) -> str | None:
    """Return the queue that is asked for, None for all.

    Raises:
        RefusedError: There is no such queue.
    """
    name = request.query_params.get("queue", "")[:100]
    inbox: Inbox = request.app.state.inbox
    if name and not inbox.reviews(queue=name, state=None, limit=1):
        message = unknown("review queue", name, _queues(inbox))
        raise RefusedError("not_found", message, "/queue")
    return name or None


def _queues(inbox: Inbox) -> list[str]:
    return sorted({one.queue for one in inbox.reviews(state=None, limit=1000)})


def _all(inbox: Inbox, queue: str | None) -> Iterator[Review]:
    """Yield what people have looked at, but for traces that have changed since."""
    after: int | None = None
    while found := inbox.reviews(queue=queue, state="done", after=after, limit=_AT_ONCE):
        yield from (review for review in found if not has_changed(review))
        after = found[-1].number


@router.get("/queue/agreement")
def agreement(request: Request) -> Response:
    """Show how far evaluators agree with people on what was looked at in a queue."""
    store: Store = request.app.state.store
    name = _asked(request)
    if name is None:
        known = ", ".join(_queues(request.app.state.inbox)) or "none yet"
        raise RefusedError(
            "invalid", f"queue: the name of a review queue is needed: {known}", "/queue"
        )
    source = f"{QUEUE}{name}"
    found = align(run_in(store, source), labels_in(store, source))
    return render(
        request,
        "agreement.html",
        name=name,
        criteria=[
            {
                "key": printable(one.key)[:200],
                "numbers": [_number(what, one.numbers[key]) for key, what in _NUMBERS.items()],
                "disagreements": [
                    {"id": each.id, "people": _word(each.label), "said": _word(each.verdict),
                     "comment": printable(cut(each.comment))}
                    for each in one.disagreements[:PER_PAGE]
                ],
                "hidden": max(0, len(one.disagreements) - PER_PAGE),
            }
            for one in found
        ],
    )  # fmt: skip


def _number(what: str, estimate: Estimate) -> tuple[str, str, str, str]:
    if estimate.value is None:
        return what, "-", "", printable(estimate.why)
    ends = ""
    if estimate.low is not None and estimate.high is not None:
        ends = f"{plain.number(estimate.low)} to {plain.number(estimate.high)}"
    return what, plain.number(estimate.value), ends, f"of {estimate.n:,}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "pass" if value else "fail"
    return printable(str(value))[:100]


@router.get("/queue/{number}")
def item(request: Request, number: int) -> Response:
    """Show one item of the queue, and ask what is to be said of it."""
    return _item(request, _review(request, number))


def _review(request: Request, number: int) -> Review:
    inbox: Inbox = request.app.state.inbox
    try:
        found = inbox.review(number)
    except (StoreError, OverflowError):
        found = None
    if found is None:
        raise RefusedError("not_found", f"there is no item {number} in the review queue", "/queue")
    return found


def _item(
    request: Request,
    review: Review,
    faults: list[str] | None = None,
    said: Any = None,
    status: int = 422,
) -> Response:
    """Return the page of one item; with faults, what was written stays."""
    inbox: Inbox = request.app.state.inbox
    store: Store = request.app.state.store
    record = inbox.trace(review.trace_id)
    data = trace_of(inbox.pieces(review.trace_id)) if record is not None else None
    label = review.label or Label()
    blank = {"comment": "", "reference": "", "dataset": ""}
    written: dict[str, str] = (
        {**blank, **said}
        if said
        else {
            "comment": label.comment,
            "reference": "" if label.reference is None else pretty(label.reference),
            "dataset": "",
            **{f"{JUDGED}{key}": "pass" if one else "fail" for key, one in label.judged.items()},
        }
    )
    return render(
        request,
        "review.html",
        status if faults else 200,
        review=review,
        has_changed=has_changed(review),
        title=printable(cut(review.trace_id)),
        record=record,
        shown=shown(data),
        whole=f"/traces/{segment(review.trace_id)}?whole=1",
        results=_judged(record, written),
        turns=turns_of(row_of(record)) if record is not None else [],
        judged=[*said_of(row_of(record))] if record is not None else [],
        done=_calls(data),
        datasets=store.datasets.names(),
        written=written,
        faults=faults or [],
        after=_following(inbox, review),
    )


def _judged(record: TraceRecord | None, written: dict[str, str]) -> list[dict[str, Any]]:
    """Return what evaluators said, each with what is said of it."""
    if record is None:
        return []
    told = zip(record.results, results_of(record), strict=True)
    return [{**one, "name": f"{JUDGED}{key}", "said": written.get(f"{JUDGED}{key}", "")}
            for key, one in told]  # fmt: skip


def _calls(data: Any) -> str:
    """Return the calls of a trace, as the beginning of a reference."""
    try:
        calls = Trajectory.from_any(data).tool_calls
    except TraceError:
        return ""
    text = dumps([{"name": call.name, "args": call.args} for call in calls], indent=2)
    return text.decode("utf-8", "replace") if len(text) <= _LONGEST else ""


def _following(inbox: Inbox, review: Review) -> int | None:
    """Return the open item behind one, in its queue; the first one where there is none behind."""
    behind_it = inbox.reviews(queue=review.queue, after=review.number, limit=1)
    first = inbox.reviews(queue=review.queue, limit=2)
    others = [one for one in (*behind_it, *first) if one.number != review.number]
    return others[0].number if others else None


@router.post("/queue/{number}", dependencies=[needs("admin")])
def label(request: Request, number: int, form: Form) -> Response:
    """Keep what is said of an item, and go on to the next."""
    review = _review(request, number)
    inbox: Inbox = request.app.state.inbox
    faults: list[str] = []
    said = _label(request, form, faults)
    store: Store = request.app.state.store
    row = None if faults else _row(store, review, said, form.get("dataset", ""), faults)
    if faults:
        return _item(request, review, faults, form)
    following = _following(inbox, review)
    try:
        inbox.label(number, said, time())
    except ChangedError as changed:
        return _item(request, _review(request, number), [str(changed)], form, 409)
    if row is not None:
        store.datasets.add(form["dataset"], [row], note=f"corrected in the queue {review.queue}")
    address = with_query("/queue", {"queue": review.queue, "said": number})
    return RedirectResponse(f"/queue/{following}" if following is not None else address, 303)


def _label(request: Request, form: dict[str, str], faults: list[str]) -> Label:
    """Return what a form says."""
    verdict = form.get("verdict", "")
    if verdict not in VERDICTS:
        faults.append(f"verdict: accept or reject is needed, got {verdict[:40]!r}")
    revision = form.get("revision", "")
    if not re.fullmatch("[0-9]{1,9}", revision):
        faults.append(
            f"revision: that of the trace that was shown is needed, got {revision[:40]!r}"
        )
        revision = "0"
    judged: dict[str, float | bool] = {
        name.removeprefix(JUDGED): value == "pass"
        for name, value in form.items()
        if name.startswith(JUDGED) and value in {"pass", "fail"}
    }
    who = request.scope.get("trajgrade.who")
    return Label(
        verdict=VERDICTS.get(verdict),
        reference=_reference(form.get("reference", ""), faults),
        judged=judged,
        comment=form.get("comment", "")[:_LONGEST],
        by=who.name if who is not None else "",
        revision=int(revision),
    )


def _reference(text: str, faults: list[str]) -> Any:
    if not text.strip():
        return None
    try:
        found = loads(text)
        Trajectory.from_any(found)
    except TraceError as broken:
        faults.append(f"reference: no trajectory: {broken}")
    except (ValueError, RecursionError) as broken:
        faults.append(f"reference: no JSON: {broken}")
    else:
        return found
    return None


def _row(
    store: Store, review: Review, said: Label, dataset: str, faults: list[str]
) -> dict[str, Any] | None:
    """Return the row that goes into a dataset, if one was named.

    Of one that is there already no more than the reference changes.
    """
    if not dataset:
        return None
    if said.reference is None and said.verdict is not True:
        faults.append("dataset: accept the trace, or write its reference, to keep it as a row")
        return None
    try:
        there = _there(store, dataset, review.trace_id)
        return row_in(store.inbox, review, said, dataset, there)
    except TrajgradeError as wrong:
        faults.append(f"dataset: {wrong}")
        return None


def _there(store: Store, dataset: str, name: str) -> dict[str, Any]:
    """Return the row of a dataset's newest version that has an id; nothing where none has."""
    if not store.datasets.versions(dataset):
        return {}
    rows = store.datasets.kept(dataset)
    return next((dict(read_back(kept.text)) for kept in rows if kept.id == name), {})
