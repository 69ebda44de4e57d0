"""Judges beside the metrics that they score: how far each agrees with people."""

from __future__ import annotations

from collections.abc import Iterator

from trajgrade.agreement import Estimate
from trajgrade.alignment import Alignment
from trajgrade.report.plain import count, number
from trajgrade.run import Run

HEADINGS = ("judge of", "", "value", "interval", "of")

_NAMES = {
    "kappa": "Cohen's kappa", "sensitivity": "sensitivity", "specificity": "specificity",
}  # fmt: skip


def rows(run: Run) -> list[list[str]]:
    """Return what was measured of each metric's judge, in the order of `HEADINGS`.

    A pass rate is the run's own, as the judge gives it and as people would have.
    """
    return [
        [one.metric if place == 0 else "", *cells]
        for one in run.judge_alignment
        for place, cells in enumerate(_of(one))
    ]


def _of(one: Alignment) -> Iterator[list[str]]:
    for name, called in _NAMES.items():
        yield [called, *_shown(one.estimates.get(name), "label")]
    yield ["pass rate, as judged", *_shown(one.judged_rate, "example")]
    yield ["pass rate, corrected", *_shown(one.corrected_rate, "example")]


def remarks(run: Run) -> list[str]:
    """Return what must be known to read the lines: what could not be estimated, and why."""
    return [f"{one.metric}: {text}" for one in run.judge_alignment for text in _said(one)]


def _said(one: Alignment) -> Iterator[str]:
    if one.judges:
        labels = count(one.n_labels, "label")
        yield f"measured on {one.measured_at:%Y-%m-%d} of {one.judges[0]}, with {labels}"
    if one.corrected_rate is not None and one.corrected_rate.value is None:
        yield f"the pass rate cannot be corrected: {one.corrected_rate.why}"


def _shown(estimate: Estimate | None, noun: str) -> list[str]:
    if estimate is None or estimate.value is None:
        return ["-", "", ""]
    ends = ""
    if estimate.low is not None and estimate.high is not None:
        ends = f"{number(estimate.low)} to {number(estimate.high)}"
    return [number(estimate.value), ends, count(estimate.n, noun)]
