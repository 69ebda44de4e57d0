"""Resampling against scipy, against the law it stands for, and by how often its intervals hold."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from trajgrade.resampling import bca, bootstrap_means, sign_flip

FEW = [0.0] * 130 + [1.0] * 60 + [-1.0] * 10
MANY = np.random.default_rng(1).gamma(2.0, size=200).tolist()


def column(values):
    return np.asarray(values, dtype=float)[:, None]


@pytest.mark.parametrize("values", [FEW, MANY], ids=["few values", "many values"])
def test_resampled_means_have_the_mean_and_the_spread_that_theory_gives(values):
    means = bootstrap_means(column(values), 20_000, seed=3)[:, 0]
    spread = np.std(values) / np.sqrt(len(values))
    assert means.mean() == pytest.approx(np.mean(values), abs=4 * spread / np.sqrt(20_000))
    assert means.std() == pytest.approx(spread, rel=0.03)


def test_drawing_counts_of_few_values_is_of_the_same_law_as_drawing_each_example():
    drawn_at_once = bootstrap_means(column(FEW), 20_000, seed=1)[:, 0]
    rng = np.random.default_rng(2)
    one_by_one = rng.choice(np.asarray(FEW), size=(20_000, len(FEW))).mean(axis=1)
    at = np.linspace(one_by_one.min(), one_by_one.max(), 50)
    shares = [np.searchsorted(np.sort(m), at) / 20_000 for m in (drawn_at_once, one_by_one)]
    assert np.abs(shares[0] - shares[1]).max() < 0.02


def test_all_columns_of_a_resample_are_of_the_same_examples():
    means = bootstrap_means(np.column_stack([MANY, np.multiply(MANY, 2)]), 50)
    assert means[:, 1] == pytest.approx(means[:, 0] * 2)


def test_a_seed_gives_the_same_means_and_another_seed_others():
    first, again, other = (bootstrap_means(column(MANY), 100, seed) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_interval_of_given_means_is_that_of_scipy_but_for_chance():
    values = np.asarray(MANY)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    found = bca(values, bootstrap_means(column(values), 20_000)[:, 0], 0.95)
    assert found == pytest.approx((expected.low, expected.high), abs=0.01)


def test_on_the_means_that_scipy_drew_the_interval_is_that_of_scipy_to_the_last_digits():
    values = np.asarray(MANY)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=5_000, method="BCa", rng=np.random.default_rng(0)
    )
    found = bca(values, theirs.bootstrap_distribution, 0.95)
    assert found == pytest.approx(tuple(theirs.confidence_interval), abs=1e-9)


def test_what_does_not_vary_has_no_bootstrap_interval():
    values = np.full(30, 0.1 + 0.2)
    assert bca(values, bootstrap_means(values[:, None], 100)[:, 0], 0.95) is None


def _covered(draw, truth, *, n, times=1000):
    held = 0
    for seed in range(times):
        values = draw(np.random.default_rng(seed), n)
        found = bca(values, bootstrap_means(values[:, None], 999, seed)[:, 0], 0.95)
        held += found is not None and found[0] <= truth <= found[1]
    return held / times


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng, n: rng.normal(0.2, 1, n), 0.2),
        (lambda rng, n: rng.exponential(1.0, n), 1.0),
        (lambda rng, n: rng.choice([-1.0, 0.0, 1.0], n, p=[0.1, 0.6, 0.3]), 0.2),
        (lambda rng, n: rng.binomial(4, 0.7, n) / 4 - rng.binomial(4, 0.5, n) / 4, 0.2),
    ],
    ids=["normal", "skewed", "passed in one run only", "means of four trials"],
)
def test_in_19_of_20_samples_the_interval_holds_the_truth(draw, truth):
    """Within what 1000 simulations can tell, and the small lack that theory gives it at n = 60."""
    assert 0.92 <= _covered(draw, truth, n=60) <= 0.972


small = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0, 0.3]), min_size=1, max_size=9)


@given(small)
def test_few_flips_are_all_counted_as_brute_force_counts_them(values):
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    expected = np.mean([found >= abs(sum(values)) - 1e-9 for found in sums])
    p_value, exact = sign_flip(np.asarray(values))
    assert exact
    assert p_value == pytest.approx(expected, abs=1e-12)


def test_few_flips_are_those_of_scipy():
    values = np.random.default_rng(4).normal(0.3, 1, 12)
    expected = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=10**6
    )
    assert sign_flip(values).p_value == pytest.approx(expected.pvalue, abs=1e-9)


@pytest.mark.parametrize("values", [np.asarray(FEW[100:]) * -1, np.asarray(MANY[:77]) - 1.8])
def test_many_flips_are_drawn_and_agree_with_the_law_of_large_numbers(values):
    p_value, exact = sign_flip(values, 40_000)
    assert not exact
    z = abs(values.sum()) / np.sqrt((values**2).sum())
    assert p_value == pytest.approx(2 * stats.norm.sf(z), abs=0.02)


def test_signs_drawn_eight_at_a_time_are_independent_of_each_other():
    rng = np.random.default_rng(0)
    from trajgrade.resampling import _flipped_sums

    sizes = np.asarray([2.0**power for power in range(11)])  # every sum tells all its signs
    sums = (_flipped_sums(sizes, 40_000, rng) + sizes.sum()) / 2
    counts = np.bincount(sums.astype(int), minlength=2**11)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_where_nothing_is_different_the_test_shows_nothing():
    assert sign_flip(np.zeros(50)) == (1.0, True)


def test_where_no_difference_is_there_1_in_20_tests_finds_one():
    found = [
        sign_flip(np.random.default_rng(seed).standard_t(4, 40), 999, seed).p_value
        for seed in range(600)
    ]
    assert 0.03 <= np.mean(np.asarray(found) <= 0.05) <= 0.075


def test_memory_is_bounded_whatever_the_number_of_resamples():
    values = np.random.default_rng(0).random((50_000, 2))
    tracemalloc.start()
    bootstrap_means(values, 200)
    sign_flip(values[:, 0] - 0.5, 2_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 60 * 2**20  # all draws at once would be 80 MB, and all signs 100 MB
