"""Versions: a dataset that is kept: its rows never change, and each change is a new version.

A version is known by a number, from 1, and by the hash of its content: the same rows in the same
order have the same hash, whatever the order of the keys of a row. A tag, `prod`, names a version
and may be moved. A row is known by its id, and by its trial where it has one.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from trajgrade.dataset.example import NAMES
from trajgrade.errors import DatasetError, shorten, unknown
from trajgrade.jsontext import dumps

LATEST = "latest"
MOST_BYTES = 64 * 2**20  # of one row

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NUMBER = re.compile(r"v?0*([1-9]\d{0,8})")


class DatasetVersion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version of a dataset.

    Attributes:
        name: The dataset's name.
        version: Its number, from 1.
        hash: The hash of its content.
        created_at: When it was made.
        n_rows: How many rows it has.
        note: Why it was made.
        splits: How many rows each split has, where rows have a field `split`.
        tags: The tags that name it now.
    """

    name: str
    version: int
    hash: str
    created_at: datetime
    n_rows: int
    note: str = ""
    splits: dict[str, int] = {}
    tags: tuple[str, ...] = ()


class Kept(NamedTuple):
    """One row as it is kept.

    Attributes:
        id: What names it, with its trial.
        split: Its split, empty where it has none.
        hash: The hash of its content.
        text: The row as JSON.
    """

    id: str
    split: str
    hash: str
    text: bytes


class Changes(NamedTuple):
    """What is different between two versions, by the rows' ids."""

    added: list[str]
    removed: list[str]
    changed: list[str]


def kept(rows: Iterable[Mapping[str, Any]], where: str) -> list[Kept]:
    """Return rows as they are kept.

    Args:
        rows: The rows, each an object.
        where: What messages call the dataset.

    Raises:
        DatasetError: A row is no object, or has the id and trial of another.
    """
    found: list[Kept] = []
    places: dict[str, int] = {}
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where}: row {place}: an object is needed, got {shorten(row)}")
        one = _kept(row)
        if len(one.text) > MOST_BYTES:
            raise DatasetError(f"{where}: row {place}: larger than {MOST_BYTES // 2**20} MiB")
        if one.id in places:
            raise DatasetError(
                f"{where}: rows {places[one.id]} and {place} have the same id {one.id!r}; repeats "
                "of one example need a field `trial`"
            )
        places[one.id] = place
        found.append(one)
    return found


def _kept(row: Mapping[str, Any]) -> Kept:
    digest = hashlib.sha256(dumps(_sorted(row))).hexdigest()
    named = next((row[name] for name in NAMES["id"] if row.get(name) not in (None, "")), None)
    name = f"#{digest[:16]}" if named is None else str(named)
    trial = row.get("trial")
    split = row.get("split")
    return Kept(
        name if trial is None else f"{name} trial {trial}",
        split if isinstance(split, str) else "",
        digest,
        dumps(row),
    )


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    return [_sorted(item) for item in value] if isinstance(value, (list, tuple)) else value


def hash_of(rows: Iterable[Kept]) -> str:
    """Return the hash of a dataset's content."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(bytes.fromhex(row.hash))
    return digest.hexdigest()


def merged(old: Sequence[Kept], new: Sequence[Kept]) -> list[Kept]:
    """Return old rows with new ones: in the place of that of their id, or behind all."""
    fresh = {row.id: row for row in new}
    return [*(fresh.pop(row.id, row) for row in old), *fresh.values()]


def changes(old: Iterable[Kept], new: Iterable[Kept]) -> Changes:
    """Return what is different between two versions, in the order of their rows."""
    before = {row.id: row.hash for row in old}
    after = {row.id: row.hash for row in new}
    return Changes(
        [name for name in after if name not in before],
        [name for name in before if name not in after],
        [name for name in after if name in before and before[name] != after[name]],
    )


def meant(as_of: str | int, versions: Sequence[DatasetVersion], name: str) -> DatasetVersion:
    """Return the version that a tag, a number or `latest` means.

    Args:
        as_of: What was written: `latest`, `3`, `v3`, a tag.
        versions: The versions that there are, the newest first.
        name: The dataset's name.

    Raises:
        DatasetError: It means none.
    """
    if as_of == LATEST and versions:
        return versions[0]
    for version in versions:
        if str(as_of) in version.tags:
            return version
    number = _NUMBER.fullmatch(str(as_of))
    for version in versions if number else ():
        if version.version == int(number[1] if number else 0):
            return version
    known = [
        LATEST,
        *(tag for v in versions for tag in v.tags),
        *(f"v{v.version}" for v in versions),
    ]
    raise DatasetError(f"dataset {name}: {unknown('version or tag', str(as_of), known[:20])}")


def check_name(name: object, what: str = "dataset") -> None:
    """Refuse a name that could not be a file's.

    Raises:
        DatasetError: It has other than letters, digits, `.`, `-` and `_`, or is too long.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DatasetError(
            f"{shorten(name)} is no name of a {what}: up to 100 letters, digits, . - and _ are "
            "allowed, beginning with a letter or digit"
        )


def check_tag(tag: object) -> None:
    """Refuse a tag that would be read as something else.

    Raises:
        DatasetError: It is `latest`, a number, or no name.
    """
    check_name(tag, "tag")
    if tag == LATEST or _NUMBER.fullmatch(str(tag)):
        raise DatasetError(f"{tag!r} is no tag: it means a version already")


class Address(NamedTuple):
    """Where kept rows are: `store:NAME`, `store:NAME@prod`, `store:NAME@v3/test`.

    Attributes:
        name: The dataset's name.
        as_of: The tag, number or `latest`.
        split: The split, empty for all.
    """

    name: str
    as_of: str
    split: str


_ADDRESS = re.compile(r"store:(?P<name>[^@/]+)(?:@(?P<as_of>[^@/]+))?(?:/(?P<split>[^@/]+))?")


def address_of(text: str) -> Address:
    """Read the address of a kept dataset.

    Raises:
        DatasetError: It is none.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise DatasetError(
            f"{shorten(text)} is no address: write store:NAME, store:NAME@TAG, store:NAME@v3, or "
            "store:NAME@TAG/SPLIT"
        )
    check_name(found["name"])
    return Address(found["name"], found["as_of"] or LATEST, found["split"] or "")


def following(
    versions: Sequence[DatasetVersion], name: str, rows: Sequence[Kept], digest: str, note: str
) -> DatasetVersion:
    """Return the record of the version that comes after these, the newest of which is the first."""
    return DatasetVersion(
        name=name,
        version=versions[0].version + 1 if versions else 1,
        hash=digest,
        created_at=datetime.now(UTC),
        n_rows=len(rows),
        note=note,
        splits=dict(Counter(row.split for row in rows if row.split)),
    )
