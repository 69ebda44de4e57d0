"""The inbox in a database: what is read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec
from sqlalchemy import Connection, Engine, Select, and_, func, or_, select

from trajgrade.errors import StoreError, unknown
from trajgrade.inbox import (
    Job,
    KeyRecord,
    Label,
    Outcome,
    OutcomeState,
    Piece,
    Review,
    ReviewState,
    TraceRecord,
)
from trajgrade.jsontext import read_back
from trajgrade.stores.growing import searchable
from trajgrade.stores.inbox_tables import COUNTERS, JOBS, KEYS, OUTCOMES, PIECES, REVIEWS, TRACES

_REVISION = func.coalesce(
    select(TRACES.c.revision).where(TRACES.c.id == REVIEWS.c.trace_id).scalar_subquery(), 0
)
_REVIEW = select(
    *(REVIEWS.c[name] for name in Review.__struct_fields__ if name in REVIEWS.c),
    _REVISION.label("revision"),
)
JOB = [JOBS.c[name] for name in Job.__struct_fields__]
_OPEN = ("waiting", "taken")


class Database(Protocol):
    """What keeps the tables."""

    engine: Engine
    url: str

    def changing(self) -> AbstractContextManager[Connection]:
        """Give a transaction."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Give a transaction in which no other process changes datasets."""
        ...

    def found(self, query: Select[Any]) -> list[Any]:
        """Return the rows of a query."""
        ...


