"""One row of a Parquet file for each row, with the columns of the CSV file, and its types."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from trajgrade.errors import MissingExtraError
from trajgrade.run import Run, flat

_BATCH = 10_000


def write(run: Run, path: Path) -> None:
    """Write the rows, some at a time.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    columns = [("id", "string"), ("trial", "int64")]
    columns += [("latency_in_seconds", "float64"), ("failure", "int64")]
    for key in run.summary:
        columns += [(f"{key}/score", "float64")]
        columns += [(f"{key}/{part}", "string") for part in ("explanation", "error")]
    write_lines(path, columns, map(flat, run.rows))


def write_lines(
    path: Path, columns: Sequence[tuple[str, str]], lines: Iterable[dict[str, Any]]
) -> None:
    """Write lines of cells, some at a time; the file is whole or not there.

    Args:
        path: The file.
        columns: The name and the type of each column: `string`, `int64` or `float64`.
        lines: Each line's cells by column; a cell may lack.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("a report as Parquet", "pyarrow", "parquet") from None
    schema = pa.schema([(_whole(name), pa.type_for_alias(kind)) for name, kind in columns])
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with parquet.ParquetWriter(waiting, schema) as writer:
            left = map(_cells, lines)
            while batch := list(islice(left, _BATCH)):
                writer.write_table(pa.Table.from_pylist(batch, schema))
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)


def _cells(line: dict[str, Any]) -> dict[str, Any]:
    return {
        _whole(name): _whole(value) if isinstance(value, str) else value
        for name, value in line.items()
    }


def _whole(text: str) -> str:
    """Return the text with what UTF-8 has no place for (lone surrogates) written out."""
    return text.encode(errors="backslashreplace").decode()
