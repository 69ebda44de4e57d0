"""Runner: examples × evaluators → Run. The one place that catches.

What an evaluator raises becomes that row's error, with type, message and traceback, and touches
no other row and no other evaluator. Outputs are read into a trajectory once for all evaluators
that want one.

Where an agent is called for each row and fails, no evaluator is called for that row: a metric with
a range has its worst score there, any other is not evaluated (SEMANTICS A5).
"""

from __future__ import annotations

import heapq
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import msgspec

from trajgrade.agent import Agent, Outcome
from trajgrade.contracts import EvaluatorLike
from trajgrade.dataset import Dataset, Example, Role, Selected
from trajgrade.errors import ConfigError, TooLargeError, TraceError
from trajgrade.evaluators.evaluator import described
from trajgrade.evaluators.function import results_of
from trajgrade.evaluators.spelling import graders
from trajgrade.jsontext import dumps, read_back
from trajgrade.measured import MEASURED, AgentColumns, OnFailure, Pool, check, failed
from trajgrade.result import AgentError, EvaluationResult, ResultError
from trajgrade.run import Explain, InterruptedRunError, Row, Rows, Run, Worst
from trajgrade.scores import Column, Groups
from trajgrade.summary import MetricSummary, Summary
from trajgrade.thresholds import judge, parse_thresholds
from trajgrade.trajectory import Trajectory
from trajgrade.view import View, lacks_of, needs_of, strangers_in

Progress = Callable[[int], None]

WORST_ROWS = 5
ALIGNED_UP_TO = 200


