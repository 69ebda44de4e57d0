"""What every report for people says of two runs, compared, before it is laid out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from trajgrade.comparison.compared import Comparison
from trajgrade.comparison.records import Change, Label, MetricComparison
from trajgrade.intervals import Interval
from trajgrade.measured import MEASURED
from trajgrade.report.plain import count, number, printable
from trajgrade.report.versus.calls import Line, side_by_side
from trajgrade.run import Row

SHOWN = 5
_NOISY = 0.3
_WORDS = {"no difference shown": "not shown", "nothing to compare": "-"}
_TESTS = {
    "mcnemar_midp": "McNemar's test, mid-p",
    "sign_flip_exact": "the sign-flip test, exact",
    "sign_flip": "the sign-flip test",
}


def title(comparison: Comparison) -> str:
    """Return which runs are compared, in a few words."""
    labels = comparison.labels()
    old, new = (label.name or label.dataset for label in labels)
    if old == new:
        old, new = (f"{label.dataset}, {label.started_at[:16]}" for label in labels)
    return printable(f"{new} against {old}")


def headings(comparison: Comparison) -> list[str]:
    """Return which runs are compared, a line each, and how many examples match."""
    old, new = comparison.labels()
    matched = len(comparison.pairs.names)
    return [
        f"old: {_label(old)}",
        f"new: {_label(new)}",
        f"{count(matched, 'example')} in both, matched by id",
    ]


def _label(label: Label) -> str:
    rows = count(label.n_rows, "row")
    if label.n_examples != label.n_rows:
        rows += f" of {count(label.n_examples, 'example')}"
    title = f"{label.name}: " if label.name else ""
    return printable(f"{title}{rows} from {label.dataset}, {label.started_at[:16]}")


class Figures(NamedTuple):
    """One metric, in words and numbers as they are shown."""

    metric: str
    pairs: str
    old: str
    new: str
    change: str
    interval: str
    p: str
    finding: str


def figures(metric: MetricComparison) -> Figures:
    """Return what is shown of one metric."""
    interval = metric.interval
    return Figures(
        metric.key,
        f"{metric.n_pairs}/{metric.n_examples}",
        number(metric.base),
        number(metric.new),
        signed(metric.difference),
        span(interval, signed),
        _p(metric.p_adjusted),
        _WORDS.get(metric.finding, metric.finding),
    )


def span(interval: Interval | None, shown: Callable[[float], str] = number) -> str:
    """Return the ends of an interval."""
    return "-" if interval is None else f"{shown(interval.low)} to {shown(interval.high)}"


def ranges(comparison: Comparison, key: str) -> tuple[str, str]:
    """Return the intervals of the old mean and of the new one."""
    old, new = comparison.mean_intervals(key)
    return span(old), span(new)


def signed(value: float | None) -> str:
    """Return a difference with its sign."""
    if value is None:
        return "-"
    return f"+{number(value)}" if value > 0 else number(value)


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def verdict(comparison: Comparison) -> str:
    """Return what came out, in a sentence."""
    by_finding: dict[str, list[str]] = defaultdict(list)
    for metric in comparison.metrics.values():
        by_finding[metric.finding].append(printable(metric.key))
    told = [
        f"{finding}: {', '.join(by_finding[finding])}"
        for finding in ("worse", "better", "different")
        if by_finding[finding]
    ]
    if told:
        return f"The new run is {'; '.join(told)}."
    if any(metric.n_pairs for metric in comparison.metrics.values()):
        return "No difference is shown: what is seen can well be chance."
    return "Nothing can be compared."


def sentence(metric: MetricComparison) -> str:
    """Say in words what came out for a metric."""
    key = printable(metric.key)
    if metric.test is None:
        return f"{key}: nothing can be compared."
    moved = f"{key} went from {number(metric.base)} to {number(metric.new)}"
    if not metric.difference:
        moved = f"{key} stayed at {number(metric.base)}"
    elif metric.interval is not None:
        level = f"{metric.interval.level:.0%} interval"
        moved += f", a change of {signed(metric.difference)} ({level} {_ends(metric.interval)})"
    p = _p(metric.p_adjusted)
    told = f"p {p if p.startswith('<') else f'= {p}'}, by {_TESTS[metric.test]}"
    if metric.finding == "no difference shown":
        return f"{moved}. No difference is shown ({told})."
    if metric.finding == "different":
        return f"{moved}. That is more than chance ({told}); which is better the metric says not."
    return f"{moved}. That is {metric.finding}, and more than chance ({told})."


def _ends(interval: Interval) -> str:
    return span(interval, signed)


def notes(metric: MetricComparison) -> Iterator[str]:
    """Yield what must be known beside a metric's numbers."""
    key = printable(metric.key)
    for which, missing in (("old", metric.missing_base), ("new", metric.missing_new)):
        if missing:
            kinds = ", ".join(f"{rows:,} {kind}" for kind, rows in missing.items())
            yield f"{key}: rows of the {which} run without a score: {kinds}"
    if metric.n_vacuous:
        yield f"{key}: {count(metric.n_vacuous, 'pair')} vacuous, which say nothing"
    if metric.trials[0] != metric.trials[1]:
        yield (
            f"{key}: up to {metric.trials[0]} and {metric.trials[1]} rows for an example; each "
            "example's mean is compared"
        )


