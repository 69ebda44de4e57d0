"""Vertex AI's model-based metrics, by a judge that is named: ratings, pairs, columns, win rates."""

from __future__ import annotations

import warnings

import pytest

from trajgrade.errors import ConfigError, DatasetError
from trajgrade.evaluation import (
    AutoraterConfig,
    EvalTask,
    MetricPromptTemplateExamples,
    PairwiseMetric,
    PointwiseMetric,
    PointwiseMetricPromptTemplate,
)
from trajgrade.evaluation.judged import PAIRWISE, POINTWISE, RubricBasedMetric
from trajgrade.evaluators import build_evaluator
from trajgrade.judges.scripted import ScriptedJudge

ROWS = {
    "prompt": ["Say hello", "Say goodbye"],
    "response": ["Hello", "Bye now"],
    "baseline_model_response": ["Hm", "Goodbye"],
    "history": ["-", "-"],
}


def rating(*scores):
    return ScriptedJudge([{"reasoning": f"worth {s}", "score": s} for s in scores])


def task(metrics, judge, rows=ROWS, **more):
    config = AutoraterConfig(autorater_model=judge)
    return EvalTask(dataset=rows, metrics=metrics, autorater_config=config, **more)


def prefers(*texts):
    """A judge that says that the response is better which holds one of the texts."""

    def say(request):
        first, _, second = request.turns[-1].text.partition("## Response B")
        first = first.partition("## Response A")[2]
        wins = [any(text in part for text in texts) for part in (first, second)]
        choice = "SAME" if wins[0] == wins[1] else "AB"[wins[1]]
        return {"reasoning": "as I like it", "choice": choice}

    return ScriptedJudge(say)


def test_a_rating_is_the_score_as_users_of_vertex_know_it():
    found = task(["fluency"], rating(5, 2)).evaluate()
    assert list(found.metrics_table["fluency/score"]) == [5, 2]
    assert list(found.metrics_table["fluency/explanation"]) == ["worth 5", "worth 2"]
    assert found.summary_metrics["fluency/mean"] == 3.5
    assert found.summary_metrics["fluency/std"] == pytest.approx(2.1213203)


def test_the_evaluator_of_the_registry_has_the_same_as_0_to_1():
    found = build_evaluator("pointwise_fluency", {"judge": rating(4)}).evaluate(
        outputs="Hello", inputs="Say hello"
    )
    assert (found.score, found.value) == (0.75, 4)
    verbosity = build_evaluator("pointwise_verbosity", {"judge": rating(-2)})
    assert verbosity.evaluate(outputs="Hello", inputs="Say hello").score == 0


@pytest.mark.parametrize("name", POINTWISE)
def test_every_pointwise_name_asks_with_the_row_in_the_prompt(name):
    judge = rating(1, 1)
    found = task([name], judge).evaluate()
    assert found.summary_metrics[f"{name}/mean"] == 1
    shown = [request.turns[-1].text for request in judge.asked]
    assert all("## Criteria" in text for text in shown)
    assert any("Hello" in text and "Say hello" in text for text in shown)


@pytest.mark.parametrize("name", PAIRWISE)
def test_every_pairwise_name_asks_in_both_orders(name):
    judge = prefers("Hello", "Goodbye")
    found = task([name], judge).evaluate()
    assert len(judge.asked) == 4
    assert list(found.metrics_table[f"{name}/pairwise_choice"]) == ["CANDIDATE", "BASELINE"]
    assert found.summary_metrics[f"{name}/candidate_model_win_rate"] == 0.5
    assert found.summary_metrics[f"{name}/baseline_model_win_rate"] == 0.5


def test_a_judge_that_always_says_a_makes_every_pair_a_tie():
    judge = ScriptedJudge({"reasoning": "the first", "choice": "A"})
    found = task(["pairwise_fluency"], judge).evaluate()
    assert list(found.metrics_table["pairwise_fluency/pairwise_choice"]) == ["TIE", "TIE"]
    assert found.summary_metrics["pairwise_fluency/candidate_model_win_rate"] == 0
    assert "changes with the order" in found.metrics_table["pairwise_fluency/explanation"][0]


def test_votes_of_a_pair_are_counted_and_a_tie_of_votes_is_a_tie():
    judges = [prefers("Hello"), prefers("Hm"), prefers("Hello"), prefers("Hm")]
    for panel, choice in ((judges[:3], "CANDIDATE"), (judges, "TIE")):
        pair = build_evaluator("pairwise_fluency", {"judge": panel})
        row = {"baseline_model_response": "Hm"}
        found = pair.evaluate(outputs="Hello", inputs="Say hello", row=row)
        assert found.value == choice


def test_a_metric_of_ones_own_with_a_rubric_takes_its_ratings_only():
    template = PointwiseMetricPromptTemplate(
        criteria={"kind": "It is kind."}, rating_rubric={"0": "no", "10": "yes"}
    )
    metric = PointwiseMetric(metric="kindness", metric_prompt_template=template)
    found = task([metric], rating(10, 7, 7)).evaluate()
    assert found.run.summary["kindness"].kinds == {"unreadable_verdict": 1}
    assert found.summary_metrics["kindness/mean"] == 10


