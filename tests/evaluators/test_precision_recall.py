"""Precision, recall, F1 and tool-call accuracy (A4, A5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.matching.strategies import letters
from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators import (
    Evaluator,
    ToolCall,
    ToolCallAccuracyEvaluator,
    TrajectoryF1,
    TrajectoryPrecision,
    TrajectoryRecall,
)
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory

CASES = ("/", "/a", "a/", "aa/a", "a/aa", "aa/aa", "ba/ab", "axb/ab", "ab/abc", "cab/abc")
# Empty sides as A5 has them: both empty is a perfect run.
BATTERY: dict[str, list[Any]] = {
    "accuracy":  [None, 0, None, 1, 1 / 2, 1, 1, 1, 2 / 3, 1],
    "precision": [1, 0, 0, 1 / 2, 1, 1, 1, 2 / 3, 1, 1],
    "recall":    [1, 0, 1, 1, 1 / 2, 1, 1, 1, 2 / 3, 1],
    "f1":        [1, 0, 0, 2 / 3, 2 / 3, 1, 1, 4 / 5, 4 / 5, 1],
}  # fmt: skip
KINDS: dict[str, type[Evaluator]] = {
    "accuracy": ToolCallAccuracyEvaluator,
    "precision": TrajectoryPrecision,
    "recall": TrajectoryRecall,
    "f1": TrajectoryF1,
}
SHARES = ("precision", "recall", "f1")


def grade(name: str, outputs: Any, reference: Any, **options: Any) -> EvaluationResult:
    return KINDS[name](**options).evaluate(outputs=outputs, reference_outputs=reference)


def of_letters(name: str, case: str, **options: Any) -> EvaluationResult:
    agent, _, reference = case.partition("/")
    return grade(name, letters(agent), letters(reference), **options)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_calls_written_as_letters_score_as_in_the_table(name, case):
    result = of_letters(name, case)
    wanted = BATTERY[name][CASES.index(case)]
    assert result.score == (None if wanted is None else pytest.approx(wanted))
    if wanted is None:
        assert result.error is not None
        assert result.error.kind == "undefined"
    elif name != "accuracy":
        assert result.value == result.score


@pytest.mark.parametrize(
    ("case", "wanted"),
    [
        ("p/pp", (1, 1 / 2, 2 / 3)),  # half of a repeated job is half of it
        ("pp/p", (1 / 2, 1, 2 / 3)),
        ("abc/abcd", (1, 3 / 4, 6 / 7)),
        ("kqmk/klmk", (3 / 4, 3 / 4, 3 / 4)),
        ("oor/oro", (1, 1, 1)),  # free of order
        ("p" * 50 + "/p", (1 / 50, 1, 2 / 51)),  # a loop has no precision of 1
        ("x/a", (0, 0, 0)),
    ],
)
def test_each_reference_call_vouches_for_one_call(case, wanted):
    for name, score in zip(SHARES, wanted, strict=True):
        assert of_letters(name, case).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("case", "wanted"),
    [
        ("p" * 50 + "/p", (1, 1, 1)),
        ("p/pp", (1, 1, 1)),
        ("ppx/p", (2 / 3, 1, 4 / 5)),
        ("p/ppx", (1, 2 / 3, 4 / 5)),
        ("x/a", (0, 0, 0)),
        ("/", (1, 1, 1)),
        ("/a", (0, 0, 0)),
        ("a/", (0, 1, 0)),
    ],
)
def test_as_membership_one_call_may_vouch_for_many(case, wanted):
    for name, score in zip(SHARES, wanted, strict=True):
        assert of_letters(name, case, duplicates="membership").score == pytest.approx(score)


@pytest.mark.parametrize("duplicates", ["once", "membership"])
def test_the_undefined_cells_are_noted_or_not_evaluated_when_asked(duplicates):
    for name, case in [("precision", "/a"), ("recall", "a/")]:
        result = of_letters(name, case, duplicates=duplicates)
        assert result.metadata["undefined"] is True
        assert "undefined" in result.comment
        none = of_letters(name, case, duplicates=duplicates, empty="none")
        assert none.score is None
        assert none.error is not None
        assert none.error.kind == "undefined"
        assert none.metadata["undefined"] is True
    for name, case in [("precision", "a/"), ("recall", "/a"), ("f1", "/a"), ("f1", "a/"),
                       *((name, "/") for name in SHARES)]:  # fmt: skip
        result = of_letters(name, case, duplicates=duplicates, empty="none")
        assert result.score == BATTERY[name][CASES.index(case)]
        assert "undefined" not in result.metadata


def test_accuracy_is_recall_and_shows_the_rest():
    result = of_letters("accuracy", "axxb/abc")
    assert result.score == pytest.approx(2 / 3)
    assert result.value == "2/3"
    assert result.metadata["precision"] == 0.5
    assert result.metadata["recall"] == pytest.approx(2 / 3)
    assert result.metadata["f1"] == pytest.approx(4 / 7)
    assert result.metadata["matched"] == 2
    assert result.metadata["agent_count"] == 4
    assert result.metadata["reference_count"] == 3
    assert "2 extra calls" in result.comment


def test_extra_calls_are_said_even_where_the_accuracy_is_perfect():
    result = of_letters("accuracy", "a" + "x" * 100 + "/a")
    assert result.score == 1.0
    assert "100 extra calls" in result.comment
    assert "1 extra call" in of_letters("accuracy", "ax/a").comment
    assert "extra calls" not in of_letters("accuracy", "ax/a").comment
    assert of_letters("accuracy", "a" + "x" * 3 + "/a", penalize_extra=True).score == 0.4


@pytest.mark.parametrize("penalize_extra", [False, True])
@pytest.mark.parametrize("case", ["/", "a/"])
def test_accuracy_is_none_without_reference_calls(penalize_extra, case):
    result = of_letters("accuracy", case, penalize_extra=penalize_extra)
    assert result.score is None
    assert result.error is not None
    assert result.error.kind == "undefined"
    assert result.comment


@pytest.mark.parametrize("name", KINDS)
def test_what_is_missing_is_not_evaluated(name):
    missing: list[tuple[Any, Any, str]] = [
        ([], None, "no_reference"),
        (None, None, "no_reference"),
        (None, [], "no_output"),
        (None, [{"name": "f"}], "no_output"),
    ]
    for outputs, reference, kind in missing:
        result = grade(name, outputs, reference)
        assert result.score is None
        assert result.error is not None
        assert result.error.kind == kind
        assert result.error.not_evaluated
    with pytest.raises(TraceError):
        grade(name, [{"no": "call"}], [])
    with pytest.raises(TraceError):
        grade(name, [], {"no": "reference"})


def test_a_needed_call_that_is_missing_scores_zero_and_is_named():
    for name in ("accuracy", "recall", "f1"):
        result = grade(name, [], [{"name": "f", "args": {"a": 1}}])
        assert result.score == 0.0
        assert "f(a=1)" in result.comment


def test_equality_is_the_same_as_in_the_match_modes():
    for got, expected, agree in [({"x": 1}, {"x": 1.0}, True), ({"x": True}, {"x": 1}, False)]:
        for name in KINDS:
            outputs: Any = [{"name": "f", "args": got}]
            reference: Any = [{"name": "f", "args": expected}]
            assert grade(name, outputs, reference).score == float(agree)


def test_argument_modes_are_read_from_the_agents_side():
    small = Trajectory(tool_calls=[ToolCall("f", {"a": 1})])
    large = Trajectory(tool_calls=[ToolCall("f", {"a": 1, "b": 2})])
    for name in KINDS:
        option = "args_match_mode" if name == "accuracy" else "tool_args_match_mode"
        assert grade(name, small, large, **{option: "subset"}).score == 1.0
        assert grade(name, large, small, **{option: "subset"}).score == 0.0
        assert grade(name, large, small, **{option: "superset"}).score == 1.0
        assert grade(name, small, large, **{option: "superset"}).score == 0.0


def test_the_comment_of_membership_names_a_call_that_has_no_partner_at_all():
    recall = of_letters("recall", "a/aab", duplicates="membership")
    assert recall.score == pytest.approx(2 / 3)
    assert "b()" in recall.comment
    precision = of_letters("precision", "aab/a", duplicates="membership")
    assert "b()" in precision.comment
    f1 = of_letters("f1", "a/aab", duplicates="membership")
    assert "b()" in f1.comment


@pytest.mark.parametrize(
    ("kind", "params", "said"),
    [
        (TrajectoryPrecision, {"duplicates": "set"}, "membership"),
        (TrajectoryF1, {"tool_args_match_mode": "exat"}, "exact"),
        (ToolCallAccuracyEvaluator, {"args_match_mode": "exat"}, "exact"),
        (ToolCallAccuracyEvaluator, {"penalize_extra": "no"}, "penalize_extra"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused(kind, params, said):
    with pytest.raises(ConfigError, match=said):
        kind(**params)
