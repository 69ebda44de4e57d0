"""Runs in which an agent answers: failures, latency, order (SEMANTICS A5, A12)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trajgrade
from trajgrade.agent import Agent
from trajgrade.errors import ConfigError
from trajgrade.evaluators import Bleu
from trajgrade.run import InterruptedRunError

GO = [{"tool_name": "go"}]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "prompt": "a", "reference_trajectory": GO, "reference": "went"},
    {"id": "b", "prompt": "b", "reference_trajectory": GO, "reference": "went"},
    {"id": "c", "prompt": "c", "reference_trajectory": None, "reference": None},
]


def agent(prompt):
    if prompt in "bc":
        raise ValueError("expired")
    return {"response": "went", "predicted_trajectory": GO}


def length(outputs):
    return len(outputs)


def run(evaluators, rows=ROWS, target=agent, **options):
    return trajgrade.evaluate(rows, evaluators, agent=target, **options)


def test_a_row_on_which_the_agent_failed_scores_0_and_says_why():
    """Known faults B148, B160: a mean of 0.5 over two rows, not 1.0 over one."""
    found = run(["trajectory_exact_match", "exact_match"])
    result = found.rows[1].results["trajectory_exact_match"]
    assert (result.score, result.error) == (0, None)
    assert result.comment == "the agent failed: ValueError: expired"
    assert (found.rows[1].failure, found.rows[1].agent_error.type) == (1, "ValueError")
    assert "expired" in found.rows[1].agent_error.traceback
    for metric in found.summary.values():
        assert (metric.mean, metric.n_scored) == (0.5, 2)


def test_a_missing_reference_wins_over_a_failed_agent():
    found = run(["trajectory_f1", "rouge_l", "trajectory_single_tool_use"][:2])
    for result in found.rows[2].results.values():
        assert result.error.kind == "no_reference"
    single = run([trajgrade.evaluators.TrajectorySingleToolUse("go")])
    assert [row.results["trajectory_single_tool_use"].score for row in single.rows] == [1, 0, 0]


def test_failures_may_be_left_out_and_always_are_of_metrics_without_a_range():
    found = run(["trajectory_f1", length], on_failure="exclude")
    kinds = {key: result.error.kind for key, result in found.rows[1].results.items()}
    assert kinds == {"trajectory_f1": "agent_failed", "length": "agent_failed"}
    assert run([length]).rows[1].results["length"].error.kind == "agent_failed"
    assert found.summary["trajectory_f1"].mean == 1
    assert found.summary["trajectory_f1"].kinds == {"agent_failed": 1, "no_reference": 1}


def test_latency_and_failure_are_there_unasked():
    found = run(["exact_match"])
    assert list(found.agent) == ["latency_in_seconds", "failure"]
    assert found.agent["failure"].mean == pytest.approx(2 / 3)
    assert found.agent["latency_in_seconds"].n_scored == 1
    assert found.agent["latency_in_seconds"].kinds == {"agent_failed": 2}
    assert found.rows[1].latency_in_seconds >= 0
    assert found.to_dict()["agent"]["failure"]["interval"]["method"] == "wilson"
    plain = found.rows[1].to_dict()
    assert (plain["failure"], plain["agent_error"]["type"]) == (1, "ValueError")
    json.dumps([row.to_dict() for row in found.rows])


def test_where_no_agent_is_called_both_are_null_and_never_0():
    found = trajgrade.evaluate([{"response": "a", "reference": "a"}], ["exact_match"])
    assert (found.rows[0].latency_in_seconds, found.rows[0].failure) == (None, None)
    assert len(found.agent) == 0
    assert "agent" not in found.to_dict()


def test_they_are_measured_without_any_metric():
    found = run([])
    assert (len(found.rows), found.n_examples) == (3, 3)
    assert found.agent["failure"].n_scored == 3


def test_thresholds_may_name_them():
    rows = [*ROWS, {**ROWS[0], "id": "d"}]
    found = run([], rows, thresholds={"failure": "<= 0.4", "latency_in_seconds/p95": "<= 60"})
    assert [outcome.verdict for outcome in found.outcomes] == ["failed", "passed"]
    with pytest.raises(ConfigError, match="failure"):
        trajgrade.evaluate(ROWS, ["exact_match"], thresholds={"failure": "<= 0.5"})


def test_what_the_dataset_holds_already_is_not_taken_for_the_agents():
    rows = [{"prompt": "a", "response": "old", "predicted_trajectory": [], "reference": "went"}]
    found = run(["exact_match"], rows, lambda prompt: {"predicted_trajectory": GO})
    assert found.rows[0].results["exact_match"].error.kind == "no_output"


def test_nobody_warns_of_outputs_that_the_agent_will_give(recwarn):
    assert run(["trajectory_f1"]).warnings == ()


def test_evaluators_are_never_asked_about_a_failed_row():
    asked = []

    def spy(outputs):
        asked.append(outputs)
        return 1

    run([spy])
    assert asked == [GO]


def test_a_metric_that_raises_is_one_error_and_touches_nothing_else():
    """Known faults B146, B147."""

    def broken(inputs):
        if inputs == "1":
            raise RuntimeError("once")
        return 1

    rows = [{"prompt": str(i), "reference": "x"} for i in range(5)]
    found = run([broken, "exact_match"], rows, lambda prompt: "x")
    assert [row.results["broken"].error is None for row in found.rows] == [True, False] + [True] * 3
    assert all(len(row.results) == 2 and row.failure == 0 for row in found.rows)
    assert found.summary["exact_match"].mean == 1


def test_the_corpus_score_counts_failed_rows_as_silent():
    rows = [
        {"prompt": "a", "reference": "the cat sat on the mat"},
        {"prompt": "b", "reference": "the dog ran to the door"},
    ]
    spoken = {"a": "the cat sat on the mat"}
    found = run(["bleu", "rouge_1"], rows, lambda prompt: spoken[prompt])
    alone = run(["bleu"], rows[:1], lambda prompt: spoken[prompt])
    assert alone.summary["bleu"].corpus == pytest.approx(1)
    assert found.summary["bleu"].corpus == pytest.approx(
        Bleu().corpus([6, 5, 4, 3, 6, 5, 4, 3, 6, 12])
    )
    assert found.summary["bleu"].to_dict()["corpus"] < found.summary["bleu"].mean == 0.5
    assert found.summary["rouge_1"].corpus == pytest.approx(2 * 0.5 / 1.5)
    excluded = run(["bleu"], rows, lambda prompt: spoken[prompt], on_failure="exclude")
    assert excluded.summary["bleu"].corpus == pytest.approx(1)


def test_an_interrupt_keeps_what_is_done():
    """Known fault B158."""

    def stop(done):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError) as stopped:
        run(["exact_match"], on_progress=stop)
    assert len(stopped.value.run.rows) == 2
    assert stopped.value.run.agent["failure"].n_total == 2


def test_the_order_and_the_scores_do_not_depend_on_the_concurrency():
    rows = [{"prompt": str(i), "reference": str(i % 3)} for i in range(40)]
    one, many = (
        run(["exact_match"], rows, Agent(lambda p: str(int(p) % 2), max_concurrency=n))
        for n in (1, 9)
    )
    assert [row.results for row in one.rows] == [row.results for row in many.rows]


def test_options_that_do_not_exist_are_refused_before_any_call():
    called: list = []
    with pytest.raises(ConfigError, match="on_failure"):
        run(["exact_match"], target=called.append, on_failure="skip")
    with pytest.raises(ConfigError, match="failure: what is measured"):
        run([{"name": "exact_match", "key": "failure"}], target=called.append)
    assert called == []


def test_a_metric_that_needs_a_reference_only_as_it_is_configured_needs_it_then_only():
    found = run([{"contains": {"substring": "went"}}, {"name": "contains", "key": "reference"}])
    assert [row.results["contains"].score for row in found.rows] == [1, 0, 0]
    assert found.rows[2].results["reference"].error.kind == "no_reference"
