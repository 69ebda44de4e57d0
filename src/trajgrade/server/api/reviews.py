"""Reviews: what people are to look at, and what they say of it."""

from __future__ import annotations

from time import time
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from trajgrade.errors import ChangedError, TraceError, unknown
from trajgrade.inbox import Label, Review, ReviewState
from trajgrade.production import Inbox
from trajgrade.saved import scale_of
from trajgrade.server.api.paging import LARGEST, After, Limit, Page, numbered
from trajgrade.server.documented import body, doc
from trajgrade.server.guard import needs
from trajgrade.server.payload import payload_of
from trajgrade.server.refusal import RefusedError, answer
from trajgrade.trajectory import Trajectory

router = APIRouter(prefix="/api/reviews", dependencies=[needs("read")], tags=["reviews"])


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person says of a trace; some of it must be said.

    Attributes:
        revision: Of which revision of the trace: the one that the item had when it was read.
        verdict: Whether the person accepts the trace, or not; null where nothing is said.
        reference: The trajectory that would have been right, in any format.
        judged: For each evaluator whose verdict was looked at, what the person would have said.
        comment: Why.
        by: Who says it; the name of the key where nobody is named.
    """

    revision: Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
    verdict: bool | None = None
    reference: Any = None
    judged: dict[str, float | bool] = {}
    comment: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    by: Annotated[str, msgspec.Meta(max_length=100)] = ""


Numbered = Annotated[int, Path(ge=0, le=LARGEST)]


@router.get("", summary="List what people are to look at", **doc(Page[Review]))
def reviews(
    request: Request,
    queue: Annotated[str | None, Query(max_length=100)] = None,
    state: ReviewState | None = None,
    after: After = None,
    limit: Limit = 100,
) -> Response:
    """Return the items of review queues, by priority, then the oldest first."""
    inbox: Inbox = request.app.state.inbox
    found = inbox.reviews(queue=queue, state=state, after=after, limit=limit + 1)
    return answer(numbered(found, limit))


@router.get("/{number}", summary="Read an item of a review queue", **doc(Review, 404))
def review(request: Request, number: Numbered) -> Response:
    """Return one item of a review queue, with what was said of it."""
    return answer(_review(request, number))


def _review(request: Request, number: int) -> Review:
    inbox: Inbox = request.app.state.inbox
    found = inbox.review(number)
    if found is None:
        raise RefusedError("not_found", f"there is no item {number} to review")
    return found


@router.post(
    "/{number}/label",
    summary="Say something of a trace",
    dependencies=[needs("admin")],
    **doc(Review, 400, 404, 409, 413, 415, sends=body("What is said", Said)),
)
def label(request: Request, number: Numbered, said: Annotated[Any, payload_of(Said)]) -> Response:
    """Keep what a person says of a trace; a later word replaces an earlier one."""
    inbox: Inbox = request.app.state.inbox
    _check(said, inbox, _review(request, number))
    who = request.scope.get("trajgrade.who")
    label = Label(
        verdict=said.verdict, reference=said.reference, judged=said.judged, comment=said.comment,
        by=said.by or (who.name if who is not None else ""), revision=said.revision,
    )  # fmt: skip
    try:
        return answer(inbox.label(number, label, time()))
    except ChangedError as changed:
        raise RefusedError("conflict", str(changed)) from None


def _check(said: Said, inbox: Inbox, review: Review) -> None:
    """Refuse what says nothing, or speaks of what is not there.

    Raises:
        RefusedError: It does.
    """
    if said.verdict is None and said.reference is None and not said.judged and not said.comment:
        allowed = ["verdict", "reference", "judged", "comment"]
        raise RefusedError("invalid", "nothing is said of the trace", allowed)
    record = inbox.trace(review.trace_id)
    known = [*record.results] if record is not None else []
    for key, value in said.judged.items():
        if key not in known:
            raise RefusedError(
                "invalid", f"judged: {unknown('evaluator', key[:200], known)}", known
            )
        ends = scale_of(key).get("range")
        if ends is not None and not ends[0] <= value <= ends[1]:
            low, high = ends
            wanted = f"true, false, or a number from {low:g} to {high:g} is needed, got {value:g}"
            raise RefusedError("invalid", f"judged: {key}: {wanted}", [*ends])
    if said.reference is not None:
        try:
            Trajectory.from_any(said.reference)
        except TraceError as broken:
            raise RefusedError("invalid", f"reference: no trajectory: {broken}") from None
