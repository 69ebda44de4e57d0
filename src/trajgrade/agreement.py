"""Agreement: how far a judge agrees with people, with itself, and what its pass rate is worth.

    accuracy, kappa    verdicts against people's labels (Cohen 1960; its error, Fleiss et al. 1969)
    sensitivity        the share that the judge passes of what people pass
    specificity        the share that the judge fails of what people fail
    corrected          a pass rate as people would have given it (Rogan and Gladen 1978), with the
                       interval of Lang and Reiczigel (2014), which knows that both are estimates
    consistency        repeats of one verdict that agree
    position_bias      how much oftener the first of two is preferred than the second, by swapping
    length_bias        how much oftener long answers pass than people pass them, against short ones

What cannot be estimated is None, and why is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import NormalDist, median
from typing import Any, NamedTuple

import msgspec

from trajgrade.intervals import LEVEL, mean_interval, student_quantile, wilson
from trajgrade.significance import bonett_price

Pair = tuple[Hashable, Hashable]


class Estimate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number with its interval.

    Attributes:
        value: The number; None where it cannot be estimated.
        low: The lower end, None where there is none.
        high: The upper end.
        n: Over how many.
        why: Why it cannot be estimated, or empty.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain objects, without what is empty."""
        plain = msgspec.structs.asdict(self)
        return {name: value for name, value in plain.items() if value not in (None, "")}


def share(successes: int, n: int, why: str = "", level: float = LEVEL) -> Estimate:
    """Return a share with Wilson's interval; `why` says why there is none of nothing."""
    if not n:
        return Estimate(None, why=why or "there is nothing to count")
    return Estimate(successes / n, *wilson(successes, n, level), n)


def accuracy(pairs: Sequence[Pair], level: float = LEVEL) -> Estimate:
    """Return the share of verdicts that are the label."""
    return share(sum(label == verdict for label, verdict in pairs), len(pairs), level=level)


def kappa(pairs: Sequence[Pair], level: float = LEVEL) -> Estimate:
    """Return Cohen's kappa of labels and verdicts: agreement beyond what chance gives."""
    n = len(pairs)
    if not n:
        return Estimate(None, why="there is no label with a verdict")
    cells = Counter(pairs)
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    kinds = {*rows, *columns}
    chance = sum(rows[kind] * columns[kind] for kind in kinds) / n**2
    if chance == 1:
        return Estimate(None, n=n, why="all labels and verdicts are of one class")
    observed = sum(cells[kind, kind] for kind in kinds) / n
    value = (observed - chance) / (1 - chance)
    on = sum(
        cells[kind, kind] / n * (1 - (rows[kind] + columns[kind]) / n * (1 - value)) ** 2
        for kind in kinds
    )
    off = (1 - value) ** 2 * sum(
        count / n * ((columns[a] + rows[b]) / n) ** 2 for (a, b), count in cells.items() if a != b
    )
    variance = (on + off - (value - chance * (1 - value)) ** 2) / ((1 - chance) ** 2 * n)
    half = _z(level) * math.sqrt(max(0.0, variance))
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), n)


class Rates(NamedTuple):
    """How well a judge of pass and fail tells them apart, against people."""

    sensitivity: Estimate
    specificity: Estimate


def rates(pairs: Sequence[Pair], level: float = LEVEL) -> Rates:
    """Return sensitivity and specificity from pairs of a label and a verdict, True or False."""
    passed = [verdict for label, verdict in pairs if label is True]
    failed = [verdict for label, verdict in pairs if label is False]
    return Rates(
        share(passed.count(True), len(passed), "no label is a pass", level),
        share(failed.count(False), len(failed), "no label is a fail", level),
    )


