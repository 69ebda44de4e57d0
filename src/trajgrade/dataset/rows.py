"""Rows one after another, from files or from memory, as text or as objects.

JSON Lines is a row a line, CSV a row a record, JSON a text of several shapes (`orientation`). In
memory, a row is a mapping, a `Trajectory`, an `Example`, or an object that can say what it holds. A
row that is a list of objects is a trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import msgspec

from trajgrade import sources
from trajgrade.bucket import BucketFile
from trajgrade.dataset import csvtext
from trajgrade.dataset.example import Example
from trajgrade.dataset.orientation import rows_of, split
from trajgrade.errors import DatasetError, MissingExtraError
from trajgrade.jsontext import dumps, loads
from trajgrade.sources import Source
from trajgrade.trajectory import Trajectory

Placed = tuple[str, Any]

_BATCH = 1024
_PLAIN = (str, int, float, bool, type(None))


class Rows:
    """Rows from one place, each with the words that say where it stands; can be walked again.

    Attributes:
        table: Whether text in a cell may be a structure.
        label: What begins the words that say where a row stands.
        name: What precedes the number of a row that has no id.
        columns: All names of fields, where the place says so itself.
        notes: What was unusual in the text that all the rows stand in.
    """

    table = False
    label = ""
    name = ""
    columns: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and row; a row is JSON text (`bytes`, `Raw`), or parsed."""
        raise NotImplementedError

    def bare(self) -> Rows:
        """Return the rows without what they keep in memory, to be read by another process."""
        return self

    def content(self) -> Iterator[bytes]:
        """Yield the bytes that the content hash is of."""
        for _, row in self:
            fields = msgspec.structs.asdict(row) if isinstance(row, Example) else row
            yield dumps(_hashed(fields)) + b"\n"


class JsonLines(Rows):
    """A file with one JSON text per line, of which one is in memory at a time."""

    def __init__(self, source: Source) -> None:
        self.path = source.path

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and text of each line."""
        start = f"{self.label} line "
        for number, line in sources.lines(self.path):
            yield f"{start}{number}", line

    def content(self) -> Iterator[bytes]:
        """Yield the file's bytes, unpacked."""
        yield from (line for _, line in sources.lines(self.path))


class Csv(Rows):
    """A CSV file, of which one record is in memory at a time."""

    table = True

    def __init__(self, source: Source) -> None:
        self.path = source.path
        _, header = next(csvtext.records(self.path))
        self.columns = tuple(header)

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and named cells of each record."""
        records = csvtext.records(self.path)
        next(records)
        for number, row in records:
            yield f"{self.label} line {number}", row


class Json(Rows):
    """A file that is one JSON text; its bytes are in memory, its rows are parsed one by one.

    Args:
        source: The file.
        keep: Whether to keep the bytes for the next walk.
    """

    def __init__(self, source: Source, *, keep: bool) -> None:
        self.path = source.path
        self._keep = keep
        self._rows: Sequence[Any] | None = None

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and text of each row, or the row parsed where the file has columns."""
        rows = self._rows if self._rows is not None else self._read()
        if self._keep:
            self._rows = rows
        start = f"{self.label} row "
        for number, row in enumerate(rows):
            yield f"{start}{number}", row

    def _read(self) -> Sequence[Any]:
        text = sources.content(self.path)
        if not text.strip():
            raise DatasetError(f"{self.path} is empty")
        try:
            return split(text)
        except (ValueError, RecursionError):
            pass  # columns, one row, or a text that msgspec refuses
        try:
            notes: list[str] = []
            rows = rows_of(loads(text, notes), str(self.path))
        except ValueError as broken:
            if isinstance(broken, DatasetError):
                raise
            hint = "; if it is one JSON text per line, name its format jsonl"
            raise DatasetError(f"{self.path} is not JSON: {broken}{hint}") from None
        self.notes = tuple(notes)
        return rows

    def bare(self) -> Rows:
        """Return the rows without the file's bytes."""
        twin = copy(self)
        twin._rows = None  # noqa: SLF001 of the same class
        return twin

    def content(self) -> Iterator[bytes]:
        """Yield the file's bytes, unpacked."""
        yield sources.content(self.path)


