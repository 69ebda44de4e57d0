"""Thresholds: the grammar, equality, and what a run cannot decide (SEMANTICS A12)."""

from __future__ import annotations

import pytest

import trajgrade
from trajgrade.errors import ConfigError
from trajgrade.runner import evaluate
from trajgrade.thresholds import Threshold, parse_thresholds


def run(scores: list, thresholds: dict, **options):
    """Grade rows whose scores are given: a number, None (undefined) or an exception (error)."""
    given = iter(scores)

    class Given:
        key = "m"
        range = (0.0, 1.0)
        direction = "higher"

        def evaluate(self, **example):
            score = next(given)
            if isinstance(score, Exception):
                raise score
            return score

    rows = [{"id": str(n), "outputs": "x"} for n in range(len(scores))]
    return evaluate(rows, [Given()], thresholds=thresholds, **options)


ERROR = RuntimeError("quota")


@pytest.mark.parametrize(
    ("name", "bound", "meaning"),
    [
        ("m", 0.8, Threshold("m", "mean", ">=", 0.8)),
        ("m", 1, Threshold("m", "mean", ">=", 1.0)),
        ("m", ">= 0.8", Threshold("m", "mean", ">=", 0.8)),
        ("m", "0.8", Threshold("m", "mean", ">=", 0.8)),
        ("m/p90", "<= 2", Threshold("m", "p90", "<=", 2.0)),
        ("m/pass^3", 0.5, Threshold("m", "pass^3", ">=", 0.5)),
        ("m/coverage", 1.0, Threshold("m", "coverage", ">=", 1.0)),
        ("coverage", 1.0, Threshold("", "coverage", ">=", 1.0)),
        ("m/low", 0.8, Threshold("m", "low", ">=", 0.8)),
        ("tool_use:a/b/mean", "<1e-3", Threshold("tool_use:a/b", "mean", "<", 1e-3)),
    ],
)
def test_the_grammar(name, bound, meaning):
    assert parse_thresholds({name: bound}) == [meaning]


@pytest.mark.parametrize(
    ("name", "bound", "why"),
    [
        ("m", "about 0.8", "a bound is a number"),
        ("m", True, "a bound is a number"),
        ("m", None, "a bound is a number"),
        ("m", float("nan"), "a bound is a number"),
        ("m", "== 0.8", "a bound is a number"),
        ("m/meen", 0.8, "Did you mean 'mean'"),
        ("n_scored", 1.0, "name the metric"),
    ],
)
def test_what_is_no_threshold_is_refused(name, bound, why):
    with pytest.raises(ConfigError, match=why):
        parse_thresholds({name: bound})


def test_a_metric_that_does_not_exist_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'trajectory_match'"):
        evaluate(
            [{"id": "a", "outputs": [], "reference_outputs": []}],
            ["trajectory_match"],
            thresholds={"trajectory_mach": 0.5},
        )


def test_a_threshold_holds_at_equality_and_is_compared_unrounded():
    assert run([0.1, 0.2, 0.3, 0.2], {"m": 0.2}).exit_code == 0
    assert run([0.8, 0.799999], {"m": 0.8}).exit_code == 1
    assert run([0.2, 0.1 + 0.2], {"m/max": "<= 0.3"}).exit_code == 0
    assert run([0.5], {"m": "> 0.5"}).exit_code == 1


def test_missing_rows_leave_a_threshold_undecided_only_where_they_could_change_it():
    undecided = run([1.0, ERROR, ERROR, ERROR], {"m": 0.8})
    assert undecided.exit_code == 3
    (outcome,) = undecided.outcomes
    assert outcome.verdict == "undecided"
    assert "3 of 4 rows" in outcome.reason
    assert run([1.0, 1.0, 1.0, ERROR], {"m": 0.7}).exit_code == 0
    assert run([0.0, 0.0, 0.0, ERROR], {"m": 0.7}).exit_code == 1
    assert run([0.5, 0.5, None], {"m": 0.5}).exit_code == 0


