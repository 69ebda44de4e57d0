"""The whole run as one JSON text: what `--json` prints, and under `rows` every row's results."""

from __future__ import annotations

from pathlib import Path

from trajgrade.jsontext import dumps
from trajgrade.report.saving import whole_file
from trajgrade.run import Run


def write(run: Run, path: Path) -> None:
    """Write the run; rows are written one by one and never held together in memory."""
    head = dumps(run.to_dict(), indent=2).decode().removesuffix("\n}")
    with whole_file(path) as file:
        file.write(f'{head},\n  "rows": [')
        for number, row in enumerate(run.rows):
            file.write(f"{',' if number else ''}\n    {dumps(row.to_dict()).decode()}")
        file.write("\n  ]\n}\n")
