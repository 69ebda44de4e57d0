"""Where a run's metrics table is written: the folder and the file."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from pathlib import Path

from trajgrade.evaluation.table import Table


class Places:
    """Where tables are written.

    A place in the cloud is not reached from here: a folder of its name, in the working directory,
    takes its place, and a warning says so.

    Args:
        prefix: The folder; None or empty is none.
    """

    def __init__(self, prefix: str | None) -> None:
        self.prefix = prefix
        self._folder = None if not prefix else Path(prefix)
        scheme, remote, rest = (prefix or "").partition("://")
        if remote:
            self._folder = Path(rest)
            warnings.warn(
                f"output_uri_prefix={prefix!r}: {scheme} is not reached from here; metrics tables "
                f"are written to the folder {rest} instead. Name a local folder to choose another",
                stacklevel=4,
            )

    def write(self, table: Table, name: str | None) -> Path | None:
        """Write a table, if a folder or a file was named; return where."""
        if self._folder is None and not name:
            return None
        stamp = f"{datetime.now(UTC):%Y%m%d_%H%M%S_%f}"
        path = (self._folder or Path()) / (name or f"eval_results_{stamp}.csv")
        table.write(path)
        return path
