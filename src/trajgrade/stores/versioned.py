"""Versioned: what a store's datasets are, however their rows are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trajgrade.errors import DatasetError, unknown
from trajgrade.jsontext import read_back
from trajgrade.versions import LATEST, DatasetVersion, Kept, check_name, kept, meant, merged

Rows = Iterable[Mapping[str, Any]]


class VersionedDatasets(ABC):
    """Datasets of which each change makes a new version."""

    def put(self, name: str, rows: Rows, *, note: str = "") -> DatasetVersion:
        """Keep rows as the newest version; where they are the newest already, that is returned."""
        check_name(name)
        return self._put(name, lambda _old: kept(rows, name), note)

    def add(self, name: str, rows: Rows, *, note: str = "") -> DatasetVersion:
        """Keep the newest version with these rows, which replace those of their ids."""
        check_name(name)
        return self._put(name, lambda old: merged(old, kept(rows, name)), note)

    def version(self, name: str, as_of: str | int = LATEST) -> DatasetVersion:
        """Return the version that a tag, a number or `latest` means."""
        return meant(as_of, self._known(self.versions(name), name), name)

    def rows(self, name: str, as_of: str | int = LATEST, split: str = "") -> Iterator[Any]:
        """Yield a version's rows."""
        return (read_back(row.text) for row in self.kept(name, as_of, split))

    def _known(self, versions: Sequence[DatasetVersion], name: str) -> Sequence[DatasetVersion]:
        if not versions:
            there = self.names()
            raise DatasetError(unknown("dataset", name, there) if there else f"no dataset {name!r}")
        return versions

    @abstractmethod
    def _put(
        self, name: str, made: Callable[[list[Kept]], list[Kept]], note: str
    ) -> DatasetVersion:
        """Keep what is made of the newest version's rows, unless that changes nothing."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all datasets, in order."""

    @abstractmethod
    def versions(self, name: str) -> list[DatasetVersion]:
        """Return the versions of a dataset, the newest first; none where there is no dataset."""

    @abstractmethod
    def kept(self, name: str, as_of: str | int = LATEST, split: str = "") -> Iterator[Kept]:
        """Yield a version's rows as they are kept."""
