"""Reviews: what people are to look at, and what they say of it."""

from __future__ import annotations

from time import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from trajgrade.inbox import Label, Review, ReviewState
from trajgrade.production import Inbox
from trajgrade.server.api.paging import LARGEST, After, Limit, Page, numbered
from trajgrade.server.documented import body, doc
from trajgrade.server.guard import needs
from trajgrade.server.payload import payload_of
from trajgrade.server.refusal import RefusedError, answer

router = APIRouter(prefix="/api/reviews", dependencies=[needs("read")], tags=["reviews"])

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
    **doc(Review, 400, 404, 413, 415, sends=body("What is said", Label)),
)
def label(request: Request, number: Numbered, said: Annotated[Any, payload_of(Label)]) -> Response:
    """Keep what a person says of a trace; a later word replaces an earlier one."""
    _review(request, number)
    inbox: Inbox = request.app.state.inbox
    return answer(inbox.label(number, said, time()))
