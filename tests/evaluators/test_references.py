"""References that are not one list (A9): several acceptable ones, and turns."""

from __future__ import annotations

from typing import Any

import pytest

from trajgrade.errors import TraceError
from trajgrade.evaluators import (
    Evaluator,
    Step,
    ToolCall,
    ToolCallAccuracyEvaluator,
    TrajectoryAlignment,
    TrajectoryF1,
    TrajectoryMatchEvaluator,
    TrajectoryPrecision,
    TrajectoryRecall,
)
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory

COMPARING: list[Evaluator] = [
    TrajectoryMatchEvaluator(), TrajectoryPrecision(), TrajectoryRecall(), TrajectoryF1(),
    TrajectoryAlignment(), ToolCallAccuracyEvaluator(),
]  # fmt: skip


def calls(text: str) -> list[dict[str, Any]]:
    return [{"name": letter} for letter in text]


def either(*texts: str) -> dict[str, Any]:
    return {"any_of": [calls(text) for text in texts]}


def turns(*texts: str) -> dict[str, Any]:
    return {"turns": [calls(text) for text in texts]}


def talk(*texts: str) -> Trajectory:
    """A user message before each text's calls, one call a message."""
    steps = []
    for text in texts:
        steps.append(Step("user", "please"))
        steps += [Step("assistant", "", [ToolCall(letter)]) for letter in text]
        steps.append(Step("assistant", "done"))
    return Trajectory(steps)


def grade(evaluator: Evaluator, outputs: Any, reference: Any) -> EvaluationResult:
    return evaluator.evaluate(outputs=outputs, reference_outputs=reference)


# ------------------------------------------------------------------------------ any_of


def test_any_of_several_references_may_be_met_and_the_result_says_which():
    result = grade(TrajectoryMatchEvaluator(), calls("bc"), either("ac", "bc"))
    assert result.value is True
    assert result.metadata["reference_index"] == 1
    assert "reference 2 of 2" in result.comment


@pytest.mark.parametrize("evaluator", COMPARING, ids=lambda e: e.key)
def test_the_best_of_several_references_counts(evaluator):
    options = ["xyz", "abx", "abc", "abcd", ""]
    result = grade(evaluator, calls("abc"), either(*options))
    assert result.score == 1.0
    assert result.metadata["reference_index"] == 2
    some = grade(evaluator, calls("abc"), either("xyz", "abx"))
    alone = [grade(evaluator, calls("abc"), calls(option)).score for option in ("xyz", "abx")]
    assert some.score == max(score for score in alone if score is not None)


def test_of_equally_good_references_the_first_is_named():
    for outputs in ("ab", "q"):
        result = grade(TrajectoryMatchEvaluator(), calls(outputs), either("ab", "ab"))
        assert result.metadata["reference_index"] == 0


def test_a_reference_without_a_score_never_hides_one_with_a_score():
    for order in (["", "a"], ["a", ""]):
        result = grade(ToolCallAccuracyEvaluator(), calls("x"), either(*order))
        assert result.score == 0.0
        assert result.metadata["reference_index"] == order.index("a")
    none = grade(ToolCallAccuracyEvaluator(), calls("x"), either("", ""))
    assert none.score is None
    assert none.error is not None
    assert none.error.kind == "undefined"


def test_flags_are_those_of_the_reference_that_counts():
    superset = TrajectoryMatchEvaluator("superset")
    assert grade(superset, calls("x"), either("a", "")).metadata["vacuous"] is True
    assert "vacuous" not in grade(superset, calls("a"), either("a", "")).metadata


def test_any_of_hangs_on_unknown_arguments_only_if_they_could_be_better():
    unknown = Trajectory(tool_calls=[ToolCall("f", None, "unknown"), ToolCall("g")])
    open_ = [{"name": "f", "args": {"a": 1}}, {"name": "g"}]
    sure = [{"name": "g"}]
    strict = TrajectoryMatchEvaluator()
    hanging = grade(strict, unknown, {"any_of": [sure, open_]})
    assert hanging.score is None
    assert hanging.error is not None
    assert hanging.metadata["reference_index"] == 1
    assert "reference 2 of 2" in hanging.comment
    recall = TrajectoryRecall()
    assert grade(recall, unknown, {"any_of": [open_, sure]}).score == 1.0
    # At best half of these reference calls are made; the other reference is sure to be met by 2/3.
    half = {"any_of": [[*calls("g"), *calls("xyz"), open_[0]], [*calls("g"), *calls("x")]]}
    assert grade(recall, unknown, half).score == 0.5
    worse = {"any_of": [[open_[0], *calls("xyz")], calls("gx")]}
    assert grade(recall, unknown, worse).score == 0.5
    better = {"any_of": [[open_[0], *calls("g")], calls("gx")]}
    assert grade(recall, unknown, better).score is None


@pytest.mark.parametrize(
    "reference",
    [
        {"any_of": []},
        {"any_of": "ab"},
        {"any_of": None},
        {"any_of": [calls("a")], "turns": [calls("a")]},
        {"any_of": [calls("a")], "note": "x"},
        {"any_of": [None]},
        {"any_of": [calls("a"), 17]},
        {"turns": []},
        {"turns": None},
        {"turns": calls("a"), "x": 1},
    ],
)
def test_a_reference_that_is_spelt_wrong_is_an_error(reference):
    with pytest.raises(TraceError):
        grade(TrajectoryMatchEvaluator(), talk("a"), reference)


@pytest.mark.parametrize("evaluator", COMPARING, ids=lambda e: e.key)
def test_a_bare_list_of_lists_is_an_error_that_names_both_spellings(evaluator):
    with pytest.raises(TraceError) as caught:
        grade(evaluator, calls("bc"), [calls("ac"), calls("bc")])
    assert "any_of" in str(caught.value)
    assert "turns" in str(caught.value)


