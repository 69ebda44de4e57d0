"""`trajgrade rules`: all faults at once; what would fire, and why the rest did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

TASK = {
    "id": "t1",
    "inputs": "Cancel order 7",
    "reference_outputs": [{"name": "cancel", "args": {"order": 7}}],
}
RULES = """
automation:
  rules:
    - name: alert
      when: {field: scores.trajectory_f1, lt: 0.5}
      actions: [{type: notify}]
    - name: grade
      when: always
      actions:
        - type: run_evaluator
          evaluator: trajectory_f1
          reference: {dataset: tasks.jsonl, by: input}
"""


def trace(name: str, asked: str, tool: str, order: int) -> dict[str, Any]:
    call = {"name": tool, "arguments": json.dumps({"order": order})}
    return {
        "id": name,
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": call}]},
        ],
    }  # fmt: skip


TRACES = [
    trace("good", "Cancel order 7", "cancel", 7),
    trace("bad", "Cancel  order 7", "refund", 7),
    trace("new", "Cancel order 8", "cancel", 8),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK))
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / "traces.jsonl").write_text("\n".join(map(json.dumps, TRACES)))
    return tmp_path


def decisions(out: str) -> dict[tuple[str, str], dict[str, Any]]:
    found = [json.loads(line) for line in out.splitlines()]
    return {(one["id"], one["rule"]): one for one in found}


def test_good_rules_are_listed_in_the_order_in_which_they_are_asked(command: Command, folder: Path):
    done = command("rules", "check", folder / "rules.yaml")
    assert (done.code, done.out) == (
        0,
        f"{folder}/rules.yaml: no faults, 2 rules\n  grade: run_evaluator\n  alert: notify\n",
    )


def test_all_faults_of_a_file_are_said_at_once_each_with_its_path(command: Command, folder: Path):
    """B181, B185: nothing is passed over."""
    (folder / "rules.yaml").write_text("""
