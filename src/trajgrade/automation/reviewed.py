"""Reviewed: what people said of the traces in a review queue, as labels, as a run, as rows.

labels    what they would have said in a judge's place, for `trajgrade judge align`
run       what evaluators said of the same traces, as a run that the labels are compared with
rows      the traces as rows of a dataset, with a reference: what a person has corrected, or
          what the agent did where a person accepts it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from trajgrade.aligning import Label
from trajgrade.automation.pieces import trace_of
from trajgrade.contracts import Store
from trajgrade.errors import DatasetError, TraceError
from trajgrade.event import Event
from trajgrade.inbox import Label as Said
from trajgrade.inbox import Review
from trajgrade.production import Inbox
from trajgrade.registry import actions
from trajgrade.result import EvaluationResult
from trajgrade.run import Row, Run
from trajgrade.saved import scale_of
from trajgrade.tally import Graded, Metric, Tally
from trajgrade.trajectory import Trajectory

QUEUE = "queue:"
_PAGE = 200
_REFERENCE = ("reference_outputs", "reference")
_OF_THE_TRACE = ("inputs", "outputs", "scores")


class Rows(NamedTuple):
    """The traces of a queue as rows.

    Attributes:
        rows: The rows, each with a reference.
        rejected: How many a person did not accept, and gave no reference for.
        unread: Why others could not be read, one sentence each.
    """

    rows: list[dict[str, Any]]
    rejected: int
    unread: list[str]


def is_queue(source: object) -> bool:
    """Whether a text names a review queue: `queue:NAME`."""
    return isinstance(source, str) and source.startswith(QUEUE)


def reviews(inbox: Inbox, source: str) -> Iterator[Review]:
    """Yield what people have looked at in a queue, but for traces that have changed since.

    Args:
        inbox: Where it is.
        source: The queue, `queue:NAME`.

    Raises:
        DatasetError: Nobody has looked at anything there.
    """
    return (review for review in _looked_at(inbox, source) if not has_changed(review))


def _looked_at(inbox: Inbox, source: str) -> Iterator[Review]:
    name = source.removeprefix(QUEUE)
    if not name:
        raise DatasetError(f"{source}: the name of a review queue is needed, as in queue:failures")
    found = inbox.reviews(queue=name, state="done", limit=_PAGE)
    if not found:
        waiting = inbox.reviews(queue=name, state="open", limit=1)
        why = "nobody has looked at what waits there" if waiting else "there is no such queue"
        raise DatasetError(f"{source}: {why}")
    while found:
        yield from found
        found = inbox.reviews(queue=name, state="done", after=found[-1].number, limit=_PAGE)


def has_changed(review: Review) -> bool:
    """Whether a trace has changed since a person looked at it: what was said is not of that."""
    return review.label is not None and review.label.revision != review.revision


def labels_in(store: Store, source: str) -> list[Label]:
    """Return what people would have said in the place of judges.

    Raises:
        DatasetError: Nobody has said so of any trace of the queue.
    """
    found = [
        Label(review.trace_id, label, key, _length(store.inbox, review.trace_id))
        for review in reviews(store.inbox, source)
        if review.label is not None
        for key, label in review.label.judged.items()
    ]
    if not found:
        changed = sum(map(has_changed, _looked_at(store.inbox, source)))
        more = f" ({changed} have changed since somebody looked at them)" if changed else ""
        raise DatasetError(
            f"{source}: nobody has said what a judge should have said of a trace{more}"
        )
    return found


def _length(inbox: Inbox, trace_id: str) -> float | None:
    try:
        said = Trajectory.from_any(trace_of(inbox.pieces(trace_id))).final_response
    except TraceError:
        return None
    return None if said is None else float(len(said))


def run_in(store: Store, source: str) -> Run:
    """Return what evaluators said of the traces that people have looked at, as a run.

    Raises:
        DatasetError: No evaluator has graded any of them.
    """
    rows = [*_graded(store.inbox, reviews(store.inbox, source))]
    keys = dict.fromkeys(key for row in rows for key in row.results)
    if not keys:
        raise DatasetError(f"{source}: no evaluator has graded the traces there")
    metrics = {key: Metric.of({"key": key, **scale_of(key)}) for key in keys}
    tally = Tally(metrics, explain="none", agent=False)
    for row in rows:
        tally.add(Graded(row, {}))
    return Run(
        rows=tally.rows, summary=tally.summary(), dataset=source, evaluators={},
        started_at=datetime.now(UTC), seconds=0.0,
    )  # fmt: skip


def _graded(inbox: Inbox, found: Iterable[Review]) -> Iterator[Row]:
    for number, review in enumerate(found):
        record = inbox.trace(review.trace_id)
        if record is not None and record.is_graded:
            results = {
                key: msgspec.convert(plain, EvaluationResult)
                for key, plain in record.results.items()
            }
            yield Row(record.id, results, None, number, f"trace {record.id}")


def rows_in(store: Store, source: str, kept: Mapping[str, Mapping[str, Any]]) -> Rows:
    """Return the traces that people have looked at as rows of a dataset.

    Args:
        store: Where they are.
        source: The queue, `queue:NAME`.
        kept: The dataset's rows by id: of one that is there already only the reference changes.
    """
    found = Rows([], 0, [])
    rejected = 0
    for review in _looked_at(store.inbox, source):
        said = review.label
        if has_changed(review):
            found.unread.append(f"{review.trace_id}: has changed since somebody looked at it")
        elif said is None or (said.reference is None and said.verdict is not True):
            rejected += 1
        else:
            there = kept.get(review.trace_id, {})
            try:
                found.rows.append(row_in(store.inbox, review, said, "reviewed", there))
            except (TraceError, DatasetError) as broken:
                found.unread.append(f"{review.trace_id}: {broken}")
    return found._replace(rejected=rejected)


def row_in(
    inbox: Inbox, review: Review, said: Said, dataset: str, there: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the trace of an item of a queue as a row of a dataset, by what a person said of it.

    Args:
        inbox: Where the trace is.
        review: The item.
        said: What the person said: the reference, or that the trace is accepted.
        dataset: The dataset's name.
        there: The row of the same id that the dataset has. Of that only the reference changes; but
            where other outputs stand in it, it is of another revision of the trace, and what was
            asked, done and scored becomes that of the revision which the person saw.

    Raises:
        ConfigError: The dataset's name is none.
        DatasetError: The trace is not here any more, or the row is too large.
        TraceError: The trace is accepted, and cannot be read.
    """
    record = inbox.trace(review.trace_id)
    if record is None:
        raise DatasetError(f"the trace {review.trace_id!r} is not here any more")
    event = Event(
        id=f"review {review.number}", rule=review.rule, item_id=review.trace_id,
        trace=trace_of(inbox.pieces(review.trace_id)),
        scores=record.scores if record.is_graded else {},
        results=record.results if record.is_graded else {},
    )  # fmt: skip
    expected = "actual" if said.reference is None else "reference"
    adding = actions.build("add_to_dataset", {"dataset": dataset, "expected": expected})
    row: dict[str, Any] = {**adding.act(event).effects[0].row}
    if said.reference is not None:
        row["reference_outputs"] = said.reference
    corrected = {key: row[key] for key in _REFERENCE if key in row}
    is_of_another = "outputs" in there and there["outputs"] != row.get("outputs")
    old = _OF_THE_TRACE if is_of_another else ()
    stays = {key: value for key, value in there.items() if key not in old}
    return {**row, **stays, **corrected}
