"""A comparison as JUnit's XML, for build servers: a case for each gate, and one for each metric.

A gate fails unless it passes. A metric that has no gate fails where it is worse, by more than
chance; it is skipped where nothing can be compared. The examples that are worse stand with the
metric as its output: one example alone is often worse by chance, and fails nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from trajgrade.comparison.compared import Comparison
from trajgrade.comparison.records import MetricComparison
from trajgrade.measured import MEASURED
from trajgrade.report.plain import number, printable
from trajgrade.report.saving import whole_file
from trajgrade.report.versus import told

_MOST_EXAMPLES = 200


class _Case(NamedTuple):
    group: str
    name: str
    state: str  # passed, failure or skipped
    why: str
    output: str = ""


def write(comparison: Comparison, path: Path) -> None:
    """Write the comparison."""
    cases = [*_gates(comparison), *_metrics(comparison)]
    states = [case.state for case in cases]
    counts = (
        f'tests="{len(cases)}" failures="{states.count("failure")}" errors="0" '
        f'skipped="{states.count("skipped")}"'
    )
    with whole_file(path) as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n')
        file.write(f"<testsuite name={quoteattr(told.title(comparison))} {counts}>\n")
        file.writelines(_written(case) for case in cases)
        warnings = "\n".join(printable(warning) for warning in comparison.warnings)
        if warnings:
            file.write(f"<system-err>{escape(warnings)}</system-err>\n")
        file.write("</testsuite>\n</testsuites>\n")


def _gates(comparison: Comparison) -> Iterator[_Case]:
    for one in comparison.outcomes:
        why = f"{one.verdict}: {told.signed(one.value)}, {one.reason}"
        state = "passed" if one.verdict == "passed" else "failure"
        yield _Case("gates", one.threshold, state, why)


def _metrics(comparison: Comparison) -> Iterator[_Case]:
    gated = {gate.metric for gate in comparison.gates}
    for key, metric in comparison.metrics.items():
        state = "passed"
        if metric.finding == "nothing to compare":
            state = "skipped"
        elif metric.finding == "worse" and key not in gated:
            state = "failure"
        yield _Case("metrics", key, state, told.sentence(metric), _worse(comparison, metric))


def _worse(comparison: Comparison, metric: MetricComparison) -> str:
    if metric.key in MEASURED or metric.direction is None:
        return ""
    lost = comparison.lost(metric.key)
    lines = [
        f"{printable(one.id)} {number(one.base)} → {number(one.new)}"
        for one in lost[:_MOST_EXAMPLES]
    ]
    more = [f"{len(lost) - _MOST_EXAMPLES:,} more"] if len(lost) > _MOST_EXAMPLES else []
    return "\n".join([*lines, *more])


def _written(case: _Case) -> str:
    inner = ""
    if case.state != "passed":
        inner += f"<{case.state} message={quoteattr(printable(case.why))}/>"
    if case.output:
        inner += f"<system-out>worse:\n{escape(case.output)}</system-out>"
    name = quoteattr(printable(case.name))
    return f'<testcase classname="{case.group}" name={name}>{inner}</testcase>\n'