automations: {}
judge: {modl: x}
automation:
  rules:
    - name: a
      when: {field: error_info, is_empty: true}
      enabled: 'false'
      actions: [{type: add_to_queue, prioritty: 1}]
    - name: b
      actions:
        - {type: run_evaluator, evaluator: trajectory_f2}
        - {type: run_evaluator, evaluator: trajectory_f1, reference: {dataset: none.jsonl}}
        - {type: fire_webhook, url: ftp://x}
        - {type: fire_webhok}
""")
    done = command("rules", "check", folder / "rules.yaml")
    assert done.code == 2
    for said in (
        "automations: unknown key 'automations'. Did you mean 'automation'?",
        "judge.modl: unknown key 'modl'",
        "automation.rules[0].when: unknown operator 'is_empty'",
        "automation.rules[0].enabled: true or false is needed, got 'false'",
        "automation.rules[0].actions[0]: action 'add_to_queue': unknown parameter 'prioritty'.",
        "automation.rules[1].when: is missing",
        "automation.rules[1].actions[0].evaluator: unknown evaluator 'trajectory_f2'",
        "none.jsonl",
        "automation.rules[1].actions[2]: an http or https URL is needed",
        "automation.rules[1].actions[3].type: unknown action 'fire_webhok'",
    ):
        assert said in done.err, said
    validated = command("validate", folder / "rules.yaml")
    assert (validated.code, validated.err) == (2, done.err)


def test_a_file_without_rules_says_so(command: Command, folder: Path):
    (folder / "rules.yaml").write_text("evaluators: [trajectory_f1]\ndataset: tasks.jsonl\n")
    done = command("rules", "check", folder / "rules.yaml")
    assert done.code == 2
    assert "automation: is missing; the file has evaluators, dataset" in done.err


def test_what_would_fire_is_said_and_why_the_rest_did_not(command: Command, folder: Path):
    """B193: without scores, a rule that looks at one says so."""
    done = command("rules", "test", folder / "rules.yaml", "--on", folder / "traces.jsonl")
    assert done.code == 0
    assert "grade fires: always" in done.out
    assert (
        "alert does not fit: scores.trajectory_f1: is not there; there is no score yet of "
        "trajectory_f1" in done.out
    )
    assert done.out.endswith("grade: fires 3\nalert: does not fit 3\n")


def test_with_run_rules_see_the_scores_that_others_give(command: Command, folder: Path):
    """A trace without a reference has no score, never 0."""
    done = command(
        "rules", "test", folder / "rules.yaml", "--on", folder / "traces.jsonl", "--run", "--json"
    )
    found = decisions(done.out)
    scores = {name: found[name, "grade"]["scores"]["trajectory_f1"] for name in ("good", "bad")}
    assert scores == {"good": 1.0, "bad": 0.0}
    assert found["new", "grade"]["scores"] == {"trajectory_f1": None}
    fired = {name for (name, rule), one in found.items() if rule == "alert" and one["decided"] == "fires"}  # fmt: skip
    assert fired == {"bad"}


def test_a_field_that_no_trace_has_is_told_of(command: Command, folder: Path):
    text = RULES.replace("scores.trajectory_f1, lt", "trace.n_fialed, gt")
    (folder / "rules.yaml").write_text(text)
    done = command("rules", "test", folder / "rules.yaml", "--on", folder / "traces.jsonl")
    assert "warning: alert: no trace has trace.n_fialed" in done.err


def test_a_trace_that_cannot_be_read_is_told_of_and_the_exit_code_is_2(
    command: Command, folder: Path
):
    with (folder / "traces.jsonl").open("a") as lines:
        lines.write('\n{"id": "odd", "x": 1}')
    done = command("rules", "test", folder / "rules.yaml", "--on", folder / "traces.jsonl")
    assert done.code == 2
    assert "warning: odd: " in done.err
    assert "grade: fires 4" in done.out


@pytest.mark.parametrize(
    ("document", "fits"),
    [
        ({"automation": {"rules": []}}, True),
        ({"automation": {"rules": [{"name": "a", "when": "always", "actions": [{"type": "notify"}]}]}}, True),
        ({"automation": {"rules": [{"name": "a", "actions": [{"type": "notify"}]}]}}, False),
        ({"automation": {"rules": [{"name": "a", "when": {"field": "x", "neq": 1}, "actions": [{"type": "notify"}]}]}}, False),
        ({"automation": {"rules": [{"name": "a", "when": [{"field": "x", "gt": 1}, {"not": {"any": [{"field": "y", "exists": True}]}}], "actions": [{"type": "add_to_queue", "priority": 3}]}]}}, True),
        ({"automation": {"rules": [{"name": "a", "when": "always", "actions": [{"type": "add_to_queue", "prioritty": 3}]}]}}, False),
        ({"automation": {"rules": [{"name": "a", "when": "always", "actions": [{"type": "run_evaluator", "evaluator": {"trajectory_match": {"mode": "in_order"}}, "reference": {"dataset": "x"}}]}]}}, True),
        ({"automation": {"rules": [{"name": "a", "when": "always", "actions": [{"type": "run_evaluator", "evaluator": "trajectory_f1", "store": "x"}]}]}}, False),
        ({"server": {"port": 9000}}, True),
        ({"server": {"prot": 9000}}, False),
        ({"name": "nothing"}, False),
    ],
)  # fmt: skip
def test_the_schema_knows_rules(command: Command, document: dict[str, Any], *, fits: bool):
    import jsonschema_rs

    schema = json.loads(command("validate", "--schema").out)
    assert jsonschema_rs.validator_for(schema).is_valid(document) is fits


def test_validate_tells_of_what_is_graded_and_of_rules_in_one_file(command: Command, folder: Path):
    more = "dataset: tasks.jsonl\nfields: {outputs: reference_outputs}\nevaluators: [json_valid]\n"
    (folder / "rules.yaml").write_text(RULES + more)
    done = command("validate", folder / "rules.yaml")
    assert done.code == 0
    assert "evaluator   json_valid" in done.out
    assert "rule        grade: run_evaluator" in done.out


@pytest.fixture
def produced(folder: Path) -> Path:
    """A store in which the traces have gone through the rules."""
    from trajgrade.automation.loading import load_automation
    from trajgrade.automation.worker import Worker
    from trajgrade.inbox import Piece
    from trajgrade.stores import open_store

    found = load_automation(folder / "rules.yaml")
    with open_store(folder / "kept.db") as store:
        pieces = [
            Piece(trace_id=one["id"], key="1", body=json.dumps(one).encode()) for one in TRACES
        ]
        store.inbox.accept(pieces)
        worker = Worker(store.inbox, found.rules, found.actions(store))
        while worker.step():
            pass
        store.datasets.put("tasks", [TASK])
    return folder / "kept.db"  # fmt: skip


def test_rules_are_listed_with_their_counters(command: Command, folder: Path, produced: Path):
    """B191: a rule for everything that writes a score fires once for each trace, not again."""
    done = command(
        "list", "rules", "--config", folder / "rules.yaml", "--store", produced, "--json"
    )
    counters = {one["name"]: one["counters"] for one in json.loads(done.out)}
    assert counters["grade"] == {"fires": 3, "done": 3}
    assert counters["alert"] == {"fires": 1, "does_not_fit": 2, "done": 1}
    alone = command("list", "rules", "--store", produced)
    assert "alert  " in alone.out
    assert "fires 1" in alone.out


def test_datasets_are_listed(command: Command, produced: Path):
    assert command("list", "datasets", "--store", produced).out == "tasks  v1  1 row\n"
    (found,) = json.loads(command("list", "datasets", "--store", produced, "--json").out)
    assert (found["name"], found["version"], found["n_rows"]) == ("tasks", 1, 1)
