"""TrajectoryConstraints: over runs, turns and agents, from parameters and from references."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from tests.matching.strategies import letters
from tests.matching.test_constraints import oracle, rules, runs
from trajgrade import evaluate
from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators import TrajectoryConstraints, build_evaluator
from trajgrade.evaluators.spelling import grader
from trajgrade.matching.constraints import Constraints
from trajgrade.trajectory import Step, ToolCall, Trajectory

TWO_TURNS = Trajectory([
    Step("user", "1"), Step("assistant", "", [ToolCall("a", agent="x"), ToolCall("b", agent="x")]),
    Step("user", "2"), Step("assistant", "", [ToolCall("b", agent="y", children=(
        ToolCall("c", agent="z"),))]),
])  # fmt: skip


def run(names: list[str]) -> Trajectory:
    return Trajectory([Step("assistant", "", [ToolCall(name) for name in names])])


def written(kept: Constraints) -> dict[str, Any]:
    return {name: getattr(kept, name) for name in kept.__struct_fields__}


def kinds(result: Any) -> list[str]:
    return [one["constraint"] for one in result.metadata["violations"]]


@given(rules, runs)
def test_the_score_is_whether_all_hold_and_each_that_does_not_is_named(kept: Any, names: list[str]):
    try:
        evaluator = TrajectoryConstraints(**written(kept))
    except ConfigError:
        return
    reference = {"constraints": written(kept)} if evaluator.needs_reference else None
    if reference is not None:
        return  # no constraint at all
    result = evaluator.evaluate(outputs=run(names))
    wrong = list(oracle(kept, names))
    assert result.score == float(not wrong)
    assert result.value is (not wrong)
    found = [(one["constraint"], tuple(one["tools"])) for one in result.metadata["violations"]]
    assert found == wrong
    assert result.metadata.get("vacuous", False) == (not names and not wrong)
    same = TrajectoryConstraints().evaluate(
        outputs=run(names), reference_outputs={"constraints": written(kept)}
    )
    assert same == result


def test_the_comment_names_each_violated_constraint_and_the_call():
    kept = TrajectoryConstraints(
        required=["searhc"], forbidden=["delete_*"], before=[["login", "pay"]],
        one_of=[["card", "bank"]], max_calls={"search": 1}, optional=["delete_user"],
    )  # fmt: skip
    result = kept.evaluate(outputs=run(["search", "pay", "search", "login", "delete_user", "odd"]))
    for part in (
        "6 of 6 constraints violated",
        "required 'searhc' was never called; a near name was called: 'search'",
        "forbidden 'delete_*' was called (call 4, delete_user)",
        "'login' before 'pay': 'login' was called only later (call 1, pay)",
        "one of 'card', 'bank': none of them was called",
    ):
        assert part in result.comment
    said = [one["said"] for one in result.metadata["violations"]]
    assert "'search' was called 2 times, at most 1 are allowed (call 2, search)" in said
    assert "'odd' was called, and no constraint names it (call 5, odd)" in said
    assert len(result.comment) <= 400


def test_they_hold_in_each_turn_where_that_is_asked():
    once = TrajectoryConstraints(required=["a"], each="turn").evaluate(outputs=TWO_TURNS)
    assert once.score == 0.0
    assert once.comment.startswith("1 of 2 constraints violated: turn 1: required 'a'")
    assert TrajectoryConstraints(required=["b"], each="turn").evaluate(outputs=TWO_TURNS).score == 1
    last = TrajectoryConstraints(forbidden=["a"], turn=-1).evaluate(outputs=TWO_TURNS)
    assert last.score == 1.0


def test_they_hold_for_each_agent_where_that_is_asked():
    found = TrajectoryConstraints(max_calls={"*": 1}, each="agent").evaluate(outputs=TWO_TURNS)
    assert [one["in"] for one in found.metadata["violations"]] == ["agent x"]
    assert found.metadata["constraints"] == 3
    inner = TrajectoryConstraints(required=["c"], agent="z").evaluate(outputs=TWO_TURNS)
    assert inner.score == 1.0
    with pytest.raises(TraceError, match=r"call 0 \(f\) does not say which agent"):
        TrajectoryConstraints(required=["f"], each="agent").evaluate(outputs=letters("f"))


def test_which_calls_count_is_as_for_every_other_evaluator():
    calls = [
        ToolCall("f", status="error"), ToolCall("h", hosted=True),
        ToolCall("g", children=(ToolCall("c"),)),
    ]  # fmt: skip
    trace = Trajectory([Step("assistant", "", calls)])

    def seen(**options: Any) -> list[str]:
        result = TrajectoryConstraints(optional=[], **options).evaluate(outputs=trace)
        (fault,) = result.metadata["violations"]
        return list(fault["tools"])

    assert seen() == ["f", "g"]
    assert seen(failed="exclude") == ["g"]
    assert seen(hosted="count") == ["f", "h", "g"]
    assert seen(depth="all") == ["f", "g", "c"]
    assert seen(depth="leaves") == ["f", "c"]


def test_both_the_parameters_and_the_reference_must_hold():
    both = TrajectoryConstraints(required=["a"])
    reference = {"constraints": {"forbidden": ["b"]}}
    assert both.evaluate(outputs=letters("a"), reference_outputs=reference).score == 1.0
    assert kinds(both.evaluate(outputs=letters("b"), reference_outputs=reference)) == [
        "required", "forbidden",
    ]  # fmt: skip
    assert both.evaluate(outputs=letters("a"), reference_outputs=[{"name": "b"}]).score == 1.0


def test_the_best_of_several_references_counts():
    either = {"any_of": [
        {"constraints": {"required": ["a", "b"]}}, {"constraints": {"required": ["c"]}},
    ]}  # fmt: skip
    found = TrajectoryConstraints().evaluate(outputs=letters("c"), reference_outputs=either)
    assert (found.score, found.metadata["reference_index"]) == (1.0, 1)
    assert found.comment.startswith("reference 2 of 2: ")


def test_a_reference_may_hold_constraints_for_each_turn():
    turns: Any = {"turns": [
        {"constraints": {"required": ["a"]}}, {"constraints": {"forbidden": ["a"]}},
    ]}  # fmt: skip
    per_turn = TrajectoryConstraints()
    assert per_turn.evaluate(outputs=TWO_TURNS, reference_outputs=turns).score == 1.0
    turned = {"turns": turns["turns"][::-1]}
    wrong = per_turn.evaluate(outputs=TWO_TURNS, reference_outputs=turned)
    assert [one["in"] for one in wrong.metadata["violations"]] == ["turn 0", "turn 1"]
    one = TrajectoryConstraints(turn=1)
    assert one.evaluate(outputs=TWO_TURNS, reference_outputs=turns).score == 1.0
    assert one.evaluate(outputs=TWO_TURNS, reference_outputs=turned).score == 0.0
    with pytest.raises(TraceError, match="3 turns, the trace has 2"):
        per_turn.evaluate(
            outputs=TWO_TURNS, reference_outputs={"turns": [*turns["turns"], turns["turns"][0]]}
        )


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ({"constraints": {"requird": ["a"]}}, "Did you mean 'required'"),
        ({"constraints": ["a"]}, "an object is needed"),
        ({"constraints": {}}, "there are none"),
        ({"constraints": {"required": ["a"]}, "id": 1}, "holds nothing else"),
        ({"any_of": [{"constraints": {"required": ["a"]}}, []]}, "give one kind"),
        ({"turns": [{"constraints": {"required": ["a"]}}, []]}, "give one kind"),
    ],
)
def test_a_reference_with_broken_constraints_is_an_error_that_says_where(reference: Any, why: str):
    with pytest.raises(TraceError, match=why):
        TrajectoryConstraints().evaluate(outputs=letters("a"), reference_outputs=reference)


@pytest.mark.parametrize(
    "reference", [None, [], [{"name": "a"}], "text", TWO_TURNS, {"turns": [[]]}]
)
def test_without_any_constraints_nothing_is_evaluated(reference: Any):
    found = TrajectoryConstraints().evaluate(outputs=letters("a"), reference_outputs=reference)
    assert found.error is not None
    assert found.error.kind == "no_reference"


def test_evaluators_of_calls_do_not_take_constraints_for_calls():
    alone: Any = {"constraints": {"required": ["a"]}}
    for reference in (alone, {"any_of": [alone]}, {"turns": [alone]}):
        for name in ("trajectory_match", "trajectory_f1", "trajectory_alignment"):
            found = build_evaluator(name).evaluate(
                outputs=letters("a"), reference_outputs=reference
            )
            assert found.error is not None
            assert found.error.kind == "no_reference"
            assert "trajectory_constraints" in found.comment


def test_they_are_written_in_yaml_and_refused_there_with_their_path():
    made: Any
    made, _ = grader({"trajectory_constraints": {
        "required": ["a"], "before": [["a", "b"]], "max_calls": {"*": 3}, "each": "turn",
    }})  # fmt: skip
    assert made == TrajectoryConstraints(
        ["a"], before=[["a", "b"]], max_calls={"*": 3}, each="turn"
    )
    with pytest.raises(ConfigError, match=r"evaluators\[0\].*requird.*Did you mean 'required'"):
        grader({"trajectory_constraints": {"requird": ["a"]}}, "evaluators[0]")
    with pytest.raises(ConfigError, match="required"):
        grader({"trajectory_constraints": {"required": "a"}})


def test_a_run_grades_rows_of_constraints_beside_rows_of_calls():
    calls = [{"name": "a", "args": {}}]
    rows = [
        {"outputs": calls, "reference_outputs": {"constraints": {"required": ["a"]}}},
        {"outputs": calls, "reference_outputs": json.dumps({"constraints": {"forbidden": ["a"]}})},
        {"outputs": calls, "reference_outputs": calls},
    ]
    graded = evaluate(rows, ["trajectory_constraints", "trajectory_exact_match"])
    scores = [[row.results[key].score for key in row.results] for row in graded.rows]
    assert scores == [[1.0, None], [0.0, None], [None, 1.0]]
