"""Intervals of means (SEMANTICS A12), against scipy, and published values."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from trajgrade.intervals import Interval, mean_interval, student, student_quantile, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(0, 20, 0, 0.1611), (20, 20, 0.8389, 1), (7, 10, 0.3968, 0.8922)],
)
def test_shares_of_0_and_1_have_an_interval_too(successes, n, low, high):
    """Known fault B167."""
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(case):
    successes, n = case
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.75, 0.95, 0.975, 0.995])
@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 30, 199, 5000, 200_000])
def test_quantiles_of_student_are_those_of_scipy(share, freedom):
    assert student_quantile(share, freedom) == pytest.approx(
        stats.t.ppf(share, freedom), rel=1e-9, abs=1e-9
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_student_is_that_of_scipy(values):
    low, high = student(values)
    spread = stats.sem(values)
    middle = math.fsum(values) / len(values)
    half = stats.t.ppf(0.975, len(values) - 1) * spread
    assert (low, high) == pytest.approx((middle - half, middle + half), rel=1e-6, abs=1e-6)


def test_a_mean_of_10_examples_or_more_is_bootstrapped():
    units = [0.1, 0.5, 0.5, 0.9, 1.0, 0.25, 0.75, 0.5, 0.0, 1.0, 1.0, 0.125] * 3
    found = mean_interval(units, (0, 1), repeated=True)
    expected = stats.bootstrap((units,), statistics.fmean, vectorized=False, rng=1)
    assert found is not None
    assert found.method == "bca"
    ends = expected.confidence_interval
    assert found[:2] == pytest.approx((ends.low, ends.high), abs=0.01)


def test_where_nothing_varies_an_interval_has_a_width_or_there_is_none():
    assert mean_interval([0.5] * 20, (0, 1), repeated=True) is None
    assert mean_interval([1.0] * 20, (0, 1), repeated=True) == Interval(
        *wilson(20, 20), "wilson", 0.95
    )


def test_a_share_of_successes_is_wilsons_and_another_mean_of_few_is_students():
    assert mean_interval([1.0] * 7 + [0.0] * 3, (0, 1), repeated=False) == Interval(
        *wilson(7, 10), "wilson", 0.95
    )
    assert mean_interval([0.5, 1.0], (0, 1), repeated=False) == (0.0, 1.0, "student", 0.95)
    repeated = mean_interval([0.0, 1.0, 1.0], (0, 1), repeated=True)
    unbounded = mean_interval([0.0, 1.0, 1.0], None, repeated=False)
    assert repeated is not None
    assert unbounded is not None
    assert repeated.method == unbounded.method == "student"
    assert unbounded.low < 0
    assert unbounded.high > 1


def test_one_value_without_bounds_has_none():
    assert mean_interval([], (0, 1), repeated=False) is None
    assert mean_interval([3.0], None, repeated=False) is None
    assert mean_interval([1.0], (0, 1), repeated=False) is not None


def test_more_confidence_is_wider():
    narrow, wide = (
        mean_interval([0.1, 0.5, 0.6], None, repeated=False, level=x) for x in (0.5, 0.99)
    )
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high
