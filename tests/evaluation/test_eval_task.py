"""EvalTask with Vertex AI's names: a script written for that SDK runs here (issue 3, section 1)."""

from __future__ import annotations

import asyncio
import inspect
import json
import warnings
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import trajgrade
from trajgrade.errors import ConfigError, DatasetError, MissingExtraError
from trajgrade.evaluation import (
    AutoraterConfig,
    CustomMetric,
    EvalResult,
    EvalTask,
    MetricPromptTemplateExamples,
    PairwiseMetric,
    PointwiseMetric,
    PointwiseMetricPromptTemplate,
    PromptTemplate,
    metrics,
)
from trajgrade.evaluation.judged import JUDGED
from trajgrade.evaluation.metrics import COMPUTED, Rouge, TrajectorySingleToolUse
from trajgrade.evaluators import EditDistance
from trajgrade.run import InterruptedRunError

PRICE = {"tool_name": "get_price", "tool_input": {"product": "phone"}}
DETAILS = {"tool_name": "get_details", "tool_input": {"product": "shoes"}}
ASKED: dict[str, Any] = {
    "prompt": ["Price of the phone?", "Your shoes?"],
    "reference_trajectory": [[PRICE], [DETAILS]],
    "reference": ["500", "Fine shoes"],
}
ANSWERED: dict[str, Any] = {
    **ASKED,
    "response": ["500", "Fine boots"],
    "predicted_trajectory": [[PRICE], [PRICE, DETAILS]],
}


def agent(prompt):
    phone = "phone" in prompt
    return {
        "response": "500" if phone else "Fine boots",
        "predicted_trajectory": [PRICE] if phone else [PRICE, DETAILS],
    }


async def async_agent(prompt):
    await asyncio.sleep(0)
    return agent(prompt)


class Queryable:
    def query(self, *, input):  # noqa: A002 Vertex AI's name
        found = agent(input)
        steps = [[{"kwargs": {"tool": c["tool_name"], "tool_input": c["tool_input"]}}, "ok"]
                 for c in found["predicted_trajectory"]]  # fmt: skip
        return {"output": found["response"], "intermediate_steps": steps}


def as_messages(prompt):
    found = agent(prompt)
    calls = [{"name": c["tool_name"], "args": c["tool_input"], "id": str(at), "type": "tool_call"}
             for at, c in enumerate(found["predicted_trajectory"])]  # fmt: skip
    return {"messages": [{"type": "human", "content": prompt},
                         {"type": "ai", "content": "", "tool_calls": calls},
                         {"type": "ai", "content": found["response"]}]}  # fmt: skip


RUNNABLES = {
    "function": agent,
    "async function": async_agent,
    "queryable": Queryable(),
    "a graph's messages": as_messages,
    "trajectory as JSON text": lambda p: {
        **agent(p), "predicted_trajectory": json.dumps(agent(p)["predicted_trajectory"])
    },
}  # fmt: skip
SCORES: dict[str, list[float]] = {
    "trajectory_exact_match": [1, 0], "trajectory_in_order_match": [1, 1],
    "trajectory_any_order_match": [1, 1], "trajectory_precision": [1, 0.5],
    "trajectory_recall": [1, 1], "exact_match": [1, 0], "rouge_1": [1, 0.5], "rouge_2": [0, 0],
    "rouge_l": [1, 0.5], "rouge_l_sum": [1, 0.5], "rouge": [1, 0.5],
}  # fmt: skip


NO_FUNCTION: Any = 3


def evaluate(dataset, chosen, **options):
    return EvalTask(dataset=dataset, metrics=chosen).evaluate(**options)


def check(result):
    for key, scores in SCORES.items():
        assert result.metrics_table[f"{key}/score"].tolist() == scores, key
        assert result.summary_metrics[f"{key}/mean"] == sum(scores) / 2


# ------------------------------------------------------------------------------ running


@pytest.mark.parametrize("kind", RUNNABLES)
def test_every_kind_of_runnable_is_graded_alike(kind):
    result = evaluate(ASKED, list(SCORES), runnable=RUNNABLES[kind])
    check(result)
    table = result.metrics_table
    assert table["response"].tolist() == ["500", "Fine boots"]
    names = [[call["tool_name"] for call in calls] for calls in table["predicted_trajectory"]]
    assert names == [["get_price"], ["get_price", "get_details"]]
    assert table["failure"].tolist() == [0, 0]
    assert (table["latency_in_seconds"] >= 0).all()


@pytest.mark.parametrize("kind", RUNNABLES)
def test_it_works_in_a_running_loop(kind):
    async def notebook():
        return evaluate(ASKED, ["trajectory_recall"], runnable=RUNNABLES[kind])

    assert asyncio.run(notebook()).summary_metrics["trajectory_recall/mean"] == 1


