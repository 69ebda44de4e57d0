"""The metrics table: a line for each row, the dataset's columns first, then what was found.

As a pandas frame, and as a CSV file that `EvalTask` reads back.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajgrade.dataset.csvtext import escape
from trajgrade.errors import MissingExtraError, shorten
from trajgrade.evaluation.columns import PREDICTED, RESPONSE, Row
from trajgrade.evaluation.custom import CustomMetric
from trajgrade.evaluators.rated import Pairwise
from trajgrade.jsontext import dumps
from trajgrade.measured import FAILURE, LATENCY
from trajgrade.report.saving import whole_file
from trajgrade.result import EvaluationResult
from trajgrade.run import Run

if TYPE_CHECKING:
    from pandas import DataFrame

_NUMBERS = ("/score",)
_LONGEST = 500


class Table:
    """The metrics table of a run.

    Args:
        rows: The rows; with the answers in them, where an agent answered.
        run: The results.
        metrics: The metrics, of which custom ones may have found more than a score.
        frame: The data frame that the dataset is, if it is one: its types and index are kept.
        gives: The columns that an agent gave.
        errors: How the agent failed on each row, where one answered.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        run: Run,
        metrics: Sequence[Any],
        frame: Any = None,
        gives: Sequence[str] = (),
        errors: Sequence[Any] = (),
    ) -> None:
        self._rows = rows
        self._given = {*gives, LATENCY, FAILURE} if gives else set()
        self._run = run
        self._custom = {m.key for m in metrics if isinstance(m, CustomMetric)}
        self._pairs = {m.key for m in metrics if isinstance(m, Pairwise)}
        self._frame = frame
        self._errors = errors

    def rows(self) -> Iterator[Row]:
        """Yield the lines of the table."""
        for at, (row, graded) in enumerate(zip(self._rows, self._run.rows, strict=True)):
            line = {**row}
            for column in (RESPONSE, PREDICTED):
                if column in line:
                    line[column] = line.pop(column)  # behind the others
            for column in (LATENCY, FAILURE):
                line[column] = line.pop(column, None)
            if any(self._errors):
                line["agent_error"] = str(self._errors[at]) if self._errors[at] else None
            for key, result in graded.results.items():
                line |= self._cells(key, result)
            yield line

    def _cells(self, key: str, result: EvaluationResult) -> Row:
        cells = {f"{key}/score": result.score, f"{key}/explanation": result.comment}
        if key in self._pairs:
            cells[f"{key}/pairwise_choice"] = result.value
        if key in self._custom:
            cells |= {f"{key}/{name}": value for name, value in result.metadata.items()}
        return cells

    def to_pandas(self) -> DataFrame:
        """Return the table as a frame.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        pd = pandas("metrics_table")
        lines = list(self.rows())
        names = list(dict.fromkeys(name for line in lines for name in line))
        index = self._frame.index if self._frame is not None else None
        columns = {}
        for name in names:
            values = [line.get(name) for line in lines]
            held = self._frame is not None and name in self._frame.columns
            if held and name not in self._given:
                columns[name] = self._frame[name]
            elif name in (LATENCY, FAILURE) or name.endswith(_NUMBERS):
                columns[name] = _numbers(pd, values, index)
            else:
                columns[name] = pd.Series(values, index=index, dtype=object)
        table: DataFrame = pd.DataFrame(columns, index=index)
        return table

    def write(self, path: Path) -> None:
        """Write the table as CSV; structures as JSON, and no text that a spreadsheet would run."""
        lines = list(self.rows())
        names = list(dict.fromkeys(name for line in lines for name in line))
        with whole_file(path) as stream:
            writer = csv.DictWriter(stream, names, restval="")
            writer.writerow({name: escape(name) for name in names})
            writer.writerows({name: _cell(value) for name, value in line.items()} for line in lines)


def pandas(what: str) -> Any:
    """Return pandas.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError(what, "pandas", "pandas") from None
    return pd


def frame_of(rows: Sequence[Mapping[str, Any]], what: str) -> DataFrame:
    """Return rows as a frame.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    frame: DataFrame = pandas(what).DataFrame(list(rows))
    return frame


def _numbers(pd: Any, values: Sequence[Any], index: Any) -> Any:
    whole = all(isinstance(value, int) for value in values)
    return pd.Series(values, index=index, dtype="int64" if whole and values else "float64")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return escape(value)
    try:
        if isinstance(value, (dict, list, tuple)):
            return dumps(value).decode()
        if isinstance(value, (bool, int, float)):
            return str(value)
        return value.isoformat() if isinstance(value, date) else escape(shorten(value, _LONGEST))
    except (ValueError, RecursionError):  # endless, or a number of thousands of digits
        return escape(shorten(value, _LONGEST))
