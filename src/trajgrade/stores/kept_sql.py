"""Datasets in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import msgspec
from sqlalchemy import Connection, Select, delete, insert, select

from trajgrade.jsontext import dumps, read_back
from trajgrade.stores.dataset_tables import CONTENTS, ITEMS, TAGS, VERSIONS
from trajgrade.stores.growing import searchable
from trajgrade.stores.versioned import VersionedDatasets
from trajgrade.versions import LATEST, DatasetVersion, Kept, check_tag, following, hash_of, meant

_PAGE = 500


class Database(Protocol):
    """What keeps the tables."""

    def writing(self) -> Any:
        """Give a transaction in which no other process writes."""
        ...

    def found(self, query: Select[Any]) -> list[Any]:
        """Return the rows of a query."""
        ...


class SqlDatasets(VersionedDatasets):
    """Datasets in a database.

    Args:
        database: The database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def _put(
        self, name: str, made: Callable[[list[Kept]], list[Kept]], note: str
    ) -> DatasetVersion:
        with self._database.writing() as connection:
            return _changed(connection, name, made, note)

    def tag(self, name: str, tag: str, as_of: str | int = LATEST) -> DatasetVersion:
        """Have a tag name a version, and no other."""
        check_tag(tag)
        with self._database.writing() as connection:
            version = meant(as_of, self._known(_versions(connection, name), name), name)
            connection.execute(delete(TAGS).where(TAGS.c.dataset == name, TAGS.c.tag == tag))
            values = {"dataset": name, "tag": tag, "version": version.version}
            connection.execute(insert(TAGS).values(values))
        tags = tuple(sorted({*version.tags, tag}))
        return msgspec.structs.replace(version, tags=tags)

    def names(self) -> list[str]:
        """Return the names of all datasets, in order."""
        query = select(VERSIONS.c.dataset).distinct().order_by(VERSIONS.c.dataset)
        return [name for (name,) in self._database.found(query)]

    def versions(self, name: str) -> list[DatasetVersion]:
        """Return the versions of a dataset, the newest first; none where there is no dataset."""
        tags = self._database.found(_tags(name))
        return _read(self._database.found(_records(name)), tags)

    def kept(self, name: str, as_of: str | int = LATEST, split: str = "") -> Iterator[Kept]:
        """Yield a version's rows as they are kept, few of them in memory at a time."""
        version = self.version(name, as_of)
        after = -1
        while True:
            page = self._database.found(_page(name, version.version, split, after))
            for place, *row in page:
                yield Kept(*row)
                after = place
            if len(page) < _PAGE:
                return


def add_new(connection: Connection, name: str, rows: list[Kept]) -> None:
    """Add rows whose ids a dataset has not, within a transaction."""

    def made(old: list[Kept]) -> list[Kept]:
        there = {row.id for row in old}
        return [*old, *(row for row in rows if row.id not in there)]

    _changed(connection, name, made, "")


def _changed(
    connection: Connection, name: str, made: Callable[[list[Kept]], list[Kept]], note: str
) -> DatasetVersion:
    versions = _versions(connection, name)
    old = _items(connection, name, versions[0].version) if versions else []
    rows = made(old)
    digest = hash_of(rows)
    if versions and versions[0].hash == digest:
        return versions[0]
    return _written(connection, name, versions, rows, digest, note)


def _records(name: str) -> Select[Any]:
    by = VERSIONS.c.version.desc()
    return select(VERSIONS.c.record).where(VERSIONS.c.dataset == name).order_by(by)


def _tags(name: str) -> Select[Any]:
    return select(TAGS.c.tag, TAGS.c.version).where(TAGS.c.dataset == name).order_by(TAGS.c.tag)


def _read(records: Iterable[Any], tags: Iterable[Any]) -> list[DatasetVersion]:
    named: dict[int, list[str]] = {}
    for tag, version in tags:
        named.setdefault(version, []).append(tag)
    found = [msgspec.convert(read_back(text), DatasetVersion) for (text,) in records]
    return [msgspec.structs.replace(v, tags=tuple(named.get(v.version, ()))) for v in found]


def _versions(connection: Connection, name: str) -> list[DatasetVersion]:
    return _read(list(connection.execute(_records(name))), list(connection.execute(_tags(name))))


def _of(name: str, version: int) -> Any:
    here = (VERSIONS.c.dataset == name, VERSIONS.c.version == version)
    return ITEMS.c.number == select(VERSIONS.c.number).where(*here).scalar_subquery()


def _items(connection: Connection, name: str, version: int) -> list[Kept]:
    query = (
        select(ITEMS.c.id, ITEMS.c.split, ITEMS.c.hash, CONTENTS.c.text)
        .join(CONTENTS, CONTENTS.c.hash == ITEMS.c.hash)
        .where(_of(name, version))
        .order_by(ITEMS.c.place)
    )
    return [Kept(*row) for row in connection.execute(query)]


def _page(name: str, version: int, split: str, after: int) -> Select[Any]:
    query = (
        select(ITEMS.c.place, ITEMS.c.id, ITEMS.c.split, ITEMS.c.hash, CONTENTS.c.text)
        .join(CONTENTS, CONTENTS.c.hash == ITEMS.c.hash)
        .where(_of(name, version), ITEMS.c.place > after)
        .order_by(ITEMS.c.place)
        .limit(_PAGE)
    )
    return query.where(ITEMS.c.split == searchable(split)) if split else query


def _written(
    connection: Connection,
    name: str,
    versions: list[DatasetVersion],
    rows: list[Kept],
    digest: str,
    note: str,
) -> DatasetVersion:
    made = following(versions, name, rows, digest, note)
    values = {"dataset": name, "version": made.version, "record": dumps(made).decode()}
    number = connection.execute(insert(VERSIONS).values(values)).inserted_primary_key
    assert number is not None  # noqa: S101 the table has a key
    for at in range(0, len(rows), _PAGE):
        part = rows[at : at + _PAGE]
        _keep_contents(connection, part)
        connection.execute(
            insert(ITEMS),
            [
                {
                    "number": number[0], "place": at + place, "id": searchable(row.id),
                    "split": searchable(row.split), "hash": row.hash,
                }
                for place, row in enumerate(part)
            ],
        )  # fmt: skip
    return made


def _keep_contents(connection: Connection, rows: list[Kept]) -> None:
    wanted = {row.hash: row.text for row in rows}
    there = select(CONTENTS.c.hash).where(CONTENTS.c.hash.in_(wanted))
    for (digest,) in connection.execute(there):
        del wanted[digest]
    if wanted:
        told = [{"hash": digest, "text": text} for digest, text in wanted.items()]
        connection.execute(insert(CONTENTS), told)
