"""One CSV line for each row, for spreadsheets: `id`, `trial`, `<metric>/score`, `…/explanation`.

The columns have Vertex AI's names; `…/error` has the kind of what kept a row from being scored, so
that a column of scores holds numbers only. A text that a spreadsheet would run as a formula gets a
`'` in front, which trajgrade's own reader takes off again; numbers stay numbers.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from trajgrade.dataset.csvtext import escape
from trajgrade.report.saving import whole_file
from trajgrade.run import Run, flat


def write(run: Run, path: Path) -> None:
    """Write the rows, one by one."""
    tried_again = any(row.trial is not None for row in run.rows)
    columns = ["id", "trial"] if tried_again else ["id"]
    columns += ["latency_in_seconds", "failure"] if run.agent else []
    columns += [
        f"{key}/{part}" for key in run.summary for part in ("score", "explanation", "error")
    ]
    with whole_file(path) as file:
        writer = csv.writer(file)  # lines end in CR LF, so that a CR or LF in a cell is quoted
        writer.writerow(map(escape, columns))
        for row in run.rows:
            cells = flat(row)
            writer.writerow(_cell(cells.get(column)) for column in columns)


def _cell(value: Any) -> Any:
    return escape(value) if isinstance(value, str) else value
