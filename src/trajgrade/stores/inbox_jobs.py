"""The inbox in a database: what is to be done.

A job is a row that says since when it may be taken; while it is taken, that is the time at which it
may be taken anew. Each taking has a token of its own, without which it is not ended.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec
from sqlalchemy import Connection, Select, and_, case, select, update
from sqlalchemy.dialects import postgresql, sqlite

from trajgrade.errors import StoreError
from trajgrade.inbox import DIED, Job, JobKind, NewJob
from trajgrade.stores.growing import searchable
from trajgrade.stores.inbox_reading import JOB, Database, InboxReading
from trajgrade.stores.inbox_tables import JOBS

_INSERTS: dict[str, Callable[..., Any]] = {
    "sqlite": sqlite.insert, "postgresql": postgresql.insert,
}  # fmt: skip
_DEADLOCK = ("40P01", "40001")  # PostgreSQL's states of a transaction that may be made anew
_ATTEMPTS = 5

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


def tried_again(
    change: Callable[Concatenate[Any, _Given], _Answer],
) -> Callable[Concatenate[Any, _Given], _Answer]:
    """Have a transaction made anew that PostgreSQL ended, because two waited for each other."""

    @wraps(change)
    def changed(self: Any, /, *args: _Given.args, **more: _Given.kwargs) -> _Answer:
        for _ in range(_ATTEMPTS - 1):
            try:
                return change(self, *args, **more)
            except StoreError as broken:
                original = getattr(broken.__cause__, "orig", None)
                if getattr(original, "sqlstate", None) not in _DEADLOCK:
                    raise
        return change(self, *args, **more)

    return changed


class InboxJobs(InboxReading):
    """The jobs of an inbox."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._insert = _INSERTS[database.engine.dialect.name]

    def claim(
        self, *, now: float, until: float, limit: int, kind: JobKind | None = None
    ) -> list[Job]:
        """Take jobs that are due, and one at most whose taker has died.

        One at a time, so that a job that ends whoever does it is not taken together with others.
        """
        kinds = [] if kind is None else [("act", "again") if kind == "act" else (kind,)]
        due = and_(JOBS.c.due_at <= now, *(JOBS.c.kind.in_(names) for names in kinds))
        first, left = (
            select(JOBS.c.number)
            .where(JOBS.c.state == state, due)
            .order_by(JOBS.c.due_at, JOBS.c.number)
            .limit(most)
            for state, most in (("waiting", limit), ("taken", 1))
        )
        if not any(self._database.found(query.limit(1)) for query in (first, left)):
            return []
        with self._database.changing() as connection:
            found = [
                job
                for query, more in ((left, {"error": DIED}), (first, {}))
                for job in connection.execute(_taken(query, until).values(more)).mappings()
            ]
        return [Job(**row) for row in found]

    def renew(self, jobs: Sequence[Job], until: float) -> None:
        """Keep jobs for longer, unless they were taken by another since."""
        with self._database.changing() as connection:
            for job in jobs:
                connection.execute(
                    update(JOBS)
                    .where(JOBS.c.number == job.number, JOBS.c.token == job.token)
                    .where(JOBS.c.state == "taken")
                    .values(due_at=until)
                )

    def revive(self, numbers: Sequence[int], now: float) -> int:
        """Have jobs that were set aside tried again; return how many."""
        again = (
            update(JOBS)
            .where(JOBS.c.number.in_([*numbers]), JOBS.c.state == "set_aside")
            .values(
                state="waiting",
                due_at=now,
                tries=0,
                kind=case((JOBS.c.kind == "act", "again"), else_=JOBS.c.kind),
            )
        )
        with self._database.changing() as connection:
            return int(connection.execute(again).rowcount)

    def _begin(self, connection: Connection, jobs: Sequence[NewJob]) -> None:
        if not jobs:
            return
        values = [
            {
                **msgspec.structs.asdict(job), "trace_id": searchable(job.trace_id),
                "rule": searchable(job.rule), "because": searchable(job.because),
                "state": "waiting", "tries": 0, "token": "", "error": "",
            }
            for job in jobs
        ]  # fmt: skip
        connection.execute(self._beginning, values)

    @cached_property
    def _beginning(self) -> Any:
        """What leaves jobs behind; made once."""
        return self._insert(JOBS).on_conflict_do_nothing()


def _taken(query: Select[Any], until: float) -> Any:
    """Return the statement that takes the jobs which a query names."""
    return (
        update(JOBS)
        .where(JOBS.c.number.in_(query.with_for_update(skip_locked=True)))
        .values(state="taken", due_at=until, token=secrets.token_hex(8), tries=JOBS.c.tries + 1)
        .returning(*JOB)
    )


def held(connection: Connection, jobs: Iterable[Job]) -> dict[int, str]:
    """Return the token of each job that is taken, and keep others from it."""
    numbers = [job.number for job in jobs]
    query: Select[Any] = (
        select(JOBS.c.number, JOBS.c.token)
        .where(JOBS.c.number.in_(numbers), JOBS.c.state == "taken")
        .order_by(JOBS.c.number)
        .with_for_update()
    )
    return dict(tuple(row) for row in connection.execute(query))
