"""Power: how small a difference so many examples can show, and how many a difference needs.

Of Student's paired test, two-sided, over the examples' differences: exact, by the noncentral t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from trajgrade.intervals import student_quantile

POWER = 0.8
LEVEL = 0.95
MOST = 10**9
_NODES = 400
_REACH = 12.0


def power_of(difference: float, deviation: float, n: int, level: float = LEVEL) -> float:
    """Return the chance that n examples show a difference that is there.

    Args:
        difference: The true mean difference.
        deviation: The standard deviation of the examples' differences.
        n: The number of examples, at least two.
        level: The confidence of the test.
    """
    freedom = n - 1
    critical = _critical(level, freedom)
    off = abs(difference) / deviation * math.sqrt(n)
    return (1 - _share(critical, freedom, off)) + _share(-critical, freedom, off)


def detectable(deviation: float, n: int, power: float = POWER, level: float = LEVEL) -> float:
    """Return the smallest true difference that n examples show with that power."""
    low, high = 0.0, deviation
    while power_of(high, deviation, n, level) < power:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if power_of(middle, deviation, n, level) < power:
            low = middle
        else:
            high = middle
    return high


def needed(
    difference: float, deviation: float, power: float = POWER, level: float = LEVEL
) -> int | None:
    """Return how many examples show a difference with that power; None beyond 10^9."""
    low, high = 1, 2
    while power_of(difference, deviation, high, level) < power:
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(difference, deviation, middle, level) < power:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=256)
def _critical(level: float, freedom: int) -> float:
    if freedom > 10**6:  # nearer to the normal than the last digit shown
        return NormalDist().inv_cdf((1 + level) / 2)
    return student_quantile((1 + level) / 2, freedom)


def _share(value: float, freedom: int, off: float) -> float:
    """Return the share of the noncentral t below a value.

    The mean of `Phi(value * s - off)` over `s`, the root of chi-squared by its freedom.
    """
    if freedom > 10**6:
        return NormalDist().cdf(value - off)
    normal = NormalDist().cdf
    spots, weights = _spread(freedom)
    pairs = zip(spots, weights, strict=True)
    return math.fsum(weight * normal(value * spot - off) for spot, weight in pairs)


@lru_cache(maxsize=256)
def _spread(freedom: int) -> tuple[Sequence[float], Sequence[float]]:
    """Return where the density of `s` is looked at, and with which weight (Gauss and Legendre)."""
    import numpy as np

    reach = _REACH / math.sqrt(2 * freedom)
    low, high = max(0.0, 1 - reach), 1 + reach
    nodes, weights = _nodes()
    spots = (low + high) / 2 + (high - low) / 2 * nodes
    half = freedom / 2
    logs = (
        math.log(2) + half * math.log(half) - math.lgamma(half)
        + (freedom - 1) * np.log(spots) - half * spots**2
    )  # fmt: skip
    return spots.tolist(), (weights * (high - low) / 2 * np.exp(logs)).tolist()


@lru_cache(maxsize=1)
def _nodes() -> tuple[Any, Any]:
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights
