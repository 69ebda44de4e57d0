"""Growing: a run in a database, while this process writes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

from sqlalchemy import Connection, bindparam, update

from trajgrade.errors import StoreError
from trajgrade.jsontext import dumps
from trajgrade.record import Key, RunRecord, StoredRow
from trajgrade.stores.tables import ROWS, RUNS

_PARTS = ("graded", "example", "explained")
_COLUMNS = ("run", "place", "trial", *_PARTS)
_ADDED = f"INSERT INTO trajgrade_rows ({', '.join(_COLUMNS)}) VALUES "  # noqa: S608 names of ours
_KEPT = " ON CONFLICT DO NOTHING"
_REPLACED = (
    " ON CONFLICT (run, place, trial) DO UPDATE SET "
    f"{', '.join(f'{part} = excluded.{part}' for part in _PARTS)}"
)


class Growing:
    """A run, held.

    Args:
        connection: A connection of its own, closed with it.
        number: The run's number in the table.
        run_id: The run's id.
        mark: How the database writes a parameter: `?` or `%s`.
        faults_told: What raises the database's faults as ours.
        let_go: Called once, when the run is let go.
    """

    def __init__(
        self,
        connection: Connection,
        number: int,
        run_id: str,
        *,
        mark: str,
        faults_told: Callable[[], AbstractContextManager[None]],
        let_go: Callable[[], None],
    ) -> None:
        self.run_id = run_id
        self._connection = connection
        self._number = number
        self._values = f"({', '.join([mark] * len(_COLUMNS))})"
        self._faults_told = faults_told
        self._let_go: Callable[[], None] | None = let_go
        self._lock = threading.Lock()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._faults_told(), self._lock:
            if self._let_go is None:
                raise StoreError(f"the run {self.run_id} was let go; reopen it to write it")
            if self._connection.invalidated:  # it would connect anew, and not hold the run
                raise StoreError(
                    f"the run {self.run_id} was let go when the connection was lost; go on with "
                    "--resume"
                )
            with self._connection.begin():
                yield self._connection

    def append(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows; one that is there already stays as it is."""
        self._write(f"{_ADDED}{self._values}{_KEPT}", rows)

    def rewrite(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows in place of those that are there with their keys, in one step."""
        self._write(f"{_ADDED}{self._values}{_REPLACED}", rows)

    def _write(self, statement: str, rows: Sequence[StoredRow]) -> None:
        if not rows:
            return
        run = self._number
        values = [(run, r.row, r.trial, r.graded, r.example, r.explained) for r in rows]
        with self._writing() as connection:
            connection.exec_driver_sql(statement, values)

    def finish(self, record: RunRecord, amended: Mapping[Key, bytes] | None = None) -> None:
        """Keep what became of the run, and what its end says of its rows."""
        ours = ROWS.c.run == self._number
        here = (ROWS.c.place == bindparam("at"), ROWS.c.trial == bindparam("repeat"))
        told: list[dict[str, Any]] = [
            {"at": key.row, "repeat": key.trial, "said": said}
            for key, said in (amended or {}).items()
        ]
        with self._writing() as connection:
            run = update(RUNS).where(RUNS.c.number == self._number)
            connection.execute(run.values(columns_of(record)))
            stale = update(ROWS).where(ours, ROWS.c.amended.is_not(None))
            connection.execute(stale.values(amended=None))
            if told:
                now = update(ROWS).where(ours, *here).values(amended=bindparam("said"))
                connection.execute(now, told)

    def close(self) -> None:
        """Let go of the run."""
        with self._lock:
            let_go, self._let_go = self._let_go, None
            if let_go is None:
                return
            try:
                let_go()
            finally:
                self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def columns_of(record: RunRecord) -> dict[str, Any]:
    """Return a run's record as it is kept."""
    return {
        "experiment": searchable(record.experiment),
        "config_hash": searchable(record.config_hash),
        "state": record.state,
        "record": dumps(record).decode(),
    }


def searchable(text: str) -> str:
    """Return a text that any database takes: no lone surrogates, no NUL."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")
