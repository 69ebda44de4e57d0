"""Lines: a row of a run as a line of JSON, and where in a file each row's line lies.

    {"row":0,"trial":0,"graded":{…},"example":{…},"explained":{…},"amended":{…}}

Of several lines with one key the last one counts. What follows the last line's end was being
written when its process ended, and is left out.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec

from trajgrade.errors import StoreError
from trajgrade.jsontext import dumps, read_back
from trajgrade.packing import pack, plain
from trajgrade.record import Key, StoredRow

_PARTS = ("graded", "example", "explained", "amended")


class _Place(msgspec.Struct, frozen=True):
    """What of a line is read to know whose it is."""

    row: Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
    trial: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


_key = msgspec.json.Decoder(_Place).decode


def line_of(stored: StoredRow) -> bytes:
    """Return a row as a line."""
    found: dict[str, Any] = {"row": stored.row, "trial": stored.trial}
    for part in _PARTS:
        packed = getattr(stored, part)
        if packed is not None:
            found[part] = plain(packed)
    return dumps(found) + b"\n"


def stored_of(line: bytes) -> StoredRow:
    """Read a line.

    Raises:
        ValueError: It is none.
    """
    found = read_back(line)
    if not isinstance(found, dict) or not isinstance(found.get("graded"), dict):
        raise ValueError("it is no row of a run")  # noqa: TRY004 as for what is no JSON
    packed = {part: pack(found[part]) for part in _PARTS if found.get(part) is not None}
    return StoredRow(found["row"], found["trial"], **packed)


class Lines:
    """The lines of a file, as they are now.

    Args:
        path: The file.

    Raises:
        StoreError: A line of it cannot be read.
        OSError: It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places = array("Q")
        self._trials = array("L")
        self._offsets = array("Q")
        self.in_order = True
        self.end = 0
        self.size = 0
        last = Key(-1, -1)
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                self.size += len(line)
                if not line.endswith(b"\n"):
                    break
                key = self._key_of(line, number)
                self.in_order = self.in_order and key > last
                self._add(key, self.end)
                self.end += len(line)
                last = key
        if not self.in_order:
            self._sort()

    def _add(self, key: Key, offset: int) -> None:
        self._places.append(key.row)
        self._trials.append(key.trial)
        self._offsets.append(offset)

    def _key_of(self, line: bytes, number: int) -> Key:
        try:
            place = _key(line)
        except ValueError as wrong:
            raise self._fault(number, wrong) from None
        return Key(place.row, place.trial)

    def _fault(self, number: int, wrong: Exception) -> StoreError:
        return StoreError(
            f"{self._path} line {number}: {wrong}; remove the line to have its row graded again"
        )

    def _sort(self) -> None:
        found = sorted(zip(self._places, self._trials, self._offsets, strict=True))
        self._places, self._trials, self._offsets = array("Q"), array("L"), array("Q")
        for this, following in zip(found, [*found[1:], None], strict=True):
            if following is None or this[:2] != following[:2]:
                self._add(Key(*this[:2]), this[2])

    @property
    def keys(self) -> Iterator[Key]:
        """Yield the keys of the rows, in order."""
        return map(Key, self._places, self._trials)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._offsets)

    def __iter__(self) -> Iterator[StoredRow]:
        """Read the rows in the order of their keys."""
        with self._path.open("rb") as file:
            for offset in self._offsets:
                yield self._read(file, offset)

    def find(self, key: Key) -> StoredRow | None:
        """Return one row; None where it is not there."""
        for found, offset in zip(self.keys, self._offsets, strict=True):
            if found == key:
                with self._path.open("rb") as file:
                    return self._read(file, offset)
        return None

    def _read(self, file: BinaryIO, offset: int) -> StoredRow:
        if file.tell() != offset:
            file.seek(offset)
        line = file.readline()
        try:
            return stored_of(line)
        except (ValueError, KeyError) as wrong:
            raise self._fault(self._number_at(offset), wrong) from None

    def _number_at(self, offset: int) -> int:
        with self._path.open("rb") as file:
            return file.read(offset).count(b"\n") + 1


def written_whole(path: Path, chunks: Iterator[bytes]) -> None:
    """Write a file that is there whole, or as it was before.

    Raises:
        OSError: It cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
