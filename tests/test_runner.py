"""Grading a dataset: what breaks on one row stays there, and nothing is scored silently wrong."""

from __future__ import annotations

import asyncio
import json
import math
from fractions import Fraction
from typing import Any

import pytest

import trajgrade
from trajgrade.dataset import Selected
from trajgrade.errors import ConfigError, DatasetError, UnknownNameError
from trajgrade.evaluators import EvaluationResult, Evaluator, TrajectoryMatchEvaluator
from trajgrade.run import InterruptedRunError
from trajgrade.runner import evaluate


def calls(*names: str) -> list[dict]:
    return [{"name": name, "args": {}} for name in names]


def row(name: str, got: Any, want: Any, **more: Any) -> dict:
    return {"id": name, "outputs": got, "reference_outputs": want, **more}


THREE = [
    row("a", calls("f"), calls("f")),
    row("b", calls("f", "g"), calls("f")),
    row("c", calls("g"), calls("f")),
]


def test_every_row_gets_every_metric_and_the_means_are_right():
    run = evaluate(THREE, ["trajectory_match", "trajectory_precision", "trajectory_recall"])
    assert [r.id for r in run.rows] == ["a", "b", "c"]
    assert run.summary["trajectory_match"].mean == pytest.approx(1 / 3)
    assert run.summary["trajectory_precision"].mean == pytest.approx(float(Fraction(1, 2)))
    assert run.summary["trajectory_recall"].mean == pytest.approx(2 / 3)
    assert run.rows[1].results["trajectory_precision"].score == 0.5


def test_an_evaluator_that_raises_makes_one_error_on_its_own_row_only():
    def fragile(outputs):
        if outputs == calls("f", "g"):
            raise AuthError("expired")
        return 1.0

    class AuthError(Exception):
        pass

    run = evaluate(THREE, [fragile, "trajectory_recall"])
    summary = run.summary["fragile"]
    assert (summary.n_scored, summary.n_error, summary.n_total) == (2, 1, 3)
    assert [len(r.results) for r in run.rows] == [2, 2, 2]
    error = run.rows[1].results["fragile"].error
    assert error is not None
    assert error.kind == "evaluator"
    assert error.message == "AuthError: expired"
    assert "fragile" in error.traceback
    assert run.summary["trajectory_recall"].n_scored == 3


def test_an_unreadable_trace_is_an_error_of_kind_trace_and_not_a_zero():
    run = evaluate([row("a", {"foo": 1}, calls("f"))], ["trajectory_match"])
    result = run.rows[0].results["trajectory_match"]
    assert result.score is None
    assert result.error is not None
    assert result.error.kind == "trace"
    assert "foo" in result.comment


def test_a_missing_reference_or_output_is_not_evaluated_whatever_the_mode():
    rows = [row("a", calls("drop"), None), row("b", None, calls("f")), row("c", None, None)]
    for mode in ("strict", "superset", "subset", "in_order", "unordered"):
        run = evaluate(rows, [{"trajectory_match": {"mode": mode}}])
        kinds = [getattr(r.results["trajectory_match"].error, "kind", None) for r in run.rows]
        assert kinds == ["no_reference", "no_output", "no_reference"]
        assert run.summary["trajectory_match"].n_not_evaluated == 3
        assert run.exit_code == 3


def test_no_reference_column_is_said_once_with_the_likely_meant_one():
    rows = [{"id": "a", "prompt": "x", "predicted_trajectory": calls("f")}]
    said: list[str] = []
    run = evaluate(rows, ["trajectory_match", "trajectory_f1"], on_warning=said.append)
    (warning,) = run.warnings
    assert said == [warning]
    assert warning.startswith("trajectory_match, trajectory_f1: ")
    assert "reference_trajectory" in warning
    assert "predicted_trajectory" in warning
    with pytest.warns(UserWarning, match="reference_trajectory"):
        evaluate(rows, ["trajectory_match"])


