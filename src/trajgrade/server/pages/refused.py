"""Refused: why there is no page, as a page."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import RedirectResponse, Response

from trajgrade.errors import DatasetError, StoreError, TrajgradeError, UnknownNameError
from trajgrade.server.pages.layout import render, with_query
from trajgrade.server.refusal import BROKEN, Kind, RefusedError

log = logging.getLogger("trajgrade.server")

_TITLES: dict[Kind, str] = {
    "not_found": "Not here",
    "not_allowed": "Not allowed",
    "unknown_caller": "Who are you?",
    "unavailable": "Not now",
    "too_many": "Too many requests",
}
_RETRY = 5  # seconds


class PageRoute(APIRoute):
    """A route whose refusals are pages."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except RefusedError as refused:
                return refusal(request, refused)
            except RequestValidationError as wrong:
                return refusal(request, RefusedError("not_found", _faults(wrong)))
            except TrajgradeError as wrong:
                return refusal(request, refused_of(wrong))
            except Exception:  # whatever of ours breaks, people get a page
                log.exception("%s %r", request.method, request.url.path[:200])
                return refusal(request, RefusedError("broken", BROKEN))

        return answered


def refused_of(wrong: TrajgradeError) -> RefusedError:
    """Return why there is no page, of what trajgrade raised."""
    if isinstance(wrong, UnknownNameError):
        return RefusedError("not_found", str(wrong))
    if isinstance(wrong, DatasetError):
        return RefusedError("not_found", str(wrong))
    if isinstance(wrong, StoreError):
        return RefusedError("unavailable", str(wrong), retry_after=_RETRY)
    return RefusedError("unreadable", str(wrong))


def refusal(request: Request, refused: RefusedError) -> Response:
    """Return the page of a refusal; who is not known may log in."""
    if refused.kind == "unknown_caller":
        back = request.url.path if request.method == "GET" else ""
        return RedirectResponse(with_query("/login", {"back": back}), 303)
    allowed: Any = refused.allowed or ()
    answer = render(
        request,
        "refused.html",
        refused.status,
        status=refused.status,
        title=_TITLES.get(refused.kind, "That did not work"),
        message=refused.message,
        allowed=[allowed] if isinstance(allowed, str) else [*allowed],
    )
    answer.headers.update(refused.headers)
    return answer


def _faults(wrong: RequestValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in wrong.errors()
    )