# ------------------------------------------------------------------------------ turns


@pytest.mark.parametrize(
    ("outputs", "reference", "strict", "unordered"),
    [
        (("ab", "c"), ("ab", "c"), True, True),
        (("ab", "c"), ("ba", "c"), False, True),
        (("a", "bc"), ("ab", "c"), False, False),
        (("ab", ""), ("ab", ""), True, True),
        (("", ""), ("", ""), True, True),
        (("c", "ab"), ("ab", "c"), False, False),
    ],
)
def test_each_turn_is_compared_with_its_own_group(outputs, reference, strict, unordered):
    for mode, wanted in [("strict", strict), ("unordered", unordered)]:
        evaluator = TrajectoryMatchEvaluator(mode)  # type: ignore[arg-type]  # one of the modes
        result = grade(evaluator, talk(*outputs), turns(*reference))
        assert result.value is wanted
        if not wanted:
            assert "turn" in result.comment


def test_shares_pool_the_turns():
    outputs, reference = talk("ab", "cx"), turns("ba", "cde")
    wanted = {"trajectory_precision": 3 / 4, "trajectory_recall": 3 / 5, "trajectory_f1": 6 / 9}
    for evaluator in (TrajectoryPrecision(), TrajectoryRecall(), TrajectoryF1()):
        result = grade(evaluator, outputs, reference)
        assert result.score == pytest.approx(wanted[evaluator.key])
    assert grade(TrajectoryAlignment(), outputs, reference).score == pytest.approx(6 / 9)
    accuracy = grade(ToolCallAccuracyEvaluator(), outputs, reference)
    assert accuracy.score == pytest.approx(3 / 5)
    # A call in another turn than expected is not made, though it is in the run.
    assert grade(TrajectoryRecall(), talk("b", "a"), turns("a", "b")).score == 0.0
    assert grade(TrajectoryRecall(), talk("b", "a"), calls("ab")).score == 1.0


def test_flags_are_of_all_turns_together():
    superset = TrajectoryMatchEvaluator("superset")
    assert "vacuous" not in grade(superset, talk("a", "b"), turns("a", "")).metadata
    assert grade(superset, talk("a", "b"), turns("", "")).metadata["vacuous"] is True
    assert "vacuous" not in grade(superset, talk("", ""), turns("", "")).metadata
    precision = grade(TrajectoryPrecision(), talk("", ""), turns("", "a"))
    assert precision.metadata["undefined"] is True


@pytest.mark.parametrize("outputs", [talk("ab"), talk("a", "b", ""), calls("ab")])
def test_the_numbers_of_turns_must_be_equal(outputs):
    with pytest.raises(TraceError, match="turn"):
        grade(TrajectoryMatchEvaluator(), outputs, turns("a", "b"))


def test_a_reference_given_as_messages_is_cut_into_turns_only_when_asked():
    outputs, reference = talk("a", "bc"), talk("ab", "c")
    assert grade(TrajectoryMatchEvaluator(), outputs, reference).value is True
    assert grade(TrajectoryMatchEvaluator(turns=True), outputs, reference).value is False
    assert grade(TrajectoryMatchEvaluator(turns=True), outputs, outputs).value is True
    assert grade(TrajectoryRecall(turns=True), outputs, reference).score == pytest.approx(2 / 3)


def test_any_of_may_hold_turns():
    reference = {"any_of": [turns("ab", "c"), turns("a", "bc")]}
    result = grade(TrajectoryMatchEvaluator(), talk("a", "bc"), reference)
    assert result.value is True
    assert result.metadata["reference_index"] == 1


def test_calls_are_chosen_in_turns_as_everywhere():
    hosted = ToolCall("web", hosted=True)
    failed = ToolCall("a", status="error")
    outputs = Trajectory([
        Step("user", "1"), Step("assistant", "", [failed, ToolCall("a"), hosted]),
        Step("user", "2"), Step("assistant", "", [ToolCall("boss", children=(ToolCall("b"),))]),
    ])  # fmt: skip
    given: dict[str, Any] = {"failed": "exclude", "depth": "leaves"}
    assert grade(TrajectoryMatchEvaluator(**given), outputs, turns("a", "b")).value is True
    counted = TrajectoryMatchEvaluator(hosted="count", **given)
    assert grade(counted, outputs, turns("a", "b")).value is False
    web = {"turns": [[*calls("a"), {"name": "web"}], calls("b")]}
    assert grade(counted, outputs, web).value is True


def test_alignments_are_given_turn_by_turn_and_of_the_best_reference():
    evaluator = TrajectoryAlignment()
    found = evaluator.alignment(outputs=talk("ab", "c"), reference_outputs=turns("a", "c"))
    assert [(len(one.matched), one.extra) for one in found] == [(1, (1,)), (1, ())]
    best = evaluator.alignment(outputs=calls("ab"), reference_outputs=either("xy", "ab"))
    assert [one.score for one in best] == [1.0]


def test_messages_within_turns_may_be_compared_too():
    f, g = ToolCall("f"), ToolCall("g")
    together = Trajectory([Step("user", "1"), Step("assistant", "", [f, g])])
    apart = Trajectory([
        Step("user", "1"), Step("assistant", "", [f]), Step("assistant", "", [g]),
    ])  # fmt: skip
    options: dict[str, Any] = {"granularity": "message", "turns": True}
    assert grade(TrajectoryMatchEvaluator(**options), together, together).value is True
    assert grade(TrajectoryMatchEvaluator(**options), together, apart).value is False
