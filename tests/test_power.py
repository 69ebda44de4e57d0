"""Power against statsmodels, and against what simulated comparisons find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from trajgrade.power import detectable, needed, power_of


@pytest.mark.parametrize("n", [2, 3, 8, 30, 200, 20_000])
@pytest.mark.parametrize("effect", [0.01, 0.2, 0.8])
def test_power_is_that_of_statsmodels(n, effect):
    expected = TTestPower().power(effect, n, 0.05)
    if np.isnan(expected):  # where it is 1 but for what a float can hold, statsmodels gives up
        expected = 1.0
    assert power_of(effect, 1.0, n) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("n", [5, 40, 1000])
def test_the_smallest_difference_is_shown_with_just_the_power_asked_for(n):
    smallest = detectable(0.4, n, power=0.9)
    assert power_of(smallest, 0.4, n) == pytest.approx(0.9, abs=1e-9)
    expected = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.9) * 0.4
    assert smallest == pytest.approx(expected, rel=1e-4)  # its solver stops there


@pytest.mark.parametrize("difference", [0.02, 0.1, 0.5, -0.1])
def test_so_many_examples_are_enough_and_one_fewer_is_not(difference):
    n = needed(difference, 0.45)
    assert n is not None
    assert power_of(difference, 0.45, n) >= 0.8 > power_of(difference, 0.45, n - 1)
    assert n == np.ceil(TTestPower().solve_power(abs(difference) / 0.45, alpha=0.05, power=0.8))


def test_a_difference_of_nothing_is_shown_by_no_number_of_examples():
    assert needed(1e-9, 1.0) is None


def test_simulated_comparisons_find_the_difference_as_often_as_said():
    rng = np.random.default_rng(0)
    drawn = rng.normal(0.3, 1.0, size=(4000, 50))
    found = np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05)
    assert found == pytest.approx(power_of(0.3, 1.0, 50), abs=0.03)
