"""Versus: two runs, compared: what `trajgrade compare` says of them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from trajgrade.comparison.comparing import compare
from trajgrade.contracts import Store
from trajgrade.errors import ConfigError
from trajgrade.record import RUN, RunRecord
from trajgrade.report.versus.page import figures
from trajgrade.server.guard import needs
from trajgrade.server.pages.held import Lately
from trajgrade.server.pages.layout import render
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.runs import line_of, record_of
from trajgrade.server.refusal import RefusedError

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

_OFFERED = 200


@router.get("/compare")
def versus(request: Request) -> Response:
    """Compare two runs, or ask which."""
    query = request.query_params
    store: Store = request.app.state.store
    offered = [line_of(store, record) for record in store.runs(limit=_OFFERED)]
    gate = query.get("gate", "").strip()[:200]
    chosen = {"base": query.get("base", ""), "new": query.get("new", ""), "gate": gate}
    if not (chosen["base"] and chosen["new"]):
        return render(request, "pick.html", offered=offered, chosen=chosen)
    old, new = (record_of(store, query[name]) for name in ("base", "new"))
    key = (*_state(old), *_state(new), gate)
    return render(
        request,
        "versus.html",
        **_compared(request).get(key, lambda: _figures(store, old, new, gate)),
        offered=offered,
        runs=(line_of(store, old), line_of(store, new)),
        gate=gate,
    )


def _compared(request: Request) -> Lately[dict[str, Any]]:
    """Return what was compared lately."""
    state = request.app.state
    if not hasattr(state, "pages_compared"):
        state.pages_compared = Lately()
    found: Lately[dict[str, Any]] = state.pages_compared
    return found


def _state(record: RunRecord) -> tuple[Any, ...]:
    return record.id, record.state, record.finished_at, record.seconds


def _figures(store: Store, old: RunRecord, new: RunRecord, gate: str) -> dict[str, Any]:
    for record in (old, new):
        if not store.count(record.id):
            raise RefusedError("not_found", f"run:{record.id} has no rows yet")
    gates = [_gate(gate)] if gate else []
    try:
        found = compare(
            f"{RUN}{old.id}", f"{RUN}{new.id}", store=store, no_regression=gates
        )  # fmt: skip
    except ConfigError as wrong:
        raise RefusedError("unreadable", str(wrong)) from None
    return figures(found)


def _gate(text: str) -> dict[str, Any]:
    """Read a gate as the command does: `METRIC`, or `METRIC:MARGIN`."""
    metric, colon, margin = text.rpartition(":")
    try:
        return {"metric": metric, "margin": float(margin)} if colon else {"metric": text}
    except ValueError:
        return {"metric": text}