def test_answers_that_the_dataset_holds_are_graded():
    result = evaluate(ANSWERED, list(SCORES))
    check(result)
    assert result.metrics_table["failure"].isna().all()
    assert result.metrics_table["latency_in_seconds"].isna().all()
    assert result.summary_metrics["failure/mean"] is None
    assert result.summary_metrics["latency_in_seconds/std"] is None
    assert (result.run.rows[0].failure, result.run.rows[0].latency_in_seconds) == (None, None)


def test_the_same_scores_come_from_the_core():
    ours = evaluate(ASKED, list(SCORES), runnable=agent).run
    rows = pd.DataFrame(ASKED).to_dict("records")
    core = trajgrade.evaluate(rows, list(SCORES), agent=agent)
    assert [row.results for row in ours.rows] == [row.results for row in core.rows]


def test_a_model_gives_responses_only():
    data = {**ASKED, "predicted_trajectory": ANSWERED["predicted_trajectory"]}
    result = evaluate(
        data, ["exact_match", "trajectory_recall"], model=lambda p: agent(p)["response"]
    )
    assert result.metrics_table["exact_match/score"].tolist() == [1, 0]
    assert result.metrics_table["trajectory_recall/score"].tolist() == [1, 1]
    assert result.metrics_table["failure"].tolist() == [0, 0]

    class Generative:
        def generate_content(self, prompt):
            return SimpleNamespace(text=agent(prompt)["response"])

    result = evaluate(ASKED, ["exact_match"], model=Generative())
    assert result.summary_metrics["exact_match/mean"] == 0.5


def test_a_failing_agent_scores_0_and_its_rows_say_why():
    def failing(prompt):
        if "shoes" in prompt:
            raise ConnectionError("reset")
        return agent(prompt)

    custom = CustomMetric("calls", lambda row: len(row["predicted_trajectory"]))
    result = evaluate(ASKED, ["trajectory_recall", "rouge_1", custom], runnable=failing)
    summary, table = result.summary_metrics, result.metrics_table
    assert (summary["failure/mean"], summary["trajectory_recall/mean"]) == (0.5, 0.5)
    assert summary["calls/mean"] == 1
    assert result.run.summary["calls"].kinds == {"agent_failed": 1}
    assert table["failure"].tolist() == [0, 1]
    assert table["response"][1] is None
    assert table["predicted_trajectory"][1] is None
    assert table["agent_error"].tolist() == [None, "ConnectionError: reset"]
    assert table["trajectory_recall/explanation"][1] == "the agent failed: ConnectionError: reset"
    assert "reset" in result.run.rows[1].agent_error.traceback
    kept = evaluate(ASKED, ["trajectory_recall"], runnable=failing, on_failure="exclude")
    assert kept.summary_metrics["trajectory_recall/mean"] == 1


def test_what_is_in_the_dataset_does_not_stand_in_for_the_agent():
    with pytest.warns(UserWarning, match="'response', 'predicted_trajectory'"):
        result = evaluate(ANSWERED, ["exact_match"], runnable=lambda p: {"response": "new"})
    assert result.metrics_table["response"].tolist() == ["new", "new"]
    assert result.metrics_table["predicted_trajectory"].tolist() == [None, None]


def test_latency_and_failure_are_there_without_any_metric():
    result = evaluate(ASKED, [], runnable=agent)
    assert set(result.summary_metrics) == {
        "row_count", "latency_in_seconds/mean", "latency_in_seconds/std", "failure/mean",
        "failure/std",
    }  # fmt: skip


def test_latency_that_was_recorded_is_summed_up():
    data = {**ANSWERED, "latency_in_seconds": [1.0, 3.0], "failure": [0, 1]}
    result = evaluate(data, ["exact_match"])
    assert result.summary_metrics["latency_in_seconds/mean"] == 2
    assert result.summary_metrics["failure/mean"] == 0.5


def test_one_row_has_no_deviation():
    one = {name: values[:1] for name, values in ANSWERED.items()}
    assert evaluate(one, ["exact_match"]).summary_metrics["exact_match/std"] is None


def test_an_interrupt_keeps_what_is_done():
    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError) as stopped:
        evaluate(ASKED, ["exact_match"], runnable=agent, on_progress=stop)
    assert len(stopped.value.run.rows) == 1


# ------------------------------------------------------------------------------ datasets


