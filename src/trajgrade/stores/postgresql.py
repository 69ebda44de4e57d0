"""PostgreSQL: runs in a database that many machines share.

A run is held by an advisory lock of its writer's connection, which the server gives up when the
connection ends: with its process, with its machine, or when the server stops. A pooler between the
two must keep a connection for as long as a client has it (`session` mode).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec
from sqlalchemy import URL, Connection, create_engine, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from trajgrade.errors import ConfigError, MissingExtraError, StoreError
from trajgrade.record import Holder
from trajgrade.stores.hold import refusal
from trajgrade.stores.sql import SqlStore
from trajgrade.stores.tables import RUNS

_DRIVER = "postgresql+psycopg"
_UPGRADE = 0x7472616A  # the lock that a change of the tables is made under
_ALIVE = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
_CONNECT = {"connect_timeout": 10, "application_name": "trajgrade"}
_BY_INDEX = text(
    "SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)"
)
_SAYS = {
    "53100": "the server's disk is full; what was written before is unharmed. Make room, and go "
    "on with --resume",
    "25006": "the database may only be read",
    "42501": "this user may not do that",
}


class PostgresqlStore(SqlStore):
    """Runs in a PostgreSQL database.

    Args:
        url: `postgresql://user:password@host:port/database`.

    Raises:
        ConfigError: It is no such address.
        MissingExtraError: psycopg is not installed.
    """

    mark = "%s"

    def __init__(self, url: str) -> None:
        where = _url_of(url)
        try:
            engine = create_engine(where, connect_args=_CONNECT, pool_pre_ping=True)
        except ImportError:
            raise MissingExtraError("a PostgreSQL store", "psycopg", "postgres") from None
        super().__init__(engine, _shown(where))

    def explain(self, error: DBAPIError) -> str:
        """Return what a fault of the server means, and what to do."""
        said = super().explain(error)
        state = getattr(error.orig, "sqlstate", None)
        if state in _SAYS:
            return f"{_SAYS[state]} ({said})"
        if error.connection_invalidated:
            return f"the connection to the server was lost; go on with --resume ({said})"
        return said

    @contextmanager
    def upgrading(self) -> Iterator[Connection]:
        """Give a transaction in which no other process changes the tables."""
        with self.engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:it)"), {"it": _UPGRADE})
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that changes nothing.

        Before a new table has statistics, the server takes it for tiny and sorts all of it for each
        page; it is told not to.
        """
        with super().reading() as connection:
            connection.execute(_BY_INDEX)
            yield connection

    def hold(self, connection: Connection, run_id: str) -> Callable[[], None]:
        """Hold a run by a lock of the connection."""
        it = {"it": _lock_of(run_id)}
        connection.detach()  # back in the pool, it would keep the lock
        for setting, seconds in _ALIVE.items():
            connection.execute(text(f"SET {setting} = {seconds}"))
        is_ours = connection.execute(text("SELECT pg_try_advisory_lock(:it)"), it).scalar()
        connection.commit()
        if not is_ours:
            raise StoreError(f"{self.url}: {refusal(run_id, self._said(run_id))}")

        def let_go() -> None:
            with suppress(DBAPIError):  # where the connection is lost, so is the lock
                connection.execute(text("SELECT pg_advisory_unlock(:it)"), it)
                connection.commit()

        return let_go

    def holder(self, run_id: str) -> Holder | None:
        """Return the process that writes a run now; None where none does."""
        lock = _lock_of(run_id) % 2**64
        held = text(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted "
            "AND classid = :high AND objid = :low AND objsubid = 1 AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        ).bindparams(high=lock >> 32, low=lock % 2**32)
        with self.faults_told(), self.reading() as connection:
            is_held = connection.execute(held).scalar()
        return self._said(run_id) if is_held else None

    def _said(self, run_id: str) -> Holder | None:
        with self.faults_told(), self.reading() as connection:
            query = select(RUNS.c.holder).where(RUNS.c.id == run_id)
            said = connection.execute(query).scalar()
        return msgspec.json.decode(said, type=Holder) if said else None


def _url_of(url: str) -> URL:
    try:
        where = make_url(url)
    except ArgumentError:
        where = None
    if where is None or where.drivername not in {"postgresql", "postgres", _DRIVER}:
        raise ConfigError(
            "that is no address of a PostgreSQL store: write "
            "postgresql://user:password@host:port/database; psycopg is the only driver"
        )
    return where.set(drivername=_DRIVER)


def _shown(where: URL) -> str:
    """Return an address without passwords, wherever in it they stand."""
    query = {key: "***" if "pass" in key else value for key, value in where.query.items()}
    shown = where.set(drivername="postgresql", query=query)
    return shown.render_as_string(hide_password=True)


def _lock_of(run_id: str) -> int:
    """Return the number of a run's lock, of 64 bits with a sign."""
    digest = hashlib.sha256(f"trajgrade run {run_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
