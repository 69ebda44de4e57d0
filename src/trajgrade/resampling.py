"""Resampling: what chance alone does to a mean, found by drawing again (numpy, from a seed).

    bootstrap     examples drawn again with replacement, their means: between which values it lies
    bca           that interval, corrected for bias and skewness (Efron 1987)
    sign flips    each example's difference kept or turned round: could it be chance?

A unit is an example: repeats of one are averaged first, so that they count as one cluster. Memory
is bounded, whatever the number of examples and of resamples. Where values are few (passed or
failed), how often each is drawn is drawn at once: the same law, without touching each example.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
EXACT_UP_TO = 20
_BLOCK = 2**19
_REPEATED = 16
_BYTE = 8
_GROUPS = 512
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
_NORMAL = NormalDist()


def bootstrap_means(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Return the means of resamples of the rows, one row of means for each resample.

    Args:
        values: One row for each example, one column for each metric; all columns of a resample are
            of the same examples, unless a column holds few different values.
        resamples: How many.
        seed: What the draws depend on.
    """
    n, columns = values.shape
    found = np.empty((resamples, columns))
    seeds = np.random.SeedSequence(seed).spawn(columns + 1)
    rest = []
    for column in range(columns):
        distinct, counts = np.unique(values[:, column], return_counts=True)
        if len(distinct) * _REPEATED > n:
            rest.append(column)
            continue
        rng = np.random.default_rng(seeds[column])
        drawn = rng.multinomial(n, counts / n, size=resamples)
        found[:, column] = drawn @ distinct / n
    if rest:
        rng = np.random.default_rng(seeds[columns])
        found[:, rest] = _drawn_means(np.ascontiguousarray(values[:, rest]), resamples, rng)
    return found


def _drawn_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    n, columns = values.shape
    found = np.zeros((resamples, columns))
    at_once = max(1, _BLOCK // n)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        drawn = rng.integers(0, n, size=(rows, n), dtype=np.uint32).astype(np.int64)
        drawn += np.arange(rows, dtype=np.int64)[:, None] * n
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        found[start : start + rows] = counts.astype(np.float64) @ values
    means: Floats = found / n
    return means


def bca(values: Floats, means: Floats, level: float) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated interval of a mean; None where nothing varies.

    Args:
        values: One for each example.
        means: The means of resamples of them.
        level: The confidence.
    """
    centre = math.fsum(values) / len(values)
    off = values - centre
    squares = float(np.sum(off**2))
    if float(np.ptp(values)) <= 1e-12 * max(1.0, abs(centre)):
        return None
    acceleration = float(np.sum(off**3)) / (6 * squares**1.5)
    same = 1e-12 * max(1.0, abs(centre))
    below = float(np.mean(means < centre - same) + np.mean(means <= centre + same)) / 2
    spare = 0.5 / len(means)
    bias = _NORMAL.inv_cdf(min(max(below, spare), 1 - spare))
    shares = []
    for side in ((1 - level) / 2, (1 + level) / 2):
        shift = bias + _NORMAL.inv_cdf(side)
        shares.append(_NORMAL.cdf(bias + shift / (1 - acceleration * shift)))
    low, high = np.quantile(means, shares)
    return float(low), float(high)


class Flipped(NamedTuple):
    """How likely chance alone brings a mean as far from 0, and whether all cases were counted."""

    p_value: float
    exact: bool


def sign_flip(values: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Flipped:
    """Test whether a mean of differences is 0: each could as well have had the other sign.

    All flips are counted where at most 20 differences are not 0; else they are drawn, and the p
    value is `(1 + as far) / (1 + drawn)`, which is never 0 (Phipson and Smyth 2010).
    """
    sizes = np.abs(values[values != 0])
    observed = abs(math.fsum(values)) - 1e-12 * math.fsum(sizes)
    if not len(sizes):
        return Flipped(1.0, exact=True)
    if len(sizes) <= EXACT_UP_TO:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return Flipped(float(np.mean(np.abs(sums) >= observed)), exact=True)
    rng = np.random.default_rng(seed)
    distinct, counts = np.unique(sizes, return_counts=True)
    if len(distinct) * _REPEATED <= len(sizes):
        kept = rng.binomial(counts, 0.5, size=(resamples, len(counts)))
        sums = (2.0 * kept - counts) @ distinct
    else:
        sums = _flipped_sums(sizes, resamples, rng)
    return Flipped((1 + int(np.sum(np.abs(sums) >= observed))) / (1 + resamples), exact=False)


def _flipped_sums(sizes: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Return sums under random signs, eight at a time: a byte names one of their 256 sums."""
    padded = np.zeros(-(-len(sizes) // _BYTE) * _BYTE)
    padded[: len(sizes)] = sizes
    eights = padded.reshape(-1, _BYTE)
    sums = np.zeros(resamples)
    for start in range(0, len(eights), _GROUPS):
        table = (eights[start : start + _GROUPS] @ _SIGNS.T).ravel()
        groups = len(table) // 256
        places = np.arange(groups, dtype=np.int64) * 256
        at_once = max(1, _BLOCK // groups)
        for first in range(0, resamples, at_once):
            rows = min(at_once, resamples - first)
            drawn = np.frombuffer(rng.bytes(rows * groups), dtype=np.uint8).reshape(rows, groups)
            sums[first : first + rows] += table.take(drawn + places).sum(axis=1)
    return sums
