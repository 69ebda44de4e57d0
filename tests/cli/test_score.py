"""`trajgrade score`: flags in place of a config file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trajgrade
from tests.cli.conftest import Command
from trajgrade.cli import shorthand
from trajgrade.errors import ConfigError

# ------------------------------------------------------------------------------ -e


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("trajectory_f1", {"name": "trajectory_f1", "params": {}}),
        ("f=trajectory_f1", {"name": "trajectory_f1", "params": {}, "key": "f"}),
        ("a:mode=unordered,deep=true", {"name": "a", "params": {"mode": "unordered", "deep": True}}),
        ("strict=a:mode=strict", {"name": "a", "params": {"mode": "strict"}, "key": "strict"}),
        ("a:x=1,y=-2.5,z=null,w=", {"name": "a", "params": {"x": 1, "y": -2.5, "z": None, "w": ""}}),
        ('a:x=[1, 2],y={"b": [1,2], "c": "d,e=f"}', {"name": "a", "params": {"x": [1, 2], "y": {"b": [1, 2], "c": "d,e=f"}}}),
        ('a:x="b,c=d",y=2', {"name": "a", "params": {"x": "b,c=d", "y": 2}}),
        ("a:x=Hello, world,y=2", {"name": "a", "params": {"x": "Hello, world", "y": 2}}),
        ("a:x=b=c", {"name": "a", "params": {"x": "b=c"}}),
        ("a:x=007", {"name": "a", "params": {"x": "007"}}),
        ("a:x=True", {"name": "a", "params": {"x": "True"}}),
        ("a:url=http://{host}:80/v1,n=2", {"name": "a", "params": {"url": "http://{host}:80/v1", "n": 2}}),
        ("a:x={host},y=[z", {"name": "a", "params": {"x": "{host}", "y": "[z"}}),
        ("a:pattern=^\\d+:x$", {"name": "a", "params": {"pattern": "^\\d+:x$"}}),
    ],
)  # fmt: skip
def test_an_evaluator_is_written_in_one_word(text: str, spelt: dict[str, Any]):
    """B214 is among them: a brace in a text is no broken JSON."""
    assert shorthand.evaluator(text) == spelt


@pytest.mark.parametrize("text", ["", ":x=1", "a:x", "a:=1", "a:1x=2", "a:x=1,x=2", "=a"])
def test_what_is_no_evaluator_is_refused(text: str):
    with pytest.raises(ConfigError, match=r"^-e "):
        shorthand.evaluator(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("trajectory_f1>=0.8", ("trajectory_f1", ">=0.8")),
        ("reward/pass^1 >= 0.4", ("reward/pass^1", ">= 0.4")),
        ("tool_use:find<2", ("tool_use:find", "<2")),
        ("trajectory_f1=0.8", ("trajectory_f1", "0.8")),
    ],
)
def test_a_threshold_is_written_in_one_word(text: str, found: tuple[str, str]):
    assert shorthand.threshold(text) == found


# ------------------------------------------------------------------------------ the verb


def scored(command: Command, *args: object) -> dict[str, Any]:
    done = command("score", *args, "--json", "-q")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)["metrics"]
    return found


def test_files_are_graded_without_a_config(folder: Path, command: Command):
    found = scored(
        command, "rows.json", "-e", "strict=trajectory_match:mode=strict", "-e",
        "trajectory_match:mode=superset", "-e", "trajectory_precision",
    )  # fmt: skip
    assert {key: round(m["mean"], 3) for key, m in found.items()} == {
        "strict": 0.333, "trajectory_match": 0.667, "trajectory_precision": 0.5,
    }  # fmt: skip


def test_fields_are_named_by_flags(folder: Path, command: Command):
    rows = [
        {"task": {"n": 4}, "run": k, "log": {"calls": [{"name": "f", "args": {}}]}, "gold": [{"name": "f", "args": {}}], "said": "hi"}
        for k in (0, 1)
    ]  # fmt: skip
    (folder / "odd.json").write_text(json.dumps(rows))
    flags = [
        "--outputs", "log.calls", "--reference", "gold", "--id", "task.n", "--trial", "run",
        "--field", "response=said",
    ]  # fmt: skip
    found = scored(
        command, "odd.json", *flags, "-e", "trajectory_f1", "-e", "contains:substring=hi"
    )
    assert found["trajectory_f1"]["n_examples"] == 1
    assert [m["mean"] for m in found.values()] == [1.0, 1.0]


def test_several_files_and_patterns_are_one_dataset(folder: Path, command: Command):
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text('{"outputs": "x", "reference": "x"}\n')
    assert scored(command, "a.jsonl", "b.jsonl", "-e", "exact_match")["exact_match"]["n_total"] == 2
    assert scored(command, "*.jsonl", "-e", "exact_match")["exact_match"]["n_total"] == 2


def test_the_kind_of_a_file_can_be_said(folder: Path, command: Command):
    (folder / "rows.log").write_text('{"outputs": "x", "reference": "x"}\n')
    found = scored(command, "rows.log", "--format", "jsonl", "-e", "exact_match")
    assert found["exact_match"]["mean"] == 1.0


def test_thresholds_gate(folder: Path, command: Command):
    args = ["score", "rows.json", "-e", "trajectory_recall", "-q", "--threshold"]
    assert command(*args, "trajectory_recall>=0.6").code == 0
    assert command(*args, "trajectory_recall>=0.7").code == 1
    assert command(*args, "trajectory_recall/min<=0").code == 0


def test_without_evaluators_calls_get_every_trajectory_metric(folder: Path, command: Command):
    done = command("score", "rows.json", "--json")
    assert len(json.loads(done.out)["metrics"]) == 7
    assert done.err.startswith(
        "no -e given; grading with trajectory_exact_match, trajectory_in_order"
    )


def test_without_evaluators_texts_are_compared(folder: Path, command: Command):
    (folder / "qa.csv").write_text("prompt,response,reference\nq,Paris,Paris\nq,Rome,Oslo\n")
    done = command("score", "qa.csv", "--json")
    assert {key: m["n_scored"] for key, m in json.loads(done.out)["metrics"].items()} == {
        "exact_match": 2, "edit_distance": 2,
    }  # fmt: skip


def test_without_evaluators_and_without_reference_nothing_is_made_up(
    folder: Path, command: Command
):
    (folder / "rows.json").write_text('[{"outputs": [{"name": "f", "args": {}}], "wanted": 1}]')
    done = command("score", "rows.json")
    assert (done.code, done.out) == (2, "")
    assert "no -e given, and the first rows of rows.json have no reference" in done.err
    assert "(fields: outputs, wanted)" in done.err


def test_faults_name_the_flags_and_come_together(folder: Path, command: Command):
    done = command(
        "score", "rows.json", "-e", "trajectory_match:mode=strct", "-e", "trajectry_f1",
        "-e", "trajectory_match:mod=strict", "-e", ":", "--outputs", "outptus",
        "--threshold", "latency>=1", "--threshold", "what", "--field", "x", "--field", "note=id",
    )  # fmt: skip
    assert (done.code, done.out) == (2, "")
    for said in (
        "-e :: write NAME",
        "--threshold what: write METRIC>=0.8",
        "--field x: write ROLE=PATH",
        "-e trajectory_match:mode=strct: mode: unknown choice 'strct'. Did you mean 'strict'?",
        "-e trajectry_f1: unknown evaluator 'trajectry_f1'. Did you mean 'trajectory_f1'?",
        "-e trajectory_match:mod=strict: mod: unknown parameter 'mod'. Did you mean 'mode'?",
        "--threshold latency: unknown metric 'latency'",
        "unknown role 'note'",
        "--outputs: rows.json: no row has the field 'outptus'. Did you mean 'outputs'?",
    ):
        assert f"  - {said}" in done.err or said in done.err, (said, done.err)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope.json"], "no such file or directory: 'nope.json'"),
        (["sample:on-devise"], "unknown sample 'on-devise'. Did you mean 'on-device'?"),
        (["rows.json", "-e", "trajectory_f1", "-e", "trajectory_f1"], "2 have the key 'trajectory_f1'; name them apart"),
        (["rows.json", "--format", "xml"], "Invalid value for '--format': 'xml' is not one of 'json', 'jsonl', 'csv'"),
        (["rows.json", "--field", "outputs=a", "--outputs", "outputs"], "outputs is given twice"),
        (["rows.json", "--threshold", "a>1", "--threshold", "a>2"], "a is given twice"),
    ],
)  # fmt: skip
def test_bad_input_is_said(args: list[str], said: str, folder: Path, command: Command):
    done = command("score", *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_the_command_and_python_agree(folder: Path, command: Command):
    found = scored(command, "rows.json", "-e", "trajectory_alignment", "-e", "trajectory_f1")
    run = trajgrade.evaluate("rows.json", ["trajectory_alignment", "trajectory_f1"])
    assert found == json.loads(json.dumps(run.summary.to_dict()))


def test_a_sample_is_graded_at_once(command: Command):
    assert scored(command, "sample:on-device")["trajectory_f1"]["n_scored"] == 32
