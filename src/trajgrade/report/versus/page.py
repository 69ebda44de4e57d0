"""Two runs, compared, as one HTML file: what changed, how sure that is, and the calls of both runs.

It has no script. Examples that are worse come first, those that most metrics say it of in front;
of each side at most 100 are shown, and of names that only one run has at most 200.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trajgrade.comparison.compared import Comparison
from trajgrade.comparison.records import MetricComparison
from trajgrade.measured import MEASURED
from trajgrade.report.document import cut, document
from trajgrade.report.plain import count, printable
from trajgrade.report.saving import whole_file
from trajgrade.report.versus import told

MOST_EXAMPLES = 100
MOST_NAMES = 200
_TONES = {"better": "good", "passed": "good", "worse": "bad", "failed": "bad", "undecided": "bad"}
_MARKS = {"=": "same", "~": "differs", "-": "lacks", "+": "besides", "!": "moved"}
_WIDTH, _MIDDLE = 140, 70


def write(comparison: Comparison, path: Path) -> None:
    """Write the comparison.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    text = page(comparison)
    with whole_file(path) as file:
        file.write(text)


def page(comparison: Comparison) -> str:
    """Return the comparison as a page.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    return document("versus.html", ("run.css", "versus.css"), **figures(comparison))


def figures(comparison: Comparison) -> dict[str, Any]:
    """Return what a page says of a comparison, as its template is given it."""
    metrics = comparison.metrics.values()
    return {
        "title": told.title(comparison),
        "verdict": told.verdict(comparison),
        "tone": _tone(comparison),
        "headings": told.headings(comparison),
        "warnings": [cut(printable(warning)) for warning in comparison.warnings],
        "gates": [
            {
                "gate": printable(one.threshold), "verdict": one.verdict,
                "tone": _TONES[one.verdict], "change": told.signed(one.value),
                "why": cut(printable(one.reason)),
            }
            for one in comparison.outcomes
        ],
        "level": f"{comparison.level:.0%}",
        "metrics": [*_metrics(comparison)],
        "sentences": [told.sentence(metric) for metric in metrics if metric.key not in MEASURED],
        "notes": [*(note for metric in metrics for note in told.notes(metric))],
        "advice": told.all_advice(comparison),
        "moves": [_moves(comparison, worse=worse) for worse in (True, False)],
        "lacking": [*_lacking(comparison)],
        "resamples": f"{comparison.resamples:,}",
        "seed": comparison.seed,
    }  # fmt: skip


def _tone(comparison: Comparison) -> str:
    findings = {metric.finding for metric in comparison.metrics.values()}
    return "bad" if "worse" in findings else "good" if "better" in findings else ""


def _metrics(comparison: Comparison) -> Iterator[dict[str, Any]]:
    margins = {gate.metric: gate.margin for gate in comparison.gates}
    for key, metric in comparison.metrics.items():
        old, new = told.ranges(comparison, key)
        shown = told.figures(metric)
        yield {
            "key": cut(printable(key)),
            "pairs": shown.pairs,
            "all": metric.n_pairs == metric.n_examples,
            "old": shown.old, "old_interval": old, "new": shown.new, "new_interval": new,
            "change": shown.change, "interval": shown.interval, "p": shown.p,
            "finding": shown.finding, "tone": _TONES.get(metric.finding, ""),
            "n_lost": metric.n_lost, "n_gained": metric.n_gained,
            "plot": _plot(metric, _reach(comparison, metric), margins.get(key)),
        }  # fmt: skip


def _reach(comparison: Comparison, metric: MetricComparison) -> float:
    """Return how far to both sides of 0 a metric's plot goes: the same for all of one scale."""
    alike = [one for one in comparison.metrics.values() if one.bounds == metric.bounds]
    shown = alike if metric.bounds is not None else [metric]
    margins = {gate.metric: gate.margin for gate in comparison.gates}
    ends = [
        abs(end)
        for one in shown
        for end in (
            *(one.interval[:2] if one.interval is not None else ()),
            one.difference or 0.0,
            margins.get(one.key, 0.0),
        )
    ]
    return max(ends, default=0.0) or 1.0


def _plot(metric: MetricComparison, reach: float, margin: float | None) -> dict[str, Any] | None:
    """Return where the change and its interval are drawn, in the plot's own units."""
    if metric.difference is None:
        return None

    def at(value: float) -> float:
        return round(_MIDDLE + value / reach * (_MIDDLE - 8), 1)

    low, high = metric.interval[:2] if metric.interval is not None else [metric.difference] * 2
    worse = 1 if metric.direction == "lower" else -1
    shown = told.figures(metric)
    return {
        "width": _WIDTH, "middle": _MIDDLE, "low": at(low), "high": at(high),
        "point": at(metric.difference),
        "margin": None if margin is None else at(worse * margin),
        "said": f"change {shown.change}, interval {shown.interval}",
    }  # fmt: skip


def _moves(comparison: Comparison, *, worse: bool) -> dict[str, Any]:
    found = told.moves(comparison, worse=worse, most=MOST_EXAMPLES)
    return {
        "heading": f"{told.word_of(found, worse=worse)}: {count(found.total, 'example')}",
        "worse": worse,
        "total": found.total,
        "hidden": found.total - len(found.shown),
        "shown": [_moved(moved) for moved in found.shown],
    }


def _moved(moved: told.Moved) -> dict[str, Any]:
    return {
        "title": cut(moved.title),
        "scores": [cut(text) for text in moved.scores],
        "lines": [
            {"expected": cut(line.expected), "old": _call(line.old), "new": _call(line.new)}
            for line in moved.lines
        ],
        "comments": [
            {"which": which, "text": cut(text)}
            for which, text in zip(("old", "new"), moved.comments, strict=True)
            if text
        ],
    }


def _call(text: str) -> dict[str, str]:
    return {"text": cut(text), "mark": _MARKS.get(text[:1], "")}


def _lacking(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield which examples could not be compared, and why."""
    pairs = comparison.pairs
    for which, names in (("old", pairs.only_base), ("new", pairs.only_new)):
        if names:
            yield _named(f"only in the {which} run", names)
    for key in comparison.metrics:
        names = comparison.unscored(key)
        if names:
            yield _named(f"{printable(key)} has no score in both runs", names)


def _named(what: str, names: list[str]) -> dict[str, Any]:
    return {
        "what": f"{what}: {count(len(names), 'example')}",
        "names": [cut(printable(name)) for name in names[:MOST_NAMES]],
        "hidden": max(0, len(names) - MOST_NAMES),
    }
