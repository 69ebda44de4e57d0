"""Two runs, compared, in Markdown: a verdict in words, a table, and the rest folded away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trajgrade.comparison.compared import Comparison
from trajgrade.report.markup import cell, code, plain, table
from trajgrade.report.plain import count
from trajgrade.report.saving import whole_file
from trajgrade.report.versus import told


def write(comparison: Comparison, path: Path) -> None:
    """Write the comparison."""
    with whole_file(path) as file:
        file.write("\n\n".join(blocks(comparison)) + "\n")


def append(comparison: Comparison, path: Path) -> None:
    """Write the comparison behind what a file holds, such as the summary of a job."""
    text = "\n\n".join(blocks(comparison)) + "\n\n"
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def blocks(comparison: Comparison) -> Iterator[str]:
    """Yield the parts of the page."""
    yield f"### {plain(told.verdict(comparison))}"
    yield "\n".join(f"- {plain(line)}" for line in told.headings(comparison))
    if comparison.outcomes:
        yield table(
            ["gate", "verdict", "change", "why"],
            (
                [
                    cell(outcome.threshold),
                    outcome.verdict if outcome.verdict == "passed" else f"**{outcome.verdict}**",
                    told.signed(outcome.value),
                    plain(outcome.reason),
                ]
                for outcome in comparison.outcomes
            ),
        )
    headings = ["metric", "pairs", "old", "new", "change"]
    headings += [f"{comparison.level:.0%} interval", "p", "finding"]
    if comparison.metrics:
        found = (told.figures(metric) for metric in comparison.metrics.values())
        yield table(headings, ([cell(one.metric), *one[1:]] for one in found))
        sentences = map(told.sentence, comparison.metrics.values())
        yield "\n".join(f"- {plain(text)}" for text in sentences)
    if comparison.warnings:
        yield "\n".join(f"- warning: {code(warning)}" for warning in comparison.warnings)
    metrics = comparison.metrics.values()
    notes = [note for metric in metrics for note in told.notes(metric)]
    advice = told.all_advice(comparison)
    if notes or advice:
        yield "<details><summary>What so many examples can show</summary>"
        yield "\n".join(f"- {plain(line)}" for line in (*notes, *advice))
        yield "</details>"
    for worse in (True, False):
        yield from _moves(told.moves(comparison, worse=worse), worse=worse)


def _moves(moves: told.Moves, *, worse: bool) -> Iterator[str]:
    if not moves.total:
        return
    words = told.word_of(moves, worse=worse)
    some = f", {len(moves.shown)} of them here" if len(moves.shown) < moves.total else ""
    yield f"<details><summary>{words}: {count(moves.total, 'example')}{some}</summary>"
    for moved in moves.shown:
        yield f"{code(moved.title)}: {plain('; '.join(moved.scores))}"
        if moved.lines:
            yield table(
                ["expected", "in the old run", "in the new run"],
                ([_call(line.expected), _call(line.old), _call(line.new)] for line in moved.lines),
            )
        else:
            sides = zip(("old", "new"), moved.comments, strict=True)
            yield "\n".join(f"- {which}: {code(said)}" for which, said in sides if said)
    yield "</details>"


def _call(text: str) -> str:
    return cell(text) if text else ""
