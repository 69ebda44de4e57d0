"""Rules of a config file, with what their actions need of the file beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from trajgrade.actions.run_evaluator import RunEvaluator
from trajgrade.automation.loading import load_automation
from trajgrade.errors import ConfigError
from trajgrade.event import Event, Scored, Told

GRADE: dict[str, Any] = {
    "type": "run_evaluator", "evaluator": "trajectory_f1",
    "reference": {"dataset": "tasks.jsonl"},
}  # fmt: skip


def written(folder: Path, *actions: dict[str, Any], **more: Any) -> Path:
    rules = [{"name": "r", "when": "always", "actions": [*actions]}]
    path = folder / "rules.yaml"
    path.write_text(yaml.safe_dump({"automation": {"rules": rules}, **more}))
    return path


def test_references_are_looked_up_beside_the_file_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls = [{"name": "a", "args": {}}]
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "t1", "reference_outputs": calls}))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    made = load_automation(written(tmp_path, GRADE)).actions()["r", 0]
    told = made.act(Event(id="e", rule="r", item_id="t1", trace={"outputs": calls}))
    assert isinstance(told, Told)
    (effect,) = told.effects
    assert isinstance(effect, Scored)
    assert effect.scores == {"trajectory_f1": 1.0}


@pytest.mark.parametrize(
    "judge",
    [
        {"judge": "openai:a-model"},
        {"judge": {"model": "openai:a-model"}},
        {"ai_support": {"endpoint_type": "openai", "ai_config": {"model": "a-model"}}},
        {"judge_alignment": {"ai_support": {"endpoint_type": "openai", "ai_config": {"model": "a-model"}}}},
    ],
)  # fmt: skip
def test_the_judge_of_the_file_is_that_of_its_rules(judge: dict[str, Any], tmp_path: Path):
    asks = {"type": "run_evaluator", "evaluator": "llm_trajectory_judge"}
    found = load_automation(written(tmp_path, asks, **judge))
    assert found.judge.model == load_automation(written(tmp_path, asks, judge="openai:a-model")).judge.model  # fmt: skip
    made = found.actions()["r", 0]
    assert isinstance(made, RunEvaluator)
    assert not made.fast


def test_a_file_says_where_and_how_it_is_served_and_may_say_what_is_graded(tmp_path: Path):
    notify = {"type": "notify"}
    path = written(
        tmp_path, notify, store="kept.db", server={"port": 9000}, dataset="x", evaluators=["y"]
    )
    found = load_automation(path)
    assert (found.store, found.server, len(found.rules)) == ("kept.db", {"port": 9000}, 1)


def test_rules_that_are_switched_off_are_none_and_a_file_without_any_has_none(tmp_path: Path):
    path = written(tmp_path, {"type": "notify"})
    path.write_text(path.read_text().replace("automation:", "automation:\n  enabled: false"))
    assert len(load_automation(path).rules) == 0
    path.write_text("store: kept.db\n")
    assert len(load_automation(path).rules) == 0
    with pytest.raises(ConfigError, match="automation: is missing; the file has store"):
        load_automation(path, required=True)


def test_what_an_action_needs_and_is_not_there_is_said_with_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    hook = {"type": "fire_webhook", "url": "https://example.com/x", "secret_env": "HOOK_SECRET"}
    path = written(
        tmp_path, GRADE, hook, {**GRADE, "key": "more", "reference": {"dataset": "store:none"}}
    )
    with pytest.raises(ConfigError) as caught:
        load_automation(path, makes=True, store=str(tmp_path / "kept.db"))
    first, second, third = caught.value.faults
    assert "tasks.jsonl" in first
    assert second == (
        "automation.rules[0].actions[1].secret_env: the environment variable HOOK_SECRET is not set"
    )
    assert "no dataset 'none'" in third
    assert len(load_automation(path).rules) == 1  # until they are made
