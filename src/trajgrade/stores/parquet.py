"""Parquet: a folder for each run, with its rows in Parquet files beside a manifest.

    <id>/manifest.json          the run's record, and which files its rows are in
    <id>/part-000000.parquet    rows

While a run grows each piece of it is a part, which processes of an engine write themselves where
they see the folder; at its end the rows are put in order, in parts of ten thousand. What was
written and not adopted when its process died does not count.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from trajgrade.errors import StoreError
from trajgrade.jsontext import dumps, read_back
from trajgrade.record import Key, RunRecord, StoredRow
from trajgrade.stores.folder import FolderRuns, faults_told
from trajgrade.stores.hold import Hold
from trajgrade.stores.lines import written_whole
from trajgrade.stores.parts import Parts, PartWriter, parquet, table_of, written

_PART = re.compile(r"part-(\d{6,})\.parquet")


class Manifest(msgspec.Struct, frozen=True):
    """What a run's folder holds.

    Attributes:
        run: The run's record.
        parts: The files of its rows, those apart that were added since.
        next: The number from which on a file was added since.
    """

    run: RunRecord
    parts: tuple[str, ...] = ()
    next: int = 0


class ParquetStore(FolderRuns):
    """Runs in a folder, as Parquet: `parquet:folder`."""

    def __init__(self, url: str) -> None:
        parquet()
        super().__init__(url)
        self.url = f"parquet:{self.folder}"

    def found(self) -> Iterable[str]:
        """Return the ids of the runs: there is a manifest."""
        return (one.name for one in os.scandir(self.folder) if self.record_of(one.name).is_file())

    def begin(self, record: RunRecord) -> None:
        """Make the folder and the manifest."""
        self._folder_of(record.id).mkdir()
        _write(self.record_of(record.id), Manifest(record))

    def writer(self, run_id: str, hold: Hold) -> PartsWriter:
        """Return what writes a run that is held."""
        return PartsWriter(run_id, self._folder_of(run_id), self._manifest(run_id), hold)

    def forget(self, run_id: str) -> None:
        """Remove the folder."""
        self.record_of(run_id).unlink(missing_ok=True)
        shutil.rmtree(self._folder_of(run_id))

    def read_record(self, run_id: str) -> RunRecord:
        """Return a run's record."""
        return self._manifest(run_id).run

    def _manifest(self, run_id: str) -> Manifest:
        path = self.record_of(run_id)
        with faults_told(path):
            text = path.read_bytes()
        try:
            return msgspec.convert(read_back(text), Manifest)
        except ValueError as wrong:
            raise StoreError(f"{path}: it is no manifest of a run: {wrong}") from None

    def rows(self, run_id: str) -> Iterator[StoredRow]:
        """Yield a run's rows in the order of their keys, few of them in memory at a time."""
        yield from self._parts(run_id)

    def row(self, run_id: str, key: Key) -> StoredRow | None:
        """Return one row; None where it is not there."""
        return self._parts(run_id).find(key)

    def done(self, run_id: str) -> Iterator[Key]:
        """Yield the keys of a run's rows, in order."""
        yield from self._parts(run_id).keys

    def count(self, run_id: str) -> int:
        """Return how many rows of a run are there."""
        return len(self._parts(run_id))

    def _parts(self, run_id: str) -> Parts:
        self.check(run_id)
        folder = self._folder_of(run_id)
        with faults_told(folder):
            return Parts(_counting(folder, self._manifest(run_id)))

    def record_of(self, run_id: str) -> Path:
        """Return where a run's manifest is."""
        return self._folder_of(run_id) / "manifest.json"

    def _folder_of(self, run_id: str) -> Path:
        return self.folder / run_id


class PartsWriter:
    """A run, held.

    Args:
        run_id: The run's id.
        folder: Its folder.
        manifest: What the folder holds.
        hold: What keeps others from it.

    Raises:
        StoreError: A part cannot be read.
        OSError: The folder cannot be written.
    """

    def __init__(self, run_id: str, folder: Path, manifest: Manifest, hold: Hold) -> None:
        self.run_id = run_id
        self.parts = PartWriter(str(folder.absolute()))
        self._folder = folder
        self._manifest = manifest
        self._hold: Hold | None = hold
        self._lock = threading.Lock()
        self._clean()
        paths = _counting(folder, manifest)
        self._keys = set(Parts(paths).keys)
        self._next = _after(paths, manifest.next)

    def append(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows; one that is there already stays as it is."""
        with self._writing():
            new = {row.key: row for row in reversed(rows) if row.key not in self._keys}
            self._write(list(reversed(new.values())))

    def rewrite(self, rows: Sequence[StoredRow]) -> None:
        """Keep rows in place of those that are there with their keys, in one step."""
        with self._writing():
            self._write(rows)

    def adopt(self, name: str, keys: Iterable[Key]) -> None:
        """Keep the rows of a part that `parts` wrote, also in place of those with their keys."""
        with self._writing():
            (self._folder / name).rename(self._named())
            self._keys.update(keys)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, faults_told(self._folder):
            if self._hold is None:
                raise StoreError(f"the run {self.run_id} was let go; reopen it to write it")
            yield

    def _write(self, rows: Sequence[StoredRow]) -> None:
        if rows:
            written(self._named(), table_of(rows))
            self._keys.update(row.key for row in rows)

    def _named(self) -> Path:
        """Return where the next part goes; its number is not given again."""
        self._next += 1
        return self._folder / f"part-{self._next - 1:06}.parquet"

    def finish(self, record: RunRecord, amended: Mapping[Key, bytes] | None = None) -> None:
        """Keep what became of the run, and what its end says of its rows."""
        with self._writing():
            names = []
            for table in Parts(_counting(self._folder, self._manifest)).amended(amended or {}):
                path = self._named()
                written(path, table)
                names.append(path.name)
            self._manifest = Manifest(record, tuple(names), self._next)
            _write(self._folder / "manifest.json", self._manifest)
            self._clean()

    def _clean(self) -> None:
        """Remove files that do not count."""
        counting = {path.name for path in _counting(self._folder, self._manifest)}
        for path in self._folder.iterdir():
            if path.suffix in (".parquet", ".new") and path.name not in counting:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the run."""
        with self._lock:
            hold, self._hold = self._hold, None
            if hold is not None:
                hold.let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _counting(folder: Path, manifest: Manifest) -> list[Path]:
    """Return the files in which rows are that count, later ones counting before earlier ones."""
    added = [path for path in folder.iterdir() if _number(path.name) >= manifest.next]
    parts = [folder / name for name in manifest.parts]
    return parts + sorted(added, key=lambda path: _number(path.name))


def _number(name: str) -> int:
    found = _PART.fullmatch(name)
    return -1 if found is None else int(found[1])


def _after(paths: Iterable[Path], least: int) -> int:
    return max((_number(path.name) + 1 for path in paths), default=least)


def _write(path: Path, manifest: Manifest) -> None:
    plain: dict[str, Any] = {name: getattr(manifest, name) for name in Manifest.__struct_fields__}
    written_whole(path, iter((dumps(plain, indent=2), b"\n")))
