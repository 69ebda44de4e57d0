"""One metric's pairs → difference, interval, p value, effect size, power (SEMANTICS A12).

At one trial of pass or fail: McNemar's test, mid-p. Else the sign-flip test over the examples' mean
differences. The interval is the BCa bootstrap over examples, so that repeats of one are one
cluster, but for pairs that are too few for a bootstrap to be trusted:

    fewer than 10 rows pass in one run only    Bonett and Price's interval, of passes and failures
    fewer than 10 pairs                        Student's
    all pairs differ by the same               how many still may, where scores have bounds
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from trajgrade.intervals import Interval, student
from trajgrade.power import detectable, needed
from trajgrade.resampling import Floats, bca, bootstrap_means, sign_flip
from trajgrade.significance import bonett_price, d_z, mcnemar, never_differed

FEW = 10
_SAME = 1e-12


class Paired(NamedTuple):
    """One metric's scores of the examples that have one in both runs.

    Attributes:
        base: The old run's, one for each example.
        new: The new run's.
        bounds: The lowest and highest score, None where there is none.
        once: Whether each example was tried once in each run.
    """

    base: Floats
    new: Floats
    bounds: tuple[float, float] | None
    once: bool

    @property
    def differences(self) -> Floats:
        """New less old; what differs by less than rounding does not."""
        found = self.new - self.base
        found[np.abs(found) <= _SAME * np.maximum(1.0, np.abs(self.base))] = 0.0
        return found

    @property
    def passes(self) -> bool:
        """Whether all scores are passes or failures at one trial."""
        both = (self.base, self.new)
        return (
            self.once
            and self.bounds == (0.0, 1.0)
            and all(bool(np.all((scores == 0) | (scores == 1))) for scores in both)
        )


def means_of(pairs: Sequence[Paired], resamples: int, seed: int) -> list[Floats]:
    """Return the means of resamples of each metric's differences.

    Metrics with equally many pairs are drawn together: much faster than one by one.
    """
    found: list[Floats] = [np.empty(0)] * len(pairs)
    alike: dict[int, list[int]] = {}
    for place, pair in enumerate(pairs):
        if len(pair.base) >= FEW:
            alike.setdefault(len(pair.base), []).append(place)
    for places in alike.values():
        columns = np.column_stack([pairs[place].differences for place in places])
        means = bootstrap_means(columns, resamples, seed)
        for column, place in enumerate(places):
            found[place] = means[:, column]
    return found


def interval_of(pair: Paired, means: Floats, level: float) -> Interval | None:
    """Return the interval of the mean difference; None where too little is known.

    Args:
        pair: The scores.
        means: The means of resamples of their differences; empty of fewer than 10 pairs.
        level: The confidence.
    """
    differences, n = pair.differences, len(pair.base)
    if not n:
        return None
    up, down = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    if pair.passes and up + down < FEW:
        return Interval(*bonett_price(up, down, n, level), "bonett_price", level)
    if float(np.ptp(differences)) <= _SAME:
        if pair.bounds is None:
            return None
        ends = never_differed(float(differences[0]), n, pair.bounds, level)
        return Interval(*ends, "never_differed", level)
    if n < FEW:
        low, high = student(differences.tolist(), level)
        if pair.bounds is not None:
            span = pair.bounds[1] - pair.bounds[0]
            low, high = max(low, -span), min(high, span)
        return Interval(low, high, "student", level)
    ends_found = bca(differences, means, level)
    return None if ends_found is None else Interval(*ends_found, "bca", level)


def tested(
    pair: Paired, means: Floats, *, level: float, resamples: int, seed: int
) -> dict[str, Any]:
    """Return what is known of a metric's difference, by its name in `MetricComparison`."""
    differences, n = pair.differences, len(pair.base)
    if not n:
        return {}
    difference = math.fsum(differences) / n
    base = math.fsum(pair.base) / n
    deviation = float(np.std(differences, ddof=1)) if n > 1 else None
    up, down = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    found: dict[str, Any] = {
        "n_pairs": n, "base": base, "new": math.fsum(pair.new) / n, "difference": difference,
        "relative": difference / abs(base) if base else None, "n_up": up, "n_down": down,
        "passes": pair.passes, "interval": interval_of(pair, means, level),
        "effect": d_z(difference, deviation),
    }  # fmt: skip
    if deviation:
        smallest = detectable(deviation, n, level=level)
        possible = pair.bounds is None or smallest <= pair.bounds[1] - pair.bounds[0]
        found["detectable"] = smallest if possible else None
        found["needed"] = needed(difference, deviation, level=level) if difference else None
    if pair.passes:
        found |= {"test": "mcnemar_midp", "p_value": mcnemar(up, down)}
        found["odds_ratio"] = up / down if up and down else None
        return found
    p_value, exact = sign_flip(differences, resamples, seed)
    return {**found, "test": "sign_flip_exact" if exact else "sign_flip", "p_value": p_value}
