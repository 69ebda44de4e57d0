"""Two runs, compared: what is paired, what is said, what is never averaged away."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import trajgrade
from trajgrade.errors import ConfigError
from trajgrade.run import Run

RNG = np.random.default_rng(0)


def named(scores):
    return {f"e{n}": score for n, score in enumerate(scores)}


def test_examples_are_matched_by_id_and_the_others_are_named(run_of):
    """B175: rows {1, 2} and {2, 3}; a metric that one run only has."""
    old = run_of({"1": 1.0, "2": 0.0})
    new = run_of({"2": 0.5, "3": 1.0}, keys=["quality", "more"])
    found = trajgrade.compare(old, new)
    assert (found.pairs.names, found.pairs.only_base, found.pairs.only_new) == (["2"], ["1"], ["3"])
    assert found.metrics["quality"].n_pairs == 1
    assert (found.metrics["quality"].base, found.metrics["quality"].new) == (0.0, 0.5)
    assert found.only_in_new == ["more"]
    assert "more is in the new run only" in found.warnings
    assert any("only in the old run: 1 example (1)" in warning for warning in found.warnings)


def test_every_number_is_over_the_examples_that_both_have(run_of):
    """B178: the old run has scores of rows 1 to 4, the new one of rows 3 to 6."""
    old = run_of({"1": 0.0, "2": 0.0, "3": 1.0, "4": 0.5, "5": "no_reference", "6": "no_reference"})
    new = run_of({"1": "evaluator", "2": "no_output", "3": 0.5, "4": 0.5, "5": 1.0, "6": 1.0})
    metric = trajgrade.compare(old, new).metrics["quality"]
    assert (metric.n_pairs, metric.n_examples) == (2, 6)
    assert (metric.base, metric.new, metric.difference) == (0.75, 0.5, -0.25)
    assert metric.missing_base == {"no_reference": 2}
    assert metric.missing_new == {"evaluator": 1, "no_output": 1}


def test_an_example_with_more_trials_counts_once_by_its_mean(run_of):
    """B176: [1.0] against [0.0, 1.0]."""
    found = trajgrade.compare(run_of({"a": [1.0]}), run_of({"a": [0.0, 1.0]}))
    metric = found.metrics["quality"]
    assert (metric.base, metric.new, metric.n_pairs) == (1.0, 0.5, 1)
    assert metric.trials == (1, 2)
    (change,) = found.lost("quality")
    assert (change.base_trials, change.new_trials) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "relative"), [(-4.0, -1.0, 0.75), (-1.0, -4.0, -3.0), (0.0, 0.2, None)]
)
def test_the_relative_change_points_where_the_change_points(old, new, relative):
    """B174: it is by the size of the old value, and there is none of 0."""
    field = {"field": {"path": "reward"}}
    runs = [trajgrade.evaluate([{"id": "a", "reward": score}], [field]) for score in (old, new)]
    (metric,) = trajgrade.compare(*runs).metrics.values()
    assert metric.difference == pytest.approx(new - old)
    assert metric.relative == (None if relative is None else pytest.approx(relative))
    assert metric.direction is None


def test_pass_or_fail_at_one_trial_gets_mcnemars_test(run_of):
    old = run_of(named([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
    new = run_of(named([1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0]))
    metric = trajgrade.compare(old, new).metrics["quality"]
    assert (metric.test, metric.passes) == ("mcnemar_midp", True)
    expected = 2 * stats.binom.cdf(1, 8, 0.5) - stats.binom.pmf(1, 8, 0.5)
    assert metric.p_value == pytest.approx(expected, abs=1e-12)
    assert metric.odds_ratio == 7
    assert metric.interval is not None
    assert metric.interval.method == "bonett_price"


def test_repeats_get_the_sign_flip_test_on_the_means_of_examples(run_of):
    old = {f"e{n}": [float(x) for x in RNG.integers(0, 2, 4)] for n in range(12)}
    new = {f"e{n}": [float(x) for x in RNG.integers(0, 2, 3)] for n in range(12)}
    metric = trajgrade.compare(run_of(old), run_of(new)).metrics["quality"]
    differences = np.array([np.mean(new[name]) - np.mean(old[name]) for name in old])
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=10**6
    )
    assert metric.test == "sign_flip_exact"
    assert metric.p_value == pytest.approx(expected.pvalue, abs=1e-9)
    assert metric.effect == pytest.approx(differences.mean() / differences.std(ddof=1))


def test_trials_of_one_example_do_not_make_the_interval_narrower(run_of):
    once = {f"e{n}": [float(n % 3 == 0)] for n in range(30)}
    often = {name: scores * 20 for name, scores in once.items()}
    zero = run_of({name: [0.0] for name in once})
    few, many = (
        trajgrade.compare(zero, run_of(scores)).metrics["quality"].interval
        for scores in (once, often)
    )
    assert many is not None
    assert few is not None
    assert many[:2] == pytest.approx(few[:2], abs=1e-9)


def test_the_interval_is_that_of_scipy_but_for_chance(run_of):
    old, new = RNG.beta(2, 2, 80), RNG.beta(3, 2, 80)
    metric = trajgrade.compare(run_of(named(old)), run_of(named(new))).metrics["quality"]
    expected = stats.bootstrap(
        (new - old,), np.mean, n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert metric.interval is not None
    assert metric.interval.method == "bca"
    assert metric.interval[:2] == pytest.approx((expected.low, expected.high), abs=0.01)


def test_p_values_are_corrected_for_the_number_of_metrics(run_of):
    old = run_of(named([0.0] * 5 + [1.0] * 5), keys=["a", "b", "c"])
    new = run_of(named([1.0] * 10), keys=["a", "b", "c"])
    metric = trajgrade.compare(old, new).metrics["a"]
    assert metric.p_value is not None
    assert metric.p_adjusted == pytest.approx(3 * metric.p_value)
    assert metric.finding == "no difference shown"  # alone it would have been 0.031


def test_better_and_worse_are_said_where_the_metric_says_which_is_which(run_of):
    low, high = run_of(named([0.0] * 20)), run_of(named([1.0] * 20))
    assert trajgrade.compare(low, high).metrics["quality"].finding == "better"
    assert trajgrade.compare(high, low).metrics["quality"].finding == "worse"


def test_the_same_run_twice_shows_no_difference_and_says_how_large_one_may_still_be(run_of):
    run = run_of(named([0.25, 0.5, 0.75] * 10))
    metric = trajgrade.compare(run, run).metrics["quality"]
    assert (metric.difference, metric.p_value, metric.finding) == (0, 1, "no difference shown")
    assert metric.interval is not None
    assert metric.interval.method == "never_differed"
    assert metric.interval.high == pytest.approx(1 - 0.025 ** (1 / 30))


def test_what_trials_alone_add_to_the_noise_is_told(run_of):
    noisy = {f"e{n}": [float(x) for x in RNG.integers(0, 2, 2)] for n in range(60)}
    other = {f"e{n}": [float(x) for x in RNG.integers(0, 2, 2)] for n in range(60)}
    metric = trajgrade.compare(run_of(noisy), run_of(other)).metrics["quality"]
    assert metric.trial_noise == pytest.approx(1.0, abs=0.35)
    steady = {f"e{n}": [n / 60] * 2 for n in range(60)}
    raised = {f"e{n}": [float(n % 2)] * 2 for n in range(60)}
    metric = trajgrade.compare(run_of(steady), run_of(raised)).metrics["quality"]
    assert metric.trial_noise == 0


def test_rows_lost_and_gained_are_listed_the_largest_first(run_of):
    old = run_of({"a": 1.0, "b": 0.5, "c": 0.0, "d": 1.0})
    new = run_of({"a": 0.0, "b": 0.0, "c": 1.0, "d": 1.0})
    found = trajgrade.compare(old, new)
    assert [change.id for change in found.lost("quality")] == ["a", "b"]
    assert [change.id for change in found.gained("quality")] == ["c"]


def test_other_references_are_told_of(run_of):
    old = run_of({"a": 1.0, "b": 1.0}, expected=["find"])
    new = run_of({"a": 1.0, "b": 1.0}, expected=["book"])
    assert "the reference calls are others" in trajgrade.compare(old, new).other_dataset


def test_a_comparison_of_nothing_cannot_say(run_of):
    found = trajgrade.compare(run_of({"a": 1.0}), run_of({"b": 1.0}))
    assert found.exit_code == 3
    assert "the runs have no example in common, by id" in found.warnings
    assert found.metrics["quality"].finding == "nothing to compare"


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"resamples": 5}])
def test_settings_out_of_range_are_refused(run_of, wrong):
    run = run_of({"a": 1.0})
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        trajgrade.compare(run, run, **wrong)


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_saved_runs_compare_as_those_in_memory(tmp_path, suffix):
    calls = [{"name": "find", "args": {"x": n}} for n in range(3)]
    rows = [
        [{"id": str(n), "outputs": calls[: (n + more) % 3], "reference_outputs": calls} for n in range(12)]
        for more in (0, 1)
    ]  # fmt: skip
    runs = [trajgrade.evaluate(some, ["trajectory_f1", "trajectory_match"]) for some in rows]
    for run, name in zip(runs, ("old", "new"), strict=True):
        run.save(tmp_path / f"{name}{suffix}")
    found = trajgrade.compare(tmp_path / f"old{suffix}", tmp_path / f"new{suffix}")
    expected = trajgrade.compare(*runs)
    assert found.metrics == expected.metrics
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict() | {
        "metrics": json.loads(json.dumps(found.to_dict()["metrics"]))
    }


def test_a_loaded_run_has_the_summary_it_was_saved_with(run_of, tmp_path):
    """B165: a score that is missing is still missing, not 0."""
    run = run_of({"a": 0.8, "b": "evaluator", "c": float("nan"), "d": "no_reference"})
    run.save(tmp_path / "run.json")
    again = Run.load(tmp_path / "run.json")
    assert again.summary.to_dict() == run.summary.to_dict()
    assert again.summary["quality"].mean == 0.8
    assert [row.to_dict() for row in again.rows] == [row.to_dict() for row in run.rows]


def test_a_kept_run_is_compared_by_its_id(tmp_path):
    store = str(tmp_path / "runs.db")
    rows = [{"id": str(n), "outputs": [], "reference_outputs": []} for n in range(3)]
    run = trajgrade.evaluate(rows, ["trajectory_match"], store=store)
    found = trajgrade.compare(f"run:{run.id}", "run:latest", store=store)
    assert found.base.id == found.new.id == run.id
    assert found.base.dataset_hash
    assert found.metrics["trajectory_match"].n_pairs == 3


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "id", "unknown suffix of a saved run '.csv'"),
        ("a.json", "{", "is no JSON"),
        ("a.json", "[1]", "is no run saved by trajgrade"),
        ("a.jsonl", '{"id": "a"}', "line 1: is no row of a run"),
        ("a.jsonl", "", "the run has no rows"),
        ("b.json", None, "cannot be read"),
    ],
)
def test_what_is_no_saved_run_is_refused(tmp_path, name, text, told):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(trajgrade.TrajgradeError, match=told.replace(".", r"\.")):
        Run.load(tmp_path / name)
