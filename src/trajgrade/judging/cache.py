"""Cache: replies of judges, kept in a file for later runs.

A reply is kept under the hash of all that it depends on: provider, address, model, parameters, what
was asked, and which of several samples it was. What is kept is JSON text; whatever else a file
holds is no reply, and is asked for anew. A file that cannot be used is reported once and left
alone: a cache saves money and decides nothing.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from pathlib import Path

import msgspec

from trajgrade.contracts import JudgeReply

VARIABLE = "TRAJGRADE_CACHE"
OFF = frozenset(("0", "off", "false", "no", "none"))
_VERSION = "replies_1"


def cache_path(wanted: bool | str) -> Path | None:
    """Return the file in which replies are kept; None where they are not.

    Args:
        wanted: Whether they are, or the file. `TRAJGRADE_CACHE` names the file, or is `off`.
    """
    if wanted is False:
        return None
    named = os.environ.get(VARIABLE, "").strip()
    if named.lower() in OFF:
        return None
    if isinstance(wanted, str):
        return Path(wanted).expanduser()
    if named:
        found = Path(named).expanduser()
        return found / "judge.db" if found.is_dir() or not found.suffix else found
    home = os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
    return Path(home).expanduser() / "trajgrade" / "judge.db"


class Cache:
    """Replies in an SQLite file, which several processes may use at once.

    Args:
        path: The file; it is made where it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._broken = False

    def get(self, key: str) -> JudgeReply | None:
        """Return the reply kept under a key; None where there is none that can be read."""
        with self._lock:
            try:
                found = self._db().execute(f"SELECT reply FROM {_VERSION} WHERE key = ?", (key,))  # noqa: S608 a constant
                row = found.fetchone()
            except (sqlite3.Error, OSError) as broken:
                self._gave_up(broken)
                return None
        if row is None:
            return None
        try:
            return msgspec.structs.replace(
                msgspec.json.decode(row[0], type=JudgeReply), cached=True
            )
        except (msgspec.DecodeError, TypeError, UnicodeDecodeError):
            return None

    def put(self, key: str, reply: JudgeReply) -> None:
        """Keep a reply under a key."""
        text = msgspec.json.encode(msgspec.structs.replace(reply, cached=False))
        with self._lock:
            try:
                self._db().execute(
                    f"INSERT OR REPLACE INTO {_VERSION} VALUES (?, ?, ?)",  # noqa: S608 a constant
                    (key, text, time.time()),
                )
            except (sqlite3.Error, OSError) as broken:
                self._gave_up(broken)

    def forget(self, key: str) -> None:
        """Keep nothing under a key."""
        with self._lock:
            try:
                self._db().execute(f"DELETE FROM {_VERSION} WHERE key = ?", (key,))  # noqa: S608 a constant
            except (sqlite3.Error, OSError) as broken:
                self._gave_up(broken)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def __del__(self) -> None:
        """Close the file; a connection that is left open is warned of."""
        self.close()

    def _db(self) -> sqlite3.Connection:
        if self._broken:
            raise sqlite3.OperationalError("given up")
        if self._open is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            opened = sqlite3.connect(
                self.path, timeout=10.0, isolation_level=None, check_same_thread=False
            )
            try:
                opened.execute("PRAGMA journal_mode = WAL")
                opened.execute("PRAGMA synchronous = NORMAL")
                opened.execute(
                    f"CREATE TABLE IF NOT EXISTS {_VERSION} "
                    "(key TEXT PRIMARY KEY, reply BLOB NOT NULL, at REAL NOT NULL) WITHOUT ROWID"
                )
            except sqlite3.Error:
                opened.close()
                raise
            self._open = opened
            os.chmod(self.path, 0o600)  # noqa: PTH101 what judges said of traces is its owner's
        return self._open

    def _gave_up(self, broken: Exception) -> None:
        if not self._broken:
            self._broken = True
            warnings.warn(
                f"the judge's cache {self.path} cannot be used ({broken}); replies are not kept",
                stacklevel=4,
            )
