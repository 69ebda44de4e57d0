"""What shows results: in a notebook, and at a terminal where no notebook is running.

The means are shown with their coverage and interval: 1.00 over one of four rows is not 1.00 over
four.
"""

from __future__ import annotations

import html
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from trajgrade.errors import ConfigError, shorten
from trajgrade.evaluation.eval_result import EvalResult
from trajgrade.evaluation.pictures import Titled, drawn
from trajgrade.report.charts import Chart

_ALWAYS = ("response", "baseline_model_response", "prompt", "row_count")
_STYLE = "white-space: pre-wrap; overflow-x: auto;"


def display_eval_result(
    eval_result: EvalResult, title: str | None = None, metrics: Sequence[str] | None = None
) -> None:
    """Show the means, and the table of the rows.

    Args:
        eval_result: The result.
        title: What stands above.
        metrics: Parts of the metrics' names; None is all.
    """
    means = [line for line in _means(eval_result) if _wanted(line["metric"], metrics, ())]
    rows = [
        {name: cell for name, cell in row.items() if _wanted(name, metrics, _ALWAYS)}
        for row in _rows(eval_result)
    ]
    page = (
        (f"<h2>{html.escape(title)}</h2>" if title else "")
        + f"<h3>Summary metrics, {len(rows)} rows</h3>"
        + _html_table(means)
        + "<h3>Rows</h3>"
        + _html_table(rows)
    )
    if not _shown_as_html(page):
        console = Console()
        if title:
            console.print(Text(title, style="bold"))
        console.print(_grid(means))
        _print_lines(console, rows)


def display_explanations(
    eval_result: EvalResult, num: int = 1, metrics: Sequence[str] | None = None
) -> None:
    """Show rows in full, the worst first: each column with all that it holds.

    Args:
        eval_result: The result.
        num: How many rows.
        metrics: Parts of the metrics' names; None is all.

    Raises:
        ConfigError: The number is below 1.
    """
    if num < 1:
        raise ConfigError(f"num: at least 1 is needed, got {num}")
    rows = _rows(eval_result)
    worst = dict.fromkeys(w.row for w in eval_result.run.worst) if eval_result.run else {}
    order = [*worst, *(at for at in range(len(rows)) if at not in worst)][:num]
    shown = [
        {name: cell for name, cell in rows[at].items() if _wanted(name, metrics, _ALWAYS)}
        for at in order
    ]
    page = "<hr>".join(
        "".join(
            f"<div style='{_STYLE}'><h4>{html.escape(name)}</h4>{html.escape(_said(cell))}</div>"
            for name, cell in row.items()
        )
        for row in shown
    )
    if not _shown_as_html(page):
        _print_lines(Console(), shown, brief=False)


def display_radar_plot(
    eval_results_with_title: Titled,
    metrics: Sequence[str] | None = None,
    radar_range: tuple[float, float] | None = None,
    save: str | Path | None = None,
) -> None:
    """Show the means of several results as shapes around one centre, with their intervals.

    Args:
        eval_results_with_title: The results, each with its title.
        metrics: The metrics' names, or parts of them; None is all.
        radar_range: The values at the centre and at the rim; by default what all metrics fit in.
        save: A file to write: .png, .svg or .html.
    """
    chart = drawn("radar", eval_results_with_title, metrics, save, radar_range)
    _show(chart, saved=save is not None)


def display_bar_plot(
    eval_results_with_title: Titled,
    metrics: Sequence[str] | None = None,
    save: str | Path | None = None,
) -> None:
    """Show the means of several results side by side, with their intervals.

    Args:
        eval_results_with_title: The results, each with its title.
        metrics: The metrics' names, or parts of them; None is all.
        save: A file to write: .png, .svg or .html.
    """
    _show(drawn("bar", eval_results_with_title, metrics, save), saved=save is not None)


def display_lines(lines: Sequence[Mapping[str, Any]], title: str) -> None:
    """Show lines as a table, each key a column."""
    if not _shown_as_html(f"<h3>{html.escape(title)}</h3>{_html_table(lines)}"):
        console = Console()
        console.print(Text(title, style="bold"))
        _print_lines(console, lines)


def is_ipython_available() -> bool:
    """Whether this runs in a notebook or in IPython."""
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None


def _shown_as_html(page: str) -> bool:
    if not is_ipython_available():
        return False
    display: Any = import_module("IPython.display")
    display.display(display.HTML(page))
    return True


def _show(chart: Chart, *, saved: bool) -> None:
    if is_ipython_available():
        display: Any = import_module("IPython.display")
        display.display(chart)
    elif not saved:
        warnings.warn(
            "no notebook is running to show the picture in; give save='picture.png' (or .svg, "
            ".html) to write it",
            stacklevel=3,
        )


def _means(result: EvalResult) -> list[dict[str, Any]]:
    if result.run is None:
        names = [name.removesuffix("/mean") for name in result.summary_metrics if "/mean" in name]
        given = result.summary_metrics
        return [
            {"metric": n, "mean": given[f"{n}/mean"], "std": given.get(f"{n}/std")} for n in names
        ]
    found = []
    for key, metric in {**result.run.summary, **result.run.agent}.items():
        interval = metric.interval()
        between = f"{interval.low:.3f} – {interval.high:.3f}" if interval is not None else None
        scored = f"{metric.n_scored} of {metric.n_total}"
        found.append(
            {"metric": key, "mean": metric.mean, "std": metric.std, "95 %": between, "rows": scored}
        )
    return found


def _rows(result: EvalResult) -> list[dict[str, Any]]:
    if result.table is not None:
        return list(result.table.rows())
    rows: list[dict[str, Any]] = result.metrics_table.to_dict("records")
    return rows


def _wanted(name: str, metrics: Sequence[str] | None, always: Sequence[str]) -> bool:
    return metrics is None or any(part in name for part in (*metrics, *always))


def _said(cell: Any) -> str:
    if cell is None:
        return "–"
    return cell if isinstance(cell, str) else shorten(cell, 10_000)


def _brief(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "–" if cell is None else cell if isinstance(cell, str) else shorten(cell, 200)


def _print_lines(
    console: Console, lines: Sequence[Mapping[str, Any]], *, brief: bool = True
) -> None:
    """Print lines below each other, each cell beside its name: no terminal is wide enough."""
    for line in lines:
        console.rule()
        for name, cell in line.items():
            said = _brief(cell) if brief else _said(cell)
            console.print(Text.assemble((f"{name}: ", "bold"), said), soft_wrap=True)


def _html_table(lines: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for line in lines for name in line))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(_brief(line.get(name)))}</td>' for name in names)}</tr>"
        for line in lines
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _grid(lines: Sequence[Mapping[str, Any]]) -> Grid:
    names = list(dict.fromkeys(name for line in lines for name in line))
    grid = Grid()
    for name in names:
        grid.add_column(Text(name))
    for line in lines:
        grid.add_row(*(Text(_brief(line.get(name))) for name in names))
    return grid
