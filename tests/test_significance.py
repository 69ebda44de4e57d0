"""Tests and effect sizes against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from trajgrade.significance import bonett_price, d_z, half_binomial, holm, mcnemar, never_differed


@given(st.integers(0, 400), st.integers(0, 400))
def test_mid_p_is_the_exact_p_of_statsmodels_less_the_chance_of_what_was_seen(gained, lost):
    n, fewer = gained + lost, min(gained, lost)
    exact = statsmodels_mcnemar([[0, gained], [lost, 0]], exact=True).pvalue if n else 1.0
    expected = 1.0 if gained == lost else exact - stats.binom.pmf(fewer, n, 0.5)
    assert mcnemar(gained, lost) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("gained", "lost"), [(50_000, 49_000), (3, 60_000), (100_000, 100_000)])
def test_mid_p_holds_for_large_counts_too(gained, lost):
    n, fewer = gained + lost, min(gained, lost)
    expected = 2 * stats.binom.cdf(fewer, n, 0.5) - stats.binom.pmf(fewer, n, 0.5)
    assert mcnemar(gained, lost) == pytest.approx(min(1, expected), abs=1e-9)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_half_binomial_is_that_of_scipy(case):
    assert half_binomial(*case) == pytest.approx(stats.binom.cdf(*case, 0.5), abs=1e-12)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected), abs=1e-12)


def test_a_metric_without_a_test_does_not_count_among_those_corrected_for():
    assert holm([0.03, None, 0.02]) == [0.04, None, 0.04]


def test_of_pass_rates_that_never_differ_the_interval_still_has_a_width():
    low, high = bonett_price(0, 0, 100, 0.95)
    assert low == -high
    assert high == pytest.approx(1.959964 * (2 / 102 / 102) ** 0.5, abs=1e-6)


def test_the_interval_of_pass_rates_holds_the_truth_in_19_of_20_samples():
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(50, [0.15, 0.05, 0.8], size=4000)
    found = [bonett_price(int(a), int(b), 50, 0.95) for a, b, _ in drawn]
    assert np.mean([low <= 0.1 <= high for low, high in found]) > 0.94


@pytest.mark.parametrize("n", [1, 5, 100])
def test_where_no_example_differed_the_interval_says_how_many_still_may(n):
    low, high = never_differed(0.0, n, (0.0, 1.0), 0.95)
    _, expected = proportion_confint(0, n, 0.05, method="beta")
    assert (low, high) == pytest.approx((-expected, expected), abs=1e-9)


def test_the_effect_is_in_units_of_its_own_spread_and_none_where_nothing_varies():
    assert d_z(0.3, 0.6) == pytest.approx(0.5)
    assert d_z(0.3, 0.0) is None
    assert d_z(0.3, None) is None
