"""Automation: the rules, what they did, what was set aside, and how it goes."""

from __future__ import annotations

from time import time
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trajgrade.automation.rules import Rule
from trajgrade.inbox import Job, Outcome, OutcomeState
from trajgrade.production import Inbox
from trajgrade.server.api.paging import Before, Limit, Number, Page, numbered
from trajgrade.server.documented import body, doc
from trajgrade.server.guard import needs
from trajgrade.server.payload import payload_of
from trajgrade.server.refusal import answer

router = APIRouter(prefix="/api", dependencies=[needs("read")], tags=["automation"])

Text = Annotated[str | None, Query(max_length=300)]


class ShownRule(msgspec.Struct, frozen=True):
    """A rule.

    Attributes:
        name: What it is known by.
        enabled: Whether it is asked at all.
        after: When it is asked.
        sample_rate: The share of the fitting traces for which it fires.
        fields: What it looks at.
        actions: What it does, by type, in this order.
        counts: How often it was decided how, and how often its actions ended how.
    """

    name: str
    enabled: bool
    after: str
    sample_rate: float
    fields: tuple[str, ...]
    actions: tuple[str, ...]
    counts: dict[str, int]


class ShownRules(msgspec.Struct, frozen=True):
    """The rules.

    Attributes:
        items: Those that are asked, in that order.
        earlier: The counters of rules that there are no more, by name.
    """

    items: tuple[ShownRule, ...]
    earlier: dict[str, dict[str, int]]


class Status(msgspec.Struct, frozen=True):
    """How it goes.

    Attributes:
        uptime_in_seconds: Since the server began.
        accepted: How many pieces of traces it has kept.
        repeated: How many of those that came it had already.
        transactions: In how many transactions it wrote them.
        backlog: How many jobs wait, or are being done.
        workers: How many do them here.
        counts: What else was counted since the server began.
        rules: What was decided and done, by rule, ever.
    """

    uptime_in_seconds: float
    accepted: int
    repeated: int
    transactions: int
    backlog: int
    workers: int
    counts: dict[str, int]
    rules: dict[str, dict[str, int]]


class Revival(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs that are to be tried again.

    Attributes:
        numbers: Which.
    """

    numbers: Annotated[tuple[Number, ...], msgspec.Meta(min_length=1, max_length=1000)]


class Revived(msgspec.Struct, frozen=True):
    """Jobs that are tried again.

    Attributes:
        revived: How many.
    """

    revived: int


@router.get("/status", summary="See how it goes", **doc(Status))
def status(request: Request) -> Response:
    """Return what was taken and done, and how much waits."""
    state = request.app.state
    inbox: Inbox = state.inbox
    return answer(
        Status(
            uptime_in_seconds=round(time() - state.counters.began_at, 3),
            accepted=state.writer.accepted,
            repeated=state.writer.repeated,
            transactions=state.writer.transactions,
            backlog=inbox.backlog(),
            workers=state.config.workers,
            counts=state.counters.to_dict(),
            rules=inbox.counters(),
        )
    )


@router.get("/rules", summary="List rules with their counters", **doc(ShownRules))
def rules(request: Request) -> Response:
    """Return the rules, each with how often it was decided how, and how its actions ended."""
    inbox: Inbox = request.app.state.inbox
    counters = inbox.counters()
    found = tuple(_shown(rule, counters.pop(rule.name, {})) for rule in request.app.state.rules)
    return answer(ShownRules(found, counters))


def _shown(rule: Rule, counts: dict[str, int]) -> ShownRule:
    """Return a rule without the parameters of its actions, among which are secrets."""
    return ShownRule(
        name=rule.name,
        enabled=rule.enabled,
        after=rule.after,
        sample_rate=rule.sample_rate,
        fields=tuple(rule.when.fields),
        actions=tuple(str(action["type"]) for action in rule.actions),
        counts=counts,
    )


@router.get("/outcomes", summary="List what was done", **doc(Page[Outcome]))
def outcomes(
    request: Request,
    trace_id: Text = None,
    rule: Text = None,
    state: OutcomeState | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> Response:
    """Return what the actions of rules did, or why they could not, the newest first."""
    inbox: Inbox = request.app.state.inbox
    found = inbox.outcomes(
        trace_id=trace_id, rule=rule, state=state, before=before, limit=limit + 1
    )
    return answer(numbered(found, limit))


@router.get("/jobs", summary="List jobs that were set aside", **doc(Page[Job]))
def jobs(request: Request, before: Before = None, limit: Limit = 100) -> Response:
    """Return jobs that failed too often, with the reason, the newest first."""
    inbox: Inbox = request.app.state.inbox
    return answer(numbered(inbox.set_aside(before=before, limit=limit + 1), limit))


@router.post(
    "/jobs/revive",
    summary="Try jobs again",
    dependencies=[needs("admin")],
    **doc(Revived, 400, 413, 415, sends=body("Which", Revival)),
)
def revive(request: Request, asked: Annotated[Any, payload_of(Revival)]) -> Response:
    """Have jobs that were set aside tried again."""
    inbox: Inbox = request.app.state.inbox
    return answer(Revived(inbox.revive(asked.numbers, time())))