def files(folder):
    rows = pd.DataFrame(ANSWERED).to_dict("records")
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "columns.json").write_text(json.dumps(ANSWERED))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flat = pd.DataFrame(ANSWERED)
    for name in ("reference_trajectory", "predicted_trajectory"):
        flat[name] = flat[name].map(json.dumps)
    flat.to_csv(folder / "rows.csv", index=False)
    return {
        "frame": pd.DataFrame(ANSWERED),
        "frame with an index": pd.DataFrame(ANSWERED, index=["x", "y"]),
        "frame of JSON text": flat,
        "dict of columns": ANSWERED,
        "list of rows": rows,
        "JSON rows": str(folder / "rows.json"),
        "JSON columns": folder / "columns.json",
        "JSON Lines": folder / "rows.jsonl",
        "CSV": str(folder / "rows.csv"),
    }


def test_every_form_of_dataset_gives_the_same_scores(tmp_path):
    for form, dataset in files(tmp_path).items():
        result = evaluate(dataset, list(SCORES))
        check(result)
        table = result.metrics_table
        assert list(table.columns)[:3] == list(ASKED), form
        assert table["response"].tolist() == ["500", "Fine boots"], form


def test_a_frame_keeps_its_index_and_its_types():
    frame = pd.DataFrame({**ANSWERED, "weight": [1, 2]}, index=["x", "y"])
    frame["weight"] = frame["weight"].astype("int8")
    before = frame.copy(deep=True)
    task = EvalTask(dataset=frame, metrics=["exact_match"])
    table = task.evaluate().metrics_table
    assert list(table.index) == ["x", "y"]
    assert table["weight"].dtype == "int8"
    assert table["exact_match/score"].dtype == "float64"
    assert task.dataset is frame
    pd.testing.assert_frame_equal(frame, before)


def test_the_dataset_is_a_frame(tmp_path):
    task = EvalTask(dataset=files(tmp_path)["CSV"], metrics=["exact_match"], experiment="e")
    assert list(task.dataset.columns) == list(ANSWERED)
    assert (task.metrics, task.experiment) == (["exact_match"], "e")


def test_a_call_may_lack_its_input_and_a_number_of_rows_their_columns():
    rows = [
        {
            "predicted_trajectory": [{"tool_name": "now"}],
            "reference_trajectory": [{"tool_name": "now", "tool_input": {}}],
        },
        {"predicted_trajectory": '[{"tool_name": "now"}]'},
    ]
    result = evaluate(rows, ["trajectory_exact_match"])
    assert result.run.rows[0].results["trajectory_exact_match"].score == 1
    assert result.run.rows[1].results["trajectory_exact_match"].error.kind == "no_reference"


def test_ids_that_tell_rows_apart_are_kept_and_others_are_no_error():
    unique = evaluate({**ANSWERED, "id": ["a", "b"]}, ["exact_match"])
    assert [row.id for row in unique.run.rows] == ["a", "b"]
    twice = evaluate({**ANSWERED, "id": ["a", "a"]}, ["exact_match"])
    assert [row.id for row in twice.run.rows] == ["#0", "#1"]
    trials = evaluate({**ANSWERED, "id": ["a", "a"], "trial": [0, 1]}, ["exact_match"])
    assert (trials.run.n_examples, len(trials.run.rows)) == (1, 2)


# ------------------------------------------------------------------------------ columns


def test_a_prediction_given_where_a_reference_is_needed_is_the_likely_one():
    """The commonest mistake of that SDK's users."""
    data = {"prompt": ["a"], "predicted_trajectory": [[PRICE]]}
    for options in ({"runnable": agent}, {}):
        with pytest.raises(DatasetError) as refused:
            evaluate(data, ["trajectory_exact_match", "trajectory_recall"], **options)
        message = str(refused.value)
        assert message.startswith(
            "trajectory_exact_match, trajectory_recall: needs 'reference_traj"
        )
        assert "Columns: prompt, predicted_trajectory" in message
        assert "metric_column_mapping={'reference_trajectory': 'predicted_trajectory'}" in message
    mapped = {"reference_trajectory": "predicted_trajectory"}
    task = EvalTask(dataset=data, metrics=["trajectory_recall"], metric_column_mapping=mapped)
    with pytest.warns(UserWarning, match="does not count in 'predicted_trajectory'"):
        result = task.evaluate(runnable=lambda p: {"predicted_trajectory": [PRICE]})
    assert result.summary_metrics["trajectory_recall/mean"] == 1


