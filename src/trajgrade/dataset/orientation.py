"""Which rows a JSON text, or a dict in memory, holds.

It is a list of rows; a dict of columns, each a list, or an object with the rows’ numbers as keys as
data frames write them; an object that holds its rows as `examples`, `rows`, `data`, `cases` or
`records`; or one row. What can be taken in two ways is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from trajgrade.dataset.example import TRACE_NAMES
from trajgrade.errors import DatasetError, shorten

_ENVELOPES = ("examples", "rows", "data", "cases", "records")
_SPLIT_FRAME = {"columns", "index", "data"}
_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def split(text: bytes) -> list[msgspec.Raw]:
    """Return the texts of the rows of a JSON text, unparsed.

    Raises:
        ValueError: It is no list of rows and holds no list of rows.
        RecursionError: It is nested too deeply.
    """
    if text.lstrip()[:1] == b"[":
        return _list(text)
    fields = _object(text)
    lists = [fields[name] for name in _ENVELOPES if name in fields]
    split = [_list(value) for value in lists if _begins(value, b"[")]
    held = [rows for rows in split if rows and _begins(rows[0], b"{")]
    if len(held) != 1 or any(name in fields for name in TRACE_NAMES):
        raise ValueError("no list of rows")
    return held[0]


def _begins(text: msgspec.Raw, mark: bytes) -> bool:
    return bytes(memoryview(text)[:1]) == mark


def rows_of(document: Any, where: str) -> list[Any]:
    """Return the rows that a parsed JSON text, or a dict in memory, holds.

    Raises:
        DatasetError: It holds none, or it can be taken in two ways.
    """
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping):
        raise DatasetError(f"{where}: expected rows, got {shorten(document)}")
    document = dict(document)
    if set(document) == _SPLIT_FRAME:
        return [dict(zip(document["columns"], row, strict=True)) for row in document["data"]]
    held = [name for name in _ENVELOPES if _objects(document.get(name))]
    if len(held) == 1 and not any(name in document for name in TRACE_NAMES):
        rows: list[Any] = document[held[0]]
        return rows
    if len(held) > 1:
        raise DatasetError(f"{where} has rows under {' and '.join(held)}; give one list of rows")
    return _columns(document, where)


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _columns(document: dict[str, Any], where: str) -> list[Any]:
    columns = {name: _numbered(value) for name, value in document.items()}
    lists = {name: value for name, value in columns.items() if value is not None}
    if len(lists) < len(document) or not lists or any(name in document for name in TRACE_NAMES):
        return [document]
    lengths = {name: len(value) for name, value in lists.items()}
    even = len(set(lengths.values())) == 1
    if all(isinstance(item, dict) for value in lists.values() for item in value):
        if even:
            raise DatasetError(
                f"{where} may be one row whose fields hold objects, or columns of "
                f"{max(lengths.values())} rows; give a list of rows: [{{…}}, …]"
            )
        return [document]
    if not even:
        sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DatasetError(f"{where} has columns of different lengths: {sizes}")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _numbered(value: Any) -> list[Any] | None:
    """Return the column's values, where it is a list or has the row's number as its keys."""
    if isinstance(value, dict) and value and all(str(key).isdecimal() for key in value):
        return list(value.values())
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else None