def advice(metric: MetricComparison) -> str:
    """Say how small a difference so many examples can show, and what would show this one."""
    if metric.n_pairs < 2:
        return ""
    n = count(metric.n_pairs, "example")
    if metric.n_up + metric.n_down == 0:
        return f"{printable(metric.key)}: no example differs"
    if metric.detectable is None:
        told = f"{n} can show no difference, however large"
    else:
        told = f"{n} show a true difference of {number(metric.detectable)} four times in five"
    if metric.finding == "no difference shown" and metric.difference:
        seen = number(abs(metric.difference))
        much = "more than can be had" if metric.needed is None else f"about {metric.needed:,}"
        told += f"; one of {seen}, as was seen, needs {much}"
    return f"{printable(metric.key)}: {told}"


def all_advice(comparison: Comparison) -> list[str]:
    """Return what so many examples and trials can show, a line each."""
    metrics = [metric for metric in comparison.metrics.values() if metric.key not in MEASURED]
    told = [text for metric in metrics if (text := advice(metric))]
    noisy = [m for m in metrics if m.trial_noise is not None and m.trial_noise >= _NOISY]
    if noisy:
        some = ", ".join(f"{printable(m.key)} {m.trial_noise:.0%}" for m in noisy)
        told.append(
            f"Of the noise, repeating the same example gives: {some}. More trials of each example "
            "help there, too"
        )
    return told


class Moved(NamedTuple):
    """An example that is better or worse in the new run.

    Attributes:
        title: The example.
        scores: What each metric that moved says, in a line each.
        lines: Its calls in both runs, side by side; of one trial each, where there are several.
        comments: What the evaluators said of it in the old run and in the new.
    """

    title: str
    scores: list[str]
    lines: list[Line]
    comments: tuple[str, str]


class Moves(NamedTuple):
    """The examples that are worse, or better.

    Attributes:
        total: How many there are.
        shown: A few, those that moved by most metrics first.
        fixed: Whether they went from failing to passing, or back, by some metric.
    """

    total: int
    shown: list[Moved]
    fixed: bool


def moves(comparison: Comparison, *, worse: bool, most: int = SHOWN) -> Moves:
    """Return the examples that are worse in the new run, or better."""
    found: dict[str, list[tuple[str, Change]]] = defaultdict(list)
    passes = False
    for key, metric in comparison.metrics.items():
        if key in MEASURED or metric.direction is None:
            continue
        passes |= metric.passes
        for change in comparison.lost(key) if worse else comparison.gained(key):
            found[change.id].append((key, change))
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), -_largest(item[1])))
    shown = [_moved(comparison, name, by, worse=worse) for name, by in ordered[:most]]
    return Moves(len(found), shown, passes)


def word_of(found: Moves, *, worse: bool) -> str:
    """Return what such examples are called."""
    if found.fixed:
        return "broken" if worse else "fixed"
    return "worse" if worse else "better"


def _largest(by: list[tuple[str, Change]]) -> float:
    return max(abs(change.new - change.base) for _, change in by)


def _moved(
    comparison: Comparison, name: str, by: list[tuple[str, Change]], *, worse: bool
) -> Moved:
    key = by[0][0]
    old, new = comparison.rows_of(name)
    higher = comparison.metrics[key].direction == "higher"
    before = _extreme(old, key, highest=worse == higher)
    after = _extreme(new, key, highest=worse != higher)
    scores = [
        f"{printable(metric)} {number(change.base)} → {number(change.new)}{_trials(change)}"
        for metric, change in by
    ]
    title = f"example {printable(name)}"
    lines = side_by_side(before, after)
    comments = (printable(before.results[key].comment), printable(after.results[key].comment))
    return Moved(title, scores, lines, comments)


def _trials(change: Change) -> str:
    if change.base_trials == change.new_trials == 1:
        return ""
    return f" ({change.base_trials} and {change.new_trials} trials)"


def _extreme(rows: list[Row], key: str, *, highest: bool) -> Row:
    scored = [row for row in rows if key in row.results and row.results[key].score is not None]
    return (max if highest else min)(scored, key=lambda row: row.results[key].score or 0.0)
