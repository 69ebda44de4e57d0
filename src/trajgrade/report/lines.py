"""One JSON line for each row: its id, and each metric's result with comment and evidence."""

from __future__ import annotations

from pathlib import Path

from trajgrade.jsontext import dumps
from trajgrade.report.saving import whole_file
from trajgrade.run import Run


def write(run: Run, path: Path) -> None:
    """Write the rows, one by one."""
    with whole_file(path) as file:
        file.writelines(f"{dumps(row.to_dict()).decode()}\n" for row in run.rows)
