"""Replay: what a kept run has, given once more: its rows as a `Run`, its answers as a dataset.

`run:ID` names a run of the store; `run:latest` the newest, and a unique beginning or end of an id
will do. Graded again, what an agent answered is graded as it was answered: no agent is called, and
a row on which it failed is still a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trajgrade.alignment import alignments_in
from trajgrade.contracts import Store
from trajgrade.dataset import Example
from trajgrade.earlier import Earlier, example_of, key_of
from trajgrade.errors import StoreError
from trajgrade.packing import unpack
from trajgrade.record import RUN, Key, RunRecord
from trajgrade.run import Row, Run
from trajgrade.summary import Summary
from trajgrade.tally import Graded, Metric, Tally
from trajgrade.thresholds import Outcome, judge_all, parse_thresholds


def is_run(place: object) -> bool:
    """Whether a text names a run of the store."""
    return isinstance(place, str) and place.startswith(RUN)


class Replay:
    """The answers of a kept run.

    Args:
        store: Where it is kept.
        name: `run:` and its id, or `latest`.

    Raises:
        StoreError: No agent was called in that run, so that it has no answers.
        UnknownNameError: There is no such run.

    Attributes:
        record: The run's record.
        examples: What was asked, with what was answered.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.record = store.run(name.removeprefix(RUN))
        self.examples: list[Example] = []
        self._rows: dict[Key, Row] = {}
        for stored in store.rows(self.record.id):
            if stored.example is None:
                raise StoreError(
                    f"{RUN}{self.record.id}: no agent was called, and what it graded is in "
                    f"{self.record.dataset}: grade that again"
                )
            self.examples.append(example_of(stored.example))
            row = unpack(stored.graded, Row)
            bare = Row(row.id, {}, row.trial, row.row)
            if row.failure is not None:
                told = (row.latency_in_seconds, row.failure, row.agent_error)
                bare = Row(row.id, {}, row.trial, row.row, "", (), *told)
            self._rows[stored.key] = bare

    def earlier(self, example: Example) -> Earlier:
        """Return what came of calling the agent for an example; no result stays."""
        row = self._rows[key_of(example.row, example.trial)]
        return Earlier(Graded(row, {}), example, {})


def run_of(store: Store, record: RunRecord) -> Run:
    """Return a kept run as `evaluate` returned it.

    Args:
        store: Where it is kept.
        record: Its record.
    """
    known: Mapping[str, Any] = record.settings.get("metrics", {})
    metrics = {key: Metric.of(plain) for key, plain in known.items()}
    tally = Tally(metrics, explain="all", agent="agent" in record.settings)
    for stored in store.rows(record.id):
        graded = Graded(unpack(stored.graded, Row), {})
        tally.add(graded)
        for key, said in unpack(stored.amended or b"\x80", dict[str, Any]).items():
            tally.rows.amend(len(tally.rows) - 1, key, said)
    summary, agent_summary = tally.summary(), tally.agent_summary()
    told: Mapping[str, Any] = record.result or {}
    return Run(
        id=record.id,
        rows=tally.rows,
        summary=summary,
        agent=agent_summary,
        name=record.name,
        dataset=record.dataset,
        evaluators=dict(record.settings.get("evaluators", {})),
        outcomes=tuple(_outcomes(record, summary, agent_summary)),
        warnings=tuple(told.get("warnings", ())),
        judge_alignment=alignments_in(told),
        worst=tally.worst(),
        interrupted=record.state != "finished",
        started_at=record.started_at,
        seconds=record.seconds,
    )


def _outcomes(record: RunRecord, summary: Summary, agent: Summary) -> Iterator[Outcome]:
    """Yield what thresholds come to, and what the gates came to when the run ended."""
    bounds = parse_thresholds(record.settings.get("thresholds", {}))
    judged = judge_all(bounds, summary, agent)
    yield from judged
    told = {outcome.threshold for outcome in judged}
    for plain in (record.result or {}).get("thresholds", ()):
        if plain["threshold"] not in told:
            yield msgspec.convert(plain, Outcome)