@pytest.mark.parametrize(
    ("data", "chosen", "options", "said"),
    [
        ({"prompt": ["a"], "refrence": ["x"]}, ["rouge_1"], {"model": str}, "Did you mean 'refrence'?"),
        ({"prompt": ["a"], "reference": ["x"]}, ["exact_match"], {}, r"evaluate\(runnable=…\), or evaluate\(model=…\)"),
        ({"reference_trajectory": [[PRICE]]}, ["trajectory_recall"], {}, r"agent that answers each prompt: evaluate\(runnable=…\)"),
        ({"prompt": ["a"], "reference": [None]}, ["exact_match"], {"model": str}, "the column 'reference' holds nothing in any row"),
        ({"question_text": ["a"], "reference": ["x"]}, ["exact_match"], {"model": str}, "no column 'prompt'.*Columns: question_text"),
        ({"promt": ["a"], "reference": ["x"]}, ["exact_match"], {"runnable": agent}, "Did you mean 'promt'?"),
        ({"response": ["a"], "truth": ["x"]}, ["bleu"], {}, r"metric_column_mapping=\{'reference': …\}"),
    ],
)  # fmt: skip
def test_a_missing_column_names_what_there_is_and_what_was_meant(data, chosen, options, said):
    with pytest.raises(DatasetError, match=said):
        evaluate(data, chosen, **options)


def test_all_missing_columns_are_said_at_once_before_anything_runs():
    called: list = []
    with pytest.raises(DatasetError) as refused:
        evaluate(
            {"prompt": ["a"]}, ["rouge_1", "bleu", "trajectory_recall"], runnable=called.append
        )
    assert str(refused.value).splitlines()[0].startswith("rouge_1, bleu: needs 'reference'")
    assert str(refused.value).splitlines()[1].startswith("trajectory_recall: needs 'reference_traj")
    assert called == []


def test_columns_may_have_other_names():
    data = {
        "question": ANSWERED["prompt"], "truth": ANSWERED["reference"],
        "model_1": ANSWERED["response"], "model_2": ["x", "y"],
        "should": ANSWERED["reference_trajectory"], "did": ANSWERED["predicted_trajectory"],
    }  # fmt: skip
    mapping = {
        "reference": "truth", "response": "model_1", "reference_trajectory": "should",
        "predicted_trajectory": "did",
    }  # fmt: skip
    task = EvalTask(dataset=data, metrics=list(SCORES), metric_column_mapping=mapping)
    check(task.evaluate())
    other = task.evaluate(response_column_name="model_2")
    assert other.summary_metrics["exact_match/mean"] == 0
    assert other.metrics_table["response"].tolist() == ["x", "y"]
    mapped = EvalTask(dataset=data, metrics=["exact_match"], metric_column_mapping=mapping)
    assert mapped.evaluate().summary_metrics["exact_match/mean"] == 0.5


def test_a_name_that_is_mapped_to_no_column_is_refused():
    with pytest.raises(
        ConfigError,
        match=r"'reference': the dataset has no column 'refernce'\. Did you mean 'reference'",
    ):
        EvalTask(
            dataset=ANSWERED, metrics=["bleu"], metric_column_mapping={"reference": "refernce"}
        )
    task = EvalTask(dataset=ANSWERED, metrics=["exact_match"])
    for name in ("response_column_name", "baseline_model_response_column_name"):
        with pytest.raises(ConfigError, match=r"no column 'respnse'\. Did you mean 'response'"):
            task.evaluate(**{name: "respnse"})  # type: ignore[arg-type]


# ------------------------------------------------------------------------------ prompts


def test_prompts_are_filled_by_replacement():
    asked: list = []

    def echo(prompt):
        asked.append(prompt)
        return prompt

    data = {
        "instruction": ["Sum {context}", "B"],
        "context": ['{"a": {"b": 1}}', 2],
        "reference": ["x", "y"],
    }
    template = 'Reply as {"answer": "{x}"}: {instruction} | {context} | {{instruction}} | {0'
    result = EvalTask(dataset={**data, "x": ["1", "2"]}, metrics=["exact_match"]).evaluate(
        model=echo, prompt_template=template, max_concurrency=1
    )
    first = 'Reply as {"answer": "1"}: Sum {context} | {"a": {"b": 1}} | {instruction} | {0'
    assert asked[0] == result.metrics_table["prompt"][0] == first
    assert asked[1].endswith("B | 2 | {instruction} | {0")
    assert result.metadata["prompt_template"] == template


def test_a_template_may_be_an_object_and_replaces_the_prompts():
    template = PromptTemplate("{prompt} Please.")
    result = evaluate(ASKED, ["exact_match"], model=lambda p: p, prompt_template=template)
    assert result.metrics_table["prompt"][1] == "Your shoes? Please."


def test_variables_that_are_no_columns_are_named_at_once():
    with pytest.raises(ConfigError) as refused:
        evaluate(ASKED, [], model=str, prompt_template="{promt} {context} {reference}")
    assert "prompt_template: {context}: the dataset has no column 'context'" in str(refused.value)
    assert "{promt}: the dataset has no column 'promt'. Did you mean 'prompt'?" in str(
        refused.value
    )
    assert "write {{promt}}" in str(refused.value)
    with pytest.raises(ConfigError, match="it is empty"):
        evaluate(ASKED, [], model=str, prompt_template=" ")