class InboxReading:
    """What is read of an inbox."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ------------------------------------------------------------------ jobs

    def backlog(self) -> int:
        """Return how many jobs wait or are taken."""
        query = select(func.count()).select_from(JOBS).where(JOBS.c.state.in_(_OPEN))
        found = self._database.found(query)
        return int(found[0][0]) if found else 0

    def pending(self, trace_id: str, revision: int, rules: Sequence[str]) -> int:
        """Return how much is still to be done of some rules with a trace, by them or for them."""
        query = (
            select(func.count())
            .select_from(JOBS)
            .where(JOBS.c.trace_id == searchable(trace_id), JOBS.c.revision == revision)
            .where(JOBS.c.kind.in_(("act", "decide")), JOBS.c.state.in_(_OPEN))
            .where(JOBS.c.rule.in_([searchable(rule) for rule in rules]))
        )
        found = self._database.found(query)
        return int(found[0][0]) if found else 0

    def set_aside(self, *, before: int | None = None, limit: int = 100) -> list[Job]:
        """Return jobs that were set aside, the newest first, below a number."""
        query = select(*JOB).where(JOBS.c.state == "set_aside")
        return [Job(**row) for row in self._newest(query, JOBS.c.number, before, limit)]

    # ------------------------------------------------------------------ traces

    def trace(self, trace_id: str) -> TraceRecord | None:
        """Return one trace's record; None where there is none."""
        query = select(TRACES).where(TRACES.c.id == searchable(trace_id))
        found = self._database.found(query)
        return _trace(found[0]._mapping) if found else None  # noqa: SLF001 its name

    def traces(self, *, before: int | None = None, limit: int = 100) -> list[TraceRecord]:
        """Return the records of traces, the newest first, below a number."""
        return [_trace(row) for row in self._newest(select(TRACES), TRACES.c.number, before, limit)]

    def pieces(self, trace_id: str) -> list[Piece]:
        """Return what came of a trace, in the order in which it came."""
        query = select(PIECES).where(PIECES.c.trace_id == searchable(trace_id))
        found = self._database.found(query.order_by(PIECES.c.at, PIECES.c.number))
        return [_piece(row) for row in found]

    def loaded(self, trace_ids: Sequence[str]) -> dict[str, tuple[TraceRecord, list[Piece]]]:
        """Return records and pieces of several traces, by id; those that there are."""
        names = [searchable(name) for name in trace_ids]
        found: dict[str, tuple[TraceRecord, list[Piece]]] = {
            row.id: (_trace(row._mapping), [])  # noqa: SLF001 its name
            for row in self._database.found(select(TRACES).where(TRACES.c.id.in_(names)))
        }
        query = select(PIECES).where(PIECES.c.trace_id.in_(names))
        for row in self._database.found(query.order_by(PIECES.c.at, PIECES.c.number)):
            found[row.trace_id][1].append(_piece(row))
        return found

    # ------------------------------------------------------------------ what was done

    def outcomes(
        self,
        *,
        trace_id: str | None = None,
        rule: str | None = None,
        state: OutcomeState | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[Outcome]:
        """Return what was done, the newest first, below a number."""
        query = select(OUTCOMES)
        if trace_id is not None:
            query = query.where(OUTCOMES.c.trace_id == searchable(trace_id))
        if rule is not None:
            query = query.where(OUTCOMES.c.rule == searchable(rule))
        if state is not None:
            query = query.where(OUTCOMES.c.state == state)
        return [Outcome(**row) for row in self._newest(query, OUTCOMES.c.number, before, limit)]

    def counters(self) -> dict[str, dict[str, int]]:
        """Return by rule how often each was decided, and how often its actions ended how."""
        found: dict[str, dict[str, int]] = {}
        query = select(COUNTERS).order_by(COUNTERS.c.rule, COUNTERS.c.decided)
        for rule, decided, n in self._database.found(query):
            found.setdefault(rule, {})[decided] = n
        return found

    # ------------------------------------------------------------------ people

    def reviews(
        self,
        *,
        queue: str | None = None,
        trace_id: str | None = None,
        state: ReviewState | None = "open",
        after: int | None = None,
        limit: int = 100,
    ) -> list[Review]:
        """Return what people are to look at: by priority, then the oldest first; behind an item."""
        query = _REVIEW.order_by(REVIEWS.c.priority.desc(), REVIEWS.c.number).limit(limit)
        if queue is not None:
            query = query.where(REVIEWS.c.queue == searchable(queue))
        if trace_id is not None:
            query = query.where(REVIEWS.c.trace_id == searchable(trace_id))
        if state is not None:
            query = query.where(REVIEWS.c.state == state)
        behind = None if after is None else self.review(after)
        if behind is not None:
            same = and_(REVIEWS.c.priority == behind.priority, REVIEWS.c.number > behind.number)
            query = query.where(or_(REVIEWS.c.priority < behind.priority, same))
        return [_review(row._mapping) for row in self._database.found(query)]  # noqa: SLF001 its name

    def review(self, number: int) -> Review | None:
        """Return one item of a review queue; None where there is none."""
        found = self._database.found(_REVIEW.where(REVIEWS.c.number == number))
        return _review(found[0]._mapping) if found else None  # noqa: SLF001 its name

    def _review_of(self, number: int) -> Review:
        found = self.review(number)
        if found is None:
            raise StoreError(f"{self._database.url}: no review queue has an item {number}")
        return found

    def keys(self) -> list[KeyRecord]:
        """Return all API keys, revoked ones too."""
        query = select(KEYS.c.record).order_by(KEYS.c.name)
        return [
            msgspec.convert(read_back(text), KeyRecord) for (text,) in self._database.found(query)
        ]

    def _key_of(self, name: str) -> KeyRecord:
        known = {key.name: key for key in self.keys()}
        if name not in known:
            raise StoreError(f"{self._database.url}: {unknown('key', name, [*known])}")
        return known[name]

    def _taken(self, name: str) -> StoreError:
        return StoreError(f"{self._database.url}: there is a key {name!r} already")

    def _newest(
        self, query: Select[Any], number: Any, before: int | None, limit: int
    ) -> list[Mapping[str, Any]]:
        if before is not None:
            query = query.where(number < before)
        found = self._database.found(query.order_by(number.desc()).limit(limit))
        return [row._mapping for row in found]  # noqa: SLF001 its name


def _trace(row: Mapping[str, Any]) -> TraceRecord:
    told = read_back(row["results"]) if row["results"] else {"scores": {}, "results": {}}
    return TraceRecord(
        number=row["number"], id=row["id"], first_at=row["first_at"], last_at=row["last_at"],
        pieces=row["pieces"], is_complete=bool(row["complete"]), revision=row["revision"],
        graded=row["graded"], scores=told["scores"], results=told["results"],
    )  # fmt: skip


def _piece(row: Any) -> Piece:
    return Piece(
        trace_id=row.trace_id, key=row.key, body=bytes(row.body), at=row.at,
        is_spans=bool(row.is_spans), ends=bool(row.ends),
    )  # fmt: skip


def _review(row: Mapping[str, Any]) -> Review:
    said = row["label"]
    label = msgspec.convert(read_back(said), Label) if said else None
    return Review(**{**row, "label": label})
