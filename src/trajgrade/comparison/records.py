"""What a comparison says, as plain records."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trajgrade.intervals import Interval
from trajgrade.scores import Direction

Test = Literal["mcnemar_midp", "sign_flip_exact", "sign_flip"]
Finding = Literal["better", "worse", "different", "no difference shown", "nothing to compare"]


class Label(msgspec.Struct, frozen=True):
    """Which run it is.

    Attributes:
        name: What reports call it.
        dataset: Its dataset.
        n_rows: Its rows, trials counted one by one.
        n_examples: Its examples.
        started_at: When it began, in ISO 8601.
    """

    name: str
    dataset: str
    n_rows: int
    n_examples: int
    started_at: str


class Change(msgspec.Struct, frozen=True):
    """One example whose score is not the same in both runs.

    Attributes:
        id: The example.
        base: Its mean score in the old run.
        new: Its mean score in the new run.
        base_trials: Over how many scored trials that is in the old run.
        new_trials: And in the new one.
    """

    id: str
    base: float
    new: float
    base_trials: int
    new_trials: int


class MetricComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of two runs, over the examples that have a score in both.

    Attributes:
        key: The metric.
        direction: Which scores are better, None where neither is.
        bounds: The lowest and highest score, None where there is none.
        finding: What can be said, after Holm's correction for the number of metrics.
        n_pairs: Examples with a score in both runs: all numbers here are over these.
        n_examples: Examples that either run has.
        n_vacuous: Pairs that say nothing, because the metric could not fail in either run.
        base: The old run's mean.
        new: The new run's mean.
        difference: `new - base`.
        relative: The difference by the size of the old mean; None where that is 0.
        interval: Between which values the true difference lies; None where too little is known.
        test: How the p value was found; None where there is no pair.
        p_value: How likely chance alone brings a difference as large.
        p_adjusted: The same, corrected for the number of metrics (Holm).
        effect: The difference in standard deviations of the examples' differences (d_z).
        odds_ratio: Examples that only the new run passes, by those that only the old one passes;
            at one trial of pass or fail, and where both are there.
        n_up: Pairs with a higher score in the new run.
        n_down: Pairs with a lower one.
        passes: Whether scores are passes and failures at one trial, so that rows are fixed or
            broken.
        trials: The most rows of an example in the old run, and in the new one.
        trial_noise: The share of the differences' variance that comes from repeating the same
            example, from 0 to 1; None where not every pair was repeated.
        detectable: The smallest true difference that so many pairs show four times in five;
            None where even the largest possible one is not.
        needed: How many examples would show the difference that was seen, four times in five.
        missing_base: Rows of matched examples without a score in the old run, by kind.
        missing_new: And in the new one.
    """

    key: str
    direction: Direction | None = None
    bounds: tuple[float, float] | None = None
    finding: Finding = "nothing to compare"
    n_pairs: int = 0
    n_examples: int = 0
    n_vacuous: int = 0
    base: float | None = None
    new: float | None = None
    difference: float | None = None
    relative: float | None = None
    interval: Interval | None = None
    test: Test | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    effect: float | None = None
    odds_ratio: float | None = None
    n_up: int = 0
    n_down: int = 0
    passes: bool = False
    trials: tuple[int, int] = (1, 1)
    trial_noise: float | None = None
    detectable: float | None = None
    needed: int | None = None
    missing_base: dict[str, int] = {}
    missing_new: dict[str, int] = {}

    @property
    def n_gained(self) -> int:
        """Pairs that are better in the new run; the higher ones where neither is better."""
        return self.n_down if self.direction == "lower" else self.n_up

    @property
    def n_lost(self) -> int:
        """Pairs that are worse in the new run."""
        return self.n_up if self.direction == "lower" else self.n_down

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain objects."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        plain["interval"] = None if self.interval is None else self.interval._asdict()
        return plain
