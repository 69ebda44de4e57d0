"""Graph trajectories are matched in every mode without any package, and aligned."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.formats.test_graph_trajectory import graph
from tests.matching.strategies import letters
from trajgrade.errors import TraceError
from trajgrade.evaluators import GraphTrajectoryMatch, TrajectoryMatchEvaluator, build_evaluator

runs = st.lists(st.lists(st.sampled_from(["a", "b", "sub:c"]), max_size=4), min_size=1, max_size=3)


@pytest.mark.parametrize("mode", oracle.MATCH_MODES)
@given(data=st.data())
def test_a_thread_matches_where_every_run_does(mode: Any, data: Any):
    ours = data.draw(runs)
    theirs = data.draw(st.permutations(ours) | st.just(ours)) if data.draw(st.booleans()) else [
        data.draw(st.lists(st.sampled_from(["a", "b", "sub:c"]), max_size=4)) for _ in ours
    ]  # fmt: skip
    found = GraphTrajectoryMatch(mode).evaluate(
        outputs=graph(*ours), reference_outputs=graph(*theirs)
    )
    one = TrajectoryMatchEvaluator(mode)
    each = [
        one.evaluate(outputs=calls(got), reference_outputs=calls(wanted)).score
        for got, wanted in zip(ours, theirs, strict=True)
    ]
    assert found.score == min(score for score in each if score is not None)


def calls(nodes: list[str]) -> list[dict[str, Any]]:
    return [{"name": node, "args": {}} for node in nodes]


def test_the_first_difference_is_named_with_its_run():
    found = GraphTrajectoryMatch().evaluate(
        outputs=graph(["a"], ["a", "c"]), reference_outputs=graph(["a"], ["a", "b"])
    )
    assert (found.key, found.score) == ("graph_trajectory_match", 0.0)
    assert "turn 1: call 1: expected b(), got c()" in found.comment


def test_the_alignment_says_what_is_missing_extra_and_misordered():
    evaluator = GraphTrajectoryMatch("unordered")
    first, second = evaluator.alignment(
        outputs=graph(["b", "a"], ["a"]), reference_outputs=graph(["a", "b"], ["a", "x"])
    )
    assert len(first.matched) == 2
    assert len(first.misordered) == 1
    assert second.missing == (1,)


def test_partial_credit_is_given_by_the_other_metrics():
    result = build_evaluator("trajectory_f1", {"turns": True}).evaluate(
        outputs=graph(["a", "b"], ["c"]), reference_outputs=graph(["a"], ["c"])
    )
    assert result.score == pytest.approx(0.8)


def test_all_runs_are_one_list_where_that_is_asked():
    flat = GraphTrajectoryMatch(turns=False)
    assert flat.evaluate(
        outputs=graph(["a"], ["b"]), reference_outputs=graph(["a", "b"])
    ).score == 1.0  # fmt: skip
    with pytest.raises(TraceError, match="1 turns, the trace has 2"):
        GraphTrajectoryMatch().evaluate(
            outputs=graph(["a"], ["b"]), reference_outputs=graph(["a", "b"])
        )


def test_one_run_can_be_asked_for():
    last = GraphTrajectoryMatch(turn=-1)
    assert last.evaluate(
        outputs=graph(["x"], ["b"]), reference_outputs=graph(["a"], ["b"])
    ).score == 1.0  # fmt: skip


def test_a_reference_without_runs_is_an_error():
    with pytest.raises(TraceError, match=r"no user turn|before the first user turn"):
        GraphTrajectoryMatch().evaluate(outputs=graph(["a"]), reference_outputs=letters("a"))
