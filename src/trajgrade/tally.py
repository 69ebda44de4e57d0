"""Tally: rows, in the order of the dataset → what they come to.

It asks no evaluator: what it must know of a metric is in `Metric`, plain data, so that the rows of
another process, or of a store, are summed up as those of this one. Rows that lie behind each other
can be tallied apart, each `Part` in a process of its own, and the parts be taken in their order:
that comes to the same as adding row after row.
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
        beyond: The metrics whose alignment is too large to be kept of any but the worst rows.
    """

    row: Row
    alignments: dict[str, Any]
    beyond: Sequence[str] = ()


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


class Part(NamedTuple):
    """What rows that lie behind each other come to, as plain data; places count from the first.

    Attributes:
        packed: The rows, packed, and where each ends.
        ids: Their ids, where one of them is a trial; None where none is.
        trials: Which trials they are.
        columns: The scores, by metric; shorter than the rows where the last ones lack the metric.
        lowest: The places of the lowest rows, by metric.
        unscored: The places of the first rows without a score, by metric.
        amended: What was added to results, by place and metric.
        beyond: At which places, of which metric, only the worst rows keep that.
        seen: Which overrides were met, by metric.
        absent: Which were not, by metric and place.
        counts: The pooled counts, by metric.
    """

    packed: tuple[bytes, Sequence[int]]
    ids: list[str] | None
    trials: set[int]
    columns: dict[str, Column]
    lowest: dict[str, list[int]]
    unscored: dict[str, list[int]]
    amended: dict[int, dict[str, dict[str, Any]]]
    beyond: set[tuple[int, str]]
    seen: dict[str, set[str]]
    absent: dict[str, dict[int, list[str]]]
    counts: dict[str, list[float]]


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
        self._beyond: set[tuple[int, str]] = set()
        self._agent = AgentColumns() if agent else None
        self._pools = {m.key: Pool(m.corpus) for m in metrics.values() if m.corpus is not None}

    def add(self, graded: Graded, packed: bytes | None = None) -> None:
        """Add the next row, packed where it is so already."""
        row, place = graded.row, len(self.rows)
        for key, result in row.results.items():
            self._note(place, key, result, graded)
        for key, pool in self._pools.items():
            pool.add(row.results[key])
        self._groups.add(row.id, row.trial)
        if row.trial is not None:
            self._trials.add(row.trial)
        if self._agent is not None:
            self._agent.add(row)
        self.rows.append(row, packed)

    def _note(self, place: int, key: str, result: EvaluationResult, graded: Graded) -> None:
        column = self._columns.get(key)
        if column is None:
            metric = self._metrics.get(graded.row.origins.get(key, key), Metric(key))
            column = self._begin(key, metric.range, metric.direction)
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
            found = graded.alignments.get(key)
            self._rank(place, key, result.score, found, beyond=key in graded.beyond)

    def _begin(
        self,
        key: str,
        bounds: tuple[float, float] | None,
        direction: Literal["higher", "lower"] | None,
    ) -> Column:
        self._rankings[key] = Ranking(Metric(key, bounds, direction))
        column = self._columns[key] = Column(key, bounds, direction)
        return column

    def _rank(self, place: int, key: str, score: float, found: Any, *, beyond: bool) -> None:
        enters, left = self._rankings[key].add(place, score)
        if left is not None and (self._explain == "worst" or (left, key) in self._beyond):
            self.rows.unamend(left, key)
        if found is not None and (enters or (self._explain == "all" and not beyond)):
            self.rows.amend(place, key, {"alignment": found})
            if beyond:
                self._beyond.add((place, key))

    def _note_overrides(self, place: int, result: EvaluationResult) -> None:
        met = result.metadata["overrides"]
        self._seen.setdefault(result.key, set()).update(met["seen"])
        if met["absent"]:
            self._absent.setdefault(result.key, {})[place] = met["absent"]

    def part(self) -> Part:
        """Return what was added as a part of a whole; no agent was called for it."""
        return Part(
            packed=self.rows.packed(),
            ids=[*self.rows.ids()] if self._groups.named else None,
            trials=self._trials,
            columns=self._columns,
            lowest={key: [*ranking] for key, ranking in self._rankings.items()},
            unscored=self._unscored,
            amended=self.rows.amended,
            beyond=self._beyond,
            seen=self._seen,
            absent=self._absent,
            counts={key: pool.counts for key, pool in self._pools.items()},
        )

    def take(self, part: Part) -> None:
        """Add the next rows, tallied apart."""
        start = len(self.rows)
        for key, theirs in part.columns.items():
            column = self._columns.get(key)
            if column is None:
                column = self._begin(key, theirs.bounds, theirs.direction)
            if len(column.codes) < start:
                column.miss("undefined", start - len(column.codes))
            column.extend(theirs)
            unscored = self._unscored.setdefault(key, [])
            unscored += [start + place for place in part.unscored.get(key, ())]
            del unscored[WORST_ROWS:]
            self._take_lowest(start, key, part)
        if self._explain == "all":
            self._take_amended(start, part)
        for key, seen in part.seen.items():
            self._seen.setdefault(key, set()).update(seen)
        for key, absent in part.absent.items():
            ours = self._absent.setdefault(key, {})
            ours.update({start + place: said for place, said in absent.items()})
        for key, pool in self._pools.items():
            pool.add_counts(part.counts[key])
        packed, ends = part.packed
        self._take_names(part, len(ends))
        self.rows.extend(packed, ends)

    def _take_lowest(self, start: int, key: str, part: Part) -> None:
        for place in sorted(part.lowest[key]):
            found = part.amended.get(place, {}).get(key, {}).get("alignment")
            beyond = (place, key) in part.beyond
            score = part.columns[key].scores[place]
            self._rank(start + place, key, score, found, beyond=beyond)

    def _take_amended(self, start: int, part: Part) -> None:
        for place, said in part.amended.items():
            for key, metadata in said.items():
                if (place, key) not in part.beyond:
                    self.rows.amend(start + place, key, metadata)

    def _take_names(self, part: Part, rows: int) -> None:
        if part.ids is not None:
            self._groups.extend(part.ids)
        elif self._groups.named:
            apart = Rows()
            apart.extend(*part.packed)
            self._groups.extend([*apart.ids()])
        else:
            self._groups.extend(rows)
        self._trials |= part.trials

    def cut(self) -> None:
        """Forget the row at which the run was interrupted."""
        rows = len(self.rows)
        self._groups.cut(rows)
        for column in (*self._columns.values(), *(self._agent.columns if self._agent else ())):
            column.cut(rows)
        for key, ranking in self._rankings.items():
            ranking.cut(rows)
            self._unscored[key] = [row for row in self._unscored.get(key, []) if row < rows]
        for row in [row for row in self.rows.amended if row >= rows]:
            del self.rows.amended[row]

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
        """Return what the options of a metric name and no call of the run has."""
        found = []
        for key in self._columns:
            unmet = sorted(set(self._spots(key)) - self._seen.get(key, set()))
            if unmet and len(self.rows):
                found.append(
                    f"{key}: no call of the run has what its options name: {', '.join(unmet)}. "
                    "Rows that a path of tool_args_match_overrides decided so count as vacuous"
                )
        return found

    def worst(self) -> tuple[Worst, ...]:
        """Return the lowest rows of each metric, the lowest first, then those without a score."""
        found: list[Worst] = []
        for key, column in self._columns.items():
            found += [Worst(key, row, column.scores[row]) for row in self._rankings.get(key, ())]
            found += [Worst(key, row, None) for row in self._unscored.get(key, [])]
        return tuple(found)
