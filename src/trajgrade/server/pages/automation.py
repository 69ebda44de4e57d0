"""Automation: the rules with their counters, what they did, and what was set aside."""

from __future__ import annotations

from time import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from trajgrade.automation.items import item_of
from trajgrade.automation.pieces import trace_of
from trajgrade.automation.rules import Rule, Rules
from trajgrade.inbox import TraceRecord
from trajgrade.production import Inbox
from trajgrade.report.plain import printable
from trajgrade.server.guard import checked_form, needs
from trajgrade.server.pages.asked import PER_PAGE, behind, choice, whole
from trajgrade.server.pages.held import Lately
from trajgrade.server.pages.layout import render, with_query
from trajgrade.server.pages.refused import PageRoute
from trajgrade.server.pages.shown import pretty
from trajgrade.server.refusal import RefusedError

router = APIRouter(route_class=PageRoute, dependencies=[needs("read")])

DECIDED = ("fires", "does_not_fit", "sampled_out", "disabled")
_AT_ONCE = 1000
_NEWEST = 30
_AFTER = {"trace_complete": "when it is complete"}

Form = Annotated[dict[str, str], Depends(checked_form)]


@router.get("/rules")
def rules(request: Request) -> Response:
    """Show the rules, how often each was decided how, and how its actions ended."""
    inbox: Inbox = request.app.state.inbox
    known: Rules = request.app.state.rules
    counters = inbox.counters()
    absent, looked = _absent(request)
    names = {rule.name for rule in known}
    ended = sorted({word for counts in counters.values() for word in counts} - {*DECIDED})
    return render(
        request,
        "rules.html",
        rules=[_rule(rule, counters.get(rule.name, {}), absent) for rule in known],
        earlier=[(name, counts) for name, counts in counters.items() if name not in names],
        decided=DECIDED,
        ended=ended,
        backlog=inbox.backlog(),
        looked=looked,
    )


def _absent(request: Request) -> tuple[dict[str, list[str]], int]:
    """Return, by rule, the fields that none of the newest traces has; and how many those are."""
    state = request.app.state
    inbox: Inbox = state.inbox
    newest = inbox.traces(limit=_NEWEST)
    if not hasattr(state, "pages_absent"):
        state.pages_absent = Lately(1)
    key = tuple((one.number, one.last_at, one.pieces, len(one.scores)) for one in newest)
    found: dict[str, list[str]] = state.pages_absent.get(
        key, lambda: _looked(inbox, state.rules, newest)
    )
    return found, len(newest)


def _looked(inbox: Inbox, known: Rules, newest: list[TraceRecord]) -> dict[str, list[str]]:
    asked = Rules(known)
    for one in newest:
        item = item_of(trace_of(inbox.pieces(one.id)), one.scores)
        for rule in asked:
            asked.decided(rule, one.id, item)
    return asked.never_seen()


def _rule(rule: Rule, counts: dict[str, int], absent: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "name": rule.name,
        "enabled": rule.enabled,
        "after": _AFTER[rule.after],
        "sample_rate": rule.sample_rate,
        "fields": [printable(path)[:100] for path in rule.when.fields],
        "actions": [printable(str(action["type"]))[:100] for action in rule.actions],
        "written": pretty([_shown(action) for action in rule.actions]),
        "counts": counts,
        "absent": [printable(path)[:100] for path in absent.get(rule.name, ())],
        "href": with_query("/outcomes", {"rule": rule.name}),
    }


def _shown(action: dict[str, Any]) -> dict[str, Any]:
    """Return an action without what may be a secret: addresses, headers, keys."""
    told = ("type", "evaluator", "dataset", "split", "queue", "priority", "reason", "expected")
    rest = [key for key in action if key not in told]
    shown = {key: action[key] for key in told if key in action}
    return {**shown, **({"and": rest} if rest else {})}


@router.get("/outcomes")
def outcomes(request: Request) -> Response:
    """List what was done, the newest first."""
    query = request.query_params
    inbox: Inbox = request.app.state.inbox
    state: Any = choice(query, "state", ("done", "set_aside"))
    rule = query.get("rule", "")[:300]
    found = inbox.outcomes(
        rule=rule or None,
        state=state or None,
        before=whole(query, "before", None),
        limit=PER_PAGE + 1,
    )
    page = behind(found, "/outcomes", query, "before")
    return render(
        request,
        "outcomes.html",
        page=page,
        outcomes=page.items,
        names=sorted({*inbox.counters()} | {rule} - {""}),
        asked={"rule": rule, "state": state},
    )


@router.get("/outcomes/aside")
def aside(request: Request) -> Response:
    """List the jobs that were set aside, with the reason."""
    query = request.query_params
    inbox: Inbox = request.app.state.inbox
    found = inbox.set_aside(before=whole(query, "before", None), limit=PER_PAGE + 1)
    page = behind(found, "/outcomes/aside", query, "before")
    return render(request, "aside.html", page=page, revived=whole(query, "revived", None))


@router.post("/outcomes/aside", dependencies=[needs("admin")])
def revive(request: Request, form: Form) -> Response:
    """Have jobs tried again: one, or all."""
    inbox: Inbox = request.app.state.inbox
    wanted = form.get("job", "")
    if wanted == "all":
        numbers = [job.number for job in inbox.set_aside(limit=_AT_ONCE)]
    elif wanted.isascii() and wanted.isdigit() and len(wanted) <= 18:
        numbers = [int(wanted)]
    else:
        raise RefusedError("unreadable", f"job: a number or `all` is needed, got {wanted[:40]!r}")
    n = inbox.revive(numbers, time())
    return RedirectResponse(with_query("/outcomes/aside", {"revived": n}), 303)
