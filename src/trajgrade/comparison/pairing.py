"""Pairing: two runs → the examples that both have, by id, with each run's scores of them.

Trials of an example are one cluster: its score in a run is the mean of its scored trials, however
many each run has; a trial of one run is never paired with one of the other.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trajgrade.resampling import Floats
from trajgrade.run import Run
from trajgrade.scores import CODE, IN_POPULATION, SCORED
from trajgrade.summary import MetricSummary

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FILLABLE = [CODE[kind] for kind in sorted(IN_POPULATION)]


class Side:
    """One run, by example.

    Args:
        run: The run.

    Attributes:
        names: The place of each example, by id, in order of appearance.
        example_of: The place of each row's example.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.names: dict[str, int] = {}
        found = (self.names.setdefault(name, len(self.names)) for name in run.rows.ids())
        self.example_of: Places = np.fromiter(found, dtype=np.int64, count=len(run.rows))

    @cached_property
    def metrics(self) -> dict[str, MetricSummary]:
        """The metrics, and what was measured of the agent."""
        return {**self.run.summary, **self.run.agent}

    def count(self, rows: Flags) -> Places:
        """Return how many of the rows each example has."""
        return np.bincount(self.example_of[rows], minlength=len(self.names)).astype(np.int64)

    def rows_of(self, example: str) -> list[int]:
        """Return the rows of an example."""
        return np.flatnonzero(self.example_of == self.names[example]).tolist()


class Scores:
    """One metric of one run, by example; the examples are those of `places`.

    Args:
        side: The run.
        key: The metric.
        places: Which examples, by their place in the run; -1 for one that the run has not.
        fill: The score that rows get which could have had one; None leaves them out.
        informative: Whether rows count only where the metric could have failed.

    Attributes:
        means: Each example's mean; NaN where it has no score.
        trials: Over how many rows that is.
    """

    def __init__(
        self,
        side: Side,
        key: str,
        places: Places,
        *,
        fill: float | None = None,
        informative: bool = False,
    ) -> None:
        column = side.metrics[key].column
        scores: Floats = np.frombuffer(column.scores, dtype=np.float64)
        codes = np.frombuffer(bytes(column.codes), dtype=np.uint8)
        counted: Flags = codes == SCORED
        if fill is not None:
            filled = np.isin(codes, _FILLABLE)
            scores = np.where(filled, fill, scores)
            counted |= filled
        if informative and column.vacuous:
            counted[list(column.vacuous)] = False
        sums = np.bincount(
            side.example_of[counted], weights=scores[counted], minlength=len(side.names)
        )
        trials = side.count(counted)
        there = places >= 0
        absent = np.nan if fill is None else fill
        self.trials = np.where(there, trials[places], 0 if fill is None else 1)
        with np.errstate(invalid="ignore"):
            self.means = np.where(there, sums[places] / trials[places], absent)
        self._scores, self._counted = scores, counted
        self._side, self._places = side, places

    def spread(self) -> Floats:
        """Return the variance of each example's mean that its trials show; NaN where it has one."""
        side, counted = self._side, self._counted
        example = side.example_of[counted]
        trials = side.count(counted).astype(np.float64)
        sums = np.bincount(example, weights=self._scores[counted], minlength=len(trials))
        with np.errstate(invalid="ignore", divide="ignore"):
            off = self._scores[counted] - (sums / trials)[example]
            squares = np.bincount(example, weights=off**2, minlength=len(trials))
            found: Floats = squares / (trials - 1) / trials
        return np.where(self._places >= 0, found[self._places], np.nan)


class Pairs:
    """The examples of two runs, matched by id.

    Args:
        base: The old run.
        new: The new run.

    Attributes:
        names: The examples that both have, in the order of the old run.
        only_base: Those that only the old run has.
        only_new: Those that only the new run has.
    """

    def __init__(self, base: Run, new: Run) -> None:
        self.base, self.new = Side(base), Side(new)
        theirs = self.new.names
        self.names = [name for name in self.base.names if name in theirs]
        self.only_base = [name for name in self.base.names if name not in theirs]
        self.only_new = [name for name in theirs if name not in self.base.names]

    def places(self, *, dropped: bool = False, added: bool = False) -> tuple[Places, Places]:
        """Return where the matched examples are in each run; -1 where it has one not.

        Args:
            dropped: Whether those follow that only the old run has.
            added: Whether those follow that only the new run has.
        """
        names = [
            *self.names, *(self.only_base if dropped else ()), *(self.only_new if added else ())
        ]  # fmt: skip
        base, new = (
            np.fromiter((side.names.get(name, -1) for name in names), np.int64, len(names))
            for side in (self.base, self.new)
        )
        return base, new

    @property
    def n_examples(self) -> int:
        """Examples that either run has."""
        return len(self.names) + len(self.only_base) + len(self.only_new)
