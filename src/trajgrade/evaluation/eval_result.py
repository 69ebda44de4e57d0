"""EvalResult: what came of a task, in Vertex AI's names; the whole of it is `run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajgrade.evaluation.pictures import drawn
from trajgrade.evaluation.table import Table
from trajgrade.report.charts import Chart
from trajgrade.run import Run

if TYPE_CHECKING:
    from pandas import DataFrame


class EvalResult:
    """What came of a task.

    Args:
        summary_metrics: `row_count`, and `{metric}/mean` and `{metric}/std` of each metric.
        metrics_table: A line for each row.
        metadata: What was run.
        run: The run itself, with coverage, intervals and every result.
        table: What makes the metrics table when it is asked for.

    Attributes:
        summary_metrics: As above; None where there is no such number.
        metadata: As above.
        run: As above; None where the result did not come from a task.
    """

    def __init__(
        self,
        summary_metrics: Mapping[str, Any],
        metrics_table: Any = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        run: Run | None = None,
        table: Table | None = None,
    ) -> None:
        self.summary_metrics = dict(summary_metrics)
        self.metadata = dict(metadata or {})
        self.run: Any = run  # whoever has a task has a run, and need not ask
        self.table = table
        self._metrics_table = metrics_table

    @property
    def metrics_table(self) -> DataFrame:
        """A line for each row: the dataset's columns, then what was found.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        if self._metrics_table is None and self.table is not None:
            self._metrics_table = self.table.to_pandas()
        table: DataFrame = self._metrics_table
        return table

    def plot(
        self,
        kind: str = "bar",
        metrics: Sequence[str] | None = None,
        save: str | Path | None = None,
    ) -> Chart:
        """Return a picture of the means, with their intervals; it shows itself in a notebook.

        Args:
            kind: `bar` or `radar`.
            metrics: Which metrics, all by default.
            save: Also a file to write: .png, .svg or .html.

        Raises:
            ConfigError: There is no such kind or metric.
            MissingExtraError: altair or vl-convert-python is not installed.
        """
        return drawn(kind, [("", self)], metrics, save)

    def __repr__(self) -> str:
        """Return the means, each with its coverage."""
        if self.run is None:
            return f"EvalResult({self.summary_metrics})"
        found = {**self.run.summary, **self.run.agent}
        means = ", ".join(
            f"{key}={'–' if m.mean is None else format(m.mean, '.3f')} ({m.n_scored}/{m.n_total})"
            for key, m in found.items()
        )
        return f"<EvalResult of {len(self.run.rows)} rows: {means}>"