@pytest.mark.parametrize(
    ("returned", "scores"),
    [
        (True, [1.0]),
        (0.5, [0.5]),
        ({"score": 0.5}, [0.5]),
        ({"score": False}, [0.0]),
        ([{"key": "a", "score": 1}, {"key": "b", "score": 0}], [1.0, 0.0]),
        (EvaluationResult("x", 0.25), [0.25]),
        (7, [7.0]),
        (None, [None]),
    ],
)
def test_a_function_may_return_any_of_the_shapes(returned, scores):
    def custom(outputs):
        return returned

    run = evaluate(THREE[:1], [custom])
    assert [result.score for result in run.rows[0].results.values()] == scores


@pytest.mark.parametrize("returned", ["good", object(), {"points": 1}, {"score": "high"}])
def test_any_other_return_value_is_an_error_that_names_its_type(returned):
    def custom(outputs):
        return returned

    run = evaluate(THREE[:1], [custom])
    error = run.rows[0].results["custom"].error
    assert error is not None
    assert error.kind == "evaluator"
    assert "custom returned" in error.message


def test_nan_is_an_evaluator_error_and_leaves_the_mean_alone():
    scores = iter([0.8, math.nan, 0.9, 0.85])

    def noisy(outputs):
        return next(scores)

    run = evaluate([*THREE, row("d", [], [])], [noisy])
    assert run.summary["noisy"].mean == pytest.approx(0.85)
    assert run.summary["noisy"].n_error == 1
    assert "NaN" not in json.dumps(run.to_dict())


def test_a_metric_that_appears_late_has_the_rows_before_it_undefined():
    def late(outputs):
        return [] if outputs == calls("f") else [{"key": "late", "score": 1}]

    def other(outputs):
        key = "second" if outputs == calls("g") else "first"
        return [{"key": key, "score": 1}]

    run = evaluate(THREE, [late, other])
    assert run.summary["second"].n_total == 3
    assert run.summary["second"].kinds == {"undefined": 2}
    assert run.summary["first"].kinds == {"undefined": 1}


def test_a_function_gets_what_it_names_and_the_data_as_it_stands():
    seen = []

    def custom(inputs, outputs, reference_outputs, context):
        seen.append((inputs, outputs, reference_outputs, context))
        return 1

    rows = [{"id": "a", "inputs": "q", "outputs": calls("f"), "reference_outputs": calls("g")}]
    evaluate(rows, [custom, "trajectory_match"])
    assert seen == [("q", calls("f"), calls("g"), None)]


def test_a_function_that_takes_nothing_it_could_be_given_is_refused_before_anything_runs():
    def wrong(line, score):
        return 1

    with pytest.raises(ConfigError, match="needs at least one of the parameters"):
        evaluate(THREE, [wrong])


def test_a_plain_class_a_subclass_and_an_async_evaluator_are_as_good():
    class Plain:
        key = "plain"

        def evaluate(self, *, outputs=None, reference_outputs=None, inputs=None, **extra):
            return EvaluationResult("plain", 1.0)

    class Own(Evaluator):
        def __init__(self):
            self.key = "own"

        def evaluate(self, *, outputs=None, reference_outputs=None, inputs=None, **extra):
            return EvaluationResult(self.key, 0.5)

    class Waiting(Evaluator):
        key = "waiting"

        async def aevaluate(self, *, outputs=None, reference_outputs=None, inputs=None, **extra):
            await asyncio.sleep(0)
            return EvaluationResult(self.key, 0.25)

    async def inside():
        return evaluate(THREE, [Plain(), Own(), Waiting()])

    for run in (evaluate(THREE, [Plain(), Own(), Waiting()]), asyncio.run(inside())):
        means = {key: metric.mean for key, metric in run.summary.items()}
        assert means == {"plain": 1.0, "own": 0.5, "waiting": 0.25}


def test_two_evaluators_with_one_key_are_refused_with_the_way_to_name_them():
    with pytest.raises(
        ConfigError, match=r"2 have the key 'trajectory_match'; name them apart.*key="
    ):
        evaluate(THREE, ["trajectory_match", TrajectoryMatchEvaluator("subset")])


