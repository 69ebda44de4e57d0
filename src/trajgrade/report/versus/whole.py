"""A comparison as one JSON text: what `compare --json` prints."""

from __future__ import annotations

from pathlib import Path

from trajgrade.comparison.compared import Comparison
from trajgrade.jsontext import dumps
from trajgrade.report.saving import whole_file


def write(comparison: Comparison, path: Path) -> None:
    """Write the comparison."""
    with whole_file(path) as file:
        file.write(f"{dumps(comparison.to_dict(), indent=2).decode()}\n")
