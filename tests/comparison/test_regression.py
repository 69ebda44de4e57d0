"""The gate against a baseline: no data is never a pass."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

import trajgrade
from trajgrade.comparison.testing import Paired, interval_of, means_of
from trajgrade.errors import ConfigError

RNG = np.random.default_rng(5)
STEADY = {f"e{n}": round(float(score), 3) for n, score in enumerate(RNG.beta(4, 2, 200))}


def gate(old, new, margin=0.05):
    found = trajgrade.compare(old, new, no_regression={"quality": margin})
    return found.outcomes[0], found.exit_code


def moved(by, noise=0.01):
    return {
        name: float(np.clip(score + by + RNG.normal(0, noise), 0, 1))
        for name, score in STEADY.items()
    }


def test_a_run_that_is_as_good_passes(run_of):
    outcome, code = gate(run_of(STEADY), run_of(moved(0.0)))
    assert (outcome.verdict, code) == ("passed", 0)


def test_a_run_that_is_worse_by_more_than_the_margin_fails(run_of):
    outcome, code = gate(run_of(STEADY), run_of(moved(-0.2)))
    assert (outcome.verdict, code) == ("failed", 1)


def test_a_run_that_is_a_little_worse_passes_within_the_margin(run_of):
    outcome, _ = gate(run_of(STEADY), run_of(moved(-0.02)), margin=0.05)
    assert outcome.verdict == "passed"


def test_where_the_interval_holds_the_margin_it_cannot_be_said_and_how_many_could_is_told(run_of):
    few = list(STEADY.items())[:12]
    new = {name: float(np.clip(score + RNG.normal(0, 0.4), 0, 1)) for name, score in few}
    outcome, code = gate(run_of(dict(few)), run_of(new))
    assert (outcome.verdict, code) == ("undecided", 3)
    assert "examples" in outcome.reason


def test_a_bare_difference_above_the_margin_is_no_pass(run_of):
    old = {f"e{n}": 1.0 for n in range(8)}
    outcome, _ = gate(run_of(old), run_of(old), margin=0.02)
    assert outcome.value == 0
    assert outcome.verdict == "undecided"


def test_lower_is_better_where_the_metric_says_so(run_of, monkeypatch):
    from tests.comparison.conftest import Said

    monkeypatch.setattr(Said, "direction", "lower")
    old, more, less = run_of(STEADY), run_of(moved(0.2)), run_of(moved(-0.2))
    assert gate(old, more)[0].verdict == "failed"
    assert gate(old, less)[0].verdict == "passed"


# ------------------------------------------------------------ no data is never a pass


def undecided(old, new, told):
    outcome, code = gate(old, new)
    assert (outcome.verdict, code) == ("undecided", 3)
    assert told in outcome.reason


def test_all_rows_in_error_are_no_pass(run_of):
    undecided(run_of(STEADY), run_of(dict.fromkeys(STEADY, "evaluator")), "no example has a score")


def test_one_scored_row_is_no_pass(run_of):
    undecided(
        run_of({"a": 1.0, "b": 1.0}),
        run_of({"a": 1.0, "b": "no_reference"}),
        "one example tells nothing of others",
    )


def test_vacuous_rows_only_are_no_pass(run_of):
    vacuous = dict.fromkeys(STEADY, "vacuous")
    undecided(run_of(vacuous), run_of(vacuous), "every pair is vacuous")


def test_unmatched_ids_are_no_pass(run_of):
    other = {f"other {name}": score for name, score in STEADY.items()}
    undecided(run_of(STEADY), run_of(other), "no example in common")


def test_examples_that_the_new_run_leaves_out_are_no_pass(run_of):
    half = dict(list(moved(0.0).items())[:100])
    undecided(run_of(STEADY), run_of(half), "100 examples of the old run not in the new")


def test_nan_is_no_pass(run_of):
    undecided(run_of(STEADY), run_of(dict.fromkeys(STEADY, float("nan"))), "evaluator")


def test_missing_rows_that_could_turn_it_are_no_pass(run_of):
    new = moved(0.0)
    for name in list(new)[:40]:
        new[name] = "evaluator"
    undecided(run_of(STEADY), run_of(new), "40 evaluator in the new run")


def test_missing_rows_that_cannot_turn_it_leave_it_decided(run_of):
    new = moved(-0.4)
    new[next(iter(new))] = "evaluator"
    assert gate(run_of(STEADY), run_of(new))[0].verdict == "failed"


def test_a_baseline_of_another_dataset_version_is_no_pass(run_of):
    old, new = run_of(STEADY), run_of(moved(0.0))
    old = msgspec.structs.replace(old, dataset_hash="1" * 64)
    new = msgspec.structs.replace(new, dataset_hash="2" * 64)
    undecided(old, new, "the datasets differ in content")


def test_a_metric_that_the_baseline_lacks_is_no_pass(run_of):
    undecided(run_of(STEADY, keys=["other"]), run_of(STEADY), "the baseline has no quality")


def test_a_metric_that_is_misspelt_is_refused(run_of):
    run = run_of(STEADY)
    with pytest.raises(ConfigError, match="Did you mean 'quality'"):
        trajgrade.compare(run, run, no_regression={"qualty": 0.1})


@pytest.mark.parametrize(
    "wrong",
    [
        {"quality": -0.1},
        {"quality": "much"},
        {"quality": True},
        {"quality": float("nan")},
        {"metric": "quality", "margn": 0.1},
        ["quality"],
        {"metric": 5},
    ],
)
def test_a_gate_that_is_not_written_as_one_is_refused(run_of, wrong):
    run = run_of(STEADY)
    with pytest.raises(ConfigError, match="no_regression"):
        trajgrade.compare(run, run, no_regression=wrong)


@pytest.mark.parametrize(
    "written",
    [
        {"quality": 0.1},
        {"metric": "quality", "margin": 0.1},
        [{"metric": "quality", "margin": 0.1}],
    ],
)
def test_gates_may_be_written_in_three_ways(run_of, written):
    run = run_of(STEADY)
    (outcome,) = trajgrade.compare(run, run, no_regression=written).outcomes
    assert outcome.threshold == "no regression of quality by 0.1"


def test_of_runs_that_are_worse_by_just_the_margin_few_pass():
    """1 in 40 by design; a bootstrap of 40 examples lets a few more through."""
    passed = 0
    for seed in range(400):
        new = 0.45 + np.random.default_rng(seed).normal(0, 0.05, 40)
        pair = Paired(np.full(40, 0.5), new, (0.0, 1.0), once=True)
        (means,) = means_of([pair], 1000, seed)
        interval = interval_of(pair, means, 0.95)
        assert interval is not None
        passed += interval.low > -0.05
    assert passed <= 22