def test_a_prompt_that_is_a_text_has_a_scale_of_its_own():
    metric = PointwiseMetric(metric="length", metric_prompt_template="0 to 100? {response}")
    judge = rating(83.5, 20)
    found = task([metric], judge).evaluate()
    assert list(found.metrics_table["length/score"]) == [83.5, 20]
    assert judge.asked[0].turns[-1].text.startswith("0 to 100? ")


def test_a_column_that_a_prompt_needs_is_asked_for_before_anything_runs():
    judge = rating(1)
    metric = PointwiseMetric(metric="m", metric_prompt_template="{contxt} {response}")
    with pytest.raises(DatasetError, match="m: needs 'contxt'"):
        task([metric], judge, {**ROWS, "context": ["x", "y"]}).evaluate()
    assert judge.asked == []


def test_columns_may_be_mapped():
    rows = {"q": ["Say hello"], "mine": ["Hello"], "theirs": ["Hm"]}
    mapping = {"prompt": "q", "response": "mine", "baseline_model_response": "theirs"}
    found = task(
        ["pairwise_fluency"], prefers("Hello"), rows, metric_column_mapping=mapping
    ).evaluate()
    assert found.metrics_table["pairwise_fluency/pairwise_choice"][0] == "CANDIDATE"


def test_a_metrics_own_judge_comes_before_the_tasks():
    own = rating(3, 3)
    metric = PointwiseMetric(
        metric="m", metric_prompt_template="{response}",
        autorater_config=AutoraterConfig(autorater_model=own),
    )  # fmt: skip
    others = ScriptedJudge("must not be asked")
    assert task([metric], others).evaluate().summary_metrics["m/mean"] == 3
    assert others.asked == []


def test_each_row_may_be_judged_several_times():
    judge = rating(*[1, 5, 3] * 2)
    config = AutoraterConfig(autorater_model=judge, sampling_count=3)
    found = EvalTask(dataset=ROWS, metrics=["fluency"], autorater_config=config).evaluate()
    assert len(judge.asked) == 6
    assert found.summary_metrics["fluency/mean"] == 3


def test_that_a_pair_is_not_flipped_cannot_be_asked_for():
    config = AutoraterConfig(autorater_model=prefers("Hello"), flip_enabled=False)
    with pytest.warns(UserWarning, match="both orders"):
        EvalTask(dataset=ROWS, metrics=["pairwise_fluency"], autorater_config=config)


def test_criteria_are_written_for_each_prompt_and_checked():
    def say(request):
        if "Write criteria" in request.turns[-1].text:
            return {"reasoning": "…", "criteria": ["greets", "is short"]}
        return {"c1": {"why": "…", "met": True}, "c2": {"why": "…", "met": False}}

    judge = ScriptedJudge(say)
    for metric in ("rubric_based_instruction_following", RubricBasedMetric(metric="rubric_based")):
        found = task([metric], judge).evaluate()
        assert found.summary_metrics[f"{metric}/mean"] == 0.5


def test_ratings_that_are_no_numbers_are_refused():
    template = PointwiseMetricPromptTemplate(criteria={"a": "b"}, rating_rubric={"good": "x"})
    metric = PointwiseMetric(metric="m", metric_prompt_template=template)
    with pytest.raises(ConfigError, match="each rating is a number, got good"):
        task([metric], rating(1))


def test_the_examples_are_metrics():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics = [
            MetricPromptTemplateExamples.Pointwise.COHERENCE,
            MetricPromptTemplateExamples.Pairwise.COHERENCE,
            PairwiseMetric(metric="p", metric_prompt_template="{response}"),
        ]
        made = task(metrics, rating(5))
    assert [str(metric) for metric in made.metrics] == ["coherence", "pairwise_coherence", "p"]


def test_a_model_may_give_the_other_response():
    rows = {name: ROWS[name] for name in ("prompt", "response")}

    def model(prompt):
        if prompt == "Say goodbye":
            raise ValueError("out of words")
        return "Hm"

    pair = PairwiseMetric(
        metric="p", metric_prompt_template=MetricPromptTemplateExamples.Pairwise.FLUENCY
        .metric_prompt_template, baseline_model=model,
    )  # fmt: skip
    found = task([pair], prefers("Hello"), rows).evaluate()
    assert found.metrics_table["baseline_model_response"][0] == "Hm"
    assert found.metrics_table["p/pairwise_choice"][0] == "CANDIDATE"
    assert found.run.summary["p"].kinds == {"undefined": 1}
    with pytest.raises(ConfigError, match="leave one of them out"):
        task([pair], prefers("Hello")).evaluate()


def test_a_model_may_be_named_and_is_asked_for_the_responses(monkeypatch):
    said = ScriptedJudge(lambda request: request.turns[-1].text.upper())
    monkeypatch.setattr("trajgrade.evaluation.answering.judges_of", lambda _name: [said])
    found = EvalTask(
        dataset={"prompt": ["a", "b"], "reference": ["A", "C"]}, metrics=["exact_match"]
    ).evaluate(model="openai:gpt-5-mini")
    assert list(found.metrics_table["response"]) == ["A", "B"]
    assert found.summary_metrics["exact_match/mean"] == 0.5