def corrected(passes: int, n: int, pairs: Sequence[Pair], level: float = LEVEL) -> Estimate:
    """Return the pass rate that people would have given, from the judge's.

    Args:
        passes: How many of the run's rows the judge passes.
        n: How many rows it judged; others than those with a label, or all.
        pairs: The labels with the judge's verdicts, True or False.
        level: The confidence.
    """
    if not n:
        return Estimate(None, why="no row has a verdict")
    sensitivity, specificity = rates(pairs, level)
    if sensitivity.value is None or specificity.value is None:
        return Estimate(None, n=n, why=sensitivity.why or specificity.why)
    if sensitivity.value + specificity.value <= 1:
        return Estimate(
            None, n=n, why="sensitivity and specificity add to 1 or less: the judge tells nothing"
        )
    z = _z(level)
    rate = (passes / n + specificity.value - 1) / (sensitivity.value + specificity.value - 1)
    rows = n + z**2
    seen = (passes + z**2 / 2) / rows
    up, down = sensitivity.n + 2, specificity.n + 2
    se, sp = (sensitivity.value * (up - 2) + 1) / up, (specificity.value * (down - 2) + 1) / down
    apart = se + sp - 1
    if apart <= 0:
        return Estimate(None, n=n, why="there are too few labels to tell the judge from chance")
    middle = min(1.0, max(0.0, (seen + sp - 1) / apart))
    of_se, of_sp = se * (1 - se) / up, sp * (1 - sp) / down
    shift = 2 * z**2 * (middle * of_se - (1 - middle) * of_sp)
    error = math.sqrt(seen * (1 - seen) / rows + middle**2 * of_se + (1 - middle) ** 2 * of_sp)
    half = z * error / apart
    low, high = middle + shift - half, middle + shift + half
    value = min(1.0, max(0.0, rate))
    return Estimate(value, min(value, max(0.0, low)), max(value, min(1.0, high)), n)


def consistency(repeats: Sequence[Sequence[Hashable]], level: float = LEVEL) -> Estimate:
    """Return the share of two verdicts on one example that are the same, meaned over examples."""
    units = []
    for verdicts in repeats:
        n = len(verdicts)
        if n > 1:
            same = sum(math.comb(count, 2) for count in Counter(verdicts).values())
            units.append(same / math.comb(n, 2))
    if not units:
        return Estimate(None, why="no example was judged more than once")
    if all(unit == 1 for unit in units) or all(unit in (0, 1) for unit in units):
        return share(round(math.fsum(units)), len(units), level=level)
    interval = mean_interval(units, (0.0, 1.0), repeated=True, level=level)
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Estimate(math.fsum(units) / len(units), low, high, len(units))


def position_bias(pairs: Sequence[tuple[float, float]], level: float = LEVEL) -> Estimate:
    """Return how much oftener standing first wins than standing second does.

    Args:
        pairs: For each example how far a response is preferred, from 0 to 1, standing first, and
            standing second.
        level: The confidence.
    """
    if not pairs:
        return Estimate(None, why="no example was judged in both orders")
    first = sum(before > after for before, after in pairs)
    second = sum(before < after for before, after in pairs)
    n = len(pairs)
    return Estimate((first - second) / n, *bonett_price(first, second, n, level), n)


def length_bias(rows: Sequence[tuple[bool, bool, float]], level: float = LEVEL) -> Estimate:
    """Return by how much more the judge passes, than people do, of long answers than of short.

    Args:
        rows: People's label, the judge's verdict, and the length of what was judged.
        level: The confidence.
    """
    if not rows:
        return Estimate(None, why="no lengths are known")
    middle = median(length for *_, length in rows)
    sides: tuple[list[float], list[float]] = ([], [])
    for label, verdict, length in rows:
        sides[length > middle].append(float(verdict) - float(label))
    if min(map(len, sides)) < 2:
        return Estimate(None, n=len(rows), why="the lengths do not differ enough to be parted")
    (short, a), (long, b) = (_mean_and_error(side) for side in sides)
    value, error = long - short, math.sqrt(a + b)
    if not error:
        why = "the judge errs alike everywhere: there is no interval" if value == 0 else ""
        return Estimate(value, n=len(rows), why=why)
    freedom = (a + b) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip((a, b), sides, strict=True)
    )
    half = student_quantile((1 + level) / 2, max(1, math.floor(freedom))) * error
    return Estimate(value, max(-2.0, value - half), min(2.0, value + half), len(rows))


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    n = len(values)
    mean = math.fsum(values) / n
    return mean, math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
