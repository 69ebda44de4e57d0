"""A run as JUnit's XML, for build servers: a case for each row, a failure for each that fell short.

A row fails whose results have a flag that is false, or that is in error; a threshold that does not
hold is a case of its own that fails. What was not evaluated is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from trajgrade.report import digest
from trajgrade.report.plain import number, printable
from trajgrade.report.saving import whole_file
from trajgrade.run import Row, Run

MOST_LETTERS = 4000


def write(run: Run, path: Path) -> None:
    """Write the run."""
    with whole_file(path) as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n')
        name = quoteattr(printable(run.name or run.dataset))
        told = [*_thresholds(run)]
        failed = sum("<failure" in case for case in told)
        rows = [_state(row, run)[0] for row in run.rows]
        counts = (
            f'tests="{len(rows) + len(told)}" failures="{rows.count("failure") + failed}" '
            f'errors="{rows.count("error")}" skipped="{rows.count("skipped")}"'
        )
        file.write(f'<testsuite name={name} {counts} time="{run.seconds:.3f}">\n')
        for case in told:
            file.write(case)
        for row in run.rows:
            file.write(_case(row, run))
        file.write("</testsuite>\n</testsuites>\n")


def _thresholds(run: Run) -> Iterator[str]:
    for one in run.outcomes:
        name = quoteattr(printable(one.threshold))
        if one.verdict == "passed":
            yield f'<testcase classname="thresholds" name={name}/>\n'
        else:
            told = printable(f"{one.verdict}: {number(one.value, one.bound)} {one.reason}")
            yield (
                f'<testcase classname="thresholds" name={name}>'
                f"<failure message={quoteattr(told)}/></testcase>\n"
            )


def _state(row: Row, run: Run) -> tuple[str, list[str]]:
    """Return what a row is to JUnit, and why."""
    broken = [r for r in row.results.values() if r.error and not r.error.not_evaluated]
    if broken:
        return "error", [digest.comment_of(result) for result in broken]
    short = [
        result
        for key, result in row.results.items()
        if result.value is False and digest.is_short_of(result, run.summary[key].column)
    ]
    if short:
        return "failure", [f"{result.key}: {digest.comment_of(result)}" for result in short]
    if row.results and all(result.score is None for result in row.results.values()):
        return "skipped", ["nothing could be evaluated"]
    return "passed", []


def _case(row: Row, run: Run) -> str:
    state, why = _state(row, run)
    name = quoteattr(digest.title_of(row))
    taken = "" if row.latency_in_seconds is None else f' time="{row.latency_in_seconds:.3f}"'
    properties = "".join(
        f'<property name={quoteattr(printable(key))} value="{number(result.score)}"/>'
        for key, result in row.results.items()
        if result.score is not None
    )
    told = f"<properties>{properties}</properties>" if properties else ""
    text = escape("\n".join(why)[:MOST_LETTERS])
    if state == "skipped":
        told += f"<skipped message={quoteattr(why[0])}/>"
    elif state != "passed":
        told += f"<{state} message={quoteattr(why[0][:300])}>{text}</{state}>"
    return f'<testcase classname="rows" name={name}{taken}>{told}</testcase>\n'
