"""Significance: whether a difference between two runs can be chance, and how large it is.

mcnemar         rows that passed in one run only, at one trial for each example: mid-p
holm            p values of several metrics, corrected for being several (Holm 1979)
bonett_price    the interval of a difference of two pass rates of the same rows (2012)
never_differed  the interval where no row differed: how often one still may
d_z             a mean of differences in units of their standard deviation
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from trajgrade.intervals import beta_share


def mcnemar(gained: int, lost: int) -> float:
    """Return the mid-p value of McNemar's test (Fagerland, Lydersen and Laake 2013).

    Args:
        gained: Rows that only the new run passes.
        lost: Rows that only the old run passes.
    """
    n, fewer = gained + lost, min(gained, lost)
    if not n:
        return 1.0
    p = 2 * half_binomial(fewer, n) - math.exp(_log_choose(n, fewer) - n * math.log(2))
    return min(1.0, max(0.0, p))


def half_binomial(successes: int, n: int) -> float:
    """Return the chance of at most so many successes in n trials at 1/2 each."""
    if successes >= n:
        return 1.0
    return beta_share(n - successes, successes + 1, 0.5)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p values corrected by Holm's method, in their order; None stays None, uncounted."""
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    most = 0.0
    for rank, (p, place) in enumerate(ordered):
        most = max(most, min(1.0, p * (len(ordered) - rank)))
        found[place] = most
    return found


def bonett_price(gained: int, lost: int, n: int, level: float) -> tuple[float, float]:
    """Return the interval of new pass rate minus old, both of the same n rows.

    Laplace-adjusted Wald (Bonett and Price 2012): it has a width also where no row differs.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    more, fewer = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    middle = more - fewer
    half = z * math.sqrt((more + fewer - middle**2) / (n + 2))
    return max(-1.0, middle - half), min(1.0, middle + half)


def never_differed(
    difference: float, n: int, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return the interval of a mean difference where all n examples differ by the same.

    At the level given, at most a share of `1 - ((1 - level) / 2) ** (1 / n)` of examples differs
    otherwise (Clopper and Pearson 1934), and none by more than the bounds of the scores allow.
    """
    share = 1 - ((1 - level) / 2) ** (1 / n)
    span = bounds[1] - bounds[0]
    low = difference + share * (-span - difference)
    return low, difference + share * (span - difference)


def d_z(mean: float, deviation: float | None) -> float | None:
    """Return a mean difference in standard deviations of the differences (Cohen 1988)."""
    return mean / deviation if deviation else None