def test_several_single_tool_uses_are_told_apart_by_the_tool():
    use = "trajectory_single_tool_use"
    one = evaluate(THREE, [{use: {"tool_name": "f"}}])
    assert list(one.summary) == [use]
    two = evaluate(THREE, [{use: {"tool_name": "f"}}, {use: {"tool_name": "g"}}])
    assert list(two.summary) == [f"{use}:f", f"{use}:g"]
    assert two.summary[f"{use}:f"].mean == pytest.approx(2 / 3)


def test_trials_of_which_no_two_share_an_id_are_warned_of():
    rows = [
        {"id": f"r{n}", "task_id": "t", "trial": n, "outputs": "x", "reference": "x"}
        for n in range(2)
    ]
    (warning,) = evaluate(rows, ["exact_match"]).warnings
    assert "no two share an id" in warning
    assert "fields: {id: task_id}" in warning
    run = evaluate(rows, ["exact_match"], fields={"id": "task_id"}, passes={"exact_match": 1.0})
    assert (run.warnings, run.summary["exact_match"].pass_hat_k(2)) == ((), 1.0)
    once = [{**row, "trial": 0} for row in rows]
    assert evaluate(once, ["exact_match"]).warnings == ()


@pytest.mark.parametrize("one", ["exact_match", {"exact_match": {}}, len])
def test_one_evaluator_in_place_of_a_list_is_an_error_that_says_so(one: Any):
    with pytest.raises(ConfigError, match=r"evaluators: expected a list, got .*: put it in \[ \]"):
        evaluate([{"outputs": "x"}], one)


