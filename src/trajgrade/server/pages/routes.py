"""Routes: all pages, and the files that they load."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from trajgrade.errors import unknown
from trajgrade.server.pages import (
    automation,
    datasets,
    entering,
    home,
    layout,
    queue,
    runs,
    traces,
    versus,
)
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.refusal import RefusedError

_MACHINES = ("/api/", "/v1/", "/healthz")


class _AnyOther(PageRoute):
    """What no other route answers, where people read."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leave to others what programs ask for."""
        if scope["path"].startswith(_MACHINES):
            return Match.NONE, {}
        return super().matches(scope)


router = APIRouter(route_class=PageRoute)
for part in (home, runs, versus, datasets, traces, queue, automation, entering):
    router.include_router(part.router)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return a file that pages load."""
    return layout.static(name)


elsewhere = APIRouter(route_class=_AnyOther)


@elsewhere.get("/{path:path}")
def absent(path: str) -> Response:
    """Say that there is no such page."""
    known = [section.href for section in layout.SECTIONS]
    said = unknown("page", f"/{path}"[:100], known)
    raise RefusedError("not_found", said)


router.include_router(elsewhere)
