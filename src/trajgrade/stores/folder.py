"""Folder: runs kept as files of a folder, whatever the files are."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import msgspec

from trajgrade.contracts import RunWriter
from trajgrade.errors import ConfigError, StoreError, UnknownNameError
from trajgrade.jsontext import read_back
from trajgrade.production import Inbox
from trajgrade.record import Holder, RunRecord, State
from trajgrade.stores.hold import HeldError, Hold, holder_of, refusal
from trajgrade.stores.kept_lines import FolderDatasets
from trajgrade.stores.naming import check_id, meant

_SAYS = {
    errno.ENOSPC: "the disk is full; what was written before is unharmed. Make room, and go on "
    "with --resume",
    errno.EDQUOT: "the disk's quota is used up; what was written before is unharmed",
    errno.EFBIG: "the file would be larger than may be; what was written before is unharmed",
    errno.EROFS: "the disk may only be read; name another store",
    errno.EACCES: "may not be written or read; check the rights of the folder",
}


@contextmanager
def faults_told(path: Path) -> Iterator[None]:
    """Raise what the system says of a path as `StoreError`."""
    try:
        yield
    except OSError as broken:
        said = broken.strerror or str(broken)
        told = f"{_SAYS[broken.errno]} ({said})" if broken.errno in _SAYS else said
        raise StoreError(f"{path}: {told}") from broken


class FolderRuns:
    """Runs in a folder; a subclass says which files of it a run is.

    Args:
        url: `name:folder`; also `name:///folder` for an absolute path.

    Raises:
        ConfigError: It names no folder.
    """

    def __init__(self, url: str) -> None:
        name, _, where = url.partition(":")
        folder = where.removeprefix("//") if where.startswith("///") else where
        if not folder or folder.startswith("//"):
            raise ConfigError(f"{url!r} names no folder: write {name}:folder")
        self.folder = Path(folder)
        self.url = f"{self.folder}{os.sep}"

    # ------------------------------------------------------------------ what differs

    def record_of(self, run_id: str) -> Path:
        """Return where a run's record is."""
        raise NotImplementedError

    def found(self) -> Iterable[str]:
        """Return the ids of the runs in the folder, which exists, in any order."""
        raise NotImplementedError

    def begin(self, record: RunRecord) -> None:
        """Make the files of a run that has none."""
        raise NotImplementedError

    def writer(self, run_id: str, hold: Hold) -> RunWriter:
        """Return what writes a run that is held."""
        raise NotImplementedError

    def forget(self, run_id: str) -> None:
        """Remove the files of a run that is held."""
        raise NotImplementedError

    # ------------------------------------------------------------------ writing

    def create(self, record: RunRecord) -> RunWriter:
        """Begin a run, and hold it."""
        check_id(record.id)
        with faults_told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        return self._held(record.id, record)

    def reopen(self, run_id: str) -> RunWriter:
        """Hold a run that exists, to go on with it."""
        self.check(run_id)
        return self._held(run_id, None)

    def _held(self, run_id: str, new: RunRecord | None) -> RunWriter:
        with faults_told(self.folder):
            try:
                hold = Hold(self._lock_of(run_id))
            except HeldError as held:
                raise StoreError(f"{self.url}: {refusal(run_id, held.holder)}") from None
            try:
                if new is not None:
                    self.begin(new)
                return self.writer(run_id, hold)
            except BaseException:
                hold.let_go()
                raise

    def delete(self, run_id: str) -> None:
        """Forget a run and its rows, unless a process holds it."""
        with self.reopen(run_id), faults_told(self.folder):
            self.forget(run_id)

    # ------------------------------------------------------------------ reading

    def runs(
        self,
        *,
        experiment: str | None = None,
        config_hash: str | None = None,
        state: State | None = None,
        limit: int | None = None,
    ) -> list[RunRecord]:
        """Return the records of runs, the newest first."""
        wanted = {"experiment": experiment, "config_hash": config_hash, "state": state}
        found: list[RunRecord] = []
        for run_id in self._ids():
            if limit is not None and len(found) >= limit:
                break
            record = self.read_record(run_id)
            if all(given in (None, getattr(record, name)) for name, given in wanted.items()):
                found.append(record)
        return found

    def run(self, name: str) -> RunRecord:
        """Return one run's record by its id, by a unique beginning or end of it, or `latest`."""
        try:
            return self.read_record(meant(name, self._ids()))
        except UnknownNameError as wrong:
            wrong.args = (f"{self.url}: {wrong}",)
            raise

    def _ids(self) -> list[str]:
        """Return the ids, the newest first; of other files in the folder, none is a run."""
        with faults_told(self.folder):
            return sorted(self.found(), reverse=True) if self.folder.is_dir() else []

    def read_record(self, run_id: str) -> RunRecord:
        """Return a run's record.

        Raises:
            StoreError: It is none.
        """
        path = self.record_of(run_id)
        with faults_told(path):
            text = path.read_bytes()
        try:
            return msgspec.convert(read_back(text), RunRecord)
        except ValueError as wrong:
            raise StoreError(f"{path}: it is no record of a run: {wrong}") from None

    def holder(self, run_id: str) -> Holder | None:
        """Return the process that writes a run now; None where none does."""
        return holder_of(self._lock_of(run_id))

    def check(self, run_id: str) -> None:
        """Refuse an id that no run has.

        Raises:
            StoreError: There is none.
        """
        check_id(run_id)
        if not self.record_of(run_id).is_file():
            raise StoreError(f"{self.url}: there is no run {run_id}")

    def _lock_of(self, run_id: str) -> Path:
        return self.folder / f".{run_id}.lock"

    # ------------------------------------------------------------------ what else is kept

    @property
    def datasets(self) -> FolderDatasets:
        """The datasets that are kept here."""
        return FolderDatasets(self.folder / "datasets")

    @property
    def inbox(self) -> Inbox:
        """Raise an error: a folder cannot hold a queue."""
        raise StoreError(
            f"{self.url}: automation needs a database: name an SQLite file, such as trajgrade.db, "
            "or postgresql://…"
        )

    def close(self) -> None:
        """Let go of files: none is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
