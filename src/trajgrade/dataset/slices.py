"""Slices: a dataset of files in parts, each of which a process of its own can read.

JSON Lines is cut by bytes, at the ends of lines, without loading it; any other file is a slice as a
whole. A slice knows how many rows lie before it, so that numbers, ids and messages are those of the
whole. Which field plays which role is decided by the first rows of the dataset, as ever, whoever
reads it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trajgrade import sources
from trajgrade.dataset.example import Example, Needs
from trajgrade.dataset.rows import JsonLines, Placed, Rows

BYTES = 4 * 2**20
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd


class Slice(NamedTuple):
    """A part of a dataset, as plain data.

    Attributes:
        file: Which of the dataset's files, from 0.
        start: The first byte.
        end: The byte behind the last; None for all of the file.
        lines: How many lines of the file lie before it.
        rows: How many rows of the file lie before it.
        before: How many rows of the dataset lie before it.
        n_rows: How many rows it has.
    """

    file: int
    start: int
    end: int | None
    lines: int
    rows: int
    before: int
    n_rows: int


def sliced(files: tuple[Rows, ...], size: int = BYTES) -> Iterator[Slice]:
    """Yield the slices of a dataset, in order.

    Args:
        files: The dataset's files.
        size: About how many bytes a slice has.
    """
    before = 0
    for number, rows in enumerate(files):
        if isinstance(rows, JsonLines) and not _is_packed(rows.path):
            for part in _cut(rows.path, number, before, size):
                yield part
                before += part.n_rows
            continue
        count = sum(1 for _ in rows)
        yield Slice(number, 0, None, 0, 0, before, count)
        before += count


def _is_packed(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4).startswith(_PACKED)


def _cut(path: Path, number: int, before: int, size: int) -> Iterator[Slice]:
    start = lines = rows = 0
    with path.open("rb") as stream:
        while chunk := stream.read(size):
            chunk += stream.readline(sources.MAX_BYTES + 1)
            found = chunk.split(b"\n")
            count = sum(1 for line in found if line and not line.isspace())
            end = start + len(chunk)
            yield Slice(number, start, end, lines, rows, before + rows, count)
            start, lines, rows = end, lines + chunk.count(b"\n"), rows + count


class Part(Rows):
    """The rows of a slice, placed as in the whole."""

    def __init__(self, whole: Rows, part: Slice) -> None:
        self._whole = whole
        self._part = part
        self.table, self.label, self.name = whole.table, whole.label, whole.name
        self.columns, self.notes = whole.columns, whole.notes

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and row."""
        if self._part.end is None or not isinstance(self._whole, JsonLines):
            yield from self._whole
            return
        start = f"{self.label} line "
        with self._whole.path.open("rb") as stream:
            stream.seek(self._part.start)
            chunk = stream.read(self._part.end - self._part.start)
        if self._part.start == 0:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        for number, line in enumerate(io.BytesIO(chunk), self._part.lines + 1):
            if not line.isspace():
                yield f"{start}{number}", line


def examples_of(dataset: Any, part: Slice, needs: Needs) -> Iterator[Example]:
    """Yield the examples of a slice, numbered as in the whole.

    Args:
        dataset: The dataset.
        part: The slice.
        needs: What is read of each.
    """
    whole: Rows = dataset.files[part.file]
    make = dataset.reader(needs).example
    for index, (place, row) in enumerate(Part(whole, part)):
        yield make(row, place, part.before + index, part.rows + index, whole)
