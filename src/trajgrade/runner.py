"""Runner: examples × evaluators → Run: all is built and checked, then rows flow to the tally."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from trajgrade.agent import Agent
from trajgrade.aligned import Measured, attached, read_alignments
from trajgrade.budget import Budget, Spending
from trajgrade.comparison.gating import Gating
from trajgrade.contracts import Engine, Store
from trajgrade.counted import OnRow, Progress, counted
from trajgrade.dataset import Dataset, Selected
from trajgrade.earlier import Retry
from trajgrade.errors import ConfigError
from trajgrade.evaluators.evaluator import described
from trajgrade.flow import Keeper, Turn, flow
from trajgrade.grading import Grader
from trajgrade.keeping import Keeping
from trajgrade.measured import OnFailure
from trajgrade.parcels import Parcel
from trajgrade.planning import Plan, planned
from trajgrade.record import DATASET, EngineName, State
from trajgrade.recording import begin_record
from trajgrade.replay import Replay, is_run
from trajgrade.run import Explain, InterruptedRunError, Run
from trajgrade.spread import engine_of, spread
from trajgrade.tally import Tally
from trajgrade.thresholds import judge_all, parse_thresholds
from trajgrade.view import needs_of, strangers_in


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
    store: Any = None,
    experiment: str = "",
    resume: bool = False,
    retry: Collection[Retry] = (),
    trials: int = 1,
    seed: int | None = None,
    budget: Any = None,
    engine: EngineName = "event_loop",
    workers: int | None = None,
    judge: Any = None,
    judge_alignment: Measured = (),
    baseline: Any = None,
    no_regression: Any = None,
) -> Run:
    """Grade every row of a dataset with every evaluator.

    Args:
        dataset: A `Dataset`, or whatever `Dataset.load` takes: a path, a pattern, a frame, rows; or
            `run:ID`, a run of the store whose answers are graded again, or `store:NAME@TAG`, a
            dataset of the store.
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
        store: Where the run is kept while it grows: a `Store`, or the address of one (`runs.db`).
            None keeps it nowhere.
        experiment: What the run is grouped by, in the store.
        resume: Whether the newest unfinished run of the same settings is gone on with, if the store
            has one.
        retry: What is done once more of a run that is there: `errors`, results with an error, the
            agent not being called again; `failed`, rows on which the agent failed.
        trials: How many times the agent answers each example.
        seed: What an agent that asks for it is given for trial 0, 0 by default; one more for each
            next trial.
        budget: What the run may take, a `Budget` or `{rows, seconds, tokens, money}`; then the rows
            that are left are not run, which `resume` makes up for.
        engine: Where the work runs: `event_loop`, this process; `process_pool`, all its cores, for
            which a script needs `if __name__ == "__main__":`; `ray`, a cluster; or `auto`.
        workers: How many processes or tasks at once; by default one for each core.
        judge: Who is asked by evaluators that ask a judge and name none: a judge, or its name.
        judge_alignment: What was measured of the judge (`trajgrade judge align --save`), for
            reports to show beside its scores: the file, or what is in it.
        baseline: The run that this one may not be worse than: a `Run`, or what `Run.load` takes.
        no_regression: By which metrics, and by what margin: `{"trajectory_match": 0.02}`.

    Raises:
        ConfigError: The evaluators, thresholds or gates are wrong, or two have one key.
        DatasetError: The dataset cannot be read, or has no rows.
        InterruptedRunError: The run was interrupted (a `KeyboardInterrupt`).
        MissingExtraError: A metric needs a package that is not installed.
        StoreError: The store cannot be written, or another process holds the run.
    """
    replay = None
    if is_run(dataset):
        replay = Replay(_opened(store), dataset)
        dataset = Dataset.load(replay.examples, name=dataset)
    elif isinstance(dataset, str) and dataset.startswith(DATASET):
        from trajgrade.stores.kept import kept_dataset

        dataset = kept_dataset(dataset, fields, store=store)
    gating = Gating(baseline, no_regression, store=store)
    spending = Spending(Budget.of({} if budget is None else budget))
    if isinstance(agent, Agent) and seed is not None:
        raise ConfigError("seed: give it to the Agent, Agent(…, seed=…)")
    if agent is not None and not isinstance(agent, Agent):
        agent = Agent(agent, seed=seed or 0)
    spending.check(answered=agent is not None)
    plan = planned(
        dataset, evaluators, judge, agent, on_failure, fields, passes, thresholds, select, explain,
        replay, trials,
    )  # fmt: skip
    gating.check(plan.keys)
    measured = read_alignments(judge_alignment, plan.keys) if judge_alignment else []
    for lack in plan.lacks:
        if on_warning is None:
            warnings.warn(lack, stacklevel=2)
        else:
            on_warning(lack)
    for evaluator in plan.evaluators:
        getattr(evaluator, "prepare", _nothing)()
    grader, tally = plan.grader(), plan.tally()
    started_at, began = datetime.now(UTC), time.monotonic()
    with ExitStack() as stack:
        keeping = None
        asked = {"thresholds": dict(thresholds or {}), **gating.to_dict()}
        if store is not None:
            keeping = stack.enter_context(
                _kept(plan, grader, store, name, experiment, asked, resume=resume, retry=retry)
            )
        apart = engine_of(
            engine, workers, plan.dataset, plan.evaluators,
            here=_only_here(plan, grader, spending),
        )  # fmt: skip
        done: Iterator[Turn]
        if apart is not None:
            done = _spread(plan, apart, keeping, retry)
        else:
            done = flow(plan.examples(), grader, plan.agent, _earlier(keeping, replay), spending)
            done = done if keeping is None else keeping.each(done)
        interrupted = counted(done, tally, on_row, on_progress)
        run = _run_of(
            plan, tally, spending, thresholds or {},
            id=keeping.record.id if keeping else "", name=name,
            dataset_hash=keeping.record.dataset_hash if keeping else "",
            fail_on_error=fail_on_error, interrupted=interrupted, started_at=started_at,
            seconds=time.monotonic() - began,
        )  # fmt: skip
        run = gating(attached(run, measured) if measured else run)
        if keeping is not None:
            ended: State = "stopped" if spending.left_out else "finished"
            keeping.end(run, "interrupted" if interrupted else ended)
    if interrupted:
        raise InterruptedRunError(run)
    return run


def _spread(
    plan: Plan, engine: Engine, keeping: Keeping | None, retry: Collection[Retry]
) -> Iterator[Parcel]:
    """Yield what the rows come to on an engine, kept as they come."""
    kept: dict[str, Any] = {}
    if keeping is not None:
        kept = {
            "there": keeping.there,
            "keep": keeping.keep,
            "retry": retry,
            "parts": keeping.parts,
        }
    return spread(
        engine, plan.dataset, plan.evaluators, plan.metrics, needs_of(plan.evaluators),
        plan.explain, **kept,
    )  # fmt: skip


def _only_here(plan: Plan, grader: Grader, spending: Spending) -> str | None:
    """Return why the rows must be graded in this process; None where they need not be."""
    if plan.answered:
        return "an agent is called, or was, and its answers are graded here"
    if plan.select != Selected():
        return "only some of the rows are graded"
    if grader.waits:
        return "judges and other evaluators that wait are asked from this process"
    return "the run has a budget" if spending.is_bounded else None


def _kept(
    plan: Plan,
    grader: Grader,
    store: Any,
    name: str,
    experiment: str,
    asked: Mapping[str, Any],
    *,
    resume: bool,
    retry: Collection[Retry],
) -> Keeping:
    """Return what keeps the run."""
    record = begin_record(
        name=name,
        experiment=experiment,
        dataset=plan.dataset.name,
        dataset_hash=plan.dataset.hash(),
        settings=plan.settings,
        about={
            "metrics": {key: metric.to_dict() for key, metric in plan.metrics.items()},
            **asked,
        },
    )
    answers = plan.answered
    return Keeping(
        _opened(store), record, resume=resume, retry=retry, at_once=answers or grader.waits,
        answered=answers,
    )  # fmt: skip


def _opened(store: Any) -> Store:
    from trajgrade.stores import open_store

    opened: Store = store if hasattr(store, "create") else open_store(store)
    return opened


def _earlier(keeping: Keeping | None, replay: Replay | None) -> Keeper | None:
    """Return what says what an earlier run has of an example: this run's begin, else the replay."""
    if keeping is None:
        return None if replay is None else replay.earlier
    if replay is None:
        return keeping.earlier
    return lambda example: keeping.earlier(example) or replay.earlier(example)


def _run_of(
    plan: Plan, tally: Tally, spending: Spending, thresholds: Mapping[str, Any], **about: Any
) -> Run:
    """Return what the rows come to."""
    summary, agent_summary = tally.summary(), tally.agent_summary()
    found = {**summary, **agent_summary}
    if not about["interrupted"]:
        parse_thresholds(thresholds, found)
    strangers = [strangers_in(plan.dataset)] if tally.has_strangers else []
    return Run(
        rows=tally.rows,
        summary=summary,
        agent=agent_summary,
        dataset=plan.dataset.name,
        evaluators={e.key: described(e) for e in plan.evaluators},
        outcomes=judge_all(plan.bounds, summary, agent_summary),
        warnings=(*spending.warnings(), *plan.lacks, *strangers, *tally.warnings()),
        seed=plan.agent.seed if plan.agent is not None else None,
        worst=tally.worst(),
        **about,
    )


def _nothing() -> None:
    """Prepare an evaluator that needs no preparation."""