class Parquet(Rows):
    """A Parquet file, of which one group of rows is in memory at a time. Nulls are gaps.

    Raises:
        DatasetError: It cannot be read.
        MissingExtraError: pyarrow is not installed.
    """

    table = True

    def __init__(self, source: Source) -> None:
        self.path = source.path
        with self._opened() as file:
            self.columns = tuple(file.schema_arrow.names)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            from pyarrow import ArrowException, parquet
        except ImportError:
            raise MissingExtraError(
                f"{self.path.name}, which is Parquet,", "pyarrow", "parquet"
            ) from None
        try:
            where = self.path.seekable() if isinstance(self.path, BucketFile) else self.path
            with parquet.ParquetFile(where) as file:
                yield file
        except (ArrowException, OSError) as broken:
            raise DatasetError(f"{self.path} cannot be read as Parquet: {broken}") from None

    @property
    def groups(self) -> list[tuple[int, int]]:
        """How many rows, and how many bytes before packing, each group of rows has."""
        with self._opened() as file:
            about = map(file.metadata.row_group, range(file.num_row_groups))
            return [(group.num_rows, group.total_byte_size) for group in about]

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and named cells of each row."""
        return self.within(0, None, 0)

    def within(self, start: int, end: int | None, number: int) -> Iterator[Placed]:
        """Yield place and named cells of each row of some groups.

        Args:
            start: The first group, from 0.
            end: The group behind the last; None for all that follow.
            number: How many rows lie before.
        """
        with self._opened() as file:
            for group in range(start, file.num_row_groups if end is None else end):
                for batch in file.iter_batches(_BATCH, row_groups=[group]):
                    for row in batch.to_pylist():
                        yield f"{self.label} row {number}", {k: native(v) for k, v in row.items()}
                        number += 1


class Polars(Rows):
    """A polars data frame. Nulls are gaps."""

    table = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.columns = tuple(frame.columns)

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and named cells of each row."""
        for number, row in enumerate(self._frame.iter_rows(named=True)):
            yield f"data frame row {number}", {k: native(v) for k, v in row.items()}


class Memory(Rows):
    """Rows that the program has in memory."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and row."""
        for number, row in enumerate(self._rows):
            yield f"row {number}", _spoken(row)


class Frame(Rows):
    """A pandas data frame. An index that has a name is a column."""

    table = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame.reset_index() if frame.index.name is not None else frame
        self.columns = tuple(map(str, self._frame.columns))
        twice = [name for name, times in Counter(self.columns).items() if times > 1]
        if twice:
            raise DatasetError(f"the data frame has two columns {', '.join(map(repr, twice))}")

    def __iter__(self) -> Iterator[Placed]:
        """Yield place and named cells of each row."""
        for number, cells in enumerate(self._frame.itertuples(index=False, name=None)):
            named = zip(self.columns or (), map(native, cells), strict=True)
            yield f"data frame row {number}", dict(named)


def from_files(found: Sequence[Source]) -> list[Rows]:
    """Return the rows of each file; of several, the rows without id bear the file's name."""
    made: list[Rows] = []
    parts = [source.path.absolute().parts for source in found]
    shared = _shared(parts) if len(found) > 1 else 0
    for source, path in zip(found, parts, strict=True):
        rows: Rows
        if source.kind == "json":
            rows = Json(source, keep=len(found) == 1)
        else:
            rows = _TABLES.get(source.kind, JsonLines)(source)
        rows.label = str(source)
        rows.name = "/".join(path[shared:]) if shared else ""
        made.append(rows)
    return made


_TABLES: dict[str, Callable[[Source], Rows]] = {"csv": Csv, "parquet": Parquet}


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """Return how many folders the paths begin with in common."""
    folders = [path[:-1] for path in paths]
    steps = zip(*folders, strict=False)
    return next((n for n, step in enumerate(steps) if len(set(step)) > 1), min(map(len, folders)))


def _spoken(row: Any) -> Any:
    if isinstance(row, (dict, list, Example)):
        return row
    if isinstance(row, Trajectory):
        return {"id": row.id, "outputs": row}
    if isinstance(row, Mapping):
        return dict(row)
    for method in ("to_dict", "model_dump"):
        if hasattr(type(row), method):
            return getattr(row, method)()
    return list(row) if isinstance(row, tuple) else row


def _hashed(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return {k: v.to_dict() if isinstance(v, Trajectory) else v for k, v in row.items()}


def native(value: Any) -> Any:
    """Return a frame's cell as plain objects: arrays as lists, numpy's numbers as Python's."""
    if isinstance(value, _PLAIN) and type(value).__module__ == "builtins":
        return value
    if isinstance(value, dict):
        return {key: native(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [native(item) for item in value]
    return native(value.tolist()) if hasattr(value, "tolist") else value
