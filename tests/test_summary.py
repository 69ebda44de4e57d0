"""What scores come to: means, deviations, trials, against their definitions (SEMANTICS A12)."""

from __future__ import annotations

import math
import statistics
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.intervals import student
from trajgrade.measured import AgentColumns
from trajgrade.result import EvaluationResult, ResultError
from trajgrade.run import Row
from trajgrade.scores import KINDS, Column, Groups
from trajgrade.summary import MetricSummary, percentile

SCORES = st.one_of(st.floats(0, 1, allow_subnormal=False), st.booleans(), st.sampled_from(KINDS))
ROWS = st.lists(st.tuples(st.sampled_from("abcd"), SCORES), min_size=1, max_size=20)


def summary(rows) -> MetricSummary:
    column, groups = Column("m", (0.0, 1.0), "higher"), Groups()
    for trial, (name, score) in enumerate(rows):
        groups.add(name, trial)
        if isinstance(score, str):
            column.add(EvaluationResult("m", error=ResultError(score, "why")))  # type: ignore[arg-type]
        elif isinstance(score, bool):
            column.add(EvaluationResult("m", float(score), score))
        else:
            column.add(EvaluationResult("m", score))
    return MetricSummary(column, groups)


@given(ROWS)
def test_the_counts_add_up(rows):
    found = summary(rows)
    assert found.n_total == found.n_scored + found.n_error + found.n_not_evaluated == len(rows)
    assert sum(found.kinds.values()) == len(rows) - found.n_scored


@given(ROWS)
def test_the_mean_and_deviation_are_over_examples(rows):
    scored: dict[str, list[float]] = {}
    for name, score in rows:
        if not isinstance(score, str):
            scored.setdefault(name, []).append(float(score))
    units = [statistics.fmean(scores) for scores in scored.values()]
    found = summary(rows)
    assert found.n_examples == len(units)
    assert found.mean == (pytest.approx(statistics.fmean(units)) if units else None)
    assert found.std == (
        pytest.approx(statistics.stdev(units), abs=1e-12) if len(units) > 1 else None
    )


@given(ROWS)
def test_the_bounds_hold_the_mean_whatever_the_missing_rows_would_have_scored(rows):
    found = summary(rows)
    if found.mean_bounds is None:
        assert found.n_missing == 0
        return
    low, high = found.mean_bounds
    for fill in (0.0, 0.3, 1.0):
        filled = [
            (name, fill if score in ("trace", "judge", "evaluator", "not_run", "no_output",
                                     "unreadable_verdict") else score)
            for name, score in rows
        ]  # fmt: skip
        mean = summary(filled).mean
        assert mean is not None
        assert low - 1e-12 <= mean <= high + 1e-12


@given(ROWS, st.integers(1, 4))
def test_pass_rates_are_the_share_of_ways_to_draw_k_trials(rows, k):
    verdicts: dict[str, list[bool]] = {}
    for name, score in rows:
        if not isinstance(score, str):
            verdicts.setdefault(name, []).append(score is True)
    every, some = [], []
    for trials in verdicts.values():
        draws = list(combinations(trials, k))
        if draws:
            every.append(statistics.fmean(all(draw) for draw in draws))
            some.append(statistics.fmean(any(draw) for draw in draws))
    found = summary(rows)
    assert found.pass_hat_k(k) == (pytest.approx(statistics.fmean(every)) if every else None)
    assert found.pass_at_k(k) == (pytest.approx(statistics.fmean(some)) if some else None)


def test_one_score_has_no_deviation():
    assert summary([("a", 0.5)]).std is None
    assert summary([("a", 0.5)]).to_dict()["std"] is None


def test_sums_are_exact():
    found = summary([(str(n), 0.1) for n in range(10)])
    assert found.mean == math.fsum([0.1] * 10) / 10


def test_percentiles_are_interpolated():
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert percentile([1.0, 2.0], 0.9) == pytest.approx(1.9)
    assert percentile([], 0.5) is None


def test_each_check_has_its_own_rate():
    first = summary([(str(n), True) for n in range(4)])
    second = summary([(str(n), n == 0) for n in range(4)])
    assert (first.mean, second.mean) == (1.0, 0.25)


def test_vacuous_rows_are_also_left_out():
    column, groups = Column("m", (0.0, 1.0), "higher"), Groups()
    for name, vacuous in (("a", True), ("b", False)):
        groups.add(name)
        metadata = {"vacuous": True} if vacuous else {}
        column.add(EvaluationResult("m", float(vacuous), metadata=metadata))
    found = MetricSummary(column, groups).to_dict()
    assert (found["mean"], found["n_vacuous"], found["mean_without_vacuous"]) == (0.5, 1, 0.0)


def test_rows_before_the_first_trial_are_examples_too():
    seen = ["a", "b"]
    groups = Groups(lambda: seen)
    for name, trial in (("a", None), ("b", None), ("a", 1), ("c", 0)):
        groups.add(name, trial)
    assert list(groups.example_of) == [0, 1, 0, 2]
    assert (groups.count, groups.repeated) == (3, True)


def test_without_trials_every_row_is_an_example_of_its_own():
    groups = Groups()
    for name in "abc":
        groups.add(name)
    groups.cut(2)
    assert (groups.count, groups.repeated) == (2, False)


def test_the_interval_of_a_duration_holds_no_time_before_the_beginning():
    columns, groups = AgentColumns(), Groups()
    seconds = [0.001, 0.002, 5.0]
    for number, took in enumerate(seconds):
        row = Row(str(number), {}, None, number, "x", latency_in_seconds=took, failure=0)
        columns.add(row)
        groups.add(row.id, None)
    latency = MetricSummary(columns.columns[0], groups)
    low, high = student(seconds)
    assert low < 0
    found = latency.interval()
    assert found is not None
    assert (found.low, found.high) == (0.0, high)
    assert latency.mean_bounds is None
