"""Planning: what is to be run, built and checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trajgrade.agent import Agent
from trajgrade.contracts import EvaluatorLike
from trajgrade.dataset import Dataset, Example, Needs, Selected
from trajgrade.errors import ConfigError
from trajgrade.evaluators.appointed import with_judge
from trajgrade.evaluators.evaluator import described
from trajgrade.evaluators.spelling import graders
from trajgrade.grading import Grader
from trajgrade.measured import MEASURED, OnFailure, check
from trajgrade.record import RUN
from trajgrade.replay import Replay
from trajgrade.run import Explain
from trajgrade.tally import Metric, Tally, metrics_of
from trajgrade.thresholds import Threshold, parse_thresholds
from trajgrade.trials import check_trials, repeated
from trajgrade.view import lacks_of, needs_of


class Plan(NamedTuple):
    """What is to be run, built and checked.

    Attributes:
        dataset: The dataset.
        select: Which of its rows are graded.
        evaluators: What grades them.
        metrics: What is known of their metrics.
        keys: Their metrics' names; None where they are known only from the results.
        agent: What answers first, if anything.
        on_failure: Whether a row on which the agent failed counts as the worst score.
        explain: Which rows keep the alignment of their calls.
        bounds: What must hold.
        lacks: Which metrics lack their column in the whole dataset.
        replay: The kept run that is graded again, if one is.
        trials: How many times each example is answered.
    """

    dataset: Dataset
    select: Selected
    evaluators: Sequence[EvaluatorLike]
    metrics: dict[str, Metric]
    keys: Sequence[str] | None
    agent: Agent | None
    on_failure: OnFailure
    explain: Explain
    bounds: Sequence[Threshold]
    lacks: Sequence[str]
    replay: Replay | None = None
    trials: int = 1

    @property
    def answered(self) -> bool:
        """Whether an agent answers, or answered."""
        return self.agent is not None or self.replay is not None

    def examples(self) -> Iterator[Example]:
        """Yield the examples that are graded, read as far as is needed."""
        gives = None if self.agent is None else self.agent.gives
        needs = needs_of(self.evaluators, given=gives)
        if self.agent is not None:
            needs |= Needs(self.agent.reads, frozenset())
        return repeated(self.select.of(self.dataset.examples(needs)), self.trials)

    def grader(self) -> Grader:
        """Return what grades each example."""
        return Grader(
            self.evaluators,
            apart=self.dataset.texts_apart,
            explain=self.explain,
            on_failure=self.on_failure if self.answered else None,
        )

    def tally(self) -> Tally:
        """Return what counts the rows."""
        return Tally(self.metrics, explain=self.explain, agent=self.answered)

    @property
    def settings(self) -> dict[str, Any]:
        """What makes two runs the same, as plain objects."""
        found: dict[str, Any] = {
            "dataset": self.dataset.name,
            "fields": dict(self.dataset.fields),
            "select": {
                "ids": sorted(self.select.ids),
                "matching": self.select.matching,
                "limit": self.select.limit,
            },
            "evaluators": {e.key: described(e) for e in self.evaluators},
            "passes": {m.key: m.passes for m in self.metrics.values() if m.passes is not None},
        }
        if self.agent is not None:
            found |= {
                "agent": _named(self.agent.target), "on_failure": self.on_failure,
                "trials": self.trials, "seed": self.agent.seed,
            }  # fmt: skip
        if self.replay is not None:
            again = f"{RUN}{self.replay.record.id}"
            found |= {"agent": again, "on_failure": self.on_failure}
        return found


def planned(
    dataset: Any,
    evaluators: Sequence[Any],
    judge_of_run: Any,
    agent: Agent | None,
    on_failure: OnFailure,
    fields: Mapping[str, str | None] | None,
    passes: Mapping[str, float] | None,
    thresholds: Mapping[str, Any] | None,
    select: Selected | None,
    explain: Explain,
    replay: Replay | None,
    trials: int,
) -> Plan:
    """Return the plan of a run; the arguments are `evaluate`'s.

    Raises:
        ConfigError: The evaluators, trials or thresholds are wrong.
        DatasetError: The dataset cannot be read.
    """
    check_trials(trials)
    built = graders(evaluators)
    if judge_of_run is not None:
        built = built._replace(evaluators=with_judge(built.evaluators, judge_of_run))
    if replay is not None and agent is not None:
        raise ConfigError("agent: the answers of a kept run are graded; no agent is called")
    if trials > 1 and agent is None:
        raise ConfigError("trials: no agent is there that could answer an example several times")
    if not built.evaluators and agent is None:
        raise ConfigError("evaluators: at least one is needed, or nothing would be graded")
    measured = MEASURED if agent is not None or replay is not None else ()
    check(on_failure, [e.key for e in built.evaluators if e.key in measured])
    keys = built.keys
    bounds = parse_thresholds(thresholds or {}, keys if keys is None else [*keys, *measured])
    rows = Dataset.load(dataset, fields=fields)
    chosen = select or Selected()
    chosen.check(rows)
    gives = None if agent is None else agent.gives
    return Plan(
        dataset=rows,
        select=chosen,
        evaluators=built.evaluators,
        metrics=metrics_of(built.evaluators, {**built.passes, **(passes or {})}),
        keys=keys,
        agent=agent,
        on_failure=on_failure,
        explain=explain,
        bounds=bounds,
        lacks=lacks_of(rows, built.evaluators, given=gives),
        replay=replay,
        trials=trials,
    )


def _named(target: Any) -> str:
    """Return the name of an agent's function or class: an address in memory would tell nothing."""
    if hasattr(target, "query_row"):
        return repr(target)
    inner = target if hasattr(target, "__qualname__") else type(target)
    return f"{inner.__module__}:{inner.__qualname__}"
