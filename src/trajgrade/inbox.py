"""Inbox: the records of what production sends, what is to be done with it, and what was done.

A trace comes whole, or in pieces (the spans of one export). Each piece is kept as it came. A trace
that is complete becomes a job, `decide`; the rules that fire for it do their fast actions with it,
and leave one job for each slow action. A job is taken for a while, and is done once its outcome,
its effects and the jobs that follow are written, in one transaction: whoever dies before that has
done nothing, and what he began is given to another.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trajgrade.event import Effect

JobKind = Literal["decide", "act", "again"]
JobState = Literal["waiting", "taken", "set_aside"]
OutcomeState = Literal["done", "set_aside"]
ReviewState = Literal["open", "done"]
Scope = Literal["ingest", "read", "admin"]

DIED = "who had taken it has died"  # the error of a job that is taken anew for that


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A trace, or some spans of one, as they came.

    Attributes:
        trace_id: Which trace it belongs to: at most 256 characters that any database takes.
        key: What names the piece, in at most 64 characters: where trace and key come again, it is
            a repeat, and counts once.
        body: The trace as JSON text; or the spans as an OTLP export, JSON or protobuf.
        is_spans: Whether it is spans, of which more may come.
        ends: Whether it completes the trace: it is whole, or has its ended root span.
        at: When it came, in seconds since 1970.
    """

    trace_id: str
    key: str
    body: bytes
    is_spans: bool = False
    ends: bool = True
    at: float = 0.0


class TraceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A trace that was accepted.

    Attributes:
        number: Its place in the order of arrival.
        id: What names it.
        first_at: When its first piece came.
        last_at: When its last piece came.
        pieces: How many came.
        is_complete: Whether it was ended, or quiet for long enough.
        revision: How often it was complete: a late span makes it complete once more.
        graded: Of which revision the scores are; 0 where there are none.
        scores: What evaluators have said of it, by key.
        results: The whole results of those evaluators, as plain objects, by key.
    """

    number: int
    id: str
    first_at: float
    last_at: float
    pieces: int = 1
    is_complete: bool = True
    revision: int = 1
    graded: int = 0
    scores: dict[str, float | None] = {}
    results: dict[str, Any] = {}

    @property
    def is_graded(self) -> bool:
        """Whether the scores are of the revision that is there, not of an earlier one."""
        return self.graded == self.revision


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is to be done with a trace.

    Attributes:
        number: Names the job.
        kind: Deciding which rules fire; one action of one rule, and what follows it; or that action
            alone, which was set aside and is tried again.
        trace_id: The trace.
        revision: Of which revision of it.
        rule: The rule whose action it is; empty where rules are decided.
        place: The action's place in the rule.
        because: What made the rule fire.
        tries: How often it was taken, this time included.
        due_at: When it may be taken.
        token: What the taker must show to finish it; another taker has another.
        error: How the last try failed.
    """

    number: int
    kind: JobKind
    trace_id: str
    revision: int = 1
    rule: str = ""
    place: int = 0
    because: str = ""
    tries: int = 1
    due_at: float = 0.0
    token: str = ""
    error: str = ""


class NewJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that another leaves behind; one that is there already is not made twice.

    Attributes: see `Job`.
    """

    kind: JobKind
    trace_id: str
    revision: int = 1
    rule: str = ""
    place: int = 0
    because: str = ""
    due_at: float = 0.0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one action of one rule did with one trace, or why it could not.

    Attributes:
        number: Its place in the order of outcomes.
        trace_id: The trace.
        revision: Of which revision of it.
        rule: The rule.
        place: The action's place in the rule.
        action: The action's type.
        state: Whether it was done, or set aside after its last try.
        says: What the action says of it, or the reason why it was set aside.
        tries: How many times it was tried.
        at: When it ended.
    """

    trace_id: str
    rule: str
    place: int
    action: str
    state: OutcomeState
    says: str
    revision: int = 1
    tries: int = 1
    at: float = 0.0
    number: int = 0


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An effect, and the rule whose action it is of."""

    rule: str
    effect: Effect


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How a job ended. Either all of it is written, or none.

    Attributes:
        job: The job.
        outcomes: What its actions did.
        changes: What is to be changed in the store.
        follow: The jobs that it leaves behind.
        decided: For each rule that was asked, what was decided; added to the counters.
        again_at: When it is to be tried again, None where it is over.
        error: How it failed; set aside with this reason where it is not to be tried again.
        at: When it ended.
    """

    job: Job
    outcomes: tuple[Outcome, ...] = ()
    changes: tuple[Change, ...] = ()
    follow: tuple[NewJob, ...] = ()
    decided: dict[str, str] = {}
    again_at: float | None = None
    error: str = ""
    at: float = 0.0


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of a trace in the review queue.

    Attributes:
        verdict: Whether the person accepts the trace, or not; None where nothing is said.
        reference: The trajectory that would have been right, as plain objects.
        judged: For each evaluator whose verdict was looked at, what the person would have said.
        comment: Why.
        by: Who says it.
        revision: Of which revision of the trace, 0 where it was not there any more; None for that
            which is there when it is kept.
    """

    verdict: bool | None = None
    reference: Any = None
    judged: dict[str, float | bool] = {}
    comment: str = ""
    by: str = ""
    revision: int | None = None


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A trace that a person is to look at.

    Attributes:
        number: Names the item.
        trace_id: The trace.
        queue: The name of the queue.
        rule: The rule that put it there.
        priority: The higher, the sooner.
        reason: Why it is there.
        added_at: Since when.
        state: Whether it waits, or was looked at.
        label: What was said.
        labelled_at: When.
        revision: Which revision of the trace is there; 0 where the trace is not there any more.
    """

    number: int
    trace_id: str
    queue: str
    rule: str
    priority: float
    reason: str
    added_at: float
    state: ReviewState = "open"
    label: Label | None = None
    labelled_at: float | None = None
    revision: int = 0


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An API key, of which only a hash is kept.

    Attributes:
        name: What people know it by.
        digest: The SHA-256 of the key, in hexadecimal.
        scopes: What it is good for.
        made_at: Since when.
        revoked_at: Since when it is good for nothing.
    """

    name: str
    digest: str
    scopes: tuple[Scope, ...]
    made_at: float
    revoked_at: float | None = None
