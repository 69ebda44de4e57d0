"""Two runs, compared, on the screen."""

from __future__ import annotations

from typing import TextIO

from rich.table import Table
from rich.text import Text

from trajgrade.comparison.compared import Comparison
from trajgrade.report.console import Screen
from trajgrade.report.plain import count, printable
from trajgrade.report.versus import told

_STYLES = {
    "better": "green", "worse": "bold red", "different": "bold yellow",
    "passed": "green", "failed": "bold red", "undecided": "bold yellow",
}  # fmt: skip
_MARKS = {"=": "green", "~": "yellow", "-": "red", "+": "cyan", "!": "magenta"}


def show(comparison: Comparison, *, rows: int = told.SHOWN, stream: TextIO | None = None) -> None:
    """Print a comparison.

    Args:
        comparison: The comparison.
        rows: How many examples that are worse, and how many that are better, are shown.
        stream: Where to; standard output by default.
    """
    screen = Screen(stream)
    screen.block(*map(Text, told.headings(comparison)))
    if comparison.metrics:
        screen.block(_metrics(comparison))
    screen.block(Text(told.verdict(comparison), "bold"))
    if comparison.outcomes:
        screen.block(_gates(comparison))
    if comparison.warnings:
        screen.block(
            *(Text.assemble(("warning ", "yellow"), printable(w)) for w in comparison.warnings)
        )
    metrics = comparison.metrics.values()
    notes = [note for metric in metrics for note in told.notes(metric)]
    if notes:
        screen.block(*map(Text, notes))
    advice = told.all_advice(comparison)
    if advice:
        screen.block(Text("What so many examples can show", "bold"), *map(Text, advice))
    for worse in (True, False):
        _moves(screen, told.moves(comparison, worse=worse, most=rows), worse=worse)


def _metrics(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("metric", overflow="fold")
    gaps = any(metric.n_pairs < metric.n_examples for metric in comparison.metrics.values())
    counts = ("pairs",) if gaps else ()
    for heading in (*counts, "old", "new", "change", f"{comparison.level:.0%} interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("finding", overflow="fold")
    for metric in comparison.metrics.values():
        shown = told.figures(metric)
        missing = metric.n_pairs < metric.n_examples
        table.add_row(
            Text(printable(shown.metric)),
            *([Text(shown.pairs, "yellow" if missing else "")] if gaps else []),
            *shown[2:7],
            Text(shown.finding, _STYLES.get(metric.finding, "")),
        )
    return table


def _gates(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("gate", "verdict", "change", "why"):
        table.add_column(heading, overflow="fold")
    for outcome in comparison.outcomes:
        table.add_row(
            Text(printable(outcome.threshold)),
            Text(outcome.verdict, _STYLES[outcome.verdict]),
            told.signed(outcome.value),
            Text(printable(outcome.reason)),
        )
    return table


def _moves(screen: Screen, moves: told.Moves, *, worse: bool) -> None:
    if not moves.total:
        return
    words = told.word_of(moves, worse=worse)
    some = f", {len(moves.shown)} of them here" if 0 < len(moves.shown) < moves.total else ""
    screen.block(
        Text(f"{words}: {count(moves.total, 'example')}{some}", "bold red" if worse else "green")
    )
    for moved in moves.shown:
        parts: list[Text | Table] = [Text(moved.title, "bold"), *map(Text, moved.scores)]
        if moved.lines:
            parts.append(_lines(moved))
        else:
            parts += [
                Text(f"{which}: {comment}")
                for which, comment in zip(("old", "new"), moved.comments, strict=True)
                if comment
            ]
        screen.block(*parts)


def _lines(moved: told.Moved) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    for heading in ("expected", "old", "new"):
        table.add_column(heading, overflow="fold")
    for line in moved.lines:
        table.add_row(Text(line.expected), _call(line.old), _call(line.new))
    return table


def _call(text: str) -> Text:
    return Text(text, _MARKS.get(text[:1], ""))
