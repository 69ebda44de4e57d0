"""Datasets in a folder: a file of JSON Lines for each version, and one that lists them.

    datasets/refunds/index.json      versions and tags
    datasets/refunds/v0001.jsonl     the rows of a version, one on a line

A version's file is written whole before the index names it, and is never changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from trajgrade.errors import StoreError
from trajgrade.jsontext import dumps, read_back
from trajgrade.stores.hold import HeldError, Hold
from trajgrade.stores.versioned import VersionedDatasets
from trajgrade.versions import (
    LATEST,
    DatasetVersion,
    Kept,
    check_name,
    check_tag,
    following,
    hash_of,
    kept,
    meant,
)


class Index(msgspec.Struct):
    """The versions of a dataset, the oldest first, and its tags."""

    versions: list[DatasetVersion] = []
    tags: dict[str, int] = {}


class FolderDatasets(VersionedDatasets):
    """Datasets in a folder.

    Args:
        folder: The folder; made when something is kept in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _put(
        self, name: str, made: Callable[[list[Kept]], list[Kept]], note: str
    ) -> DatasetVersion:
        with self._held(name) as index:
            versions = _read(index)
            old = [*self._kept(name, versions[0])] if versions else []
            rows = made(old)
            digest = hash_of(rows)
            if versions and versions[0].hash == digest:
                return versions[0]
            version = following(versions, name, rows, digest, note)
            _write(self._file(name, version.version), b"".join(row.text + b"\n" for row in rows))
            index.versions.append(version)
            self._save(name, index)
            return version

    def tag(self, name: str, tag: str, as_of: str | int = LATEST) -> DatasetVersion:
        """Have a tag name a version, and no other."""
        check_tag(tag)
        with self._held(name) as index:
            version = meant(as_of, self._known(_read(index), name), name)
            index.tags[tag] = version.version
            self._save(name, index)
        tags = tuple(sorted({*version.tags, tag}))
        return msgspec.structs.replace(version, tags=tags)

    def names(self) -> list[str]:
        """Return the names of all datasets, in order."""
        return sorted(path.parent.name for path in self._folder.glob("*/index.json"))

    def versions(self, name: str) -> list[DatasetVersion]:
        """Return the versions of a dataset, the newest first; none where there is no dataset."""
        check_name(name)
        return _read(self._index(name))

    def kept(self, name: str, as_of: str | int = LATEST, split: str = "") -> Iterator[Kept]:
        """Yield a version's rows as they are kept."""
        rows = self._kept(name, self.version(name, as_of))
        return (row for row in rows if not split or row.split == split)

    def _kept(self, name: str, version: DatasetVersion) -> Iterator[Kept]:
        with self._file(name, version.version).open("rb") as lines:
            for line in lines:
                yield from kept([read_back(line)], name)

    def _file(self, name: str, version: int) -> Path:
        return self._folder / name / f"v{version:04}.jsonl"

    def _index(self, name: str) -> Index:
        path = self._folder / name / "index.json"
        try:
            return msgspec.convert(read_back(path.read_bytes()), Index)
        except FileNotFoundError:
            return Index()
        except (ValueError, msgspec.ValidationError) as broken:
            raise StoreError(f"{path}: cannot be read: {broken}") from None

    def _save(self, name: str, index: Index) -> None:
        _write(self._folder / name / "index.json", dumps(index, indent=2) + b"\n")

    @contextmanager
    def _held(self, name: str) -> Iterator[Index]:
        """Keep other processes from changing a dataset; give its index."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            hold = Hold(folder / ".lock")
        except HeldError as held:
            raise StoreError(f"{folder}: is being changed by {held.holder}") from None
        try:
            yield self._index(name)
        finally:
            hold.let_go()


def _read(index: Index) -> list[DatasetVersion]:
    named: dict[int, list[str]] = {}
    for tag in sorted(index.tags):
        named.setdefault(index.tags[tag], []).append(tag)
    return [
        msgspec.structs.replace(version, tags=tuple(named.get(version.version, ())))
        for version in reversed(index.versions)
    ]


def _write(path: Path, text: bytes) -> None:
    """Write a file that is whole, or not there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
