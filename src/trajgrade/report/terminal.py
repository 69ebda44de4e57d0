"""A run on the screen: the metrics, what must hold, what to look at, and the rows to begin with."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TextIO

from rich.table import Table
from rich.text import Text

from trajgrade.report import digest, judged
from trajgrade.report.console import Screen
from trajgrade.report.plain import count, number, printable
from trajgrade.run import Explain, Run
from trajgrade.thresholds import Outcome

_WIDE = 100  # columns from which there is room for the standard deviation, too
_LONG = 32  # a metric's name is on one line up to here, and notes fold
_VERDICT_STYLES = {"passed": "green", "failed": "bold red", "undecided": "bold yellow"}


def show(
    run: Run,
    *,
    explain: Explain = "worst",
    told: Collection[str] = (),
    stream: TextIO | None = None,
) -> None:
    """Print a run.

    Args:
        run: The run.
        explain: Which rows are shown.
        told: The warnings that were printed already.
        stream: Where to; standard output by default.
    """
    screen = Screen(stream)
    screen.block(Text(digest.heading(run), "bold"))
    screen.block(_metrics(run, wide=screen.width >= _WIDE))
    if run.judge_alignment:
        remarks = [Text(printable(text)) for text in judged.remarks(run)]
        screen.block(_judges(run), *remarks)
    ks, rates, left_out = digest.rates(run)
    if rates:
        screen.block(_rates(ks, rates), *map(Text, left_out))
    if run.outcomes:
        screen.block(_outcomes(run.outcomes))
    warnings = [text for text in run.warnings if text not in told]
    if warnings:
        screen.block(*(_warning(line) for text in warnings for line in text.splitlines()))
    for row in digest.shown_rows(run, explain):
        screen.lines(_row(row, screen))
    hidden = digest.n_hidden(run) if explain == "worst" else 0
    if hidden:
        screen.block(Text(f"{count(hidden, 'row')} more among the lowest; --explain all shows all"))


def show_unmet(run: Run, stream: TextIO | None = None) -> None:
    """Print the thresholds that do not hold, and nothing where all do."""
    unmet = [outcome for outcome in run.outcomes if outcome.verdict != "passed"]
    if unmet:
        Screen(stream).block(_outcomes(unmet))


def _table(*headings: str) -> Table:
    """Return a table without lines, whose first column is text and whose others are numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(headings):
        if place == 0:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    return table


def _metrics(run: Run, *, wide: bool) -> Table:
    table = _table("metric", "mean", digest.INTERVAL, *(["std"] if wide else []), "scored")
    table.add_column("notes", overflow="fold")
    found = digest.metrics_of(run)
    table.columns[0].no_wrap = all(len(printable(key)) <= _LONG for key in found)
    for key, metric in found.items():
        table.add_row(
            Text(printable(key)),
            number(metric.mean),
            digest.interval_of(metric),
            *([number(metric.std)] if wide else []),
            Text(
                f"{metric.n_scored}/{metric.n_total}",
                "" if metric.n_scored == metric.n_total else "yellow",
            ),
            Text("; ".join(digest.notes_of(metric))),
        )
    return table


def _judges(run: Run) -> Table:
    table = _table(*judged.HEADINGS)
    table.columns[1].justify = "left"
    for key, *cells in judged.rows(run):
        table.add_row(Text(printable(key)), *cells)
    return table


def _rates(ks: list[int], rates: list[digest.Rates]) -> Table:
    table = _table("trials", "", *(f"k={k}" for k in ks))
    for rate in rates:
        table.add_row(Text(printable(rate.metric)), "pass^k", *map(number, rate.all_of))
        table.add_row("", "pass@k", *map(number, rate.any_of))
    return table


def _outcomes(outcomes: list[Outcome] | tuple[Outcome, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("threshold", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for outcome in outcomes:
        table.add_row(
            Text(printable(outcome.threshold)),
            Text(outcome.verdict, _VERDICT_STYLES[outcome.verdict]),
            number(outcome.value, outcome.bound),
            Text(printable(outcome.reason)),
        )
    return table


def _warning(line: str) -> Text:
    return Text.assemble(("warning ", "yellow"), printable(line))


def _row(row: digest.Shown, screen: Screen) -> Iterator[Text]:
    yield from screen.hanging("", Text(row.title, "bold"))
    for finding in row.findings:
        names = Text(", ".join(finding.metrics), "cyan")
        gap = "\n" if len(finding.metrics) > 1 else ": "
        score = f"{number(finding.score):>5}  "
        yield from screen.hanging(score, Text.assemble(names, gap, finding.comment))
    for head, *differences in row.alignments:
        yield from screen.hanging(" " * 7, Text(head))
        for line in differences:
            yield from screen.hanging(" " * 9, Text(line))