def evaluate(
    dataset: Any,
    evaluators: Sequence[Any],
    *,
    agent: Any = None,
    on_failure: OnFailure = "zero",
    fields: Mapping[str, str | None] | None = None,
    passes: Mapping[str, float] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    select: Selected | None = None,
    explain: Explain = "worst",
    fail_on_error: bool = False,
    name: str = "",
    on_progress: Progress | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> Run:
    """Grade every row of a dataset with every evaluator.

    Args:
        dataset: A `Dataset`, or whatever `Dataset.load` takes: a path, a pattern, a frame, rows.
        evaluators: Evaluators, functions, names, or any spelling of the config file.
        agent: What answers each row, in place of outputs that the dataset holds: an `Agent`, a
            function of the inputs, sync or async, or an object with `query(input=…)`.
        on_failure: Whether a row on which the agent failed counts as the worst score of metrics
            that have one (`zero`), or is left out (`exclude`).
        fields: Which field of a row plays which role, where the names do not say it.
        passes: The least score that is a success, by metric, for pass@k and pass^k.
        thresholds: What must hold, by `metric` or `metric/stat`: `0.8`, `">= 0.8"`, `"<= 2"`.
        select: Which rows are graded.
        explain: For which rows that do not score 1 the alignment of the calls is kept: `all`, the
            `worst` of each metric, or `none`.
        fail_on_error: Whether any row in error makes the exit code 1.
        name: What reports call the run.
        on_progress: Called with the number of rows done; what it raises is only warned of.
        on_warning: Called, before anything runs, with each metric that lacks its column in the
            whole dataset; by default a `UserWarning`.

    Raises:
        ConfigError: The evaluators or thresholds are wrong, or two have one key.
        DatasetError: The dataset cannot be read, or has no rows.
        InterruptedRunError: The run was interrupted (a `KeyboardInterrupt`).
        MissingExtraError: A metric needs a package that is not installed.
    """
    built = graders(evaluators)
    if not built.evaluators and agent is None:
        raise ConfigError("evaluators: at least one is needed, or nothing would be graded")
    answering = Agent(agent) if agent is not None and not isinstance(agent, Agent) else agent
    measured = MEASURED if answering is not None else ()
    check(on_failure, [e.key for e in built.evaluators if e.key in measured])
    keys = built.keys
    bounds = parse_thresholds(thresholds or {}, keys if keys is None else [*keys, *measured])
    rows = Dataset.load(dataset, fields=fields)
    chosen = select or Selected()
    chosen.check(rows)
    passing = {**built.passes, **(passes or {})}
    called = on_failure if answering is not None else None
    gives = None if answering is None else answering.gives
    grading = Grading(rows, built.evaluators, explain, passing, called, gives)
    for lack in grading.lacks:
        if on_warning is None:
            warnings.warn(lack, stacklevel=2)
        else:
            on_warning(lack)
    for evaluator in built.evaluators:
        getattr(evaluator, "prepare", _nothing)()
    interrupted = False
    try:
        examples = chosen.of(rows.examples(grading.needs))
        pairs: Iterable[tuple[Example, Outcome | None]] = zip(examples, repeat(None), strict=False)
        if answering is not None:
            pairs = answering.over(examples)
        for done, (example, outcome) in enumerate(pairs, start=1):
            grading.grade(example, outcome)
            if on_progress is not None:
                on_progress = _told(on_progress, done)
    except KeyboardInterrupt:
        interrupted = True
        grading.cut()
    summary, agent_summary = grading.summary(), grading.agent_summary()
    found = {**summary, **agent_summary}
    if not interrupted:
        parse_thresholds(thresholds or {}, found)
    run = Run(
        rows=grading.rows,
        summary=summary,
        agent=agent_summary,
        name=name,
        dataset=rows.name,
        evaluators={e.key: described(e) for e in built.evaluators},
        outcomes=tuple(judge(t, found[t.metric]) for t in bounds if t.metric in found),
        warnings=grading.warnings(),
        worst=grading.worst(),
        fail_on_error=fail_on_error,
        interrupted=interrupted,
        started_at=grading.started_at,
        seconds=time.monotonic() - grading.began,
    )
    if interrupted:
        raise InterruptedRunError(run)
    return run


def _nothing() -> None:
    """Prepare an evaluator that needs no preparation."""


def _told(on_progress: Progress, done: int) -> Progress | None:
    try:
        on_progress(done)
    except Exception as broken:
        warnings.warn(f"on_progress raised {broken!r}; it is not called again", stacklevel=3)
        return None
    return on_progress


class Grading:
    """A run that grows row by row."""

    def __init__(
        self,
        dataset: Dataset,
        evaluators: Sequence[EvaluatorLike],
        explain: Explain,
        passes: dict[str, float],
        on_failure: OnFailure | None = None,
        given: frozenset[Role] | None = None,
    ) -> None:
        self.rows = Rows()
        self.started_at = datetime.now(UTC)
        self.began = time.monotonic()
        self._dataset = dataset
        self._explain = explain
        self._passes = passes
        self._evaluators = evaluators
        self._groups = Groups(lambda: (row.id for row in self.rows))
        self._trials: set[int] = set()
        self._columns: dict[str, Column] = {}
        self._broken: dict[str, list[int]] = {}
        self._worst: dict[str, list[tuple[float, int]]] = {}
        self._unscored: dict[str, list[int]] = {}
        self._seen: dict[str, set[str]] = {}
        self._absent: dict[str, dict[int, list[str]]] = {}
        self._apart = dataset.texts_apart
        self._reads = [(e, getattr(e, "reads", "raw")) for e in evaluators]
        self._on_failure = on_failure
        self._agent = AgentColumns()
        self._pools = {e.key: Pool(e) for e in evaluators if hasattr(e, "corpus")}
        self.needs = needs_of(evaluators, given=given)
        self.lacks = lacks_of(dataset, evaluators, given=given)

    def grade(self, example: Example, outcome: Outcome | None = None) -> None:
        """Grade one row with every evaluator.

        Args:
            example: The row.
            outcome: What came of calling the agent for it, None where none was called.
        """
        row = len(self.rows)
        view = View(example, apart=self._apart)
        results: dict[str, EvaluationResult] = {}
        error = outcome.error if outcome is not None else None
        for evaluator, reads in self._reads:
            given = view.of(reads)
            found = (
                _caught(evaluator, given)
                if error is None
                else (self._failed(evaluator, given, error),)
            )
            for result in found:
                results[result.key] = result
                self._note(evaluator, row, result, view)
        for key, pool in self._pools.items():
            pool.add(results[key])
        self._groups.add(example.id, example.trial)
        if example.trial is not None:
            self._trials.add(example.trial)
        if outcome is not None:
            self._agent.add(outcome)
        self.rows.append(
            Row(
                example.id, results, example.trial, example.row, example.source, example.notes,
                *((outcome.latency_in_seconds, outcome.failure, error) if outcome else ()),
            )
        )  # fmt: skip

    def _failed(
        self, evaluator: EvaluatorLike, given: dict[str, Any], error: AgentError
    ) -> EvaluationResult:
        result = failed(evaluator, given, error, counts=self._on_failure == "zero")
        if result.score is None or evaluator.key not in self._pools:
            return result
        # To what all rows are together, this one gives its reference and an empty response.
        silent = _caught(evaluator, {**given, "outputs": ""})[0].metadata
        counts = {name: silent[name] for name in ("counts",) if name in silent}
        return msgspec.structs.replace(result, metadata=counts)

    def _note(
        self, evaluator: EvaluatorLike, row: int, result: EvaluationResult, view: View
    ) -> None:
        column = self._columns.get(result.key)
        if column is None:
            column = self._columns[result.key] = Column(
                result.key, getattr(evaluator, "range", None), getattr(evaluator, "direction", None)
            )
        if len(column.codes) < row:
            column.miss("undefined", row - len(column.codes))
        column.add(result)
        if "overrides" in result.metadata:
            self._note_overrides(row, result)
        if result.score is None:
            unscored = self._unscored.setdefault(result.key, [])
            if len(unscored) < WORST_ROWS:
                unscored.append(row)
        elif column.direction is not None and result.score != column.best:
            self._rank(evaluator, row, result, view, column)

    def _note_overrides(self, row: int, result: EvaluationResult) -> None:
        met = result.metadata["overrides"]
        self._seen.setdefault(result.key, set()).update(met["seen"])
        if met["absent"]:
            self._absent.setdefault(result.key, {})[row] = met["absent"]

    def _rank(
        self,
        evaluator: EvaluatorLike,
        row: int,
        result: EvaluationResult,
        view: View,
        column: Column,
    ) -> None:
        """Keep the row if it is among the lowest, with the alignment of its calls."""
        score = result.score if result.score is not None else 0.0
        lowest = self._worst.setdefault(result.key, [])
        badness = (-score if column.direction == "higher" else score, -row)
        enters = len(lowest) < WORST_ROWS or badness > lowest[0]
        if enters:
            heapq.heappush(lowest, badness)
            if len(lowest) > WORST_ROWS:
                _, left = heapq.heappop(lowest)
                if self._explain == "worst":
                    self.rows.amended.get(-left, {}).pop(result.key, None)
        if self._explain == "all" or (enters and self._explain == "worst"):
            found = _aligned(evaluator, view, bounded=not enters)
            if found is not None:
                self.rows.amend(row, result.key, {"alignment": found})

    def cut(self) -> None:
        """Forget the row at which the run was interrupted."""
        rows = len(self.rows)
        self._groups.cut(rows)
        for column in (*self._columns.values(), *self._agent.columns):
            column.cut(rows)
        for key, lowest in self._worst.items():
            self._worst[key] = [ranked for ranked in lowest if -ranked[1] < rows]
            self._unscored[key] = [row for row in self._unscored.get(key, []) if row < rows]
        self.rows.amended.pop(rows, None)

    def summary(self) -> Summary:
        """Return what the rows come to."""
        rows = len(self.rows)
        if not rows:
            self._columns = {e.key: Column(e.key) for e in self._evaluators}
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
                self._passes.get(key),
                self._pools[key].corpus if key in self._pools else None,
            )
            for key, column in self._columns.items()
        )

    def agent_summary(self) -> Summary:
        """Return what latency and failure of the agent come to; empty where none was called."""
        columns = self._agent.columns if self._on_failure is not None else ()
        return Summary(MetricSummary(column, self._groups) for column in columns)

    def _spots(self, key: str) -> list[str]:
        """Return what the overrides of an evaluator name: tools, and paths into their arguments."""
        for evaluator in self._evaluators:
            if evaluator.key == key and hasattr(evaluator, "override_spots"):
                spots: list[str] = evaluator.override_spots()
                return spots
        return []

    def warnings(self) -> tuple[str, ...]:
        """Return what should be looked at."""
        found = list(self.lacks)
        if len(self._trials) > 1 and not self._groups.repeated:
            found.append(strangers_in(self._dataset))
        for key in self._columns:
            unmet = sorted(set(self._spots(key)) - self._seen.get(key, set()))
            if unmet and len(self.rows):
                found.append(
                    f"{key}: no call of the run has what tool_args_match_overrides names: "
                    f"{', '.join(unmet)}. Rows that it decided count as vacuous"
                )
        return tuple(found)

    def worst(self) -> tuple[Worst, ...]:
        """Return the lowest rows of each metric, the lowest first, then those without a score."""
        found: list[Worst] = []
        for key, column in self._columns.items():
            ranked = sorted(self._worst.get(key, []), reverse=True)
            found += [Worst(key, -row, column.scores[-row]) for _, row in ranked]
            found += [Worst(key, row, None) for row in self._unscored.get(key, [])]
        return tuple(found)


def _caught(evaluator: EvaluatorLike, given: dict[str, Any]) -> Sequence[EvaluationResult]:
    """Return the evaluator's results; what it raises becomes one with an error."""
    try:
        returned = evaluator.evaluate(**given)
        return results_of(returned, evaluator.key)
    except TraceError as unreadable:
        error = ResultError("trace", str(unreadable))
    except (Exception, SystemExit) as broken:
        error = ResultError(
            "evaluator",
            f"{type(broken).__name__}: {broken}",
            "".join(traceback.format_exception(broken, limit=-8)),
        )
    return [EvaluationResult(evaluator.key, comment=error.message, error=error)]


def _aligned(evaluator: EvaluatorLike, view: View, *, bounded: bool) -> Any:
    """Return the alignment of the calls as plain objects; None where the metric compares none."""
    align = getattr(evaluator, "alignment", None)
    if align is None:
        return None
    given = view.of("trajectory")
    ours = given["outputs"]
    if bounded and type(ours) is Trajectory and len(ours.tool_calls) > ALIGNED_UP_TO:
        return None
    try:
        found = align(outputs=ours, reference_outputs=given["reference_outputs"])
    except (TooLargeError, TraceError):
        return None
    return read_back(dumps(found if len(found) > 1 else found[0]))
