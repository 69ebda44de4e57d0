"""A run in Markdown, for a pull request's comment or a job's summary.

What came from traces stands in code spans (`markup`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trajgrade.report import digest, judged
from trajgrade.report.markup import cell, code, plain, table
from trajgrade.report.plain import number
from trajgrade.report.saving import whole_file
from trajgrade.run import Run


def write(run: Run, path: Path) -> None:
    """Write the run."""
    with whole_file(path) as file:
        file.write("\n\n".join(_blocks(run)) + "\n")


def append(run: Run, path: Path) -> None:
    """Write the run behind what a file holds, such as the summary of a job."""
    text = "\n\n".join(_blocks(run)) + "\n\n"
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _blocks(run: Run) -> Iterator[str]:
    yield f"### {plain(digest.heading(run))}"
    if run.outcomes:
        yield table(
            ["threshold", "verdict", "value", "why"],
            (
                [
                    cell(outcome.threshold),
                    outcome.verdict if outcome.verdict == "passed" else f"**{outcome.verdict}**",
                    number(outcome.value, outcome.bound),
                    plain(outcome.reason),
                ]
                for outcome in run.outcomes
            ),
        )
    yield table(
        ["metric", "mean", digest.INTERVAL, "std", "scored", "notes"],
        (
            [
                cell(key), number(metric.mean), digest.interval_of(metric), number(metric.std),
                f"{metric.n_scored}/{metric.n_total}", plain("; ".join(digest.notes_of(metric))),
            ]
            for key, metric in digest.metrics_of(run).items()
        ),
    )  # fmt: skip
    if run.judge_alignment:
        yield table(
            [*judged.HEADINGS],
            ([cell(key) if key else "", *cells] for key, *cells in judged.rows(run)),
        )
        yield "\n".join(f"- {code(text)}" for text in judged.remarks(run))
    yield from _rates(run)
    if run.warnings:
        lines = [line for warning in run.warnings for line in warning.splitlines()]
        yield "\n".join(f"- warning: {code(line)}" for line in lines)
    yield from _rows(run)


def _rates(run: Run) -> Iterator[str]:
    ks, rates, left_out = digest.rates(run)
    if rates:
        lines: list[list[str]] = []
        for rate in rates:
            lines.append([cell(rate.metric), "pass^k", *map(number, rate.all_of)])
            lines.append(["", "pass@k", *map(number, rate.any_of)])
        yield table(["trials", "", *(f"k={k}" for k in ks)], lines)
    if left_out:
        yield "\n".join(f"- {note}" for note in left_out)


def _rows(run: Run) -> Iterator[str]:
    shown = list(digest.shown_rows(run, "worst"))
    if not shown:
        return
    yield "<details><summary>Rows to begin with</summary>"
    for row in shown:
        lines = [code(row.title), ""]
        for finding in row.findings:
            names = ", ".join(map(code, finding.metrics))
            lines.append(f"- {number(finding.score)} {names}: {code(finding.comment)}")
        for head, *differences in row.alignments:
            lines.append(f"- {code(head)}")
            lines += [f"  - {code(line)}" for line in differences]
        yield "\n".join(lines)
    yield "</details>"
