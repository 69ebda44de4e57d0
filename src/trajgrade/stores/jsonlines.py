"""JSON Lines: a folder with two text files for each run, for those who keep runs in Git.

    <id>.json      the run's record
    <id>.jsonl     its rows, a line each

While a run grows, lines are only added; at its end they are put in the order of the dataset, so
that two runs can be compared line by line.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import msgspec

from trajgrade.errors import ConfigError, StoreError, UnknownNameError
from trajgrade.jsontext import dumps, read_back
from trajgrade.production import Inbox
from trajgrade.record import Holder, Key, RunRecord, State, StoredRow
from trajgrade.stores.hold import HeldError, Hold, holder_of, refusal
from trajgrade.stores.kept_lines import FolderDatasets
from trajgrade.stores.lines import Lines, line_of, written_whole
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
def _faults_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as broken:
        said = broken.strerror or str(broken)
        told = f"{_SAYS[broken.errno]} ({said})" if broken.errno in _SAYS else said
        raise StoreError(f"{path}: {told}") from broken


class JsonLinesStore:
    """Runs in a folder.

    Args:
        url: `jsonl:folder`; also `jsonl:///folder` for an absolute path.

    Raises:
        ConfigError: It names no folder.
    """

    def __init__(self, url: str) -> None:
        where = url.partition(":")[2]
        folder = where.removeprefix("//") if where.startswith("///") else where
        if not folder or folder.startswith("//"):
            raise ConfigError(f"{url!r} names no folder: write jsonl:folder, or folder/")
        self._folder = Path(folder)
        self.url = f"{self._folder}{os.sep}"

    # ------------------------------------------------------------------ writing

    def create(self, record: RunRecord) -> LinesWriter:
        """Begin a run, and hold it."""
        check_id(record.id)
        with _faults_told(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)

        def begun() -> None:
            self._rows_of(record.id).open("xb").close()
            _write_record(self._record_of(record.id), record)

        return self._held(record.id, begun)

    def reopen(self, run_id: str) -> LinesWriter:
        """Hold a run that exists, to go on with it."""
        self._check(run_id)
        return self._held(run_id, lambda: None)

    def _held(self, run_id: str, begin: Callable[[], None]) -> LinesWriter:
        with _faults_told(self._folder):
            try:
                hold = Hold(self._lock_of(run_id))
            except HeldError as held:
                raise StoreError(f"{self.url}: {refusal(run_id, held.holder)}") from None
            try:
                begin()
                return LinesWriter(run_id, self._rows_of(run_id), self._record_of(run_id), hold)
            except BaseException:
                hold.let_go()
                raise

    def delete(self, run_id: str) -> None:
        """Forget a run and its rows, unless a process holds it."""
        with self.reopen(run_id), _faults_told(self._folder):
            self._record_of(run_id).unlink(missing_ok=True)
            self._rows_of(run_id).unlink(missing_ok=True)

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
            record = self._read_record(run_id)
            if all(given in (None, getattr(record, name)) for name, given in wanted.items()):
                found.append(record)
        return found

    def run(self, name: str) -> RunRecord:
        """Return one run's record by its id, by a unique beginning or end of it, or `latest`."""
        try:
            return self._read_record(meant(name, self._ids()))
        except UnknownNameError as wrong:
            wrong.args = (f"{self.url}: {wrong}",)
            raise

    def _ids(self) -> list[str]:
        """Return the ids, the newest first; of other files in the folder, none is a run."""
        with _faults_told(self._folder):
            if not self._folder.is_dir():
                return []
            names = {entry.name for entry in os.scandir(self._folder)}
        stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return sorted((stem for stem in stems if f"{stem}.jsonl" in names), reverse=True)

    def _read_record(self, run_id: str) -> RunRecord:
        path = self._record_of(run_id)
        with _faults_told(path):
            text = path.read_bytes()
        try:
            return msgspec.convert(read_back(text), RunRecord)
        except ValueError as wrong:
            raise StoreError(f"{path}: it is no record of a run: {wrong}") from None

    def holder(self, run_id: str) -> Holder | None:
        """Return the process that writes a run now; None where none does."""
        return holder_of(self._lock_of(run_id))

    def rows(self, run_id: str) -> Iterator[StoredRow]:
        """Yield a run's rows in the order of their keys, few of them in memory at a time."""
        yield from self._lines(run_id)

    def row(self, run_id: str, key: Key) -> StoredRow | None:
        """Return one row; None where it is not there."""
        return self._lines(run_id).find(key)

    def done(self, run_id: str) -> Iterator[Key]:
        """Yield the keys of a run's rows, in order."""
        yield from self._lines(run_id).keys

    def count(self, run_id: str) -> int:
        """Return how many rows of a run are there."""
        return len(self._lines(run_id))

    def _lines(self, run_id: str) -> Lines:
        self._check(run_id)
        with _faults_told(self._rows_of(run_id)):
            return Lines(self._rows_of(run_id))

    def _check(self, run_id: str) -> None:
        check_id(run_id)
        if not self._record_of(run_id).is_file():
            raise StoreError(f"{self.url}: there is no run {run_id}")

    def _rows_of(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.jsonl"

    def _record_of(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.json"

    def _lock_of(self, run_id: str) -> Path:
        return self._folder / f".{run_id}.lock"

    # ------------------------------------------------------------------ datasets

    @property
    def datasets(self) -> FolderDatasets:
        """The datasets that are kept here."""
        return FolderDatasets(self._folder / "datasets")

    @property
    def inbox(self) -> Inbox:
        """Raise an error: a folder cannot hold a queue."""
        raise StoreError(
            f"{self.url}: automation needs a database: name an SQLite file, such as trajgrade.db, "
            "or postgresql://…"
        )

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Let go of files: none is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class LinesWriter:
    """A run, held.

    Args:
        run_id: The run's id.
        path: Its rows.
        record: Where its record is.
        hold: What keeps others from it.

    Raises:
        StoreError: A line cannot be read.
        OSError: The file cannot be written.
    """

    def __init__(self, run_id: str, path: Path, record: Path, hold: Hold) -> None:
        self.run_id = run_id
        self._path = path
        self._record = record
        self._hold: Hold | None = hold
        self._lock = threading.Lock()
        lines = Lines(path)
        self._keys = set(lines.keys)
        self._end = lines.end
        self._file = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        if lines.size > lines.end:
            os.ftruncate(self._file, lines.end)

    def append(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows; one that is there already stays as it is."""
        with self._writing():
            new = {row.key: row for row in reversed(rows) if row.key not in self._keys}
            self._write(list(reversed(new.values())))

    def rewrite(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows in place of those that are there with their keys, in one step."""
        with self._writing():
            self._write(rows)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, _faults_told(self._path):
            if self._hold is None:
                raise StoreError(f"the run {self.run_id} was let go; reopen it to write it")
            yield

    def _write(self, rows: Sequence[StoredRow]) -> None:
        text = b"".join(map(line_of, rows))
        os.lseek(self._file, self._end, os.SEEK_SET)
        try:
            left = memoryview(text)
            while left:
                left = left[os.write(self._file, left) :]
        except BaseException:
            with suppress(OSError):  # what is torn is left out by whoever reads the file
                os.ftruncate(self._file, self._end)
            raise
        self._end += len(text)
        self._keys.update(row.key for row in rows)

    def finish(self, record: RunRecord, amended: Mapping[Key, bytes] | None = None) -> None:
        """Keep what became of the run, and what its end says of its rows."""
        told = amended or {}
        with self._writing():
            lines = Lines(self._path)
            if not lines.in_order or any(row.amended != told.get(row.key) for row in lines):
                end = (
                    line_of(msgspec.structs.replace(row, amended=told.get(row.key)))
                    for row in lines
                )
                written_whole(self._path, end)
                os.close(self._file)
                self._file = os.open(self._path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
                self._end = os.lseek(self._file, 0, os.SEEK_END)
            else:
                os.fsync(self._file)
            _write_record(self._record, record)

    def close(self) -> None:
        """Let go of the run."""
        with self._lock:
            hold, self._hold = self._hold, None
            if hold is not None:
                os.close(self._file)
                hold.let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _write_record(path: Path, record: RunRecord) -> None:
    written_whole(path, iter((dumps(record, indent=2), b"\n")))
