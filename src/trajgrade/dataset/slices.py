"""Slices: a dataset of files in parts, each of which a process of its own can read.

JSON Lines is cut by bytes, at the ends of lines, and Parquet by its groups of rows, without loading
either; any other file, and one that is packed, is a slice as a whole. A slice knows how many rows
lie before it, so that numbers, ids and messages are those of the whole. Which field plays which
role is decided once, by the first rows of the dataset, and told to whoever reads a slice.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

from trajgrade import sources
from trajgrade.dataset.example import Example, Needs
from trajgrade.dataset.reader import Outline
from trajgrade.dataset.rows import JsonLines, Parquet, Placed, Rows
from trajgrade.errors import DatasetError

BYTES = 2**20
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd
_BOM = b"\xef\xbb\xbf"


class Slice(NamedTuple):
    """A part of a dataset, as plain data.

    Attributes:
        file: Which of the dataset's files, from 0.
        start: The first byte, or group of rows.
        end: The byte, or group, behind the last; None for all of the file.
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


def can_be_cut(rows: Rows) -> bool:
    """Whether a file can be read in parts."""
    if isinstance(rows, JsonLines):
        return not _is_packed(rows.path)
    return isinstance(rows, Parquet) and len(rows.groups) > 1


def sliced(files: tuple[Rows, ...], size: int = BYTES) -> Iterator[Slice]:
    """Yield the slices of a dataset, in order.

    Args:
        files: The dataset's files.
        size: About how many bytes a slice has.

    Raises:
        DatasetError: A file cannot be read.
    """
    before = 0
    for number, rows in enumerate(files):
        for part in _parts(rows, size):
            if part.n_rows:
                yield part._replace(file=number, before=before)
            before += part.n_rows


def _parts(rows: Rows, size: int) -> Iterator[Slice]:
    if isinstance(rows, JsonLines) and not _is_packed(rows.path):
        return _cut(rows, size)
    if isinstance(rows, Parquet):
        return _grouped(rows, size)
    return iter([Slice(0, 0, None, 0, 0, 0, sum(1 for _ in rows))])


def _is_packed(path: sources.File) -> bool:
    with path.open("rb") as stream:
        return bool(stream.read(4).startswith(_PACKED))


def _cut(whole: JsonLines, size: int) -> Iterator[Slice]:
    start = lines = rows = 0
    with sources.opened(whole.path) as stream:
        while chunk := stream.read(size):
            rest = stream.readline(sources.MAX_BYTES + 1)
            if len(rest) > sources.MAX_BYTES:
                line = lines + chunk.count(b"\n") + 1
                raise DatasetError(
                    f"{whole.path} line {line} has more than {sources.MAX_BYTES:,} bytes"
                )
            chunk += rest
            found = (chunk if start else chunk.removeprefix(_BOM)).split(b"\n")
            count = sum(1 for line in found if line and not line.isspace())
            yield Slice(0, start, start + len(chunk), lines, rows, 0, count)
            start, lines, rows = start + len(chunk), lines + chunk.count(b"\n"), rows + count


def _grouped(whole: Parquet, size: int) -> Iterator[Slice]:
    first = rows = held = held_bytes = 0
    groups = whole.groups
    for number, (n_rows, n_bytes) in enumerate(groups, start=1):
        held, held_bytes = held + n_rows, held_bytes + n_bytes
        if held_bytes >= size or number == len(groups):
            yield Slice(0, first, number, 0, rows, 0, held)
            first, rows, held, held_bytes = number, rows + held, 0, 0


def examples_of(outline: Outline, rows: Rows, part: Slice, needs: Needs) -> Iterator[Example]:
    """Yield the examples of a slice, numbered as in the whole.

    Args:
        outline: What the dataset's first rows show.
        rows: The file.
        part: The slice of it.
        needs: What is read of each.

    Raises:
        DatasetError: A row cannot be read, or the file has changed since it was cut.
    """
    make = outline.reader(needs).example
    index = 0
    for place, row in _placed(rows, part):
        yield make(row, place, part.before + index, part.rows + index, rows)
        index += 1
    if index != part.n_rows:
        raise DatasetError(
            f"{rows.label} was changed while it was read: there were {part.n_rows} rows behind "
            f"row {part.rows}, now there are {index}"
        )


def _placed(rows: Rows, part: Slice) -> Iterator[Placed]:
    """Yield the rows of a slice, placed as in the whole."""
    if part.end is None:
        yield from rows
    elif isinstance(rows, Parquet):
        yield from rows.within(part.start, part.end, part.rows)
    elif isinstance(rows, JsonLines):
        start = f"{rows.label} line "
        with sources.opened(rows.path) as stream:
            stream.seek(part.start)
            chunk = stream.read(part.end - part.start)
        chunk = chunk if part.start else chunk.removeprefix(_BOM)
        for number, line in enumerate(io.BytesIO(chunk), part.lines + 1):
            if not line.isspace():
                yield f"{start}{number}", line
