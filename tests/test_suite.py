"""What one test logs, and what the tests of a session come to as a run."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError, UnknownNameError
from trajgrade.session import bounds_of, margins_of
from trajgrade.suite import Case, run_of

SCORES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6)


def cases(*outcomes: tuple[str, dict[str, Any]], function: str = "f") -> list[dict[str, Any]]:
    found = []
    for number, (outcome, logged) in enumerate(outcomes):
        case = Case(f"{function}[{number}]")
        case.outcome = outcome
        for key, score in logged.items():
            case.log_feedback(key, score)
        found.append({**case.to_dict(), "function": function})
    return found


@given(SCORES)
def test_scores_under_one_key_of_one_test_count_with_their_mean(scores):
    case = Case("t")
    for score in scores:
        case.log_feedback("q", score)
    found = case.results["q"]
    assert found.score == pytest.approx(math.fsum(scores) / len(scores))
    assert case.to_dict()["often"] == ({"q": len(scores)} if len(scores) > 1 else {})


@pytest.mark.parametrize("lacks", [None, math.nan, math.inf])
def test_one_that_is_no_score_leaves_the_key_without_one(lacks):
    case = Case("t")
    for score in (1.0, lacks, 1.0):
        case.log_feedback("q", score)
    assert case.results["q"].score is None
    assert case.results["q"].error is not None


def test_flags_pass_together_only_if_all_do():
    case = Case("t")
    case.log_feedback("q", True)
    assert case.results["q"].value is True
    case.log_feedback("q", False)
    assert (case.results["q"].score, case.results["q"].value) == (0.5, False)


def test_a_direction_is_one_of_two():
    with pytest.raises(ConfigError, match="Did you mean 'higher'"):
        Case("t").log_feedback("q", 1.0, direction="hihger")  # type: ignore[arg-type]


def test_a_misspelt_evaluator_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'trajectory_match'"):
        Case("t").evaluate("trajectry_match")


def test_a_failed_case_lacks_what_all_that_passed_have_logged():
    run = run_of(
        cases(("passed", {"q": True, "some": True}), ("passed", {"q": True}), ("failed", {})), {}
    )
    assert run.summary["q"].mean == pytest.approx(2 / 3)
    assert run.summary["some"].n_scored == 1
    assert run.rows[2].results["q"].comment == "the test failed before it logged q"


def test_where_no_case_passed_what_any_has_logged_is_lacking():
    run = run_of(cases(("failed", {"q": True}), ("failed", {})), {"q": 0.6})
    assert run.summary["q"].mean == 0.5
    assert [outcome.verdict for outcome in run.outcomes] == ["failed"]


def test_a_case_that_was_skipped_lacks_nothing():
    run = run_of(cases(("passed", {"q": True}), ("skipped", {})), {"q/coverage": 1.0})
    assert run.summary["q"].mean == 1.0
    assert [outcome.verdict for outcome in run.outcomes] == ["passed"]


def test_coverage_is_asked_of_the_tests_that_log_a_key():
    logged = [*cases(("passed", {"q": 1.0})), *cases(("passed", {"r": 1.0}), function="g")]
    assert [one.verdict for one in run_of(logged, {"coverage": 1.0}).outcomes] == ["passed"]
    assert [one.verdict for one in run_of([], {"coverage": 1.0}).outcomes] == ["failed"]
    lacking = cases(("passed", {"q": None}))
    assert [one.verdict for one in run_of(lacking, {"coverage": 1.0}).outcomes] == ["failed"]


def test_a_run_says_how_its_evaluators_were_built():
    case = Case("t")
    case.log_outputs([])
    case.evaluate({"trajectory_match": {"mode": "unordered"}}, reference_outputs=[])
    run = run_of([case.to_dict()], {})
    assert run.evaluators == {"trajectory_match": "TrajectoryMatchEvaluator(mode='unordered')"}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["q=0.8"], {"q": "0.8"}), (["q>=0.8"], {"q": ">=0.8"}), (["q/p90=<=2"], {"q/p90": "<=2"}),
        (["a::b=1"], {"a::b": "1"}),
    ],
)  # fmt: skip
def test_bounds_are_read_as_they_look(written, read):
    assert bounds_of(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["q"], {"q": 0.0}),
        (["q:0.02"], {"q": 0.02}),
        (["a::b"], {"a::b": 0.0}),
        (["a:b:1"], {"a:b": 1.0}),
    ],
)
def test_margins_are_read_from_the_last_colon(written, read):
    assert margins_of(written) == read
