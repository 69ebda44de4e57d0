"""Stored: a number or flag that a row holds already."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from trajgrade import evaluate
from trajgrade.errors import TrajgradeError
from trajgrade.evaluators import Stored


@pytest.mark.parametrize("number", [1, 0.25, -3, 2**70, sys.float_info.max, -sys.float_info.max])
def test_a_finite_number_is_the_score_as_it_is(number: float):
    result = Stored("reward").evaluate(stored={"reward": number})
    assert result.error is None
    assert result.score == float(number)


@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_is_one_or_zero(flag: bool):
    assert Stored("reward").evaluate(stored={"reward": flag}).score == float(flag)


@pytest.mark.parametrize(
    "found", [10**400, -(10**400), float("inf"), float("-inf"), float("nan"), "1", [1], {}]
)
def test_what_is_no_score_is_an_error_that_names_path_and_value(found: Any):
    with pytest.raises(ValueError, match=r"'reward' holds .*number"):
        Stored("reward").evaluate(stored={"reward": found})


@pytest.mark.parametrize("pass_", ["1", True, None])
def test_a_success_is_a_number_or_not_said(pass_: Any):
    if pass_ is None:
        assert Stored("reward", pass_=pass_).pass_ is None
        return
    with pytest.raises(TrajgradeError, match="pass"):
        Stored("reward", pass_=pass_)


def test_integers_of_hundreds_of_digits_in_calls_are_compared_exactly_in_a_run():
    def row(left: int, right: int) -> dict[str, Any]:
        calls = [[{"name": "f", "args": {"n": number}}] for number in (left, right)]
        return {"outputs": calls[0], "reference_outputs": calls[1], "reward": left}

    rows = [row(10**400, 10**400), row(10**400, 10**400 + 1)]
    run = evaluate(rows, evaluators=["trajectory_exact_match", {"field": {"path": "reward"}}])
    kept = [one.results for one in run.rows]
    assert [one["trajectory_exact_match"].score for one in kept] == [1, 0]
    errors = [one["reward"].error for one in kept]
    assert [error.kind for error in errors if error] == ["evaluator", "evaluator"]