@pytest.mark.parametrize(
    ("passed", "threshold", "code"),
    [
        (20, {"m/low": 0.83}, 0), (20, {"m/low": 0.84}, 1), (20, {"m/high": "<= 1"}, 0),
        (0, {"m/high": "<= 0.17"}, 0), (0, {"m/high": "<= 0.16"}, 1),
    ],
)  # fmt: skip
def test_the_ends_of_the_interval_may_be_bounded(passed, threshold, code):
    """B167: Wilson's 95 % interval of 20 of 20 is [0.8389, 1], of 0 of 20 [0, 0.1611]."""
    assert run([1.0] * passed + [0.0] * (20 - passed), threshold).exit_code == code


def test_an_end_that_missing_rows_could_move_over_the_bound_is_undecided():
    scores = [1.0] * 16 + [ERROR] * 4
    assert run(scores, {"m/low": 0.7}).exit_code == 3
    assert run(scores, {"m/low": 0.5}).exit_code == 0
    assert run([0.5], {"m/low": 0.1}).exit_code == 3


@pytest.mark.parametrize(
    ("scores", "bound", "code", "why"),
    [
        ([1.0, 0.0], 1.0, 0, ""), ([1.0, ERROR], 1.0, 1, "m: 1 evaluator"),
        ([1.0, ERROR], 0.5, 0, ""), ([1.0, None], 1.0, 1, "m: 1 undefined"),
    ],
)  # fmt: skip
def test_coverage_alone_is_that_of_the_least_covered_metric(scores, bound, code, why):
    found = run(scores, {"coverage": bound})
    (outcome,) = found.outcomes
    assert (found.exit_code, outcome.reason) == (code, why)
    assert outcome.threshold == f"coverage >= {bound:g}"


def test_the_mean_has_its_bounds_beside_it():
    found = run([1.0, ERROR, ERROR, ERROR], {}).summary["m"].to_dict()
    assert (found["mean"], found["n_scored"], found["n_error"], found["n_total"]) == (1.0, 1, 3, 4)
    assert found["mean_if_missing"] == {"worst": 0.25, "best": 1.0}


def test_undefined_rows_are_outside_the_population():
    found = run([1.0, None], {}).summary["m"].to_dict()
    assert found["n_not_evaluated"] == 1
    assert "mean_if_missing" not in found


def test_no_data_is_never_a_pass():
    assert run([ERROR, ERROR], {"m": 0.0}).exit_code == 3
    assert run([ERROR, ERROR], {"m": 0.1}).exit_code == 3
    assert run([None, None], {"m": 0.1}).exit_code == 3
    assert run([None, None], {}).exit_code == 3
    assert run([None], {"m/std": "<= 1"}).exit_code == 3


def test_any_error_can_be_made_to_fail():
    assert run([1.0, ERROR], {}, fail_on_error=True).exit_code == 1
    assert run([1.0, 1.0], {}, fail_on_error=True).exit_code == 0


def test_a_failed_threshold_outweighs_an_undecided_one():
    assert run([0.0, ERROR], {"m": 0.6, "m/min": 0.1}).exit_code == 1


def test_std_with_missing_rows_cannot_be_decided():
    assert run([0.5, 0.5, ERROR], {"m/std": "<= 0.1"}).exit_code == 3


def test_coverage_and_counts_are_exact():
    assert run([1.0, ERROR], {"m/coverage": 1.0}).exit_code == 1
    assert run([1.0, ERROR], {"m/n_error": "<= 1"}).exit_code == 0


def test_scores_that_could_not_have_been_lower_are_no_pass():
    calls = [{"name": "f", "args": {}}]
    rows = [{"id": str(n), "outputs": calls, "reference_outputs": []} for n in range(3)]
    found = trajgrade.evaluate(
        rows, ["trajectory_any_order_match"], thresholds={"trajectory_any_order_match": 0.9}
    )
    assert found.outcomes[0].verdict == "undecided"
    assert "vacuous" in found.outcomes[0].reason
    assert found.exit_code == 3


def test_one_row_with_a_score_among_rows_without_a_reference_is_no_pass():
    first: dict[str, object] = {"id": "a", "outputs": [], "reference_outputs": []}
    rows = [first, *({**first, "id": str(n), "reference_outputs": None} for n in range(9))]
    found = trajgrade.evaluate(rows, ["trajectory_match"], thresholds={"trajectory_match": 0.9})
    assert found.outcomes[0].verdict == "undecided"
    assert "one of 10 rows has a score" in found.outcomes[0].reason
