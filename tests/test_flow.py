"""Rows flow: each as soon as it is done, and in their order where that is asked for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajgrade
from trajgrade.agent import Agent
from trajgrade.earlier import Earlier
from trajgrade.errors import JudgeError
from trajgrade.evaluators import Evaluator
from trajgrade.evaluators.spelling import graders
from trajgrade.flow import Done, InOrder, flow
from trajgrade.grading import Grader
from trajgrade.result import EvaluationResult
from trajgrade.run import InterruptedRunError, Row
from trajgrade.tally import Graded

ROWS = [
    {"id": str(n), "prompt": n, "response": str(n), "reference": "0", "reference_trajectory": []}
    for n in range(20)
]


def row(place: int) -> Done:
    return Done(place, None, Graded(Row(str(place), {}), {}))  # type: ignore[arg-type]


@given(st.permutations(range(12)))
def test_rows_that_come_in_any_order_leave_in_theirs(places: list[int]):
    ordered: InOrder[Done] = InOrder()
    left = [done.place for place in places for done in ordered.add(row(place))]
    assert left == sorted(places)
    assert [*ordered.rest()] == []


@given(st.sets(st.integers(0, 20)))
def test_what_was_never_done_leaves_a_gap(places: set[int]):
    ordered: InOrder[Done] = InOrder()
    left = [done.place for place in places for done in ordered.add(row(place))]
    assert left + [done.place for done in ordered.rest()] == sorted(places)


class Slow(Evaluator):
    """Answers only when all rows have been asked."""

    key = "slow"
    range = (0.0, 1.0)
    direction = "higher"

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.asked = 0
        self.at_once = asyncio.Event()

    async def aevaluate(self, **example: Any) -> EvaluationResult:
        self.asked += 1
        if self.asked == self.rows:
            self.at_once.set()
        await self.at_once.wait()
        return EvaluationResult(self.key, float(example["outputs"]["response"] == "0"))


async def later(response):
    await asyncio.sleep(0)
    return response == "3"


def test_evaluators_that_wait_are_asked_of_many_rows_at_once():
    run = trajgrade.evaluate([{**r, "outputs": r} for r in ROWS], [Slow(len(ROWS)), later])
    assert [row.results["slow"].score for row in run.rows] == [1.0] + [0.0] * 19
    assert [row.results["later"].score for row in run.rows].index(1.0) == 3
    assert [row.id for row in run.rows] == [r["id"] for r in ROWS]


def test_evaluators_that_wait_work_inside_a_running_loop():
    async def notebook() -> Any:
        return trajgrade.evaluate(ROWS, [later])

    assert asyncio.run(notebook()).summary["later"].mean == 1 / 20


class Refused(Evaluator):
    key = "refused"

    async def aevaluate(self, **example: Any) -> EvaluationResult:
        if example["response"] == "1":
            raise JudgeError("429: come back later")
        raise ValueError("broken")


def test_what_an_evaluator_that_waits_raises_is_its_rows_error_by_kind():
    run = trajgrade.evaluate(ROWS[:2], [Refused(), "exact_match"])
    errors = [e for found in run.rows if (e := found.results["refused"].error)]
    assert [error.kind for error in errors] == ["evaluator", "judge"]
    assert "ValueError: broken" in errors[0].message
    assert "raise ValueError" in errors[0].traceback
    assert run.summary["exact_match"].n_scored == 2


def test_evaluators_of_traces_do_not_wait_for_one_that_does():
    """The row behind is graded by the fast evaluator while the first row's judge still thinks."""
    graded = threading.Event()

    def fast(response):
        if response == "1":
            graded.set()
        return 1

    class Judge(Evaluator):
        key = "judge"

        async def aevaluate(self, **example: Any) -> EvaluationResult:
            await asyncio.to_thread(graded.wait)
            return EvaluationResult(self.key, 1.0)

    run = trajgrade.evaluate(ROWS[:2], [Judge(), fast])
    assert run.summary["judge"].mean == 1


def test_rows_leave_the_flow_as_they_are_done():
    """The first answer comes last; the rows behind it do not wait for it."""
    others = threading.Event()

    def agent(prompt):
        if prompt == 0:
            others.wait()
        return {"response": str(prompt)}

    dataset = trajgrade.Dataset.load(ROWS)
    grader = Grader(graders(["exact_match"]).evaluators)
    places = []
    for done in flow(dataset.examples(), grader, Agent(agent)):
        places.append(done.place)
        if len(places) == len(ROWS) - 1:
            others.set()
    assert places[-1] == 0
    assert sorted(places) == [*range(len(ROWS))]


def test_rows_that_are_kept_are_not_graded_again():
    asked = []

    def noted(response):
        asked.append(response)
        return 1

    dataset = trajgrade.Dataset.load(ROWS)
    grader = Grader(graders([noted]).evaluators)
    keep = Earlier(Graded(Row("kept", {}), {}))
    done = [*flow(dataset.examples(), grader, keeper=lambda e: keep if e.row % 2 else None)]
    assert [d.kept for d in done] == [False, True] * 10
    assert asked == [str(n) for n in range(0, 20, 2)]


def test_an_interrupt_keeps_the_rows_behind_one_that_is_not_done():
    stopped = threading.Event()

    def agent(prompt):
        if prompt == 0:
            stopped.wait()
        return {"response": str(prompt)}

    def stop(done):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError) as caught:
        trajgrade.evaluate(ROWS, ["exact_match"], agent=agent, on_progress=stop)
    stopped.set()
    assert len(caught.value.run.rows) == 5
    assert "0" not in {found.id for found in caught.value.run.rows}
