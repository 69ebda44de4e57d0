"""Parts: the rows of a run in Parquet files, each of which is there whole or not at all.

A row is kept as it is (`graded` and its other parts, packed), and beside that as columns for
whoever reads the files with another program: `id`, `<metric>/score`, `<metric>/explanation`,
`<metric>/error`. Of several rows with one key, that of the last part counts.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from trajgrade.errors import MissingExtraError, StoreError
from trajgrade.packing import unpack
from trajgrade.record import Key, StoredRow
from trajgrade.run import Row, flat

AT_ONCE = 10_000  # rows of a part, once the run has ended
_OPEN = 4  # parts in memory at a time
_KEY = ("row", "trial")
_PARTS = ("graded", "example", "explained", "amended")
_TEXTS = ("explanation", "error")


def parquet() -> tuple[Any, Any]:
    """Return pyarrow and its part for Parquet.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet as pq
    except ImportError:
        raise MissingExtraError("a store of Parquet files", "pyarrow", "parquet") from None
    return pa, pq


class PartWriter(NamedTuple):
    """Writes parts that whoever holds the run then adopts; it may be sent to another process.

    Attributes:
        folder: The run's folder, under the same path for all.
    """

    folder: str

    def write(self, rows: Sequence[StoredRow]) -> str:
        """Write rows to a part of its own; return its name.

        Raises:
            OSError: It cannot be written.
        """
        name = f".{uuid4().hex}.parquet"
        written(Path(self.folder, name), table_of(rows))
        return name


def table_of(rows: Sequence[StoredRow]) -> Any:
    """Return rows as a table."""
    pa, _ = parquet()
    columns: dict[str, Any] = {
        "row": pa.array([row.row for row in rows], pa.int64()),
        "trial": pa.array([row.trial for row in rows], pa.int64()),
    }
    cells = [_cells(row.graded) for row in rows]
    for name in dict.fromkeys(name for line in cells for name in line if name not in _KEY):
        columns[_whole(name)] = pa.array([line.get(name) for line in cells], _kind(pa, name))
    for part in _PARTS:
        columns[part] = pa.array([getattr(row, part) for row in rows], pa.binary())
    return pa.table(columns)


def _cells(graded: bytes) -> dict[str, Any]:
    """Return a row's columns; none where it is no row of a run's results."""
    try:
        line = flat(unpack(graded, Row))
    except msgspec.ValidationError:
        return {}
    return {k: _whole(value) if isinstance(value, str) else value for k, value in line.items()}


def _kind(pa: Any, name: str) -> Any:
    if name == "id" or name.rpartition("/")[2] in _TEXTS:
        return pa.string()
    return pa.int64() if name == "failure" else pa.float64()


def _whole(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def written(path: Path, table: Any) -> None:
    """Write a table; the file is there whole, or not at all.

    Raises:
        OSError: It cannot be written.
    """
    _, pq = parquet()
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            pq.write_table(table, file, compression="zstd", row_group_size=AT_ONCE)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


class Parts:
    """The rows in some parts, as they are now.

    Args:
        paths: The parts, later ones counting before earlier ones.

    Raises:
        StoreError: One cannot be read.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._tables: dict[int, Any] = {}
        found: dict[tuple[int, int], tuple[int, int]] = {}
        ordered = True
        last = (-1, -1)
        for number in range(len(paths)):
            table = self._read(number, _KEY)
            keys = zip(table["row"].to_pylist(), table["trial"].to_pylist(), strict=True)
            for at, key in enumerate(keys):
                ordered = ordered and key > last
                found[key] = (number, at)
                last = key
        keys_in_order = found if ordered else sorted(found)
        self._rows, self._trials = array("q"), array("q")
        self._parts, self._places = array("q"), array("q")
        for key in keys_in_order:
            self._rows.append(key[0])
            self._trials.append(key[1])
            part, at = found[key]
            self._parts.append(part)
            self._places.append(at)

    def _read(self, number: int, columns: Sequence[str] | None = None) -> Any:
        pa, pq = parquet()
        path = self._paths[number]
        try:
            with pq.ParquetFile(path) as file:
                return file.read(columns=None if columns is None else [*columns])
        except (OSError, pa.ArrowException, KeyError) as broken:
            raise StoreError(
                f"{path} cannot be read ({broken}); remove it to have its rows graded again"
            ) from None

    def _table(self, number: int) -> Any:
        if number not in self._tables:
            while len(self._tables) >= _OPEN:
                del self._tables[next(iter(self._tables))]
            self._tables[number] = self._read(number)
        return self._tables[number]

    @property
    def keys(self) -> Iterator[Key]:
        """Yield the keys of the rows, in order."""
        return map(Key, self._rows, self._trials)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def tables(self, size: int) -> Iterator[Any]:
        """Yield the rows in the order of their keys, as tables of so many."""
        pa, _ = parquet()
        for start in range(0, len(self), size):
            parts = self._parts[start : start + size]
            places = self._places[start : start + size]
            taken, order = [], [0] * len(parts)
            for part in sorted(set(parts)):
                ours = [at for at, one in enumerate(parts) if one == part]
                for at in ours:
                    order[at] = 0
                taken.append((ours, self._table(part).take([places[at] for at in ours])))
            whole = pa.concat_tables([table for _, table in taken], promote_options="default")
            behind = [at for ours, _ in taken for at in ours]
            for place, at in enumerate(behind):
                order[at] = place
            yield whole.take(order)

    def __iter__(self) -> Iterator[StoredRow]:
        """Read the rows in the order of their keys."""
        for table in self.tables(1024):
            columns = [table[name].to_pylist() for name in (*_KEY, *_PARTS)]
            for values in zip(*columns, strict=True):
                yield StoredRow(*values)

    def find(self, key: Key) -> StoredRow | None:
        """Return one row; None where it is not there."""
        for at, found in enumerate(self.keys):
            if found == key:
                table = self._table(self._parts[at]).slice(self._places[at], 1)
                return StoredRow(*(table[name][0].as_py() for name in (*_KEY, *_PARTS)))
        return None

    def amended(self, told: Mapping[Key, bytes]) -> Iterator[Any]:
        """Yield the rows as tables, each for a part, with what the end of the run says of them."""
        pa, _ = parquet()
        for table in self.tables(AT_ONCE):
            keys = zip(table["row"].to_pylist(), table["trial"].to_pylist(), strict=True)
            said = pa.array([told.get(Key(*key)) for key in keys], pa.binary())
            yield table.set_column(table.schema.get_field_index("amended"), "amended", said)