def test_a_template_is_filled_part_by_part():
    template = PromptTemplate("{a} and {b} and {{c}}")
    assert template.variables == template.placeholders == {"a", "b"}
    half = template.assemble(a="{b}", z="unused")
    assert str(half) == half.template == half.prompt_data == "{b} and {b} and {c}"
    assert half.variables == {"b"}
    assert str(half.assemble(b={"k": None})) == '{b} and {"k": null} and {c}'
    assert str(half.assemble(b=None)) == "{b} and  and {c}"
    assert repr(PromptTemplate("{a}")) == "PromptTemplate('{a}')"
    assert str(PromptTemplate(half).assemble(b=1)) == "{b} and 1 and {c}"


# ------------------------------------------------------------------------------ metrics


def test_every_name_of_vertex_is_computed_or_refused_with_a_way_out():
    assert sorted(COMPUTED) == sorted(
        {*SCORES, "bleu", *(n for n in COMPUTED if n.startswith("tool_"))}
    )
    EvalTask(dataset=ANSWERED, metrics=list(COMPUTED))
    for name in JUDGED:
        offered = name == "rubric_based_instruction_following" or example_exists(name)
        why = "judged by a model, and judge: none" if offered else "Vertex AI has given it up"
        with pytest.raises(ConfigError, match=f"metrics: {name}: {why}"):
            EvalTask(dataset=ANSWERED, metrics=[name])


def example_exists(name):
    return name in MetricPromptTemplateExamples.list_example_metric_names()


def test_all_that_lacks_a_judge_is_refused_in_one_error_with_every_other_fault():
    pointwise = PointwiseMetric(metric="tone", metric_prompt_template="Rate {response}")
    pairwise = MetricPromptTemplateExamples.Pairwise.SAFETY
    with pytest.raises(ConfigError) as refused:
        EvalTask(
            dataset=ANSWERED, metrics=["fluency", pointwise, "exact_match", pairwise, "rogue_1"]
        )
    assert len(refused.value.faults) == 2
    assert "fluency, tone, pairwise_safety: judged by a model" in str(refused.value)
    assert "AutoraterConfig(autorater_model=" in str(refused.value)
    assert "Did you mean 'rouge_1'" in str(refused.value)


def test_metrics_of_every_kind_stand_side_by_side():
    def words(response):
        return len(response.split())

    chosen = [
        "trajectory_f1", {"name": "trajectory_match", "params": {"mode": "superset"}, "key": "all"},
        EditDistance(), words, TrajectorySingleToolUse(tool_name="get_price"),
        TrajectorySingleToolUse(tool_name="get_details"), Rouge(rouge_type="rouge1"),
        Rouge(rouge_type="rougeLsum", use_stemmer=True, split_summaries=True),
        CustomMetric(name="custom", metric_function=lambda row: {"custom": -2.5}),
    ]  # fmt: skip
    summary = evaluate(ANSWERED, chosen).summary_metrics
    assert {key.removesuffix("/mean") for key in summary if key.endswith("/mean")} == {
        "trajectory_f1", "all", "edit_distance", "words", "trajectory_single_tool_use:get_price",
        "trajectory_single_tool_use:get_details", "rouge:rouge1", "rouge:rougeLsum", "custom",
        "latency_in_seconds", "failure",
    }  # fmt: skip
    assert summary["trajectory_single_tool_use:get_details/mean"] == 0.5
    assert summary["words/mean"] == 1.5
    assert summary["custom/mean"] == -2.5


def test_one_single_tool_use_has_vertex_name():
    tool = TrajectorySingleToolUse(tool_name="get_price")
    assert str(tool) == tool.metric_name == "trajectory_single_tool_use"
    assert "trajectory_single_tool_use/mean" in evaluate(ANSWERED, [tool]).summary_metrics
    assert str(Rouge(rouge_type="rougeL")) == "rouge"


def test_two_metrics_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="exact_match"):
        EvalTask(dataset=ANSWERED, metrics=["exact_match", "exact_match"])
    with pytest.raises(ConfigError, match="a list is needed"):
        EvalTask(dataset=ANSWERED, metrics="exact_match")


def test_tool_calls_as_json():
    call = '{"content": "", "tool_calls": [{"name": "book", "arguments": {"film": "Alien"}}]}'
    other = '{"content": "", "tool_calls": [{"name": "book", "arguments": {"film": "Heat"}}]}'
    data = {"response": [call, other], "reference": [call, call]}
    chosen = [name for name in COMPUTED if name.startswith("tool_")]
    summary = evaluate(data, chosen).summary_metrics
    assert [summary[f"{name}/mean"] for name in chosen] == [1, 1, 1, 0.5]


