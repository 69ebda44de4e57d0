"""What a run may take before it begins no more rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.agent import Outcome
from trajgrade.budget import Budget, Spending
from trajgrade.errors import ConfigError
from trajgrade.trajectory import Trajectory

took = st.lists(st.tuples(st.integers(0, 9), st.floats(0, 2), st.floats(0, 3)), max_size=30)


def test_as_many_rows_begin_as_it_allows_and_never_again_one():
    spending = Spending(Budget(rows=3))
    assert [spending.allows() for _ in range(6)] == [True] * 3 + [False] * 3
    assert (spending.rows, spending.left_out) == (3, 3)
    assert spending.warnings() == ["stopped: the budget of 3 rows is spent; 3 rows were not run"]


def test_one_that_is_just_enough_is_not_said_to_be_spent():
    spending = Spending(Budget(rows=2))
    assert spending.allows()
    assert spending.allows()
    assert spending.warnings() == []


@given(took, st.integers(1, 40), st.floats(0.1, 20), st.floats(0.1, 20))
def test_rows_begin_until_one_of_the_limits_is_reached(rows, tokens, money, seconds):
    now = [5.0]
    budget = Budget(tokens=tokens, money=money, seconds=seconds)
    spending = Spending(budget, clock=lambda: now[0])
    begun = 0
    for used, cost, lasted in rows:
        if spending.allows():
            begun += 1
            spending.spent(Outcome(lasted, tokens=used, cost=cost))
            now[0] += lasted
    wanted, so_far = 0, (0, 0.0, 5.0)
    for used, cost, lasted in rows:
        if so_far[0] >= tokens or so_far[1] >= money or so_far[2] - 5.0 >= seconds:
            break
        so_far = so_far[0] + used, so_far[1] + cost, so_far[2] + lasted
        wanted += 1
    assert (begun, spending.tokens) == (wanted, so_far[0])


def test_what_is_unknown_is_said_and_never_counted_as_nothing():
    spending = Spending(Budget(tokens=100))
    for outcome in (Outcome(0.1, tokens=7), Outcome(0.1), Outcome(0.1)):
        assert spending.allows()
        spending.spent(outcome)
    (warning,) = spending.warnings()
    assert warning.startswith("budget.tokens: 2 answers did not say what they took (usage)")
    assert spending.tokens == 7
    unlimited = Spending(Budget(rows=9))
    unlimited.spent(Outcome(0.1))
    assert unlimited.warnings() == []


def test_what_a_trace_records_counts_where_the_agent_says_nothing():
    spending = Spending(Budget(tokens=100))
    took = {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}
    trace = [
        {"type": "human", "content": "?"}, {"type": "ai", "content": "yes", "usage_metadata": took},
    ]  # fmt: skip
    spending.spent(Outcome(0.1), trace)
    recorded = Trajectory.from_any(trace).usage
    assert recorded is not None
    assert spending.tokens == recorded.total_tokens == 42
    spending.spent(Outcome(0.1, tokens=7), trace)
    assert spending.tokens == 49
    spending.spent(Outcome(0.1), ["unreadable"])
    assert spending.warnings()[0].startswith("budget.tokens: 1 answer did not say")


@pytest.mark.parametrize(
    ("given_", "faults"),
    [
        (7, ["budget: expected an object with any of rows, seconds, tokens, money, got 7"]),
        ({"row": 1}, ["budget.row: unknown key 'row'. Did you mean 'rows'?"]),
        ({"rows": 0, "money": -1}, ["budget.rows: expected a whole number from 1, got 0",
                                    "budget.money: expected a number above 0, got -1"]),
        ({"seconds": "60"}, ["budget.seconds: expected a number above 0, got '60'"]),
    ],
)  # fmt: skip
def test_all_that_is_wrong_with_a_budget_is_said(given_, faults):
    with pytest.raises(ConfigError) as wrong:
        Budget.of(given_)
    assert len(wrong.value.faults) == len(faults)
    for found, wanted in zip(wrong.value.faults, faults, strict=True):
        assert found.startswith(wanted)


def test_a_budget_is_read_from_an_object():
    assert Budget.of({"rows": 5, "money": 2}) == Budget(rows=5, money=2.0)
    assert Budget.of({"rows": None}) == Budget()
