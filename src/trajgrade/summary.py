"""Summary: what a run's scores come to, always with their coverage (SEMANTICS A12).

A mean is over examples, after reduction within each example that was tried several times. What
has no score is counted by its kind and never averaged in as 0; where it could have been scored, the
mean is also given as if all of it had the worst score, and the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any

from trajgrade.intervals import LEVEL, Interval, mean_interval
from trajgrade.result import ERRORS
from trajgrade.scores import CODE, IN_POPULATION, NO_VERDICT, SCORED, Column, Groups


class MetricSummary:
    """What one metric's scores come to.

    Args:
        column: The scores.
        groups: Which rows are trials of which example.
        pass_at: The least score that is a success, where the verdicts do not say it.
        corpus: The metric of all rows together, where it is not the mean of the rows.
    """

    def __init__(
        self,
        column: Column,
        groups: Groups,
        pass_at: float | None = None,
        corpus: float | None = None,
    ) -> None:
        self.key = column.key
        self.column = column
        self.groups = groups
        self.pass_at = pass_at
        self.corpus = corpus
        self._intervals: dict[float, Interval | None] = {}

    @property
    def n_total(self) -> int:
        """Rows, trials counted one by one."""
        return len(self.column)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """How many rows have no score, by kind."""
        counts = {kind: self.column.codes.count(code) for kind, code in CODE.items()}
        return {kind: count for kind, count in counts.items() if count}

    @property
    def n_scored(self) -> int:
        """Rows with a score."""
        return self.column.codes.count(SCORED)

    @property
    def n_error(self) -> int:
        """Rows on which something broke that was not the agent."""
        return sum(count for kind, count in self.kinds.items() if kind in ERRORS)

    @property
    def n_not_evaluated(self) -> int:
        """Rows on which there was nothing to score."""
        return self.n_total - self.n_scored - self.n_error

    @property
    def n_missing(self) -> int:
        """Rows without a score that could have had one."""
        return sum(count for kind, count in self.kinds.items() if kind in IN_POPULATION)

    @property
    def n_vacuous(self) -> int:
        """Rows whose score says nothing, because the metric could not fail on them."""
        return len(self.column.vacuous)

    @property
    def coverage(self) -> float | None:
        """The share of rows that have a score; None of no rows."""
        return self.n_scored / self.n_total if self.n_total else None

    @cached_property
    def n_examples(self) -> int:
        """Examples with at least one score."""
        return len(self.units())

    def units(
        self, fill: float | None = None, *, without: AbstractSet[int] = frozenset()
    ) -> Sequence[float]:
        """Return the scores that are averaged: one for each example.

        Args:
            fill: The score that rows get which could have had one; None leaves them out.
            without: Rows that do not count.
        """
        if not (self.groups.repeated or without) and fill is None:
            scores = self.column.scores
            if self.n_scored == self.n_total:
                return scores
            codes = self.column.codes
            return [score for score, code in zip(scores, codes, strict=True) if code == SCORED]
        return [math.fsum(trials) / len(trials) for trials in self._trials(fill, without)]

    def _trials(
        self, fill: float | None, skipped: AbstractSet[int] = frozenset()
    ) -> list[list[float]]:
        """Return the scores of each example's trials; examples without any are left out."""
        fillable = {CODE[kind] for kind in IN_POPULATION} if fill is not None else set()
        trials: list[list[float]] = [[] for _ in range(self.groups.count)]
        column = self.column
        rows = zip(self.groups.example_of, column.scores, column.codes, strict=True)
        for row, (example, score, code) in enumerate(rows):
            if code == SCORED and row not in skipped:
                trials[example].append(score)
            elif code in fillable:
                trials[example].append(fill if fill is not None else math.nan)
        return [scores for scores in trials if scores]

    @cached_property
    def mean(self) -> float | None:
        """The mean over examples; None where no row has a score."""
        return mean(self.units())

    @cached_property
    def std(self) -> float | None:
        """The sample standard deviation (ddof = 1) over examples; None of fewer than two."""
        return std(self.units())

    def interval(self, level: float = LEVEL) -> Interval | None:
        """The interval of the mean: Wilson's for shares, else the bootstrap over examples."""
        if level not in self._intervals:
            ends, repeated = self.column.ends, self.groups.repeated
            found = mean_interval(self.units(), ends, repeated=repeated, level=level)
            self._intervals[level] = found
        return self._intervals[level]

    @cached_property
    def mean_bounds(self) -> tuple[float, float] | None:
        """The mean if all missing rows had the worst score, and the best; None if none is."""
        if not self.n_missing or self.column.bounds is None:
            return None
        low, high = (mean(self.units(fill)) for fill in self.column.bounds)
        return (low, high) if low is not None and high is not None else None

    @property
    def n_undefined(self) -> int:
        """Rows whose ratio is of no calls, and has its score by convention (SEMANTICS A5)."""
        return len(self.column.undefined)

    @cached_property
    def mean_without_undefined(self) -> float | None:
        """The mean over the rows whose ratio is defined; None where every row's is."""
        return mean(self.units(without=self.column.undefined)) if self.n_undefined else None

    @cached_property
    def mean_without_vacuous(self) -> float | None:
        """The mean over the rows whose score says something; None where every row's does."""
        return mean(self.units(without=self.column.vacuous)) if self.n_vacuous else None

    @cached_property
    def has_verdicts(self) -> bool:
        """Whether scores are successes or failures."""
        return self.pass_at is not None or any(
            verdict != NO_VERDICT for verdict in self.column.successes
        )

    def counts(self, fill: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield, for each example, its scored trials n and its successes c.

        Args:
            fill: What a trial counts as that could have had a score; None leaves it out.
        """
        trials, successes = [0] * self.groups.count, [0] * self.groups.count
        fillable = {CODE[kind] for kind in IN_POPULATION} if fill is not None else set()
        for row, example in enumerate(self.groups.example_of):
            code = self.column.codes[row]
            if code == SCORED:
                trials[example] += 1
                successes[example] += self._succeeded(row)
            elif code in fillable:
                trials[example] += 1
                successes[example] += fill or 0
        return zip(trials, successes, strict=True)

    def _succeeded(self, row: int) -> bool:
        if self.pass_at is not None:
            return self.column.scores[row] >= self.pass_at - TOLERANCE
        return self.column.successes[row] == 1

    @property
    def most_trials(self) -> int:
        """The most scored trials that an example has."""
        return max((trials for trials, _ in self.counts()), default=0)

    def pass_at_k(self, k: int, fill: int | None = None) -> float | None:
        """The chance that at least one of k trials succeeds: `1 - C(n-c, k) / C(n, k)`.

        Averaged over the examples with at least k trials; None where there is none.
        Source: Chen et al. 2021.
        """
        return mean(
            [1 - math.comb(n - c, k) / math.comb(n, k) for n, c in self.counts(fill) if n >= k]
        )

    def pass_hat_k(self, k: int, fill: int | None = None) -> float | None:
        """The chance that all of k trials succeed: `C(c, k) / C(n, k)`.

        Averaged over the examples with at least k trials; None where there is none.
        Source: Yao et al. 2024 (tau-bench), pass^k.
        """
        return mean([math.comb(c, k) / math.comb(n, k) for n, c in self.counts(fill) if n >= k])

    def left_out(self, k: int) -> int:
        """How many examples have fewer than k scored trials."""
        return sum(n < k for n, _ in self.counts())

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain objects, without NaN."""
        found: dict[str, Any] = {
            "mean": self.mean,
            "std": self.std,
            "coverage": self.coverage,
            "n_total": self.n_total,
            "n_scored": self.n_scored,
            "n_error": self.n_error,
            "n_not_evaluated": self.n_not_evaluated,
            "n_examples": self.n_examples,
            "n_vacuous": self.n_vacuous,
        }
        if self.corpus is not None:
            found["corpus"] = self.corpus
        if interval := self.interval():
            found["interval"] = interval._asdict()
        if self.kinds:
            found["kinds"] = self.kinds
        if self.mean_bounds:
            found["mean_if_missing"] = dict(zip(("worst", "best"), self.mean_bounds, strict=True))
        if self.n_vacuous:
            found["mean_without_vacuous"] = self.mean_without_vacuous
        if self.n_undefined:
            found["n_undefined"] = self.n_undefined
            found["mean_without_undefined"] = self.mean_without_undefined
        if self.groups.repeated and self.has_verdicts:
            found |= self._pass_rates()
        return found

    def _pass_rates(self) -> dict[str, Any]:
        rates: dict[str, Any] = {}
        left_out: dict[str, int] = {}
        for k in range(1, self.most_trials + 1):
            rates[f"pass^{k}"] = self.pass_hat_k(k)
            rates[f"pass@{k}"] = self.pass_at_k(k)
            if self.left_out(k):
                left_out[str(k)] = self.left_out(k)
        return {**rates, "pass_left_out": left_out} if left_out else rates


TOLERANCE = 1e-9


def mean(scores: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return math.fsum(scores) / len(scores) if scores else None


def std(scores: Sequence[float]) -> float | None:
    """Return the sample standard deviation (ddof = 1), None of fewer than two."""
    if len(scores) < 2:
        return None
    middle = math.fsum(scores) / len(scores)
    return math.sqrt(math.fsum((score - middle) ** 2 for score in scores) / (len(scores) - 1))


def percentile(scores: Iterable[float], share: float) -> float | None:
    """Return the value below which a share of the scores lies, interpolated linearly."""
    ordered = sorted(scores)
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


class Summary(Mapping[str, MetricSummary]):
    """The summaries of all metrics of a run, by key."""

    def __init__(self, metrics: Iterable[MetricSummary]) -> None:
        self._metrics = {metric.key: metric for metric in metrics}

    def __getitem__(self, key: str) -> MetricSummary:
        """Return the summary of one metric."""
        return self._metrics[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self._metrics)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self._metrics)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return all summaries as plain objects, by key."""
        return {key: metric.to_dict() for key, metric in self._metrics.items()}
