"""A run in Markdown, for a pull request's comment or a job's summary.

What came from traces stands in code spans, where it is neither markup, link, image nor mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from trajgrade.report import digest
from trajgrade.report.plain import number, printable
from trajgrade.report.saving import whole_file
from trajgrade.run import Run

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|<>~@&^$:-])")


def write(run: Run, path: Path) -> None:
    """Write the run."""
    with whole_file(path) as file:
        file.write("\n\n".join(_blocks(run)) + "\n")


def _blocks(run: Run) -> Iterator[str]:
    yield f"### {_plain(digest.heading(run))}"
    if run.outcomes:
        yield _table(
            ["threshold", "verdict", "value", "why"],
            (
                [
                    _cell(outcome.threshold),
                    outcome.verdict if outcome.verdict == "passed" else f"**{outcome.verdict}**",
                    number(outcome.value, outcome.bound),
                    _plain(outcome.reason),
                ]
                for outcome in run.outcomes
            ),
        )
    yield _table(
        ["metric", "mean", "std", "scored", "notes"],
        (
            [
                _cell(key), number(metric.mean), number(metric.std),
                f"{metric.n_scored}/{metric.n_total}", _plain("; ".join(digest.notes_of(metric))),
            ]
            for key, metric in digest.metrics_of(run).items()
        ),
    )  # fmt: skip
    yield from _rates(run)
    if run.warnings:
        lines = [line for warning in run.warnings for line in warning.splitlines()]
        yield "\n".join(f"- warning: {_code(line)}" for line in lines)
    yield from _rows(run)


def _rates(run: Run) -> Iterator[str]:
    ks, rates, left_out = digest.rates(run)
    if rates:
        lines: list[list[str]] = []
        for rate in rates:
            lines.append([_cell(rate.metric), "pass^k", *map(number, rate.all_of)])
            lines.append(["", "pass@k", *map(number, rate.any_of)])
        yield _table(["trials", "", *(f"k={k}" for k in ks)], lines)
    if left_out:
        yield "\n".join(f"- {note}" for note in left_out)


def _rows(run: Run) -> Iterator[str]:
    shown = list(digest.shown_rows(run, "worst"))
    if not shown:
        return
    yield "<details><summary>Rows to begin with</summary>"
    for row in shown:
        lines = [_code(row.title), ""]
        for finding in row.findings:
            names = ", ".join(map(_code, finding.metrics))
            lines.append(f"- {number(finding.score)} {names}: {_code(finding.comment)}")
        for head, *differences in row.alignments:
            lines.append(f"- {_code(head)}")
            lines += [f"  - {_code(line)}" for line in differences]
        yield "\n".join(lines)
    yield "</details>"


def _table(headings: list[str], rows: Iterable[list[str]]) -> str:
    lines = [headings, ["---", *("--:" if _is_number(h) else "---" for h in headings[1:])], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _is_number(heading: str) -> bool:
    return heading in ("mean", "std", "scored", "value") or heading.startswith("k=")


def _plain(text: str) -> str:
    """Return a text that shows as it stands."""
    return _MARKS.sub(r"\\\1", printable(text))


def _cell(text: str) -> str:
    """Return a code span for a cell of a table, where even a code span ends at a bar."""
    return _code(text.replace("|", "\\|"))


def _code(text: str) -> str:
    """Return a code span that the text cannot leave."""
    text = printable(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if not text.strip("` ") or text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"
