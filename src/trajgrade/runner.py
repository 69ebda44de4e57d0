"""Runner: examples × evaluators → Run: all is built and checked, then rows flow to the tally."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from trajgrade.agent import Agent
from trajgrade.dataset import Dataset, Example, Selected
from trajgrade.errors import ConfigError
from trajgrade.evaluators.evaluator import described
from trajgrade.evaluators.spelling import graders
from trajgrade.flow import Done, InOrder, flow
from trajgrade.grading import Grader
from trajgrade.measured import MEASURED, OnFailure, check
from trajgrade.run import Explain, InterruptedRunError, Row, Run
from trajgrade.tally import Tally, metrics_of
from trajgrade.thresholds import judge, parse_thresholds
from trajgrade.view import lacks_of, needs_of, strangers_in

Progress = Callable[[int], None]
OnRow = Callable[[Example, Row], None]


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
    on_row: OnRow | None = None,
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
        on_row: Called with each example, as it was answered, and its row, as soon as it is done and
            so in any order; what it raises ends the run.

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
    gives = None if answering is None else answering.gives
    lacks = lacks_of(rows, built.evaluators, given=gives)
    for lack in lacks:
        if on_warning is None:
            warnings.warn(lack, stacklevel=2)
        else:
            on_warning(lack)
    for evaluator in built.evaluators:
        getattr(evaluator, "prepare", _nothing)()
    grader = Grader(
        built.evaluators,
        apart=rows.texts_apart,
        explain=explain,
        on_failure=on_failure if answering is not None else None,
    )
    passing = {**built.passes, **(passes or {})}
    tally = Tally(
        metrics_of(built.evaluators, passing), explain=explain, agent=answering is not None
    )
    started_at, began = datetime.now(UTC), time.monotonic()
    examples = chosen.of(rows.examples(needs_of(built.evaluators, given=gives)))
    interrupted = _tallied(flow(examples, grader, answering), tally, on_progress, on_row)
    summary, agent_summary = tally.summary(), tally.agent_summary()
    found = {**summary, **agent_summary}
    if not interrupted:
        parse_thresholds(thresholds or {}, found)
    strangers = [strangers_in(rows)] if tally.has_strangers else []
    run = Run(
        rows=tally.rows,
        summary=summary,
        agent=agent_summary,
        name=name,
        dataset=rows.name,
        evaluators={e.key: described(e) for e in built.evaluators},
        outcomes=tuple(judge(t, found[t.metric]) for t in bounds if t.metric in found),
        warnings=(*lacks, *strangers, *tally.warnings()),
        worst=tally.worst(),
        fail_on_error=fail_on_error,
        interrupted=interrupted,
        started_at=started_at,
        seconds=time.monotonic() - began,
    )
    if interrupted:
        raise InterruptedRunError(run)
    return run


def _tallied(
    done: Iterator[Done], tally: Tally, on_progress: Progress | None, on_row: OnRow | None
) -> bool:
    """Count every row in its turn; return whether that was interrupted.

    What is done when the run is interrupted counts, also behind a row that is not.
    """
    ordered = InOrder()
    try:
        for number, row in enumerate(done, start=1):
            if on_row is not None:
                on_row(row.example, row.graded.row)
            for turn in ordered.add(row):
                tally.add(turn.graded)
            if on_progress is not None:
                on_progress = _told(on_progress, number)
    except KeyboardInterrupt:
        tally.cut()
        for turn in ordered.rest():
            tally.add(turn.graded)
        return True
    return False


def _nothing() -> None:
    """Prepare an evaluator that needs no preparation."""


def _told(on_progress: Progress, done: int) -> Progress | None:
    try:
        on_progress(done)
    except Exception as broken:
        warnings.warn(f"on_progress raised {broken!r}; it is not called again", stacklevel=3)
        return None
    return on_progress
