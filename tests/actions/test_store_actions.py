"""Actions that change the store: graded as an experiment grades, added once, queued for people."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trajgrade
from trajgrade.automation.making import make_actions
from trajgrade.automation.rules import Rules, read_rules
from trajgrade.dataset import Dataset
from trajgrade.errors import ConfigError, TraceError
from trajgrade.event import Added, Event, Queued, Scored, TryAgainError
from trajgrade.judges.scripted import ScriptedJudge
from trajgrade.registry import actions
from trajgrade.stores import open_store

TRACE: dict[str, Any] = {
    "id": "t1",
    "messages": [
        {"role": "user", "content": "Book a table"},
        {
            "role": "assistant", "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {
                "name": "book", "arguments": '{"seats": 2}'}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ],
}  # fmt: skip
RIGHT = [{"name": "book", "args": {"seats": 2}}]
TASKS: list[dict[str, Any]] = [
    {"id": "t1", "inputs": "Book  a table", "reference_outputs": RIGHT, "reference": "Done."},
    {"id": "t2", "inputs": "Cancel", "reference_outputs": []},
]


@pytest.fixture
def tasks(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, TASKS)))
    return str(path)


def event(trace: Any = TRACE, name: str = "t1", **more: Any) -> Event:
    return Event(id="e", rule="r", item_id=name, because="it fits", trace=trace, **more)


def rules(*written: dict[str, Any]) -> Rules:
    block = {"rules": [{"name": "r", "when": "always", "actions": [*written]}]}
    return read_rules(block, actions.entries)


def made(written: dict[str, Any], **context: Any) -> Any:
    return make_actions(rules(written), **context)["r", 0]


def scored(action: Any, given: Event) -> Scored:
    (effect,) = action.act(given).effects
    assert isinstance(effect, Scored)
    return effect


# ------------------------------------------------------------------------------ run_evaluator


@pytest.mark.parametrize("by", ["id", "input"])
def test_a_trace_is_graded_against_the_reference_of_its_id_or_input(tasks, by):
    written = {"type": "run_evaluator", "evaluator": "trajectory_f1",
               "reference": {"dataset": tasks, "by": by}}  # fmt: skip
    action = made(written)
    assert action.fast
    assert scored(action, event()).scores == {"trajectory_f1": 1.0}
    wrong = json.loads(json.dumps(TRACE).replace('\\"seats\\": 2', '\\"seats\\": 3'))
    assert scored(action, event(wrong)).scores == {"trajectory_f1": 0.0}


@pytest.mark.parametrize(
    "spec",
    [
        "trajectory_f1",
        {"name": "exact_match", "key": "said"},
        {"trajectory_match": {"mode": "superset"}},
        "trajectory_alignment",
        "bleu",
    ],
)
def test_it_is_graded_as_an_experiment_grades_it(tasks, tmp_path, spec):
    pytest.importorskip("sacrebleu")
    action = made({"type": "run_evaluator", "evaluator": spec, "reference": {"dataset": tasks}})
    rows = tmp_path / "rows.json"
    rows.write_text(
        json.dumps([{**TASKS[0], "inputs": "Book a table", "outputs": TRACE["messages"]}])
    )
    (row,) = trajgrade.evaluate(str(rows), [spec], explain="none").rows
    found = scored(action, event()).results
    assert found == {key: result.to_dict() for key, result in row.results.items()}


def test_without_a_reference_there_is_no_score_and_the_reason_is_told(tasks):
    written = {
        "type": "run_evaluator",
        "evaluator": "trajectory_f1",
        "reference": {"dataset": tasks},
    }
    told = made(written).act(event(name="t99"))
    assert told.says == "trajectory_f1: no_reference"
    assert told.effects[0].scores == {"trajectory_f1": None}


@pytest.mark.parametrize(
    "written",
    [
        {"evaluator": "trajectory_single_tool_use", "params": {"tool_name": "book"}},
        {"evaluator": "json_valid"},  # the whole object is no answer that the agent gave
        {"evaluator": "contains", "params": {"substring": "ever"}},
    ],
)
def test_a_trace_that_cannot_be_read_has_no_score_as_in_an_experiment(written):
    trace = {"what": "ever"}
    action = made({"type": "run_evaluator", **written})
    name = written["evaluator"]
    told = action.act(event(trace))
    (result,) = told.effects[0].results.values()
    assert result["error"]["kind"] == "no_output"
    spec = {"name": name, **({"params": written["params"]} if "params" in written else {})}
    with pytest.warns(UserWarning, match="no row has"):
        (row,) = trajgrade.evaluate([{"id": "x", **trace}], [spec]).rows
    (there,) = row.results.values()
    assert there.error is not None
    assert there.error.kind == "no_output"


def test_two_references_for_one_question_are_refused_unless_they_are_the_same(tmp_path):
    path = tmp_path / "tasks.jsonl"
    twice = [{"id": str(n), "inputs": "Book", "reference_outputs": RIGHT} for n in range(2)]
    path.write_text("\n".join(map(json.dumps, twice)))
    written = {"type": "run_evaluator", "evaluator": "trajectory_f1"}
    reference = {"dataset": str(path), "by": "input"}
    made({**written, "reference": reference})
    twice[1]["reference_outputs"] = []
    path.write_text("\n".join(map(json.dumps, twice)))
    with pytest.raises(ConfigError, match=r"line 1 and .* line 2 have the same input 'Book'"):
        made({**written, "reference": reference})


@pytest.mark.parametrize("name", ["t1", "unknown"])
def test_no_trace_brings_its_own_reference_where_one_is_looked_up(name, tasks):
    own = [{"name": "steal", "args": {}}]
    trace = {"id": name, "outputs": own, "reference_outputs": own, "reference": "stolen"}
    written = {"type": "run_evaluator", "evaluator": "trajectory_f1"}
    action = made({**written, "reference": {"dataset": tasks, "by": "id"}})
    found = scored(action, event(trace, name))
    assert found.scores == {"trajectory_f1": 0.0 if name == "t1" else None}
    assert scored(made(written), event(trace, name)).scores == {"trajectory_f1": 1.0}


def test_a_value_that_the_trace_holds_is_graded():
    written = {"name": "field", "params": {"path": "user.rating"}, "key": "rating"}
    action = made({"type": "run_evaluator", "evaluator": written})
    found = scored(action, event({**TRACE, "user": {"rating": 4}}))
    assert found.scores == {"rating": 4.0}


def test_a_row_with_its_own_reference_needs_no_other():
    row = {"predicted_trajectory": RIGHT, "reference_trajectory": RIGHT}
    action = made({"type": "run_evaluator", "evaluator": "trajectory_exact_match"})
    assert scored(action, event(row)).scores == {"trajectory_exact_match": 1.0}


def test_a_judge_is_that_of_the_file_and_is_asked_again_where_it_failed():
    judge = ScriptedJudge({"reasoning": "so", "pass": True})
    action = made({"type": "run_evaluator", "evaluator": "llm_trajectory_judge"}, judge=judge)
    assert not action.fast
    assert scored(action, event()).scores == {"llm_trajectory_judge": 1.0}
    (row,) = trajgrade.evaluate(
        [{"outputs": TRACE["messages"]}], ["llm_trajectory_judge"], judge=judge
    ).rows
    assert row.results["llm_trajectory_judge"].score == 1.0
    from trajgrade.errors import UnreachableJudgeError

    broken = ScriptedJudge(UnreachableJudgeError("HTTP 503"))
    action = made({"type": "run_evaluator", "evaluator": "llm_trajectory_judge"}, judge=broken)
    with pytest.raises(TryAgainError, match="HTTP 503"):
        action.act(event())


def test_references_follow_the_newest_version_of_a_dataset_of_the_store(tmp_path, monkeypatch):
    store = open_store(tmp_path / "x.db")
    store.datasets.put("tasks", [TASKS[1]])
    written = {"type": "run_evaluator", "evaluator": "trajectory_f1",
               "reference": {"dataset": "store:tasks"}}  # fmt: skip
    action = made(written, store=store)
    assert scored(action, event()).scores == {"trajectory_f1": None}
    store.datasets.put("tasks", TASKS)
    monkeypatch.setattr("trajgrade.actions.references._AGAIN", -1.0)
    assert scored(action, event()).scores == {"trajectory_f1": 1.0}


def test_the_id_may_stand_anywhere_in_the_trace(tasks):
    written = {"type": "run_evaluator", "evaluator": "trajectory_f1",
               "reference": {"dataset": tasks, "path": "metadata.task"}}  # fmt: skip
    action = made(written)
    assert scored(action, event({**TRACE, "metadata": {"task": "t1"}}, "x")).scores == {
        "trajectory_f1": 1.0
    }
    assert scored(action, event(TRACE, "x")).scores == {"trajectory_f1": None}


# ------------------------------------------------------------------------------ add_to_dataset


def test_a_row_is_made_that_can_be_graded_again(tasks, tmp_path):
    action = made({"type": "add_to_dataset", "dataset": "failures", "split": "test",
                   "reference": {"dataset": tasks}})  # fmt: skip
    (effect,) = action.act(event(scores={"f1": 0.5, "x": None})).effects
    assert isinstance(effect, Added)
    assert (effect.dataset, effect.split) == ("failures", "test")
    assert effect.row["scores"] == {"f1": 0.5, "x": None}
    (example,) = Dataset.load([effect.row])
    assert (example.id, example.inputs) == ("t1", "Book  a table")
    run = trajgrade.evaluate([effect.row], ["trajectory_exact_match"])
    assert run.summary["trajectory_exact_match"].mean == 1.0


def test_what_the_agent_did_can_be_the_reference():
    action = made({"type": "add_to_dataset", "dataset": "golden", "expected": "actual"})
    (effect,) = action.act(event()).effects
    assert effect.row["reference_outputs"] == RIGHT
    assert effect.row["reference"] == "Done."
    with pytest.raises(TraceError):
        action.act(event({"what": "ever"}))


# ------------------------------------------------------------------------------ add_to_queue


def test_people_are_told_why():
    action = made(
        {"type": "add_to_queue", "queue": "q", "priority": 5, "reason": "{item_id}: {because} {}"}
    )
    assert action.act(event()).effects == (
        Queued(queue="q", priority=5.0, reason="t1: it fits {}"),
    )
    assert action.fast


# ------------------------------------------------------------------------------ what is wrong


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ({"type": "add_to_queue", "priorty": 1}, "unknown parameter 'priorty'. Did you mean"),
        ({"type": "add_to_queue", "priority": "high"}, "priority: a finite number is needed"),
        ({"type": "add_to_queue", "queue": "a b"}, "queue: up to 100 letters"),
        ({"type": "add_to_dataset"}, "the parameter 'dataset' is required"),
        ({"type": "add_to_dataset", "dataset": "a b"}, "a b"),
        ({"type": "add_to_dataset", "dataset": "a", "expected": "actuall"}, "Did you mean 'actual'"),
        ({"type": "run_evaluator", "evaluator": "bleu", "judge": "x"}, "that of the file"),
        ({"type": "run_evaluator", "evaluator": "bleu", "reference": {"by": "ids"}},
         "reference.by: unknown way 'ids'. Did you mean 'id'"),
        ({"type": "run_evaluator", "evaluator": "bleu", "reference": {"dataset": "none.jsonl"}},
         "none.jsonl"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place_before_anything_runs(written, fault):
    with pytest.raises(ConfigError) as wrong:
        made(written)
    assert any(fault in one for one in wrong.value.faults), wrong.value.faults
    assert all("automation.rules: r: actions[0]" in one for one in wrong.value.faults)