def test_trials_are_reduced_within_the_example_first():
    rows = [
        row("a", calls("f"), calls("f"), trial=0),
        row("a", calls("g"), calls("f"), trial=1),
        row("a", calls("f"), calls("f"), trial=2),
        row("b", calls("g"), calls("f"), trial=0),
    ]
    found = evaluate(rows, ["trajectory_match"]).summary["trajectory_match"].to_dict()
    assert found["mean"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["n_examples"] == 2
    assert found["pass^1"] == pytest.approx(1 / 3)
    assert found["pass^2"] == pytest.approx(1 / 3)
    assert found["pass@2"] == pytest.approx(1.0)
    assert found["pass_left_out"] == {"2": 1, "3": 1}


def test_a_stored_number_is_a_metric_with_successes():
    rows = [row(n, [], [], reward=r, trial=t) for n, r, t in
            [("a", 1.0, 0), ("a", 0.0, 1), ("b", 1.0, 0), ("b", 1.0, 1)]]  # fmt: skip
    run = evaluate(rows, [{"field": {"path": "reward", "pass": 1.0}}])
    found = run.summary["reward"].to_dict()
    assert (found["mean"], found["pass^1"], found["pass^2"]) == (0.75, 0.75, 0.5)


def test_half_rewards_are_no_successes():
    rows = [row(str(n), [], [], reward=r) for n, r in enumerate([0.5, 0.5, 0.9])]
    run = evaluate(rows, [{"field": {"path": "reward", "pass": 1}}])
    assert run.summary["reward"].mean == pytest.approx(1.9 / 3)
    assert sum(c for _, c in run.summary["reward"].counts()) == 0


def test_a_misspelt_path_is_reported_once_and_its_rows_are_vacuous():
    def search(value: str) -> list:
        return [{"name": "search", "args": {"query": value}}]

    rows = [row("a", search("b"), search("a")), row("b", search("c"), search("c"))]
    overrides = {"search": ["qurey"], "serch": "ignore"}
    run = evaluate(rows, [{"trajectory_match": {"tool_args_match_overrides": overrides}}])
    assert run.summary["trajectory_match"].mean == 1.0
    assert run.summary["trajectory_match"].n_vacuous == 2
    (warning,) = run.warnings
    assert "search: qurey" in warning
    assert "serch" in warning
    assert run.rows[0].results["trajectory_match"].metadata["vacuous"] is True


def test_a_misspelt_ignored_key_and_an_alias_of_no_tool_are_reported_once_and_decide_nothing():
    def search(name: str, **args) -> list:
        return [{"name": name, "args": args}]

    rows = [
        row(str(number), search("find", q="x", at={"time": number}), search("search", q="x", at={}))
        for number in range(3)
    ]
    options = {
        "ignore_keys": ["*.time", "tmie*"],
        "name_aliases": {"find": "search", "fnid": "search"},
    }
    run = evaluate(rows, [{"trajectory_match": options}, {"trajectory_recall": options}])
    assert run.summary["trajectory_match"].mean == 1.0
    assert run.summary["trajectory_match"].n_vacuous == 0
    assert [warning.partition(":")[0] for warning in run.warnings] == [
        "trajectory_match", "trajectory_recall",
    ]  # fmt: skip
    for warning in run.warnings:
        assert "ignore_keys: tmie*" in warning
        assert "name_aliases: fnid" in warning
        assert "time" not in warning
        assert "find" not in warning


def test_a_path_that_some_call_of_the_run_has_is_no_misspelling():
    def search(**args) -> list:
        return [{"name": "search", "args": args}]

    rows = [
        row("a", search(q="x"), search(q="x")),
        row("b", search(q="x", n=1), search(q="x", n=1)),
    ]
    overrides = {"search": ["q", "n"]}
    run = evaluate(rows, [{"trajectory_match": {"tool_args_match_overrides": overrides}}])
    assert run.warnings == ()
    assert run.summary["trajectory_match"].n_vacuous == 0


def test_a_progress_callback_that_raises_is_warned_of_and_loses_nothing():
    def shout(done):
        if done == 2:
            raise RuntimeError("no terminal")

    with pytest.warns(UserWarning, match="no terminal"):
        run = evaluate(THREE, ["trajectory_match"], on_progress=shout)
    assert len(run.rows) == 3


def test_an_interrupt_keeps_what_is_done():
    def stop(done):
        return None

    def custom(outputs):
        if outputs == calls("g"):
            raise KeyboardInterrupt
        return 1

    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate(THREE, [custom], on_progress=stop)
    assert isinstance(caught.value, InterruptedRunError)
    assert [r.id for r in caught.value.run.rows] == ["a", "b"]
    assert caught.value.run.exit_code == 130


def test_rows_are_chosen_by_id_pattern_and_number():
    chosen = {
        Selected(ids=frozenset({"c"})): ["c"],
        Selected(matching="B"): ["b"],
        Selected(matching="[ab]"): ["a", "b"],
        Selected(limit=2): ["a", "b"],
    }
    for select, ids in chosen.items():
        assert [r.id for r in evaluate(THREE, ["trajectory_match"], select=select).rows] == ids


def test_no_rows_is_an_error_and_no_pass():
    with pytest.raises(DatasetError):
        evaluate([], ["trajectory_match"])


def test_an_unknown_evaluator_is_refused_before_anything_is_read():
    with pytest.raises((UnknownNameError, ConfigError), match="trajectory_match"):
        evaluate("no-such-file.json", ["trajectory_mach"])


def test_the_order_of_rows_changes_no_summary():
    forward = evaluate(THREE, ["trajectory_f1", "trajectory_alignment"]).summary.to_dict()
    backward = evaluate(THREE[::-1], ["trajectory_f1", "trajectory_alignment"]).summary.to_dict()
    assert forward == backward


def test_the_worst_rows_come_lowest_first_with_their_alignment():
    run = evaluate(THREE, ["trajectory_f1"])
    worst = [w for w in run.worst if w.metric == "trajectory_f1"]
    assert [(w.row, w.score) for w in worst] == [(2, 0.0), (1, pytest.approx(2 / 3))]
    aligned = run.rows[1].results["trajectory_f1"].metadata["alignment"]
    assert aligned["extra"] == [1]
    assert "alignment" not in run.rows[0].results["trajectory_f1"].metadata


def test_alignments_are_kept_for_all_failing_rows_or_none_on_request():
    many = [row(str(n), calls("g"), calls("f")) for n in range(12)]
    kept = {
        explain: sum(
            "alignment" in r.results["trajectory_match"].metadata
            for r in evaluate(many, ["trajectory_match"], explain=explain).rows
        )
        for explain in ("all", "worst", "none")
    }
    assert kept == {"all": 12, "worst": 5, "none": 0}


def test_rows_with_what_json_lacks_are_kept_and_come_back_equal():
    odd = {"n": math.nan, "big": 2**80, "half": "\ud800", "tag": "trajgrade:float:nan"}

    def custom(outputs):
        return {"score": 1, "metadata": odd}

    run = evaluate([*THREE], [custom, "trajectory_match"])
    back = run.rows[2].results["custom"].metadata
    assert math.isnan(back["n"])
    assert {k: v for k, v in back.items() if k != "n"} == {k: v for k, v in odd.items() if k != "n"}
    assert [r.id for r in run.rows[0:2]] == ["a", "b"]
    assert run.rows[-1].id == "c"


def test_a_malformed_value_in_evidence_is_kept_as_a_readable_stand_in():
    class Response:
        def __repr__(self):
            return "<Response 500>"

    def custom(outputs):
        return {"score": 0, "metadata": {"raw": Response()}}

    assert evaluate(THREE, [custom]).rows[0].results["custom"].metadata == {"raw": "<Response 500>"}


def test_the_run_as_a_frame_has_a_line_for_each_row():
    frame = trajgrade.evaluate(THREE, ["trajectory_match"]).to_pandas()
    assert list(frame["trajectory_match/score"]) == [1.0, 0.0, 0.0]
    assert frame["trajectory_match/explanation"][1].startswith("no strict match")


def test_a_function_may_ask_for_the_row():
    def lengths(row, response):
        return len(row["note"]) + len(response)

    rows = [{"response": "ab", "note": "x"}, {"response": "c", "note": "yz"}]
    run = evaluate(rows, [lengths, "exact_match"], on_warning=lambda lack: None)
    assert run.summary["lengths"].mean == 3


def test_a_bare_text_is_no_reference_for_calls_and_as_output_is_noted():
    prose = [row("a", "I deleted it", "Refund the customer, then close the ticket")]
    run = evaluate(prose, ["trajectory_match", "trajectory_f1"])
    assert [m.kinds for m in run.summary.values()] == [{"no_reference": 1}] * 2
    either = [row("a", calls("f"), {"any_of": ["Paris", "paris"]})]
    assert evaluate(either, ["trajectory_match"]).summary["trajectory_match"].n_scored == 0
    result = evaluate([row("a", "I did it", calls("f"))], ["trajectory_match"]).rows[0].results
    assert result["trajectory_match"].score == 0.0
    assert "a bare text, which records no calls" in result["trajectory_match"].comment


def test_no_evaluators_is_refused():
    with pytest.raises(ConfigError, match="at least one"):
        evaluate(THREE, [])


def test_an_evaluator_that_exits_is_an_error_on_its_row():
    def leaving(outputs):
        if outputs == calls("g"):
            raise SystemExit(1)
        return 1

    run = evaluate(THREE, [leaving])
    assert (run.summary["leaving"].n_scored, run.summary["leaving"].n_error) == (2, 1)


def test_ratios_of_no_calls_are_counted_and_left_out_beside_the_mean():
    rows = [row("a", calls("f"), []), row("b", calls("f"), calls("f", "g"))]
    found = evaluate(rows, ["trajectory_recall"]).summary["trajectory_recall"].to_dict()
    assert (found["mean"], found["n_undefined"], found["mean_without_undefined"]) == (0.75, 1, 0.5)


def test_a_pass_rate_says_which_examples_it_is_not_over():
    rows = [row("a", calls("f"), calls("f"), trial=n) for n in range(3)]
    rows += [row("b", calls("g"), calls("f"), trial=n) for n in range(2)]
    run = evaluate(rows, ["trajectory_match"], thresholds={"trajectory_match/pass^3": 0.8})
    (outcome,) = run.outcomes
    assert outcome.verdict == "passed"
    assert outcome.reason == "1 of 2 examples have fewer than 3 scored trials"


def test_a_run_prints_its_means():
    run = evaluate(THREE, ["trajectory_recall"])
    assert repr(run).endswith("3 rows; trajectory_recall 0.667>")