def test_a_corpus_score_is_never_the_mean_of_the_rows():
    result = evaluate(ANSWERED, ["rouge_1", "bleu", "exact_match"])
    assert set(result.metadata["corpus"]) == {"rouge_1", "bleu"}
    assert result.metadata["corpus"]["rouge_1"] == result.run.summary["rouge_1"].corpus == 2 / 3
    assert result.summary_metrics["rouge_1/mean"] == 0.75


# ------------------------------------------------------------------------------ custom metrics


def test_a_custom_metric_sees_the_row_and_what_was_answered():
    seen: list = []

    def look(instance):
        seen.append(instance)
        return {
            "look": len(instance["predicted_trajectory"]),
            "tools": [c["tool_name"] for c in instance["predicted_trajectory"]],
        }

    custom = CustomMetric(name="look", metric_function=look)
    result = evaluate(
        {**ASKED, "extra": [1, 2]}, [custom], runnable=RUNNABLES["a graph's messages"]
    )
    assert list(seen[0]) == [
        *ASKED,
        "extra",
        "response",
        "predicted_trajectory",
        "latency_in_seconds",
        "failure",
    ]
    assert (seen[1]["extra"], seen[1]["response"], seen[1]["failure"]) == (2, "Fine boots", 0)
    assert result.metrics_table["look/score"].tolist() == [1, 2]
    assert result.metrics_table["look/tools"][1] == ["get_price", "get_details"]
    seen.clear()
    text = {
        **ANSWERED,
        "predicted_trajectory": [json.dumps(t) for t in ANSWERED["predicted_trajectory"]],
    }
    evaluate(text, [custom])
    assert seen[0]["predicted_trajectory"] == [PRICE]


@pytest.mark.parametrize(
    ("returned", "score", "comment"),
    [
        ({"m": 3}, 3, ""),
        ({"m": 0.5, "explanation": "half"}, 0.5, "half"),
        ({"score": -1e9, "explanation": "much"}, -1e9, "much"),
        (7, 7, ""),
        (True, 1, ""),
    ],
)
def test_any_finite_number_is_a_score(returned, score, comment):
    result = evaluate(ANSWERED, [CustomMetric("m", lambda row: returned)])
    assert result.metrics_table["m/score"].tolist() == [score, score]
    assert result.metrics_table["m/explanation"][0] == comment


@pytest.mark.parametrize(
    ("returned", "kind", "said"),
    [
        (None, "undefined", ""),
        ({"m": None}, "undefined", ""),
        (float("nan"), "evaluator", "nan"),
        ({"m": float("inf")}, "evaluator", "inf"),
        ({"M": 1}, "evaluator", "must be under 'm' or 'score'"),
        ("high", "evaluator", "str 'high'"),
    ],
)
def test_what_is_no_score_is_its_rows_error_alone(returned, kind, said):
    metric = CustomMetric("m", lambda row: returned if row["reference"] == "500" else 1)
    run = evaluate(ANSWERED, [metric, "exact_match"]).run
    assert run.rows[0].results["m"].error.kind == kind
    assert said in run.rows[0].results["m"].error.message
    assert run.summary["m"].mean == 1
    assert run.summary["exact_match"].n_scored == 2


def test_a_custom_metric_works_behind_the_core_as_well():
    metric = CustomMetric(
        "m", lambda row: len(row["prompt"]), range=(0.0, 100.0), direction="lower"
    )
    rows = pd.DataFrame(ANSWERED).to_dict("records")
    assert trajgrade.evaluate(rows, [metric]).summary["m"].mean == 15
    assert trajgrade.evaluate(rows, [metric], agent=agent).summary["m"].column.direction == "lower"
    assert metric.evaluate(inputs="abc").score == 3
    assert (str(metric), metric.metric_name, metric.name) == ("m", "m", "m")
    assert repr(metric) == "CustomMetric(name='m', metric_function=<lambda>)"


def test_what_is_no_custom_metric_is_refused():
    with pytest.raises(ConfigError, match="name"):
        CustomMetric("", len)
    with pytest.raises(ConfigError, match="a function of the row"):
        CustomMetric("m", NO_FUNCTION)


# ------------------------------------------------------------------------------ what is not local


