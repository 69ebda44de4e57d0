"""Regression: a gate that holds where the new run is not worse than a baseline by a margin or more.

A test of non-inferiority, not a bare difference: the gate passes where the whole interval of the
difference is above minus the margin, fails where all of it is below, and is undecided between. It
is undecided, too, where nothing is known: no pairs, one pair, vacuous pairs only, another dataset.
Rows without a score, and examples that only the baseline has, are filled in at the worst and at
the best; the gate is decided where it falls the same way at both.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trajgrade.comparison.compared import Comparison
from trajgrade.comparison.gates import Gate
from trajgrade.comparison.testing import Paired, interval_of, means_of
from trajgrade.errors import ConfigError, unknown
from trajgrade.intervals import Interval
from trajgrade.power import needed
from trajgrade.scores import IN_POPULATION
from trajgrade.summary import TOLERANCE
from trajgrade.thresholds import Outcome, Verdict


def judged(gate: Gate, comparison: Comparison) -> Outcome:
    """Say whether a gate holds.

    Raises:
        ConfigError: No run has the metric.
    """
    key = gate.metric
    known = [*comparison.metrics, *comparison.only_in_old, *comparison.only_in_new]
    if key not in known:
        raise ConfigError(f"no_regression.{key}: {unknown('metric', key, known)}")
    value = comparison.metrics[key].difference if key in comparison.metrics else None
    verdict, reason = _verdict(gate, comparison)
    return Outcome(str(gate), verdict, value, reason, -gate.margin)


def _verdict(gate: Gate, comparison: Comparison) -> tuple[Verdict, str]:
    key = gate.metric
    reason = _unable(key, comparison)
    if reason:
        return "undecided", reason
    metric = comparison.metrics[key]
    fills: list[tuple[float, float] | None] = [None]
    gaps = _gaps(key, comparison)
    if gaps:
        if metric.bounds is None:
            return "undecided", f"{gaps}, and {key} has no lowest and highest score to put there"
        low, high = metric.bounds
        fills = [(high, low), (low, high)]
    found = [_at(gate, comparison, fill) for fill in fills]
    if all(verdict == "passed" for verdict, _ in found):
        return found[0]
    if all(verdict == "failed" for verdict, _ in found):
        return found[0]
    if gaps and {verdict for verdict, _ in found} != {"undecided"}:
        return "undecided", f"{gaps}: with them the gate could fall either way"
    return "undecided", found[0][1]


def _unable(key: str, comparison: Comparison) -> str:
    """Return why nothing can be said of a metric, if so."""
    if key in comparison.only_in_new:
        return f"the baseline has no {key}"
    if key in comparison.only_in_old:
        return f"the new run has no {key}"
    if comparison.other_dataset:
        return f"not of one dataset: {comparison.other_dataset}"
    metric = comparison.metrics[key]
    if metric.direction is None:
        return f"{key} does not say which scores are better"
    if not comparison.pairs.names:
        return "the runs have no example in common, by id"
    if not metric.n_pairs:
        old, new = _kinds(metric.missing_base), _kinds(metric.missing_new)
        return f"no example has a score in both runs (old: {old}; new: {new})"
    if metric.n_vacuous == metric.n_pairs:
        return "every pair is vacuous: the metric could not fail on it"
    if metric.n_pairs - metric.n_vacuous < 2:
        return "one example tells nothing of others"
    return ""


def _gaps(key: str, comparison: Comparison) -> str:
    """Say how many scores could have been there and are not."""
    metric = comparison.metrics[key]
    parts = []
    for which, missing in (("old", metric.missing_base), ("new", metric.missing_new)):
        there = {kind: rows for kind, rows in missing.items() if kind in IN_POPULATION}
        if there:
            parts.append(f"{_kinds(there)} in the {which} run")
    if comparison.pairs.only_base:
        parts.append(f"{len(comparison.pairs.only_base):,} examples of the old run not in the new")
    return ", ".join(parts)


def _kinds(missing: Mapping[str, int]) -> str:
    return ", ".join(f"{rows:,} {kind}" for kind, rows in missing.items()) or "none missing"


def _at(
    gate: Gate, comparison: Comparison, fills: tuple[float, float] | None
) -> tuple[Verdict, str]:
    """Judge the gate with missing scores filled in, or without them."""
    pair = comparison.paired(gate.metric, fills, informative=True, dropped=fills is not None)
    if comparison.metrics[gate.metric].direction == "lower":
        pair = Paired(-pair.base, -pair.new, _turned(pair.bounds), pair.once)
    (means,) = means_of([pair], comparison.resamples, comparison.seed)
    interval = interval_of(pair, means, comparison.level)
    if interval is None:
        return "undecided", "too few pairs, or nothing varies: there is no interval"
    shown = f"{comparison.level:.0%} interval {interval.low:+.4g} to {interval.high:+.4g}"
    if interval.low > -gate.margin:
        return "passed", f"{shown} over {len(pair.base):,} examples"
    if interval.high < -gate.margin - TOLERANCE:
        return "failed", f"{shown} over {len(pair.base):,} examples"
    return "undecided", f"{shown} holds the margin; {_more(gate, pair, interval)}"


def _turned(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if bounds is None else (-bounds[1], -bounds[0])


def _more(gate: Gate, pair: Paired, interval: Interval) -> str:
    """Say how many examples would decide it."""
    n = len(pair.base)
    room = float(np.mean(pair.differences)) + gate.margin
    deviation = (
        float(np.std(pair.differences, ddof=1)) or (interval.high - interval.low) * n**0.5 / 4
    )
    enough = needed(room, deviation) if abs(room) > TOLERANCE else None
    if enough is None or enough <= n:
        return f"{n:,} examples are too few"
    return f"about {enough:,} examples would decide it, {n:,} are there"
