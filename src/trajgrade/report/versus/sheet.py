"""A comparison as CSV: one line for each example (`rows`), for spreadsheets.

A text that a spreadsheet would run as a formula gets a `'` in front.
"""

from __future__ import annotations

import csv
from pathlib import Path

from trajgrade.comparison.compared import Comparison
from trajgrade.dataset.csvtext import escape
from trajgrade.report.saving import whole_file
from trajgrade.report.versus.rows import PARTS, lines


def write(comparison: Comparison, path: Path) -> None:
    """Write the examples."""
    columns = [f"{key}/{part}" for key in comparison.metrics for part in PARTS]
    with whole_file(path) as file:
        writer = csv.writer(file)
        writer.writerow(map(escape, ["id", "in", *columns]))
        for line in lines(comparison):
            cells = (cell for scores in line.scores.values() for cell in scores)
            writer.writerow([escape(line.id), line.present, *cells])
