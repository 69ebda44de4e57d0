"""Thresholds: `metric[/stat]: 0.8 | ">= 0.8" | "<= 2"`, and whether a run meets them.

A threshold holds at equality, compared unrounded with a tolerance of 1e-9. It is *decided* when it
falls the same way if all rows that have no score, but could have had one, had the worst score and
the best; else the run cannot say (SEMANTICS A12). `coverage` without a metric is a bound on the
least coverage of all metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

import msgspec

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.intervals import mean_interval
from trajgrade.summary import TOLERANCE, MetricSummary, mean, percentile

Comparison = Literal[">=", "<=", ">", "<"]
Verdict = Literal["passed", "failed", "undecided"]

_BOUND = re.compile(r"\s*(>=|<=|>|<)?\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
_PASS = re.compile(r"pass([@^])([1-9]\d{0,3})")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")
_EXACT = (
    "coverage",
    "n_total",
    "n_scored",
    "n_error",
    "n_not_evaluated",
    "n_examples",
    "n_vacuous",
)
_FILLED = ("mean", "min", "max", "median")
_INTERVAL = ("low", "high")
_EVERY = "coverage"  # what is asked of every metric where none is named
STATS = (*_FILLED, *_INTERVAL, "std", "p90", "p95", "pass^1", "pass@1", *_EXACT)


class Threshold(msgspec.Struct, frozen=True):
    """One bound on one statistic of one metric.

    Attributes:
        metric: The metric's key; empty where each metric is meant.
        stat: `mean`, `low` and `high` (the ends of its interval), `std`, `min`, `max`, `median`,
            `p90` (any percentile), `pass^k`, `pass@k`, `coverage`, or a count.
        comparison: How the statistic is compared with the bound.
        bound: The number.
    """

    metric: str
    stat: str
    comparison: Comparison
    bound: float

    def __str__(self) -> str:
        """Return it as it is written."""
        stat = "" if self.stat == "mean" else f"/{self.stat}"
        return f"{f'{self.metric}{stat}'.removeprefix('/')} {self.comparison} {self.bound:.12g}"

    def holds(self, value: float) -> bool:
        """Whether a value meets the bound."""
        if math.isclose(value, self.bound, rel_tol=0, abs_tol=TOLERANCE):
            return "=" in self.comparison
        return value > self.bound if self.comparison.startswith(">") else value < self.bound


class Outcome(msgspec.Struct, frozen=True):
    """Whether a run meets a threshold, and why it cannot be said where it cannot."""

    threshold: str
    verdict: Verdict
    value: float | None
    reason: str = ""
    bound: float | None = None


def parse_thresholds(
    written: Mapping[str, Any], metrics: Collection[str] | None = None
) -> list[Threshold]:
    """Read thresholds as they are written in a config.

    Args:
        written: The bound of each `metric` or `metric/stat`.
        metrics: The keys of the metrics that exist, where that is known already.

    Raises:
        ConfigError: A metric or statistic that does not exist, or no bound; holds all faults.
    """
    faults: list[str] = []
    found: list[Threshold] = []
    for name, bound in written.items():
        try:
            found.append(_parsed(str(name), bound))
        except ConfigError as wrong:
            faults += wrong.faults
            continue
        if metrics is not None and found[-1].metric and found[-1].metric not in metrics:
            faults.append(f"thresholds.{name}: {unknown('metric', found[-1].metric, [*metrics])}")
    if faults:
        raise ConfigError(*faults)
    return found


def _parsed(name: str, bound: Any) -> Threshold:
    metric, stat = name, "mean"
    head, slash, tail = name.rpartition("/")
    if slash and _is_stat(tail):
        metric, stat = head, tail
    elif slash and head:
        raise ConfigError(f"thresholds.{name}: {unknown('statistic', tail, STATS)}")
    elif name == _EVERY:
        metric, stat = "", name
    elif name in _EXACT:
        raise ConfigError(f"thresholds.{name}: name the metric: <metric>/{name}")
    if isinstance(bound, bool) or not isinstance(bound, (int, float, str)):
        raise ConfigError(f"thresholds.{name}: {_HOW}, got {shorten(bound)}")
    if isinstance(bound, str):
        match = _BOUND.fullmatch(bound)
        if match is None:
            raise ConfigError(f"thresholds.{name}: {_HOW}, got {shorten(bound)}")
        comparison: Any = match[1] or ">="
        return Threshold(metric, stat, comparison, float(match[2]))
    if not math.isfinite(bound):
        raise ConfigError(f"thresholds.{name}: {_HOW}, got {shorten(bound)}")
    return Threshold(metric, stat, ">=", float(bound))


_HOW = 'a bound is a number, or text such as ">= 0.8" or "<= 2"'


def _is_stat(name: str) -> bool:
    return bool(name in STATS or _PASS.fullmatch(name) or _PERCENTILE.fullmatch(name))


def judge_all(
    thresholds: Iterable[Threshold],
    summary: Mapping[str, MetricSummary],
    agent: Mapping[str, MetricSummary] | None = None,
) -> tuple[Outcome, ...]:
    """Say whether a run meets its thresholds; those on metrics that it has not are left out.

    Args:
        thresholds: The thresholds.
        summary: The metrics.
        agent: What was measured of the agent; not among all metrics where none is named.
    """
    found = {**summary, **(agent or {})}
    return tuple(
        judge(one, found[one.metric]) if one.metric else _judge_each(one, summary.values())
        for one in thresholds
        if not one.metric or one.metric in found
    )


def _judge_each(threshold: Threshold, metrics: Collection[MetricSummary]) -> Outcome:
    """Judge the metric that is furthest from the bound."""
    values = [(statistic(metric, threshold.stat) or 0.0, metric) for metric in metrics]
    if not values:
        told = "no metric was graded"
        return Outcome(str(threshold), "undecided", None, told, threshold.bound)
    furthest = min if threshold.comparison.startswith(">") else max
    value, metric = furthest(values, key=lambda one: one[0])
    verdict: Verdict = "passed" if threshold.holds(value) else "failed"
    told = f"{metric.key}: {_gap(metric)}" if verdict == "failed" else ""
    return Outcome(str(threshold), verdict, value, told, threshold.bound)


def judge(threshold: Threshold, metric: MetricSummary) -> Outcome:
    """Say whether a metric meets a threshold."""
    value = statistic(metric, threshold.stat)
    verdict, reason = _verdict(threshold, metric, value)
    if verdict == "passed" and threshold.stat not in _EXACT and (empty := _says_nothing(metric)):
        verdict, reason = "undecided", empty
    return Outcome(str(threshold), verdict, value, reason, threshold.bound)


def _verdict(
    threshold: Threshold, metric: MetricSummary, value: float | None
) -> tuple[Verdict, str]:
    stat = threshold.stat
    if value is None:
        return "undecided", f"{metric.key} has no {stat}: {_lack(metric, stat)}"
    if not metric.n_missing or stat in _EXACT:
        return ("passed" if threshold.holds(value) else "failed"), _left_out(metric, stat)
    ends = _ends(metric, stat)
    verdicts = {threshold.holds(end) for end in ends}
    if len(verdicts) != 1:
        between = f"between {min(ends):.6g} and {max(ends):.6g}" if ends else "unknown"
        return "undecided", (
            f"{metric.n_missing} of {metric.n_total} rows have no score ({_gap(metric)}); with "
            f"them {stat} is {between}"
        )
    return ("passed" if verdicts.pop() else "failed"), _left_out(metric, stat)


def _says_nothing(metric: MetricSummary) -> str:
    """Say why scores that are there tell nothing, where they do not."""
    if metric.n_scored and metric.n_vacuous == metric.n_scored:
        return f"every score of {metric.key} is vacuous: it could not fail on any row"
    if metric.n_scored == 1 and metric.n_total > 1:
        return (
            f"one of {metric.n_total} rows has a score ({_gap(metric)}); it tells nothing of them"
        )
    return ""


def _left_out(metric: MetricSummary, stat: str) -> str:
    """Say how many examples a pass rate is not over, because they have fewer trials."""
    passes = _PASS.fullmatch(stat)
    if passes is None or not (count := metric.left_out(int(passes[2]))):
        return ""
    return f"{count} of {metric.groups.count} examples have fewer than {passes[2]} scored trials"


def _ends(metric: MetricSummary, stat: str) -> list[float]:
    """Return the statistic if all missing rows had the worst score, and the best."""
    bounds = metric.column.bounds
    passes = _PASS.fullmatch(stat)
    if passes:
        ends = [statistic(metric, stat, fill) for fill in (0, 1)]
    elif bounds is None or stat == "std":
        return []
    else:
        ends = [statistic(metric, stat, fill) for fill in bounds]
    return [end for end in ends if end is not None]


def _lack(metric: MetricSummary, stat: str) -> str:
    """Say why a metric has no such statistic."""
    passes = _PASS.fullmatch(stat)
    if passes and metric.n_scored:
        if not metric.has_verdicts:
            return "its scores are neither success nor failure; say from which on with `pass`"
        return f"no example has {passes[2]} trials with a score"
    if stat in _INTERVAL and metric.n_scored:
        return f"{metric.n_examples} scored examples are too few, or too alike, to tell"
    return _gap(metric)


def _gap(metric: MetricSummary) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in metric.kinds.items())
    return kinds or f"{metric.n_scored} of {metric.n_total} rows have a score"


def statistic(metric: MetricSummary, stat: str, fill: float | None = None) -> float | None:
    """Return a statistic of a metric, None where it has none.

    Args:
        metric: The metric.
        stat: The statistic's name.
        fill: The score that rows get which could have had one; None leaves them out.
    """
    if stat in _EXACT:
        found: float | None = getattr(metric, stat)
        return found
    passes = _PASS.fullmatch(stat)
    if passes:
        if not metric.has_verdicts:
            return None
        rate = metric.pass_hat_k if passes[1] == "^" else metric.pass_at_k
        return rate(int(passes[2]), None if fill is None else int(fill))
    if stat == "std":
        return metric.std
    units = metric.units(fill)
    if stat in _INTERVAL:
        ends, repeated = metric.column.ends, metric.groups.repeated
        interval = mean_interval(units, ends, repeated=repeated)
        return None if interval is None else getattr(interval, stat)
    if stat == "mean":
        return mean(units)
    if stat in ("min", "max"):
        return (min if stat == "min" else max)(units, default=None)
    share = 50.0 if stat == "median" else float(stat[1:])
    return percentile(units, share / 100)
