"""The promise: one evaluator, with a reference, or a judge, gives one result behind every door."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import trajgrade
from tests.judges.server import said, serving
from tests.server.conftest import running
from trajgrade.actions.run_evaluator import RunEvaluator
from trajgrade.automation.loading import load_automation
from trajgrade.automation.making import make_actions
from trajgrade.automation.rules import read_rules
from trajgrade.automation.worker import Worker
from trajgrade.cli.entry import command
from trajgrade.config import load_config
from trajgrade.evaluation import EvalTask
from trajgrade.evaluators import build_evaluator
from trajgrade.event import Event, Scored, Told
from trajgrade.jsontext import read_back
from trajgrade.judging.settings import judge_settings
from trajgrade.registry import actions

ROW = {
    "id": "row",
    "inputs": "Book a table for two.",
    "outputs": [
        {"role": "user", "content": "Book a table for two."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function",
                 "function": {"name": "book", "arguments": '{"seats": 2, "at": "19:00"}'}},
                {"id": "2", "type": "function",
                 "function": {"name": "notify", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ],
    "reference_outputs": [{"name": "book", "args": {"seats": 2, "at": "20:00"}}],
}  # fmt: skip
NAME, PARAMS = "trajectory_alignment", {"order": "in_order", "ignore_keys": ["note"]}


def in_python(folder: Path) -> dict[str, Any]:
    evaluator = build_evaluator(NAME, PARAMS)
    return evaluator.evaluate(
        outputs=ROW["outputs"], reference_outputs=ROW["reference_outputs"]
    ).to_dict()


def over_a_dataset(folder: Path) -> dict[str, Any]:
    run = trajgrade.evaluate([ROW], [build_evaluator(NAME, PARAMS)], explain="none")
    return run.rows[0].results[NAME].to_dict()


def from_yaml(folder: Path) -> dict[str, Any]:
    data = folder / "data.jsonl"
    data.write_text(json.dumps(ROW))
    config = folder / "eval.yaml"
    config.write_text(
        f"dataset: data.jsonl\nexplain: none\nevaluators:\n- name: {NAME}\n  params: {json.dumps(PARAMS)}\n"
    )
    run = trajgrade.evaluate(**load_config(config).arguments())
    return run.rows[0].results[NAME].to_dict()


def from_the_command(folder: Path) -> dict[str, Any]:
    data, saved = folder / "data.json", folder / "run.jsonl"
    data.write_text(json.dumps([ROW]))
    spelt = f'{NAME}:order=in_order,ignore_keys=["note"]'
    done = CliRunner().invoke(
        command, ["score", str(data), "-e", spelt, "--explain", "none", "-q", "-o", str(saved)]
    )
    assert done.exit_code == 0, done.output
    (line,) = saved.read_bytes().splitlines()
    return read_back(line)["results"][NAME]


def graded_by_a_rule(action: dict[str, Any], **context: Any) -> dict[str, Any]:
    block = {"rules": [{"name": "grade", "when": "always", "actions": [action]}]}
    made = make_actions(read_rules(block, actions.entries), **context)
    event = Event(id="e", rule="grade", item_id="row", trace=ROW)
    grading = made["grade", 0]
    assert isinstance(grading, RunEvaluator)
    told = grading.act(event)
    grading.close()
    assert isinstance(told, Told)
    (effect,) = told.effects
    assert isinstance(effect, Scored)
    (result,) = effect.results.values()
    found: dict[str, Any] = result
    return found


def from_a_rule(folder: Path) -> dict[str, Any]:
    spelt = {"name": NAME, "params": PARAMS}
    return graded_by_a_rule({"type": "run_evaluator", "evaluator": spelt})


def through_the_server(folder: Path, evaluator: Any, **judge: Any) -> dict[str, Any]:
    """Send the trace to a server, whose rules find the reference in a dataset."""
    (folder / "expected.jsonl").write_text(json.dumps(ROW))
    config = folder / "rules.yaml"
    reference = {"dataset": "expected.jsonl", "by": "id"}
    action = {"type": "run_evaluator", "evaluator": evaluator, "reference": reference}
    rule = {"name": "grade", "when": "always", "actions": [action]}
    config.write_text(json.dumps({"automation": {"rules": [rule]}, **judge}))
    found = load_automation(config)
    with running(folder, rules=found.rules) as served:
        trace = {"id": "row", "messages": ROW["outputs"]}
        assert served.client.post("/api/traces", json=trace).json()["accepted"] == 1
        pool: Any = SimpleNamespace(map=map)  # this thread, whose connections last
        with closing(
            Worker(served.store.inbox, found.rules, found.actions(served.store))
        ) as worker:
            while worker.decide() + worker.act(pool):
                pass
        (result,) = served.client.get("/api/traces/row").json()["record"]["results"].values()
    kept: dict[str, Any] = result
    return kept


def from_the_server(folder: Path) -> dict[str, Any]:
    return through_the_server(folder, {"name": NAME, "params": PARAMS})


def with_vertex_names(folder: Path) -> dict[str, Any]:
    rows = [{"prompt": ROW["inputs"], "reference_trajectory": ROW["reference_outputs"]}]
    task = EvalTask(dataset=rows, metrics=[{NAME: PARAMS}])
    result = task.evaluate(runnable=lambda prompt: ROW["outputs"])
    found = result.run.rows[0].results[NAME].to_dict()
    del found["metadata"][
        "alignment"
    ]  # kept for the worst rows, which the others were asked not to
    return found


@pytest.mark.parametrize(
    "door",
    [
        over_a_dataset,
        from_yaml,
        from_the_command,
        with_vertex_names,
        from_a_rule,
        from_the_server,
    ],
)
def test_every_door_gives_the_result_that_python_gives(
    door: Callable[[Path], dict[str, Any]], tmp_path: Path
):
    assert door(tmp_path) == in_python(tmp_path)


# ------------------------------------------------------------------------------ with a judge

JUDGED = "llm_trajectory_judge"
ASKS = {"continuous": True, "few_shot": [{"outputs": "Done.", "verdict": 0.1}]}


def judged_in_python(folder: Path, url: str) -> dict[str, Any]:
    settings = {"model": "openai:a-model", "base_url": url, "cache": False}
    evaluator = build_evaluator(JUDGED, {**ASKS, "judge": settings})
    return evaluator.evaluate(
        outputs=ROW["outputs"], reference_outputs=ROW["reference_outputs"], inputs=ROW["inputs"]
    ).to_dict()


def judged_over_a_dataset(folder: Path, url: str) -> dict[str, Any]:
    potato = {"endpoint_type": "openai", "ai_config": {"model": "a-model", "base_url": url}}
    evaluator = build_evaluator(JUDGED, {**ASKS, "config": {"ai_support": potato}})
    return trajgrade.evaluate([ROW], [evaluator]).rows[0].results[JUDGED].to_dict()


def judged_from_yaml(folder: Path, url: str) -> dict[str, Any]:
    (folder / "data.jsonl").write_text(json.dumps(ROW))
    config = folder / "eval.yaml"
    config.write_text(
        "dataset: data.jsonl\n"
        f"judge: {{model: a-model, base_url: {url}, cache: false}}\n"
        f"evaluators:\n- {JUDGED}: {json.dumps(ASKS)}\n"
    )
    run = trajgrade.evaluate(**load_config(config).arguments())
    return run.rows[0].results[JUDGED].to_dict()


def judged_from_the_command(folder: Path, url: str) -> dict[str, Any]:
    data, saved = folder / "data.json", folder / "run.jsonl"
    data.write_text(json.dumps([ROW]))
    spelt = f"{JUDGED}:continuous=true,few_shot={json.dumps(ASKS['few_shot'])}"
    done = CliRunner().invoke(command, ["score", str(data), "-e", spelt, "-q", "-o", str(saved)])
    assert done.exit_code == 0, done.output
    (line,) = saved.read_bytes().splitlines()
    return read_back(line)["results"][JUDGED]


def judged_from_a_rule(folder: Path, url: str) -> dict[str, Any]:
    judge = judge_settings({"model": "openai:a-model", "base_url": url, "cache": False})
    action = {"type": "run_evaluator", "evaluator": {JUDGED: ASKS}}
    return graded_by_a_rule(action, judge=judge)


def judged_from_the_server(folder: Path, url: str) -> dict[str, Any]:
    judge = {"model": "openai:a-model", "base_url": url, "cache": False}
    return through_the_server(folder, {JUDGED: ASKS}, judge=judge)


def judged_with_vertex_names(folder: Path, url: str) -> dict[str, Any]:
    rows = [{"prompt": ROW["inputs"], "reference_trajectory": ROW["reference_outputs"]}]
    task = EvalTask(dataset=rows, metrics=[{JUDGED: ASKS}])
    result = task.evaluate(runnable=lambda prompt: ROW["outputs"])
    return result.run.rows[0].results[JUDGED].to_dict()


@pytest.mark.parametrize(
    "door",
    [
        judged_over_a_dataset,
        judged_from_yaml,
        judged_from_the_command,
        judged_with_vertex_names,
        judged_from_a_rule,
        judged_from_the_server,
    ],
)
def test_every_door_asks_the_judge_as_python_does(
    door: Callable[[Path, str], dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TRAJGRADE_CACHE", "off")
    monkeypatch.setenv("TRAJGRADE_JUDGE", "openai:a-model")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(said({"reasoning": "It is at the wrong time.", "score": 0.25})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        found = door(tmp_path, server.url)
        assert found == judged_in_python(tmp_path, server.url)
    assert found["score"] == 0.25
    here, there = (body["messages"][1]["content"] for body in server.bodies)
    assert here.count("<<<") == there.count("<<<") > 2
