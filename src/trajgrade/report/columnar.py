"""One row of a Parquet file for each row, with the columns of the CSV file, and its types."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from trajgrade.errors import MissingExtraError
from trajgrade.run import Row, Run, flat

_BATCH = 10_000


def write(run: Run, path: Path) -> None:
    """Write the rows, some at a time.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("a report as Parquet", "pyarrow", "parquet") from None
    columns = [("id", pa.string()), ("trial", pa.int64())]
    columns += [("latency_in_seconds", pa.float64()), ("failure", pa.int64())]
    for key in map(_whole, run.summary):
        columns += [(f"{key}/score", pa.float64())]
        columns += [(f"{key}/{part}", pa.string()) for part in ("explanation", "error")]
    schema = pa.schema(columns)
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with parquet.ParquetWriter(waiting, schema) as writer:
            for start in range(0, max(len(run.rows), 1), _BATCH):
                lines = [_cells(row) for row in run.rows[start : start + _BATCH]]
                writer.write_table(pa.Table.from_pylist(lines, schema))
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)


def _cells(row: Row) -> dict[str, Any]:
    return {
        _whole(name): _whole(value) if isinstance(value, str) else value
        for name, value in flat(row).items()
    }


def _whole(text: str) -> str:
    """Return the text with what UTF-8 has no place for (lone surrogates) written out."""
    return text.encode(errors="backslashreplace").decode()
