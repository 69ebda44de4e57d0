"""The promise: one evaluator, with a reference, gives one result behind every door."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import trajgrade
from trajgrade.cli.entry import command
from trajgrade.config import load_config
from trajgrade.evaluation import EvalTask
from trajgrade.evaluators import build_evaluator
from trajgrade.jsontext import read_back

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


def with_vertex_names(folder: Path) -> dict[str, Any]:
    rows = [{"prompt": ROW["inputs"], "reference_trajectory": ROW["reference_outputs"]}]
    task = EvalTask(dataset=rows, metrics=[{NAME: PARAMS}])
    result = task.evaluate(runnable=lambda prompt: ROW["outputs"])
    found = result.run.rows[0].results[NAME].to_dict()
    del found["metadata"][
        "alignment"
    ]  # kept for the worst rows, which the others were asked not to
    return found


@pytest.mark.parametrize("door", [over_a_dataset, from_yaml, from_the_command, with_vertex_names])
def test_every_door_gives_the_result_that_python_gives(
    door: Callable[[Path], dict[str, Any]], tmp_path: Path
):
    assert door(tmp_path) == in_python(tmp_path)
