"""What stores share that speak SQL: runs and rows in three tables, through SQLAlchemy Core.

What is written is there when the call returns, in one transaction; what fails leaves everything as
it was. Rows are read in pages, each by a query of its own, so that a slow reader keeps no writer
from anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError

from trajgrade.contracts import RunWriter
from trajgrade.errors import StoreError, UnknownNameError
from trajgrade.jsontext import dumps, read_back
from trajgrade.record import Holder, Key, RunRecord, State, StoredRow
from trajgrade.stores import schema
from trajgrade.stores.growing import Growing, columns_of, searchable
from trajgrade.stores.hold import this_process
from trajgrade.stores.inbox_sql import SqlInbox
from trajgrade.stores.kept_sql import SqlDatasets, add_new
from trajgrade.stores.naming import LATEST, check_id, meant
from trajgrade.stores.tables import ROWS, RUNS

_PAGE_BYTES = 4 * 2**20
_LEAST, _MOST = 16, 2048  # rows of a page


class SqlStore:
    """Runs in a database.

    Args:
        engine: What connects to it.
        url: The address as it may be shown.
    """

    mark = "?"  # how the database writes a parameter

    def __init__(self, engine: Engine, url: str) -> None:
        self.engine = engine
        self.url = url
        self._is_ready = False

    # ------------------------------------------------------------------ what differs by database

    def explain(self, error: DBAPIError) -> str:
        """Return what a fault of the database means, and what to do."""
        return str(error.orig).strip().partition("\n")[0] or type(error.orig).__name__

    def exists(self) -> bool:
        """Whether there is a database at all."""
        return True

    @contextmanager
    def upgrading(self) -> Iterator[Connection]:
        """Give a transaction in which no other process changes the tables."""
        with self.engine.begin() as connection:
            yield connection

    def hold(self, connection: Connection, run_id: str) -> Callable[[], None]:
        """Hold a run, for as long as the connection is open.

        Returns:
            What lets go of it.

        Raises:
            StoreError: Another process holds it.
        """
        raise NotImplementedError

    def holder(self, run_id: str) -> Holder | None:
        """Return the process that writes a run now; None where none does."""
        raise NotImplementedError

    # ------------------------------------------------------------------ faults

    @contextmanager
    def faults_told(self) -> Iterator[None]:
        """Raise what the database says as `StoreError`."""
        try:
            yield
        except DBAPIError as broken:
            raise StoreError(f"{self.url}: {self.explain(broken)}") from broken
        except OSError as broken:
            raise StoreError(f"{self.url}: {broken.strerror or broken}") from broken

    # ------------------------------------------------------------------ writing

    def create(self, record: RunRecord) -> RunWriter:
        """Begin a run, and hold it."""
        check_id(record.id)
        self._make_ready()

        def added(connection: Connection) -> int:
            values = {"id": record.id, "holder": _here(), **columns_of(record)}
            row = connection.execute(insert(RUNS).values(values)).inserted_primary_key
            return int(row[0])  # type: ignore[index]  # the table has a key

        return self._held(record.id, added)

    def reopen(self, run_id: str) -> RunWriter:
        """Hold a run that exists, to go on with it."""
        self._make_ready()
        number = self._number(run_id)

        def taken(connection: Connection) -> int:
            here = update(RUNS).where(RUNS.c.number == number).values(holder=_here())
            if not connection.execute(here).rowcount:
                raise StoreError(f"{self.url}: the run {run_id} was just deleted")
            return number

        return self._held(run_id, taken)

    def _held(self, run_id: str, begin: Callable[[Connection], int]) -> RunWriter:
        """Hold a run; `begin` returns its number."""
        with self.faults_told(), ExitStack() as undo:
            connection = undo.enter_context(self.engine.connect())
            let_go = self.hold(connection, run_id)
            undo.callback(let_go)
            with connection.begin():
                number = begin(connection)
            undo.pop_all()
            return Growing(
                connection,
                number,
                run_id,
                mark=self.mark,
                faults_told=self.faults_told,
                let_go=let_go,
            )

    def delete(self, run_id: str) -> None:
        """Forget a run and its rows, unless a process holds it."""
        self._make_ready()
        with self.faults_told():
            number = self._number(run_id)
            with self.reopen(run_id), self.engine.begin() as connection:
                connection.execute(delete(ROWS).where(ROWS.c.run == number))
                connection.execute(delete(RUNS).where(RUNS.c.number == number))

    def _make_ready(self) -> None:
        """Bring the tables to the present version; what is newer stays untouched."""
        if self._is_ready:
            return
        with self.faults_told():
            if self.exists():
                self._version()
            with self.upgrading() as connection:
                schema.upgrade(connection)
        self._is_ready = True

    # ------------------------------------------------------------------ reading

    def _is_readable(self) -> bool:
        """Whether there is anything to be read; older tables are brought to the present version."""
        if self._is_ready:
            return True
        with self.faults_told():
            version = self._version() if self.exists() else 0
        if version == schema.LATEST:
            self._is_ready = True
        elif version:
            self._make_ready()
        return version > 0

    def _version(self) -> int:
        """Return the version of the tables, 0 where there are none.

        Raises:
            StoreError: It is newer than what this program knows.
        """
        try:
            with self.reading() as connection:
                return schema.version_of(connection)
        except StoreError as wrong:
            raise StoreError(f"{self.url}: {wrong}") from None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that changes nothing."""
        with self.engine.connect().execution_options(reads=True) as connection:
            yield connection

    def _found(self, query: Select[Any]) -> list[Any]:
        if not self._is_readable():
            return []
        with self.faults_told(), self.reading() as connection:
            return list(connection.execute(query))

    def runs(
        self,
        *,
        experiment: str | None = None,
        config_hash: str | None = None,
        state: State | None = None,
        limit: int | None = None,
    ) -> list[RunRecord]:
        """Return the records of runs, the newest first."""
        query = select(RUNS.c.record).order_by(RUNS.c.id.desc())
        if experiment is not None:
            query = query.where(RUNS.c.experiment == searchable(experiment))
        if config_hash is not None:
            query = query.where(RUNS.c.config_hash == searchable(config_hash))
        if state is not None:
            query = query.where(RUNS.c.state == state)
        if limit is not None:
            query = query.limit(limit)
        return [record_of(text) for (text,) in self._found(query)]

    def run(self, name: str) -> RunRecord:
        """Return one run's record by its id, by a unique beginning or end of it, or `latest`."""
        newest = select(RUNS.c.id).order_by(RUNS.c.id.desc())
        if name == LATEST:
            newest = newest.limit(1)
        try:
            run_id = meant(name, [one for (one,) in self._found(newest)])
        except (StoreError, UnknownNameError) as wrong:
            wrong.args = (f"{self.url}: {wrong}",)
            raise
        ((text,),) = self._found(select(RUNS.c.record).where(RUNS.c.id == run_id))
        return record_of(text)

    def _number(self, run_id: str) -> int:
        found = self._found(select(RUNS.c.number).where(RUNS.c.id == run_id))
        if not found:
            raise StoreError(f"{self.url}: there is no run {run_id}")
        return int(found[0][0])

    def rows(self, run_id: str) -> Iterator[StoredRow]:
        """Yield a run's rows in the order of their keys, few of them in memory at a time."""
        where = ROWS.c.run == self._number(run_id)
        after, size = Key(-1, -1), _LEAST
        while True:
            page = self._found(
                select(*list(ROWS.c)[1:])
                .where(where, *_behind(after))
                .order_by(ROWS.c.place, ROWS.c.trial)
                .limit(size)
            )
            rows = [StoredRow(*row) for row in page]
            yield from rows
            if len(rows) < size:
                return
            after = rows[-1].key
            size = _page_after(rows)

    def row(self, run_id: str, key: Key) -> StoredRow | None:
        """Return one row; None where it is not there."""
        here = (ROWS.c.run == self._number(run_id), ROWS.c.place == key.row)
        found = self._found(select(*list(ROWS.c)[1:]).where(*here, ROWS.c.trial == key.trial))
        return StoredRow(*found[0]) if found else None

    def done(self, run_id: str) -> Iterator[Key]:
        """Yield the keys of a run's rows, in order."""
        where = ROWS.c.run == self._number(run_id)
        after = Key(-1, -1)
        while True:
            page = self._found(
                select(ROWS.c.place, ROWS.c.trial)
                .where(where, *_behind(after))
                .order_by(ROWS.c.place, ROWS.c.trial)
                .limit(_MOST * 4)
            )
            yield from (after := Key(*found) for found in page)
            if not page:
                return

    def count(self, run_id: str) -> int:
        """Return how many rows of a run are there."""
        query = select(func.count()).select_from(ROWS)
        return int(self._found(query.where(ROWS.c.run == self._number(run_id)))[0][0])

    # ------------------------------------------------------------------ datasets

    @property
    def datasets(self) -> SqlDatasets:
        """The datasets that are kept here."""
        return SqlDatasets(self)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction in which no other process changes datasets or tables."""
        self._make_ready()
        with self.faults_told(), self.upgrading() as connection:
            yield connection

    # ------------------------------------------------------------------ the inbox

    @property
    def inbox(self) -> SqlInbox:
        """What production sends, and what is done with it."""
        return SqlInbox(self, add_new)

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        """Give a transaction."""
        self._make_ready()
        with self.faults_told(), self.engine.begin() as connection:
            yield connection

    def found(self, query: Select[Any]) -> list[Any]:
        """Return the rows of a query."""
        return self._found(query)

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Let go of files and connections."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _behind(key: Key) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of what comes after a key, as an index can answer them."""
    later = or_(ROWS.c.place > key.row, ROWS.c.trial > key.trial)
    return (ROWS.c.place >= key.row, later)


def _page_after(rows: list[StoredRow]) -> int:
    """Return how many rows the next page has, for it to be of bounded size."""
    packed = sum(
        len(row.graded) + len(row.example or b"") + len(row.explained or b"") for row in rows
    )
    return max(_LEAST, min(_MOST, _PAGE_BYTES * len(rows) // max(packed, 1)))


def record_of(text: str) -> RunRecord:
    """Read a record as it was kept."""
    return msgspec.convert(read_back(text), RunRecord)


def _here() -> str:
    return dumps(this_process()).decode()
