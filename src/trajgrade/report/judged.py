"""Judges beside the metrics that they score: how far each agrees with people, as it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from trajgrade.agreement import Estimate
from trajgrade.alignment import Alignment
from trajgrade.report.plain import count, number
from trajgrade.run import Run

HEADINGS = ("judge of", "kappa", "sensitivity", "specificity", "labels", "passes", "corrected")


def rows(run: Run) -> list[list[str]]:
    """Return a line for each metric whose judge was measured, in the order of `HEADINGS`.

    `passes` is the share that the judge passes, `corrected` the share that people would have.
    """
    return [
        [
            one.metric,
            *(_shown(one.estimates.get(name)) for name in ("kappa", "sensitivity", "specificity")),
            f"{one.n_labels:,}",
            _shown(one.judged_rate),
            _shown(one.corrected_rate),
        ]
        for one in run.judge_alignment
    ]


def remarks(run: Run) -> list[str]:
    """Return what must be known to read the lines: what could not be estimated, and why."""
    return [f"{one.metric}: {text}" for one in run.judge_alignment for text in _said(one)]


def _said(one: Alignment) -> Iterator[str]:
    if one.judges:
        labels = count(one.n_labels, "label")
        yield f"measured on {one.measured_at:%Y-%m-%d} of {one.judges[0]}, with {labels}"
    if one.corrected_rate is not None and one.corrected_rate.value is None:
        yield f"the pass rate cannot be corrected: {one.corrected_rate.why}"


def _shown(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"
