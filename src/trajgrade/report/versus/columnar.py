"""A comparison as Parquet: one line for each example (`rows`), its scores as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trajgrade.comparison.compared import Comparison
from trajgrade.report.columnar import write_lines
from trajgrade.report.versus.rows import PARTS, lines


def write(comparison: Comparison, path: Path) -> None:
    """Write the examples.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    scores = [(f"{key}/{part}", "float64") for key in comparison.metrics for part in PARTS]
    write_lines(path, [("id", "string"), ("in", "string"), *scores], _cells(comparison))


def _cells(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for line in lines(comparison):
        yield {
            "id": line.id,
            "in": line.present,
            **{
                f"{key}/{part}": cell
                for key, cells in line.scores.items()
                for part, cell in zip(PARTS, cells, strict=True)
            },
        }
