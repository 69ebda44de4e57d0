"""CSV text in and out, so that what was written comes back as it was.

Out: a text that a spreadsheet would run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a
carriage return, also after blanks and invisible characters) gets a `'` in front. In: that `'` is
taken off again, from every file, as nothing in a CSV says who wrote it: a text that truly begins
with `'=` needs a second `'`, or another kind of file. An empty cell is a missing value. The
delimiter is the comma, semicolon or tab that the header has most of.

A cell of a structure begins with `[` or `{` and holds JSON, or what Python prints for a list or
dict (frames write that), which is read as a literal and never run. Any other cell is text.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from trajgrade.errors import DatasetError, shorten
from trajgrade.sources import MAX_BYTES, File, opened

# Quotes in front are passed over: else a text that begins with one could not be told from ours.
_FORMULA = re.compile("'*[\\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*[=+\\-@\t\r]")
_FLAGS = {"true": True, "false": False}
_LITERAL_LIMIT = 1 << 20  # Python's own parser is slow, and takes 100 times the memory


def escape(text: str) -> str:
    """Return the text as it may stand in a cell without being run as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape(cell: str) -> str:
    """Return the text that `escape` was given."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell, 1) else cell


def structure(cell: str) -> Any:
    """Return the list or object that the cell holds; a cell that holds none is text."""
    if cell.lstrip()[:1] not in ("[", "{"):
        return cell
    try:
        return msgspec.json.decode(cell)
    except (ValueError, RecursionError):
        return _literal(cell)


def _literal(cell: str) -> Any:
    if len(cell) > _LITERAL_LIMIT:
        return cell
    try:
        # What `print` shows of a list: a literal is parsed, and nothing in it is called.
        return json.loads(json.dumps(ast.literal_eval(cell.strip()), allow_nan=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return cell


def scalar(cell: str) -> Any:
    """Return the number or flag that the cell holds; a cell that holds none is text."""
    if cell.lower() in _FLAGS:
        return _FLAGS[cell.lower()]
    try:
        value = msgspec.json.decode(cell)
    except (ValueError, RecursionError):
        return cell
    return value if type(value) in (int, float) else cell


def cell(text: str) -> Any:
    """Return the structure, number or flag that a cell holds; a cell that holds none is text."""
    found = structure(text)
    return scalar(text) if found is text else found


def records(path: File) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the line number and the named cells of each row; the header's own comes first, empty.

    Raises:
        DatasetError: The file is no CSV in UTF-8, or a row has more or fewer cells than the header.
    """
    # The limit is the whole process's, and its default is less than a long trajectory.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES))
    with opened(path) as stream:
        delimiter = max(b",;\t", key=stream.readline(MAX_BYTES).count)
        stream.seek(0)
        text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        reader = csv.reader(text, strict=True, delimiter=chr(delimiter))
        start = 1
        header: list[str] | None = None
        try:
            for cells in reader:
                if header is None and cells:
                    header = _header(cells, path)
                    yield start, dict.fromkeys(filter(None, header))
                elif header is not None and cells:
                    yield start, _record(header, cells, f"{path} line {start}")
                start = reader.line_num + 1
        except (csv.Error, UnicodeDecodeError) as broken:
            raise DatasetError(f"{path} line {start} is not CSV in UTF-8: {broken}") from None
        if header is None:
            raise DatasetError(f"{path} is empty: a CSV begins with a line that names the columns")


def _header(cells: list[str], path: File) -> list[str]:
    header = [unescape(cell.strip()) for cell in cells]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise DatasetError(f"{path}: the header names {', '.join(map(repr, twice))} twice")
    return header


def _record(header: list[str], cells: list[str], place: str) -> dict[str, str | None]:
    if len(cells) != len(header):
        raise DatasetError(
            f"{place} has {len(cells)} cells, the header {len(header)} ({', '.join(header)}): "
            f"is a delimiter or a quote missing? Found {shorten(cells, 200)}"
        )
    return {name: unescape(cell) or None for name, cell in zip(header, cells, strict=True) if name}