def test_what_has_no_local_meaning_says_what_takes_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(
        UserWarning,
        match="gs is not reached from here; metrics tables are written to the folder bucket/runs",
    ):
        task = EvalTask(
            dataset=ANSWERED, metrics=["exact_match"], output_uri_prefix="gs://bucket/runs"
        )
    assert task.output_uri_prefix == "gs://bucket/runs"
    with pytest.warns(
        UserWarning, match="evaluation_service_qps=5 and retry_timeout=9: metrics are computed here"
    ):
        result = task.evaluate(evaluation_service_qps=5, retry_timeout=9)
    (written,) = (tmp_path / "bucket" / "runs").glob("eval_results_*.csv")
    assert result.metadata["output_file"] == str(written.relative_to(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.evaluate(retry_timeout=120.0)


def test_the_table_is_written_and_read_back(tmp_path):
    data = {**ANSWERED, "note": ["=1+1", None]}
    task = EvalTask(dataset=data, metrics=["exact_match"], output_uri_prefix=str(tmp_path / "out"))
    task.evaluate(output_file_name="table.csv")
    again = EvalTask(dataset=tmp_path / "out" / "table.csv", metrics=["trajectory_recall"])
    assert again.dataset["exact_match/score"].tolist() == [1, 0]
    assert again.dataset["note"].tolist()[0] == "=1+1"
    assert "'=1+1" in (tmp_path / "out" / "table.csv").read_text()
    assert again.evaluate().summary_metrics["trajectory_recall/mean"] == 1


def test_places_in_the_cloud_are_no_datasets():
    for place in ("gs://bucket/data.csv", "bq://project.dataset.table"):
        with pytest.raises(DatasetError, match="no local path; download it"):
            EvalTask(dataset=place, metrics=["exact_match"])


def test_a_model_by_name_says_what_to_give():
    with pytest.raises(ConfigError, match="names no provider"):
        evaluate(ASKED, ["exact_match"], model="gemini-2.5-pro")
    with pytest.raises(ConfigError, match="runnable and model"):
        evaluate(ASKED, ["exact_match"], model=str, runnable=agent)
    with pytest.raises(ConfigError, match="the dataset holds some in 'response'"):
        evaluate(ANSWERED, ["exact_match"], model=str)
    with pytest.raises(ConfigError, match="is no agent"):
        evaluate(ASKED, ["exact_match"], runnable=3)


def test_runs_of_an_experiment_are_shown(capsys):
    task = EvalTask(dataset=ANSWERED, metrics=["exact_match"], experiment="shoes")
    result = task.evaluate(experiment_run_name="first")
    assert (result.metadata["experiment"], result.metadata["experiment_run"]) == ("shoes", "first")
    assert result.run.name == "first"
    assert task.evaluate().run.name != task.evaluate().run.name
    task.display_runs()
    printed = capsys.readouterr().out
    assert "first" in printed
    assert printed.count("exact_match/mean: 0.500") == 3
    plain = EvalTask(dataset=ANSWERED, metrics=["exact_match"])
    with pytest.raises(ConfigError, match="name an experiment"):
        plain.display_runs()
    with pytest.raises(ConfigError, match="no experiment to name a run in"):
        plain.evaluate(experiment_run_name="first")


@pytest.mark.parametrize("address", ["runs.db", "runs/"])
def test_runs_of_an_experiment_are_kept_and_shown_by_the_next_task(tmp_path, capsys, address):
    store = f"{tmp_path}/{address}"
    first = EvalTask(dataset=ANSWERED, metrics=["exact_match"], experiment="shoes", store=store)
    result = first.evaluate(experiment_run_name="first")
    EvalTask(dataset=ANSWERED, metrics=["bleu"], experiment="hats", store=store).evaluate()
    asked = EvalTask(dataset=ASKED, metrics=["bleu"], experiment="shoes", store=store)
    asked.evaluate(runnable=lambda prompt: prompt, experiment_run_name="second")
    capsys.readouterr()
    EvalTask(dataset=ANSWERED, metrics=["rouge"], experiment="shoes", store=store).display_runs()
    shown = capsys.readouterr().out
    assert shown.index("first") < shown.index("second")
    assert result.run.id in shown
    assert "exact_match/mean: 0.500" in shown
    assert "failure/mean: 0.000" in shown
    assert "hats" not in shown


def test_faults_name_the_place_of_a_metric_in_the_list_that_was_given():
    with pytest.raises(ConfigError) as wrong:
        EvalTask(dataset=ANSWERED, metrics=["safety", "exact_match", "coherence", 3])
    assert [fault for fault in wrong.value.faults if fault.startswith("metrics[3]")]


def test_without_pandas_all_but_the_frames_is_there(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    task = EvalTask(dataset=ANSWERED, metrics=["exact_match"])
    result = task.evaluate()
    assert result.summary_metrics["exact_match/mean"] == 0.5
    for frame in (lambda: result.metrics_table, lambda: task.dataset):
        with pytest.raises(MissingExtraError, match=r"pandas: pip install 'trajgrade\[pandas\]'"):
            frame()


# ------------------------------------------------------------------------------ names


def test_the_signatures_are_vertex():
    assert list(inspect.signature(EvalTask).parameters) == [
        "dataset", "metrics", "experiment", "metric_column_mapping", "output_uri_prefix",
        "autorater_config", "store",
    ]  # fmt: skip
    assert list(inspect.signature(EvalTask.evaluate).parameters)[1:10] == [
        "model", "runnable", "prompt_template", "experiment_run_name", "response_column_name",
        "baseline_model_response_column_name", "evaluation_service_qps", "retry_timeout",
        "output_file_name",
    ]  # fmt: skip
    assert {*metrics.__all__} >= {
        "CustomMetric", "PairwiseMetric", "PointwiseMetric", "PairwiseMetricPromptTemplate",
        "PointwiseMetricPromptTemplate", "MetricPromptTemplateExamples", "Rouge",
        "TrajectorySingleToolUse",
    }  # fmt: skip


def test_judged_metrics_are_records():
    template = PointwiseMetricPromptTemplate(
        criteria={"tone": "It is kind."},
        rating_rubric={"1": "Kind.", "0": "Not kind."},
        input_variables=["prompt", "predicted_trajectory"],
        few_shot_examples=["Hello! -> 1"],
    )
    assert template.variables == {"prompt", "predicted_trajectory", "response"}
    metric = PointwiseMetric(metric="tone", metric_prompt_template=template)
    assert (str(metric), metric.metric_name) == ("tone", "tone")
    assert "tone: It is kind." in metric.metric_prompt_template
    pair = PairwiseMetric(metric="better", metric_prompt_template="{response}", baseline_model=str)
    assert pair.baseline_model is str
    with pytest.raises(ConfigError, match="1 to 32"):
        AutoraterConfig(sampling_count=33)
    with pytest.raises(ConfigError, match="metric: a text is needed"):
        PointwiseMetric(metric="", metric_prompt_template="x")


def test_examples_of_prompts_are_there_by_name():
    examples = MetricPromptTemplateExamples
    for name in examples.list_example_metric_names():
        prompt = examples.get_prompt_template(name)
        assert "{response}" in prompt
        assert ("{baseline_model_response}" in prompt) == name.startswith("pairwise_")
        kind = examples.Pairwise if name.startswith("pairwise_") else examples.Pointwise
        metric = getattr(kind, name.removeprefix("pairwise_").upper())
        assert (metric.metric_name, metric.metric_prompt_template) == (name, prompt)
    assert "FLUENCY" in dir(examples.Pointwise)
    assert not hasattr(examples.Pointwise, "fluency")
    with pytest.raises(KeyError, match="Did you mean 'fluency'"):
        examples.get_prompt_template("fluenci")


def test_a_result_of_ones_own_has_no_run():
    result = EvalResult({"row_count": 1, "m/mean": 1.0}, pd.DataFrame({"m/score": [1.0]}))
    assert result.run is None
    assert result.metadata == {}
    assert len(result.metrics_table) == 1
    assert "m/mean" in repr(result)
    assert "exact_match=0.500 (2/2)" in repr(evaluate(ANSWERED, ["exact_match"]))
    assert "rows from dataset: exact_match" in repr(
        EvalTask(dataset=ANSWERED, metrics=["exact_match"])
    )


def test_a_metric_without_any_score_is_no_silent_hole():
    with pytest.warns(UserWarning, match=r"trajectory_recall: no row has a score \(no_output 2\)"):
        result = evaluate(ASKED, ["trajectory_recall"], runnable=lambda p: {"response": "only"})
    assert result.summary_metrics["trajectory_recall/mean"] is None


class Mute:
    def __repr__(self):
        raise RuntimeError

    def __getattr__(self, name):
        raise RuntimeError


def endless():
    found: list = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    "returned",
    [
        object(), Mute(), endless(), {"response": Mute(), "predicted_trajectory": [Mute()]},
        {"response": "a", "predicted_trajectory": endless()}, {"messages": 5}, b"x", float("nan"),
        10**5000, (n for n in "ab"), {"response": "\ud800", "predicted_trajectory": "[{"},
    ],
    ids=range(11),
)  # fmt: skip
def test_garbage_is_its_rows_alone_and_the_table_is_written(returned, tmp_path):
    def agent(prompt):
        return (
            returned
            if "phone" in prompt
            else {"response": "Fine shoes", "predicted_trajectory": [DETAILS]}
        )

    task = EvalTask(dataset=ASKED, metrics=["trajectory_recall", "exact_match", "bleu"])
    result = task.evaluate(runnable=agent, output_file_name=str(tmp_path / "t.csv"))
    first, second = result.run.rows
    assert first.failure == second.failure == 0
    assert [r.score for r in second.results.values()] == [1, 1, pytest.approx(1)]
    assert first.results["trajectory_recall"].score is None
    assert len(EvalTask(dataset=tmp_path / "t.csv", metrics=[]).dataset) == 2
    assert len(result.metrics_table) == 2
