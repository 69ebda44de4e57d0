"""Hold: a file that one process at a time has locked.

The lock is the operating system's, and so ends with its process, however that dies. A lock of a
process is not its children's. What stands in the file says who holds it; it is removed at the end.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from trajgrade.errors import StoreError
from trajgrade.record import Holder

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, 2**30, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_TRIES = 5  # whoever looks who holds a file, holds it himself for a moment
_PAUSE = 0.02

# Closing any other descriptor of a locked file would unlock it: what this process holds is here.
_own: dict[str, Holder] = {}


def this_process() -> Holder:
    """Return what says who writes here."""
    return Holder(os.getpid(), socket.gethostname(), datetime.now(UTC).replace(microsecond=0))


class HeldError(Exception):
    """Another holds the file; `holder` is who, None where that cannot be said."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__(str(holder or "another process"))
        self.holder = holder


class Hold:
    """A file, held until it is let go.

    Args:
        path: The file.

    Raises:
        HeldError: Another holds it.
        OSError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = os.path.realpath(path)
        if self._path in _own:
            raise HeldError(_own[self._path])
        holder = this_process()
        self._file = _taken(self._path)
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, msgspec.json.encode(holder), 0)
        except OSError:
            os.close(self._file)
            raise
        _own[self._path] = holder

    def let_go(self) -> None:
        """Remove the file and its lock."""
        if _own.pop(self._path, None) is None:
            return
        with suppress(OSError):  # the folder is gone, or may not be written any more
            os.unlink(self._path)  # noqa: PTH108 a path is text here
        os.close(self._file)


def holder_of(path: Path) -> Holder | None:
    """Return who holds a file; None where none does."""
    where = os.path.realpath(path)
    if where in _own:
        return _own[where]
    try:
        file = os.open(where, os.O_RDWR)
    except OSError:
        return None
    try:
        _lock(file)
    except OSError:
        return _said(file) or Holder(0, "unknown", datetime.now(UTC))
    else:
        return None
    finally:
        os.close(file)


def _taken(path: str) -> int:
    """Return the file, locked.

    Raises:
        HeldError: Another holds it.
        OSError: It cannot be written.
    """
    tries = _TRIES
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(file)
        except OSError:
            tries -= 1
            holder = _said(file)
            os.close(file)
            if not tries:
                raise HeldError(holder) from None
            time.sleep(_PAUSE)
            continue
        if _is_there_still(file, path):
            return file
        os.close(file)  # it was removed between being opened and being locked


def _is_there_still(file: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))  # noqa: PTH116 as above
    except FileNotFoundError:
        return False


def _said(file: int) -> Holder | None:
    try:
        return msgspec.json.decode(os.pread(file, 4096, 0), type=Holder)
    except (OSError, ValueError):
        return None


def refusal(run_id: str, holder: Holder | None) -> StoreError:
    """Return the error of a run that another holds."""
    who = str(holder) if holder is not None else "another process"
    return StoreError(
        f"the run {run_id} is being written by {who}; wait until it is done, or stop that process"
    )
