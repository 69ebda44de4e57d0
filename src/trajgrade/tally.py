"""Tally: rows, in the order of the dataset → what they come to.

It asks no evaluator: what it must know of a metric is in `Metric`, plain data, so that the rows of
another process, or of a store, are summed up as those of this one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from trajgrade.measured import AgentColumns, Pool
from trajgrade.result import EvaluationResult
from trajgrade.run import Explain, Row, Rows, Worst
from trajgrade.scores import Column, Groups
from trajgrade.summary import MetricSummary, Summary

WORST_ROWS = 5


class Graded(NamedTuple):
    """A row, and what explains it.

    Attributes:
        row: The row.
        alignments: The alignment of the calls, by metric, for rows that may be shown.
    """

    row: Row
    alignments: dict[str, Any]


class Scale(Protocol):
    """What a metric declares of its scores."""

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and highest score."""
        ...

    @property
    def direction(self) -> Literal["higher", "lower"] | None:
        """Which scores are better."""
        ...


class Metric(NamedTuple):
    """What is known of a metric's scores.

    Attributes:
        key: The metric's name.
        range: The lowest and highest score, None where there is none.
        direction: Which scores are better, None where neither is.
        passes: The least score that is a success, where the verdicts do not say it.
        corpus: What computes the metric of all rows together from their counts, if it can.
        spots: What the overrides of its arguments name: tools, and paths into their arguments.
    """

    key: str
    range: tuple[float, float] | None = None
    direction: Literal["higher", "lower"] | None = None
    passes: float | None = None
    corpus: Any = None
    spots: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain objects; what computes all rows together is not among them."""
        bounds = None if self.range is None else list(self.range)
        plain = {**self._asdict(), "range": bounds, "spots": list(self.spots)}
        del plain["corpus"]
        return {name: value for name, value in plain.items() if value not in (None, [])}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Metric:
        """Read what `to_dict` returned."""
        bounds = plain.get("range")
        pair = None if bounds is None else (float(bounds[0]), float(bounds[1]))
        passes, spots = plain.get("passes"), tuple(plain.get("spots", ()))
        return cls(plain["key"], pair, plain.get("direction"), passes, None, spots)


def metrics_of(evaluators: Sequence[Any], passes: Mapping[str, float]) -> dict[str, Metric]:
    """Return what the evaluators say of their metrics, by key."""
    return {
        e.key: Metric(
            e.key,
            getattr(e, "range", None),
            getattr(e, "direction", None),
            passes.get(e.key),
            e if hasattr(e, "corpus") else None,
            tuple(e.override_spots()) if hasattr(e, "override_spots") else (),
        )
        for e in evaluators
    }


class Ranking:
    """The lowest rows of one metric, whatever the order in which they come.

    Args:
        scale: The metric's range and direction.
    """

    def __init__(self, scale: Any) -> None:
        bounds = getattr(scale, "range", None)
        self._direction = getattr(scale, "direction", None)
        self._best = bounds[self._direction == "higher"] if bounds and self._direction else None
        self._lowest: list[tuple[float, int]] = []

    def is_short_of_best(self, score: float) -> bool:
        """Whether the score could be better."""
        return self._direction is not None and score != self._best

    def add(self, place: int, score: float) -> tuple[bool, int | None]:
        """Rank one more row.

        Returns:
            Whether it is among the lowest now, and the place of the row that it drove out.
        """
        lowest = self._lowest
        badness = (-score if self._direction == "higher" else score, -place)
        if len(lowest) < WORST_ROWS:
            heapq.heappush(lowest, badness)
            return True, None
        if badness <= lowest[0]:
            return False, None
        _, left = heapq.heapreplace(lowest, badness)
        return True, -left

    def cut(self, rows: int) -> None:
        """Forget all rows but the first ones."""
        self._lowest = [ranked for ranked in self._lowest if -ranked[1] < rows]
        heapq.heapify(self._lowest)

    def __iter__(self) -> Iterator[int]:
        """Yield the places, the worst first."""
        return (-place for _, place in sorted(self._lowest, reverse=True))


class Tally:
    """A run that grows row by row, in order.

    Args:
        metrics: What is known of each metric, by its evaluator's key.
        explain: Which rows keep the alignment of their calls.
        agent: Whether an agent answered.
    """

    def __init__(
        self, metrics: Mapping[str, Metric], *, explain: Explain = "worst", agent: bool = False
    ) -> None:
        self.rows = Rows()
        self._metrics = metrics
        self._explain = explain
        self._groups = Groups(lambda: (row.id for row in self.rows))
        self._trials: set[int] = set()
        self._columns: dict[str, Column] = {}
        self._rankings: dict[str, Ranking] = {}
        self._unscored: dict[str, list[int]] = {}
        self._seen: dict[str, set[str]] = {}
        self._absent: dict[str, dict[int, list[str]]] = {}
        self._agent = AgentColumns() if agent else None
        self._pools = {m.key: Pool(m.corpus) for m in metrics.values() if m.corpus is not None}

    def add(self, graded: Graded) -> None:
        """Add the next row."""
        row, place = graded.row, len(self.rows)
        for key, result in row.results.items():
            self._note(place, key, result, row.origins, graded.alignments.get(key))
        for key, pool in self._pools.items():
            pool.add(row.results[key])
        self._groups.add(row.id, row.trial)
        if row.trial is not None:
            self._trials.add(row.trial)
        if self._agent is not None:
            self._agent.add(row)
        self.rows.append(row)

    def _note(
        self, place: int, key: str, result: EvaluationResult, origins: Mapping[str, str], found: Any
    ) -> None:
        column = self._columns.get(key)
        if column is None:
            column = self._column(key, origins)
        if len(column.codes) < place:
            column.miss("undefined", place - len(column.codes))
        column.add(result)
        if "overrides" in result.metadata:
            self._note_overrides(place, result)
        if result.score is None:
            unscored = self._unscored.setdefault(key, [])
            if len(unscored) < WORST_ROWS:
                unscored.append(place)
            return
        ranking = self._rankings[key]
        if ranking.is_short_of_best(result.score):
            self._rank(place, key, result.score, ranking, found)

    def _column(self, key: str, origins: Mapping[str, str]) -> Column:
        metric = self._metrics.get(origins.get(key, key), Metric(key))
        self._rankings[key] = Ranking(metric)
        column = self._columns[key] = Column(key, metric.range, metric.direction)
        return column

    def _rank(self, place: int, key: str, score: float, ranking: Ranking, found: Any) -> None:
        enters, left = ranking.add(place, score)
        if left is not None and self._explain == "worst":
            self.rows.unamend(left, key)
        if found is not None and (self._explain == "all" or enters):
            self.rows.amend(place, key, {"alignment": found})

    def _note_overrides(self, place: int, result: EvaluationResult) -> None:
        met = result.metadata["overrides"]
        self._seen.setdefault(result.key, set()).update(met["seen"])
        if met["absent"]:
            self._absent.setdefault(result.key, {})[place] = met["absent"]

    def cut(self) -> None:
        """Forget the row at which the run was interrupted."""
        rows = len(self.rows)
        self._groups.cut(rows)
        for column in (*self._columns.values(), *(self._agent.columns if self._agent else ())):
            column.cut(rows)
        for key, ranking in self._rankings.items():
            ranking.cut(rows)
            self._unscored[key] = [row for row in self._unscored.get(key, []) if row < rows]
        self.rows.amended.pop(rows, None)

    @property
    def has_strangers(self) -> bool:
        """Whether rows have different trials, and no two are trials of one example."""
        return len(self._trials) > 1 and not self._groups.repeated

    def summary(self) -> Summary:
        """Return what the rows come to."""
        rows = len(self.rows)
        if not rows:
            self._columns = {key: Column(key) for key in self._metrics}
        for key, column in self._columns.items():
            if len(column) < rows:
                column.miss("undefined", rows - len(column))
            unmet = set(self._spots(key)) - self._seen.get(key, set())
            for row, absent in self._absent.get(key, {}).items():
                if unmet & set(absent):
                    column.vacuous.add(row)
                    self.rows.amend(row, key, {"vacuous": True})
        return Summary(
            MetricSummary(
                column,
                self._groups,
                self._metrics[key].passes if key in self._metrics else None,
                self._pools[key].corpus if key in self._pools else None,
            )
            for key, column in self._columns.items()
        )

    def agent_summary(self) -> Summary:
        """Return what latency and failure of the agent come to; empty where none was called."""
        columns = self._agent.columns if self._agent is not None else ()
        return Summary(MetricSummary(column, self._groups) for column in columns)

    def _spots(self, key: str) -> tuple[str, ...]:
        return self._metrics[key].spots if key in self._metrics else ()

    def warnings(self) -> list[str]:
        """Return which overrides no call of the run has met."""
        found = []
        for key in self._columns:
            unmet = sorted(set(self._spots(key)) - self._seen.get(key, set()))
            if unmet and len(self.rows):
                found.append(
                    f"{key}: no call of the run has what tool_args_match_overrides names: "
                    f"{', '.join(unmet)}. Rows that it decided count as vacuous"
                )
        return found

    def worst(self) -> tuple[Worst, ...]:
        """Return the lowest rows of each metric, the lowest first, then those without a score."""
        found: list[Worst] = []
        for key, column in self._columns.items():
            found += [Worst(key, row, column.scores[row]) for row in self._rankings.get(key, ())]
            found += [Worst(key, row, None) for row in self._unscored.get(key, [])]
        return tuple(found)
