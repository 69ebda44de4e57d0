"""The inbox in a database: what is written of it, each call in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, case, delete, or_, select, update

from trajgrade.errors import ChangedError
from trajgrade.event import Added, Queued, Scored
from trajgrade.inbox import Finished, KeyRecord, Label, NewJob, Piece, Review
from trajgrade.jsontext import dumps, read_back
from trajgrade.stores.growing import searchable
from trajgrade.stores.inbox_jobs import InboxJobs, held, tried_again
from trajgrade.stores.inbox_reading import Database
from trajgrade.stores.inbox_tables import (
    ADDITIONS,
    COUNTERS,
    JOBS,
    KEYS,
    OUTCOMES,
    PIECES,
    REVIEWS,
    TRACES,
)
from trajgrade.versions import Kept, kept

GRACE = 2.0  # seconds after the root span in which the last spans of a trace may come


class SqlInbox(InboxJobs):
    """What production sends, what is to be done with it, and what was done.

    Args:
        database: The store.
        add: Adds rows to a dataset, in a transaction, unless rows of their ids are there.
    """

    def __init__(
        self, database: Database, add: Callable[[Connection, str, list[Kept]], None]
    ) -> None:
        super().__init__(database)
        self._add = add

    # ------------------------------------------------------------------ what comes

    @tried_again
    def accept(self, pieces: Sequence[Piece]) -> list[bool]:
        """Keep what came, durably; what is complete waits to be decided."""
        if not pieces:
            return []
        values = [
            {
                "trace_id": searchable(piece.trace_id), "key": piece.key, "at": piece.at,
                "is_spans": int(piece.is_spans), "ends": int(piece.ends), "body": piece.body,
            }
            for piece in pieces
        ]  # fmt: skip
        # in one order of traces, so that two batches never wait for each other
        ordered = sorted(values, key=itemgetter("trace_id"))
        with self._database.changing() as connection:
            made = connection.execute(self._adding, ordered)
            fresh = {(trace_id, key) for trace_id, key in made}
            told: list[bool] = []
            new: list[dict[str, Any]] = []
            for value in values:
                is_new = (value["trace_id"], value["key"]) in fresh
                fresh.discard((value["trace_id"], value["key"]))
                told.append(is_new)
                new += [value] if is_new else []
            if new:
                self._grow(connection, new)
        return told

    @cached_property
    def _adding(self) -> Any:
        """What adds pieces: made once, since making it takes as long as running it."""
        add = self._insert(PIECES).on_conflict_do_nothing()
        return add.returning(PIECES.c.trace_id, PIECES.c.key)

    @cached_property
    def _growing(self) -> Any:
        """What has traces grow."""
        add = self._insert(TRACES)
        came = add.excluded
        return add.on_conflict_do_update(
            index_elements=["id"],
            set_={
                "pieces": TRACES.c.pieces + came.pieces,
                "last_at": _greater(came.last_at, TRACES.c.last_at),
                "complete": _greater(came.complete, TRACES.c.complete),
                "revision": TRACES.c.revision + _greater(came.complete, TRACES.c.complete),
            },
        ).returning(TRACES.c.id, TRACES.c.revision, TRACES.c.complete)

    def _grow(self, connection: Connection, pieces: list[dict[str, Any]]) -> None:
        """Have traces grow by new pieces, and those that are complete decided."""
        of: dict[str, list[dict[str, Any]]] = {}
        for piece in pieces:
            of.setdefault(piece["trace_id"], []).append(piece)
        due = {
            name: max(one["at"] + GRACE * one["is_spans"] for one in found)
            for name, found in of.items()
        }
        values = [
            {
                "id": name, "pieces": len(found), "first_at": min(one["at"] for one in found),
                "last_at": max(one["at"] for one in found), "graded": 0,
                "complete": max(one["ends"] for one in found),
                "revision": max(one["ends"] for one in found),
            }
            for name, found in sorted(of.items())
        ]  # fmt: skip
        ready = [
            (name, revision)
            for name, revision, done in connection.execute(self._growing, values)
            if done
        ]
        self._begin(
            connection,
            [
                NewJob(kind="decide", trace_id=name, revision=revision, due_at=due[name])
                for name, revision in sorted(ready)
            ],
        )

    def settle(self, quiet_since: float, limit: int = 1000) -> int:
        """Complete traces of which nothing came since then; return how many."""
        quiet = and_(TRACES.c.complete == 0, TRACES.c.last_at <= quiet_since)
        if not self._database.found(select(TRACES.c.number).where(quiet).limit(1)):
            return 0
        oldest = select(TRACES.c.number).where(quiet).order_by(TRACES.c.last_at).limit(limit)
        ended = (
            update(TRACES)
            .where(TRACES.c.number.in_(oldest.with_for_update(skip_locked=True)), quiet)
            .values(complete=1, revision=TRACES.c.revision + 1)
            .returning(TRACES.c.id, TRACES.c.revision, TRACES.c.last_at)
        )
        with self._database.changing() as connection:
            found = list(connection.execute(ended))
            self._begin(
                connection,
                [
                    NewJob(kind="decide", trace_id=name, revision=revision, due_at=at)
                    for name, revision, at in found
                ],
            )
        return len(found)

    # ------------------------------------------------------------------ what was done

    @tried_again
    def finish(self, ended: Sequence[Finished]) -> list[bool]:
        """Write how jobs ended, each wholly or not, in one transaction."""
        if not ended:
            return []
        with self._database.changing() as connection:
            tokens = held(connection, [one.job for one in ended])
            ours = [tokens.pop(one.job.number, None) == one.job.token for one in ended]
            written = [one for one, is_ours in zip(ended, ours, strict=True) if is_ours]
            self._end(connection, written)
            self._tell(connection, written)
            self._change(connection, written)
            self._begin(connection, [job for one in written for job in one.follow])
        return ours

    def _end(self, connection: Connection, ended: Sequence[Finished]) -> None:
        over = [one.job.number for one in ended if one.again_at is None and not one.error]
        if over:
            connection.execute(delete(JOBS).where(JOBS.c.number.in_(over)))
        for one in ended:
            if one.again_at is None and not one.error:
                continue
            left = {"state": "set_aside"} if one.again_at is None else {"state": "waiting"}
            due = {} if one.again_at is None else {"due_at": one.again_at}
            connection.execute(
                update(JOBS)
                .where(JOBS.c.number == one.job.number)
                .values(error=searchable(one.error), token="", tries=one.job.tries, **left, **due)
            )

    def _tell(self, connection: Connection, ended: Sequence[Finished]) -> None:
        outcomes = [outcome for one in ended for outcome in one.outcomes]
        if outcomes:
            values = [msgspec.structs.asdict(outcome) for outcome in outcomes]
            for value in values:
                del value["number"]
                for name in ("trace_id", "rule", "action", "says"):
                    value[name] = searchable(value[name])
            connection.execute(self._insert(OUTCOMES), values)
        counts = Counter(pair for one in ended for pair in one.decided.items())
        counts.update((outcome.rule, outcome.state) for outcome in outcomes)
        add = self._insert(COUNTERS)
        more = add.on_conflict_do_update(
            index_elements=["rule", "decided"], set_={"n": COUNTERS.c.n + add.excluded.n}
        )
        if counts:
            connection.execute(
                more,
                [
                    {"rule": searchable(rule), "decided": decided, "n": n}
                    for (rule, decided), n in sorted(counts.items())
                ],
            )

    # ------------------------------------------------------------------ effects

    def _change(self, connection: Connection, ended: Sequence[Finished]) -> None:
        scored: dict[str, list[tuple[int, Scored]]] = {}
        for one in ended:
            for change in one.changes:
                effect = change.effect
                if isinstance(effect, Scored):
                    name = searchable(one.job.trace_id)
                    scored.setdefault(name, []).append((one.job.revision, effect))
                elif isinstance(effect, Queued):
                    self._queue(connection, one, change.rule, effect)
                else:
                    self._add_later(connection, effect)
        if scored:
            _grade(connection, scored)

    def _queue(self, connection: Connection, ended: Finished, rule: str, effect: Queued) -> None:
        add = self._insert(REVIEWS).values(
            trace_id=searchable(ended.job.trace_id), queue=searchable(effect.queue),
            rule=searchable(rule), priority=effect.priority,
            reason=searchable(effect.reason), added_at=ended.at, state="open",
        )  # fmt: skip
        came = add.excluded
        is_known = REVIEWS.c.labelled_revision >= ended.job.revision
        connection.execute(
            add.on_conflict_do_update(
                index_elements=["trace_id", "queue"],
                set_={
                    "rule": came.rule,
                    "priority": came.priority,
                    "reason": came.reason,
                    "state": case((is_known, REVIEWS.c.state), else_="open"),
                },
            )
        )

    def _add_later(self, connection: Connection, effect: Added) -> None:
        (row,) = kept([effect.row], effect.dataset)
        connection.execute(
            self._insert(ADDITIONS)
            .values(
                dataset=effect.dataset, id=searchable(row.id),
                row=dumps({"row": effect.row, "split": effect.split}).decode(),
            )
            .on_conflict_do_nothing()
        )  # fmt: skip

    def publish(self) -> int:
        """Make new versions of the datasets that rows were added to; return how many rows."""
        if not self._database.found(select(ADDITIONS.c.number).limit(1)):
            return 0
        with self._database.writing() as connection:
            query = select(ADDITIONS.c.number, ADDITIONS.c.dataset, ADDITIONS.c.row)
            found = list(connection.execute(query.order_by(ADDITIONS.c.number)))
            rows: dict[str, list[Kept]] = {}
            for _, name, text in found:
                plain = read_back(text)
                row = plain["row"] | ({"split": plain["split"]} if plain["split"] else {})
                rows.setdefault(name, []).extend(kept([row], name))
            for name, new in rows.items():
                self._add(connection, name, new)
            done = [number for number, *_ in found]
            connection.execute(delete(ADDITIONS).where(ADDITIONS.c.number.in_(done)))
        return len(found)

    # ------------------------------------------------------------------ people

    def label(self, number: int, label: Label, at: float) -> Review:
        """Keep what a person says; a later word replaces an earlier one."""
        name = self._review_of(number).trace_id
        there = select(TRACES.c.revision).where(TRACES.c.id == name).with_for_update()
        with self._database.changing() as connection:
            revision = connection.execute(there).scalar() or 0
            if label.revision not in {None, revision}:
                raise ChangedError(
                    f"the trace {name!r} has changed: what is said is of its revision "
                    f"{label.revision}, and revision {revision} is there. Look at it again"
                )
            said = dumps(msgspec.structs.replace(label, revision=revision)).decode()
            connection.execute(
                update(REVIEWS)
                .where(REVIEWS.c.number == number)
                .values(label=said, state="done", labelled_at=at, labelled_revision=revision)
            )
        return self._review_of(number)

    def add_key(self, record: KeyRecord) -> None:
        """Keep an API key's hash; a name is given once."""
        add = self._insert(KEYS).values(name=record.name, record=dumps(record).decode())
        with self._database.changing() as connection:
            made = connection.execute(add.on_conflict_do_nothing().returning(KEYS.c.name))
            if not list(made):
                raise self._taken(record.name)

    def revoke_key(self, name: str, at: float) -> None:
        """Make a key good for nothing."""
        gone = msgspec.structs.replace(self._key_of(name), revoked_at=at)
        with self._database.changing() as connection:
            connection.execute(
                update(KEYS).where(KEYS.c.name == name).values(record=dumps(gone).decode())
            )


def _greater(first: Any, second: Any) -> ColumnElement[Any]:
    return case((first > second, first), else_=second)


def _grade(connection: Connection, scored: Mapping[str, list[tuple[int, Scored]]]) -> None:
    """Keep what evaluators say of traces, unless it is of an older revision than what is there."""
    query = (
        select(TRACES.c.id, TRACES.c.graded, TRACES.c.results)
        .where(or_(*(TRACES.c.id == name for name in scored)))
        .order_by(TRACES.c.id)
        .with_for_update()
    )
    for name, before, text in list(connection.execute(query)):
        graded = before
        plain = read_back(text) if text else {"scores": {}, "results": {}}
        for revision, effect in scored[name]:
            if revision < graded:
                continue
            if revision > graded:
                graded, plain = revision, {"scores": {}, "results": {}}
            plain["scores"] |= effect.scores
            plain["results"] |= effect.results
        connection.execute(
            update(TRACES)
            .where(TRACES.c.id == name)
            .values(graded=graded, results=dumps(plain).decode())
        )
