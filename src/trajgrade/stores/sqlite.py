"""SQLite: all runs in one file.

In WAL mode readers and the writer do not wait for each other. What is written survives the end of
its process, however that ends; of what was written just before the power fails, the last may be
lost, and nothing else. The file must be on a disk of this machine: SQLite's locks do not hold on
most network file systems.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool, QueuePool

from trajgrade.errors import ConfigError, StoreError
from trajgrade.record import Holder
from trajgrade.stores.hold import HeldError, Hold, holder_of, refusal
from trajgrade.stores.inbox_sql import SqlInbox
from trajgrade.stores.sql import SqlStore

PATIENCE = 30.0  # seconds that a writer waits for another to end its transaction

_SAYS = {
    sqlite3.SQLITE_BUSY: "another program has locked the database, and for too long",
    sqlite3.SQLITE_LOCKED: "another program has locked the database, and for too long",
    sqlite3.SQLITE_READONLY: "the database may not be written; check the rights of the file and "
    "of its folder, or name another store",
    sqlite3.SQLITE_PERM: "the database may not be opened; check the rights of the file",
    sqlite3.SQLITE_CANTOPEN: "the database cannot be opened; its folder must exist, and it must "
    "be a file",
    sqlite3.SQLITE_FULL: "the disk is full; what was written before is unharmed. Make room, and "
    "go on with --resume",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written, or has no room; what was written "
    "before is unharmed",
    sqlite3.SQLITE_NOTADB: "the file is no SQLite database; name another, or remove it",
    sqlite3.SQLITE_CORRUPT: "the database is damaged; `sqlite3 FILE .recover` may save what is in "
    "it",
}


class SqliteStore(SqlStore):
    """Runs in one SQLite file.

    Args:
        url: `sqlite:///runs.db` for a relative path, `sqlite:////tmp/runs.db` for an absolute one.

    Raises:
        ConfigError: It names no file.
    """

    def __init__(self, url: str) -> None:
        self._path = _path_of(url)
        super().__init__(_engine(self._path, poolclass=NullPool), str(self._path))

    @property
    def inbox(self) -> SqlInbox:
        """What production sends, and what is done with it.

        Its many small transactions share connections: where the last one closes, SQLite writes all
        that was kept beside the file into it, which takes longer than the transaction.
        """
        if isinstance(self.engine.pool, NullPool):
            self.engine = _engine(self._path, poolclass=QueuePool, max_overflow=-1)
        return super().inbox

    def explain(self, error: DBAPIError) -> str:
        """Return what a fault of SQLite means, and what to do."""
        return self._told(error.orig)

    def _told(self, error: BaseException | None) -> str:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return f"{_SAYS[code]} ({error})" if code in _SAYS else str(error)

    def exists(self) -> bool:
        """Whether there is a file."""
        return self._path.exists()

    @contextmanager
    def upgrading(self) -> Iterator[Connection]:
        """Give a transaction that makes the file, if there is none."""
        if not self._path.exists():
            self._path.touch(mode=0o600)  # SQLite's files beside it get the same rights
        with self.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            try:
                _make_wal(raw)
            except sqlite3.Error as broken:
                raise StoreError(f"{self.url}: {self._told(broken)}") from broken
            with connection.begin():
                yield connection

    def hold(self, connection: Connection, run_id: str) -> Callable[[], None]:
        """Hold a run by a file beside the database."""
        try:
            return Hold(self._lock_of(run_id)).let_go
        except HeldError as held:
            error = refusal(run_id, held.holder)
            raise StoreError(f"{self.url}: {error}") from None

    def holder(self, run_id: str) -> Holder | None:
        """Return the process that writes a run now; None where none does."""
        return holder_of(self._lock_of(run_id))

    def _lock_of(self, run_id: str) -> Path:
        return self._path.with_name(f".{self._path.name}.{run_id}.lock")


def _engine(path: Path, **pool: Any) -> Engine:
    engine = create_engine("sqlite://", creator=lambda: _connected(path), **pool)
    event.listen(engine, "begin", _begin)
    return engine


def _path_of(url: str) -> Path:
    try:
        path = make_url(url).database
    except ArgumentError:
        path = None
    if not path or path == ":memory:":
        raise ConfigError(f"{url!r} names no file: write sqlite:///runs.db, or runs.db")
    return Path(path)


def _connected(path: Path) -> sqlite3.Connection:
    """Connect to a file that exists, for reading only where it cannot be written."""
    raw = _opened(path, "mode=rw")
    try:
        raw.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as broken:
        raw.close()
        if not _lies_still(path, broken):
            raise
        raw = _opened(path, "immutable=1")
    raw.execute("PRAGMA synchronous = NORMAL")
    return raw


def _opened(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(os.fspath(path))}?{how}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,  # transactions are begun below
        check_same_thread=False,
    )


def _lies_still(path: Path, broken: sqlite3.OperationalError) -> bool:
    """Whether a file that cannot be opened lies where nothing can be written, and so is whole."""
    if broken.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
        return False
    beside = path.with_name(f"{path.name}-wal")
    is_whole = not beside.exists() or not beside.stat().st_size
    return path.is_file() and is_whole and not os.access(path.parent, os.W_OK)


def _make_wal(raw: sqlite3.Connection) -> None:
    """Set the mode, which the file keeps; that cannot be done in a transaction."""
    with closing(raw.execute("PRAGMA journal_mode")) as cursor:
        mode = cursor.fetchone()[0]
    if mode != "wal":
        raw.execute("PRAGMA journal_mode = WAL").close()


def _begin(connection: Connection) -> None:
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
