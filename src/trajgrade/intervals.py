"""Intervals: between which values a mean lies, at 95 % confidence unless said otherwise.

    wilson    a share of successes among independent rows (Wilson 1927): never of no width
    bca       any other mean, of 10 to 1 000 examples: the bootstrap over their means, corrected for
              bias and skewness (Efron 1987); repeats are no new evidence
    student   of fewer examples, which a bootstrap knows too little of, or of more, where the two
              agree: by Student's t over the examples' means

Both say what other rows of the same kind would bring, not whether these rows are the right ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

LEVEL = 0.95
BOOTSTRAP_FROM = 10
BOOTSTRAP_UP_TO = 1000
RESAMPLES = 5000
_TINY = 1e-300


class Interval(NamedTuple):
    """The ends of an interval, and how it was found."""

    low: float
    high: float
    method: Literal["wilson", "student", "bca", "bonett_price", "never_differed"]
    level: float


def mean_interval(
    units: Sequence[float],
    bounds: tuple[float, float] | None,
    *,
    repeated: bool,
    level: float = LEVEL,
) -> Interval | None:
    """Return the interval of a mean; None where there is too little to tell.

    Args:
        units: The scores that are averaged, one for each example.
        bounds: The lowest and highest score possible, None where there is none.
        repeated: Whether a unit is itself a mean of trials.
        level: The confidence.
    """
    n = len(units)
    shares = bounds == (0.0, 1.0) and all(u in (0.0, 1.0) for u in units)
    if n and shares and not repeated:
        return Interval(*wilson(round(math.fsum(units)), n, level), "wilson", level)
    if n < 2:
        return None
    if max(units) == min(units):  # nothing varies, so that a bootstrap would have no width
        ends = wilson(round(math.fsum(units)), n, level) if shares else None
        return None if ends is None else Interval(*ends, "wilson", level)
    if BOOTSTRAP_FROM <= n <= BOOTSTRAP_UP_TO:
        resampled = _bootstrap(units, level)
        if resampled is not None:
            return Interval(*resampled, "bca", level)
    low, high = student(units, level)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Interval(low, high, "student", level)


def _bootstrap(units: Sequence[float], level: float) -> tuple[float, float] | None:
    import numpy as np

    from trajgrade.resampling import bca, bootstrap_means

    values = np.asarray(units, dtype=np.float64)
    return bca(values, bootstrap_means(values[:, None], RESAMPLES)[:, 0], level)


def wilson(successes: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's interval of a share of successes."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (
        0.0 if successes == 0 else max(0.0, middle - half),
        1.0 if successes == n else min(1.0, middle + half),
    )


def student(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return Student's interval of the mean of at least two values."""
    n = len(values)
    middle = math.fsum(values) / n
    spread = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (n - 1) / n)
    half = student_quantile((1 + level) / 2, n - 1) * spread
    return middle - half, middle + half


def student_quantile(share: float, freedom: int) -> float:
    """Return the value below which a share, of at least half, of Student's t lies."""
    low, high = 0.0, 1.0
    while _student_share(high, freedom) < share:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _student_share(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def _student_share(value: float, freedom: int) -> float:
    return 1 - beta_share(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2


def beta_share(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    return front * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or _TINY)
            c = (1 + term / c) or _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
