"""JSON Lines: a folder with two text files for each run, for those who keep runs in Git.

    <id>.json      the run's record
    <id>.jsonl     its rows, a line each

While a run grows, lines are only added; at its end they are put in the order of the dataset, so
that two runs can be compared line by line.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import msgspec

from trajgrade.errors import StoreError
from trajgrade.jsontext import dumps
from trajgrade.record import Key, RunRecord, StoredRow
from trajgrade.stores.folder import FolderRuns, faults_told
from trajgrade.stores.hold import Hold
from trajgrade.stores.lines import Lines, line_of, written_whole


class JsonLinesStore(FolderRuns):
    """Runs in a folder, as JSON Lines: `jsonl:folder`, or `folder/`."""

    def found(self) -> Iterable[str]:
        """Return the ids of the runs: both files are there."""
        names = {entry.name for entry in os.scandir(self.folder)}
        stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return (stem for stem in stems if f"{stem}.jsonl" in names)

    def begin(self, record: RunRecord) -> None:
        """Make both files."""
        self._rows_of(record.id).open("xb").close()
        _write_record(self.record_of(record.id), record)

    def writer(self, run_id: str, hold: Hold) -> LinesWriter:
        """Return what writes a run that is held."""
        return LinesWriter(run_id, self._rows_of(run_id), self.record_of(run_id), hold)

    def forget(self, run_id: str) -> None:
        """Remove both files."""
        self.record_of(run_id).unlink(missing_ok=True)
        self._rows_of(run_id).unlink(missing_ok=True)

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
        self.check(run_id)
        with faults_told(self._rows_of(run_id)):
            return Lines(self._rows_of(run_id))

    def _rows_of(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.jsonl"

    def record_of(self, run_id: str) -> Path:
        """Return where a run's record is."""
        return self.folder / f"{run_id}.json"


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
        with self._lock, faults_told(self._path):
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
