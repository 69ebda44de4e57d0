"""Home: what there is, at a glance."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from trajgrade.contracts import Store
from trajgrade.production import Inbox
from trajgrade.server.guard import needs
from trajgrade.server.pages.layout import render
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.runs import line_of

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

_FEW = 8
_MOST_COUNTED = 100


@router.get("/")
def home(request: Request) -> Response:
    """Show what there is."""
    store: Store = request.app.state.store
    inbox: Inbox = request.app.state.inbox
    return render(
        request,
        "home.html",
        tiles=_tiles(store, inbox),
        runs=[line_of(store, record) for record in store.runs(limit=_FEW)],
        reviews=inbox.reviews(limit=_FEW),
        traces=inbox.traces(limit=_FEW),
    )


def _tiles(store: Store, inbox: Inbox) -> list[dict[str, Any]]:
    """Return what is counted, each with where it is; from a hundred on, no more precisely."""
    counted = {
        ("to look at", "/queue"): len(inbox.reviews(limit=_MOST_COUNTED)),
        ("set aside", "/outcomes/aside"): len(inbox.set_aside(limit=_MOST_COUNTED)),
        ("jobs waiting", "/rules"): inbox.backlog(),
        ("traces", "/traces"): len(inbox.traces(limit=_MOST_COUNTED)),
        ("runs", "/runs"): len(store.runs(limit=_MOST_COUNTED)),
        ("datasets", "/datasets"): len(store.datasets.names()),
    }
    return [
        {"what": what, "href": href, "n": f"{_MOST_COUNTED - 1}+" if n >= _MOST_COUNTED else str(n)}
        for (what, href), n in counted.items()
    ]
