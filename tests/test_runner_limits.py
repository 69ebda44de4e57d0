"""Runs with trials, seeds and budgets."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

import trajgrade
from trajgrade.agent import Agent
from trajgrade.errors import ConfigError, DatasetError
from trajgrade.stores import open_store

ROWS = [{"id": f"r{n}", "prompt": str(n), "reference": "yes"} for n in range(6)]


def run(target, rows=ROWS, evaluators=("exact_match",), **options):
    return trajgrade.evaluate(rows, list(evaluators), agent=target, **options)


def test_each_example_is_answered_as_many_times_as_told():
    """Known fault B155: repeats are calls of their own."""
    calls: list[tuple[str, int]] = []

    def agent(prompt, seed):
        calls.append((prompt, seed))
        return "yes" if (int(prompt) + seed) % 3 else "no"

    with pytest.raises(ConfigError, match="seed: give it to the Agent"):
        run(Agent(agent), seed=10)
    found = run(agent, trials=3, seed=10, passes={"exact_match": 1})
    assert sorted(calls) == [(str(n), seed) for n in range(6) for seed in (10, 11, 12)]
    assert [(row.id, row.trial) for row in found.rows] == [
        (f"r{n}", trial) for n in range(6) for trial in range(3)
    ]
    assert (found.n_examples, len(found.rows), found.seed) == (6, 18, 10)
    metric = found.summary["exact_match"].to_dict()
    assert metric["mean"] == pytest.approx(2 / 3)
    assert found.to_dict()["seed"] == 10


def test_trials_need_an_agent_and_a_dataset_without_any():
    with pytest.raises(ConfigError, match="trials: no agent is there"):
        trajgrade.evaluate([{"response": "a", "reference": "a"}], ["exact_match"], trials=2)
    called: list[str] = []
    with pytest.raises(DatasetError, match="is trial 0 of 'a' already"):
        run(called.append, [{"id": "a", "trial": 0, "prompt": "p", "reference": "r"}], trials=2)
    assert called == []


def test_rows_beyond_the_budget_are_not_run_and_not_in_the_mean():
    calls: Counter[str] = Counter()

    def agent(prompt):
        calls[prompt] += 1
        return "yes"

    found = run(agent, budget={"rows": 4})
    assert calls == {str(n): 1 for n in range(4)}
    metric = found.summary["exact_match"]
    assert (metric.mean, metric.n_scored, metric.kinds) == (1, 4, {"not_run": 2})
    assert found.rows[5].results["exact_match"].comment == "not run: the budget of 4 rows is spent"
    assert (found.rows[5].failure, found.agent["failure"].n_scored) == (None, 4)
    assert found.warnings[0] == "stopped: the budget of 4 rows is spent; 2 rows were not run"
    assert (found.interrupted, found.exit_code) == (False, 0)


def test_a_threshold_that_rows_not_run_could_decide_is_undecided():
    found = run(lambda _: "yes", budget={"rows": 4}, thresholds={"exact_match": 0.9})
    assert (found.outcomes[0].verdict, found.exit_code) == ("undecided", 3)


@pytest.mark.parametrize(("limit", "took"), [("tokens", {"usage": 30}), ("money", {"cost": 30})])
def test_what_answers_take_is_counted_as_they_say_it(limit, took):
    found = run(Agent(lambda _: {"response": "yes", **took}, max_concurrency=1), budget={limit: 60})
    assert found.summary["exact_match"].n_scored == 2
    assert found.warnings[0] == f"stopped: the budget of 60 {limit} is spent; 4 rows were not run"


def test_no_more_rows_end_after_the_budget_than_were_being_answered():
    together = threading.Barrier(3)

    def agent(prompt):
        together.wait(30)
        return {"response": "yes", "cost": 1}

    rows = [{"id": str(n), "prompt": str(n), "reference": "yes"} for n in range(300)]
    found = run(Agent(agent, max_concurrency=3), rows, budget={"money": 1})
    assert found.summary["exact_match"].n_scored == 3


def test_an_unknown_use_is_said():
    found = run(lambda _: "yes", budget={"tokens": 10})
    assert found.summary["exact_match"].n_scored == 6
    assert found.warnings[0].startswith("budget.tokens: 6 answers did not say what they took")
    with pytest.raises(ConfigError, match=r"budget\.money: counts what the agent says"):
        trajgrade.evaluate(ROWS, ["exact_match"], budget={"money": 1})


def test_a_budget_holds_without_an_agent_too():
    rows = [{"response": "a", "reference": "a"}] * 5
    found = trajgrade.evaluate(rows, ["exact_match"], budget={"rows": 2})
    assert found.summary["exact_match"].kinds == {"not_run": 3}


def test_a_run_that_was_stopped_is_gone_on_with(tmp_path):
    calls: Counter[str] = Counter()

    def agent(prompt):
        calls[prompt] += 1
        return "yes" if int(prompt) % 2 else "no"

    store = open_store(str(tmp_path / "runs.db"))
    options = {"store": store, "resume": True, "trials": 2}
    first = run(agent, budget={"rows": 5}, **options)
    second = run(agent, budget={"rows": 3}, **options)
    last = run(agent, **options)
    assert first.id == second.id == last.id
    assert [found.summary["exact_match"].n_scored for found in (first, second, last)] == [5, 8, 12]
    assert set(calls.values()) == {2}
    whole = run(agent, trials=2)
    assert [row.results for row in last.rows] == [row.results for row in whole.rows]


def test_a_dataset_without_anything_to_ask_is_warned_of():
    with pytest.warns(UserWarning, match="no row has inputs"):
        run(lambda _: "yes", [{"id": "a", "reference": "yes"}])
