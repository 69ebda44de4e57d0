"""Compared: all metrics of two runs; what changed, what is missing, what to be wary of.

Every number of a metric is over one population, the examples that have a score in both runs. What
has none is counted by its kind, and never averaged in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from trajgrade.comparison.gates import Gate
from trajgrade.comparison.pairing import Pairs, Scores
from trajgrade.comparison.records import Change, Finding, Label, MetricComparison
from trajgrade.comparison.testing import Paired, means_of, tested
from trajgrade.intervals import Interval, mean_interval
from trajgrade.measured import MEASURED
from trajgrade.registry import comparisons
from trajgrade.resampling import Floats
from trajgrade.run import Row, Run
from trajgrade.scores import CODE, SCORED
from trajgrade.significance import holm
from trajgrade.thresholds import Outcome

_REFERENCES_READ = 200
_NAMED = 5


class Comparison:
    """Two runs, compared.

    Attributes:
        base: The old run.
        new: The new run.
        pairs: Their examples, matched by id.
        metrics: What is found of each metric that both have, by key.
        level: The confidence of the intervals.
        resamples: How many resamples were drawn.
        seed: What they depend on.
        gates: What may not become worse, if anything.
        outcomes: Whether each gate holds.
    """

    def __init__(self, base: Run, new: Run, *, level: float, resamples: int, seed: int) -> None:
        self.base, self.new = base, new
        self.level, self.resamples, self.seed = level, resamples, seed
        self.pairs = Pairs(base, new)
        self.gates: tuple[Gate, ...] = ()
        self.outcomes: tuple[Outcome, ...] = ()
        keys = [key for key in self.pairs.base.metrics if key in self.pairs.new.metrics]
        self.metrics: Mapping[str, MetricComparison] = self._compared(keys)

    # ------------------------------------------------------------------ the metrics

    def _compared(self, keys: list[str]) -> dict[str, MetricComparison]:
        pairs = [self.paired(key) for key in keys]
        means = means_of(pairs, self.resamples, self.seed)
        found = [
            tested(pair, drawn, level=self.level, resamples=self.resamples, seed=self.seed)
            for pair, drawn in zip(pairs, means, strict=True)
        ]
        adjusted = holm([one.get("p_value") for one in found])
        return {
            key: self._record(key, one, p)
            for key, one, p in zip(keys, found, adjusted, strict=True)
        }

    def _record(self, key: str, found: dict[str, Any], p: float | None) -> MetricComparison:
        base, new = self.pairs.base, self.pairs.new
        column = base.metrics[key].column
        known = new.metrics[key].column if column.direction is None else column
        record = MetricComparison(
            key=key,
            direction=known.direction,
            bounds=self.bounds(key),
            n_examples=self.pairs.n_examples,
            n_vacuous=self._n_vacuous(key),
            p_adjusted=p,
            trials=(_most_rows(base.example_of), _most_rows(new.example_of)),
            trial_noise=self._trial_noise(key, found),
            missing_base=self._missing(key, new=False),
            missing_new=self._missing(key, new=True),
            **found,
        )
        return msgspec.structs.replace(record, finding=_finding(record, self.level))

    def bounds(self, key: str) -> tuple[float, float] | None:
        """Return the lowest and highest score of a metric; None where the runs do not agree."""
        sides = (self.pairs.base, self.pairs.new)
        ends = {side.metrics[key].column.bounds for side in sides} - {None}
        return next(iter(ends)) if len(ends) == 1 else None

    def paired(
        self,
        key: str,
        fills: tuple[float, float] | None = None,
        *,
        informative: bool = False,
        dropped: bool = False,
    ) -> Paired:
        """Return a metric's scores of the examples that have one in both runs.

        Args:
            key: The metric.
            fills: The scores that rows without one get in the old run, and in the new.
            informative: Whether rows count only where the metric could have failed.
            dropped: Whether examples count that only the old run has, with the new run's fill.
        """
        places = self.pairs.places(dropped=dropped)
        sides = (self.pairs.base, self.pairs.new)
        base, new = (
            Scores(side, key, place, fill=fill, informative=informative)
            for side, place, fill in zip(sides, places, fills or (None, None), strict=True)
        )
        both = ~(np.isnan(base.means) | np.isnan(new.means))
        once = bool(np.all(base.trials[both] <= 1) and np.all(new.trials[both] <= 1))
        return Paired(base.means[both], new.means[both], self.bounds(key), once)

    def _n_vacuous(self, key: str) -> int:
        return len(self.paired(key).base) - len(self.paired(key, informative=True).base)

    def _missing(self, key: str, *, new: bool) -> dict[str, int]:
        side = self.pairs.new if new else self.pairs.base
        places = self.pairs.places()[new]
        matched = np.zeros(len(side.names), dtype=bool)
        matched[places] = True
        codes = np.frombuffer(bytes(side.metrics[key].column.codes), dtype=np.uint8)
        counts = np.bincount(codes[matched[side.example_of]], minlength=SCORED + 1 + len(CODE))
        return {kind: int(counts[code]) for kind, code in CODE.items() if counts[code]}

    def _trial_noise(self, key: str, found: dict[str, Any]) -> float | None:
        """Return which share of the differences' variance repeating the same examples gives."""
        if not found or found["n_pairs"] < 2:
            return None
        scores = self.scores(key)
        both = ~(np.isnan(scores[0].means) | np.isnan(scores[1].means))
        noise: Floats = scores[0].spread()[both] + scores[1].spread()[both]
        whole = float(np.var(scores[1].means[both] - scores[0].means[both], ddof=1))
        if not len(noise) or np.isnan(noise).any() or not whole:
            return None
        return min(1.0, float(np.mean(noise)) / whole)

    def mean_intervals(self, key: str) -> tuple[Interval | None, Interval | None]:
        """Return the intervals of both means, over the examples that have a score in both runs."""
        pair = self.paired(key)
        base, new = (
            mean_interval(side.tolist(), pair.bounds, repeated=not pair.once, level=self.level)
            for side in (pair.base, pair.new)
        )
        return base, new

    # ------------------------------------------------------------------ the examples

    def scores(self, key: str, *, unmatched: bool = False) -> tuple[Scores, Scores]:
        """Return a metric's scores in the old run and in the new, in the order of `pairs.names`.

        Args:
            key: The metric.
            unmatched: Whether examples follow that only the old run has, and then those that only
                the new one has.
        """
        places = self.pairs.places(dropped=unmatched, added=unmatched)
        base, new = (
            Scores(side, key, at)
            for side, at in zip((self.pairs.base, self.pairs.new), places, strict=True)
        )
        return base, new

    def unscored(self, key: str) -> list[str]:
        """Return the matched examples that lack a score in one run or in both."""
        base, new = self.scores(key)
        lacking = np.flatnonzero(np.isnan(base.means) | np.isnan(new.means))
        return [self.pairs.names[at] for at in lacking.tolist()]

    def changes(self, key: str) -> list[Change]:
        """Return the examples whose score differs, those that lost most first."""
        metric = self.metrics[key]
        base, new = self.scores(key)
        differences = new.means - base.means
        shown = np.flatnonzero(np.abs(np.nan_to_num(differences)) > 1e-12)
        better = -1.0 if metric.direction == "lower" else 1.0
        order = shown[np.argsort(differences[shown] * better, kind="stable")]
        return [
            Change(
                self.pairs.names[at], float(base.means[at]), float(new.means[at]),
                int(base.trials[at]), int(new.trials[at]),
            )
            for at in order.tolist()
        ]  # fmt: skip

    def lost(self, key: str) -> list[Change]:
        """Return the examples that are worse in the new run, the worst first."""
        return [change for change in self.changes(key) if self._gain(key, change) < 0]

    def gained(self, key: str) -> list[Change]:
        """Return the examples that are better in the new run, the best first."""
        return [change for change in self.changes(key) if self._gain(key, change) > 0][::-1]

    def _gain(self, key: str, change: Change) -> float:
        better = -1.0 if self.metrics[key].direction == "lower" else 1.0
        return (change.new - change.base) * better

    def rows_of(self, example: str) -> tuple[list[Row], list[Row]]:
        """Return the rows of an example in the old run, and in the new."""
        return tuple(  # type: ignore[return-value]  # two sides, two lists
            [side.run.rows[row] for row in side.rows_of(example)]
            for side in (self.pairs.base, self.pairs.new)
        )

    # ------------------------------------------------------------------ what to be wary of

    @cached_property
    def only_in_old(self) -> list[str]:
        """Metrics that only the old run has."""
        return [key for key in self.pairs.base.metrics if key not in self.pairs.new.metrics]

    @cached_property
    def only_in_new(self) -> list[str]:
        """Metrics that only the new run has."""
        return [key for key in self.pairs.new.metrics if key not in self.pairs.base.metrics]

    @cached_property
    def other_references(self) -> list[str]:
        """Examples, of the first 200, whose reference calls are others in the new run."""
        found = []
        for name in self.pairs.names[:_REFERENCES_READ]:
            base, new = self.rows_of(name)
            wanted = [_reference(base[0]), _reference(new[0])]
            if None not in wanted and wanted[0] != wanted[1]:
                found.append(name)
        return found

    @property
    def other_dataset(self) -> str:
        """How the datasets differ; empty where they do not, or nothing is known."""
        base, new = self.base, self.new
        if base.dataset_hash and new.dataset_hash and base.dataset_hash != new.dataset_hash:
            return (
                f"the datasets differ in content: {base.dataset} ({base.dataset_hash[:12]}) "
                f"and {new.dataset} ({new.dataset_hash[:12]})"
            )
        if self.other_references:
            some = _listed(self.other_references)
            return f"the reference calls are others in the new run, for {some}"
        return ""

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What keeps the comparison from being one of like with like, one sentence each."""
        found = []
        if self.other_dataset:
            found.append(self.other_dataset)
        elif self.base.dataset != self.new.dataset:
            found.append(f"the datasets have two names: {self.base.dataset}, {self.new.dataset}")
        for which, names in (("old", self.pairs.only_base), ("new", self.pairs.only_new)):
            if names:
                found.append(f"only in the {which} run: {_listed(names)}")
        for which, keys in (("old", self.only_in_old), ("new", self.only_in_new)):
            found += [f"{key} is in the {which} run only" for key in keys]
        for key in self.metrics:
            built = [run.evaluators.get(key) for run in (self.base, self.new)]
            if all(built) and built[0] != built[1]:
                found.append(f"{key} is not the same evaluator: {built[0]}, then {built[1]}")
        for which, run in (("old", self.base), ("new", self.new)):
            if run.interrupted:
                found.append(f"the {which} run was interrupted")
        if not self.pairs.names:
            found.append("the runs have no example in common, by id")
        return tuple(found)

    # ------------------------------------------------------------------ out

    def labels(self) -> tuple[Label, Label]:
        """Return which runs they are."""
        base, new = (
            Label(
                run.name or (f"run:{run.id}" if run.id else ""), run.dataset, len(run.rows),
                len(side.names), run.started_at.isoformat(),
            )
            for run, side in ((self.base, self.pairs.base), (self.new, self.pairs.new))
        )  # fmt: skip
        return base, new

    @property
    def exit_code(self) -> int:
        """0: all gates hold, or there is none; 1: one fails; 3: one cannot be decided.

        Without gates, 3 also says that no metric could be compared.
        """
        verdicts = {outcome.verdict for outcome in self.outcomes}
        if "failed" in verdicts:
            return 1
        nothing = not any(metric.n_pairs for metric in self.metrics.values())
        return 3 if "undecided" in verdicts or (not self.outcomes and nothing) else 0

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain objects, every changed example with its scores."""
        return {
            "base": msgspec.to_builtins(self.labels()[0]),
            "new": msgspec.to_builtins(self.labels()[1]),
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "n_matched": len(self.pairs.names),
            "only_in_old": self.pairs.only_base,
            "only_in_new": self.pairs.only_new,
            "metrics_only_in_old": self.only_in_old,
            "metrics_only_in_new": self.only_in_new,
            "metrics": {key: self._plain(key) for key in self.metrics},
            "gates": [msgspec.to_builtins(outcome) for outcome in self.outcomes],
            "warnings": list(self.warnings),
            "exit_code": self.exit_code,
        }

    def save(self, path: str | Path) -> None:
        """Write it to a file; the suffix names the format: .html, .md, .xml, .json, .csv, .parquet.

        Raises:
            UnknownNameError: There is no format of that suffix.
        """
        comparisons.find(Path(path).suffix.lower())(self, Path(path))

    def _plain(self, key: str) -> dict[str, Any]:
        measured = key in MEASURED  # nobody wants to read every latency that changed
        lost, gained = ([], []) if measured else (self.lost(key), self.gained(key))
        plain = self.metrics[key].to_dict()
        return {**plain, "lost": msgspec.to_builtins(lost), "gained": msgspec.to_builtins(gained)}

    def __repr__(self) -> str:
        """Return what was found of each metric."""
        found = ", ".join(f"{m.key} {m.finding}" for m in self.metrics.values())
        return f"<Comparison over {len(self.pairs.names)} examples: {found or 'no metric'}>"


def _most_rows(example_of: Any) -> int:
    return int(np.bincount(example_of).max()) if len(example_of) else 0


def _finding(metric: MetricComparison, level: float) -> Finding:
    if metric.p_adjusted is None or metric.difference is None:
        return "nothing to compare"
    if metric.p_adjusted > 1 - level + 1e-12:
        return "no difference shown"
    if metric.direction is None:
        return "different"
    return "better" if (metric.difference > 0) == (metric.direction == "higher") else "worse"


def _reference(row: Row) -> Any:
    found: Iterator[Any] = (
        result.metadata["reference_tools"]
        for result in row.results.values()
        if "reference_tools" in result.metadata
    )
    return next(found, None)


def _listed(names: list[str]) -> str:
    some = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{len(names):,} example{'s' if len(names) != 1 else ''} ({some}{more})"
