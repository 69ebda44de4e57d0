"""`trajgrade compare`, `trajgrade power`, and the gates of `run` and `score` against a baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def call(name: str) -> dict[str, object]:
    return {"name": name, "args": {"city": "Oslo"}}


def written(folder: Path, name: str, wrong: int, n: int = 60) -> str:
    rows = [
        {
            "id": f"e{at}",
            "outputs": [call("find"), call("[b]pay[/b]" if at < wrong else "book")],
            "reference_outputs": [call("find"), call("book")],
        }
        for at in range(n)
    ]
    path = folder / name
    path.write_text(json.dumps(rows))
    return str(path)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    """good.json and bad.json: saved runs of 60 examples, with 3 and with 30 wrong ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAJGRADE_STORE", "runs.db")
    for name, wrong in (("good", 3), ("bad", 30)):
        rows = written(tmp_path, f"{name}_rows.json", wrong)
        done = command("score", rows, "-e", "trajectory_match", "-o", f"{name}.json", "-q")
        assert done.code == 0
    return tmp_path


def test_what_changed_is_said_in_words_with_both_runs_side_by_side(runs: Path, command: Command):
    done = command("compare", "good.json", "bad.json", "--rows", "2")
    assert done.code == 0
    assert "The new run is worse: trajectory_match." in done.out
    assert "broken: 27 examples, 2 of them here" in done.out
    assert "60 examples show a true difference of" in done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert ["expected", "old", "new"] in lines
    assert ["find", "=", "="] in lines
    assert "[b]pay[/b]" in done.out


def test_json_holds_every_change_and_nothing_else_is_printed(runs: Path, command: Command):
    found = json.loads(command("compare", "good.json", "bad.json", "--json").out)
    metric = found["metrics"]["trajectory_match"]
    assert (metric["finding"], len(metric["lost"]), metric["n_pairs"]) == ("worse", 27, 60)
    assert metric["interval"]["high"] < 0


def test_markdown_is_short_and_folds_the_rest_away(runs: Path, command: Command):
    command("compare", "good.json", "bad.json", "-o", "out.md")
    text = Path("out.md").read_text()
    assert text.startswith("### The new run is worse")
    assert "<details><summary>broken: 27 examples" in text
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize(
    ("old", "new", "margin", "code"),
    [
        ("good", "bad", "0.1", 1),
        ("bad", "good", "0.1", 0),
        ("good", "good", "0.1", 0),
        ("good", "good", "0.01", 3),
    ],
)
def test_a_gate_has_the_exit_code_of_its_verdict(
    runs: Path, command: Command, old: str, new: str, margin: str, code: int
):
    gate = f"trajectory_match:{margin}"
    assert command("compare", f"{old}.json", f"{new}.json", "--no-regression", gate).code == code


@pytest.mark.parametrize(("choice", "code"), [("pass", 0), ("fail", 1), ("undecided", 3)])
def test_what_cannot_be_decided_comes_to_what_is_chosen(
    runs: Path, command: Command, choice: str, code: int
):
    gate = ("--no-regression", "trajectory_match:0.01", "--on-undecided", choice)
    assert command("compare", "good.json", "good.json", *gate).code == code


@pytest.mark.parametrize(("rows", "code"), [("bad_rows", 1), ("good_rows", 0)])
def test_score_compares_with_a_baseline(runs: Path, command: Command, rows: str, code: int):
    gate = ("--baseline", "good.json", "--no-regression", "trajectory_match:0.1")
    done = command("score", f"{rows}.json", "-e", "trajectory_match", *gate)
    assert done.code == code
    assert "no regression of trajectory_match by 0.1" in done.out


def test_a_config_names_its_baseline_beside_itself(runs: Path, command: Command):
    (runs / "eval.yaml").write_text(
        "dataset: bad_rows.json\nevaluators: [trajectory_match]\nbaseline: good.json\n"
        "no_regression: {metric: trajectory_match, margin: 0.1}\n"
    )
    assert command("run", str(runs / "eval.yaml"), "--no-store", "-q").code == 1


def test_a_gate_of_a_config_that_is_not_one_is_a_fault_of_it(runs: Path, command: Command):
    (runs / "eval.yaml").write_text(
        "dataset: bad_rows.json\nevaluators: [trajectory_match]\nbaseline: good.json\n"
        "no_regression: {metric: trajectory_match, margn: 0.1}\n"
    )
    done = command("validate", "eval.yaml")
    assert done.code == 2
    assert "unknown key 'margn'. Did you mean 'margin'?" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("good.json", "none.json"), "none.json: cannot be read"),
        (("good.json", "good_rows.json"), "is no run saved by trajgrade"),
        (("good.json", "bad.json", "-o", "x.htm"), "format of a comparison '.htm'"),
        (("good.json", "bad.json", "-o", "bad.json"), "would be written over what is read"),
        (("good.json", "bad.json", "--no-regression", "trajectory_mtch"), "Did you mean"),
        (("good.json", "bad.json", "--level", "2"), "level: from 0.5 to below 1"),
    ],
)
def test_bad_input_is_told_of_with_exit_code_2(runs: Path, command: Command, arguments, told):
    done = command("compare", *arguments)
    assert done.code == 2
    assert told in done.err


def test_a_baseline_needs_a_gate(runs: Path, command: Command):
    done = command("score", "good_rows.json", "-e", "trajectory_match", "--baseline", "bad.json")
    assert done.code == 2
    assert "a gate needs both" in done.err


def test_power_says_how_many_examples_a_difference_needs(command: Command):
    found = json.loads(command("power", "--sd", "0.4", "--difference", "0.05", "--json").out)
    assert found["needed"] == 505
    done = command("power", "--differing", "0.2", "--examples", "100")
    assert "100 examples, if it is 0.127 or more" in done.out


def test_power_learns_the_spread_from_two_runs(runs: Path, command: Command):
    done = command("power", "good.json", "bad.json", "--metric", "trajectory_match")
    assert done.code == 0
    assert "in trajectory_match between the runs" in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--sd", "1", "--differing", "0.1"),
        ("one.json",),
        ("--differing", "0.1", "--difference", "0.2"),
    ],
)
def test_power_needs_one_way_to_know_the_spread(command: Command, arguments):
    assert command("power", *arguments).code == 2


def test_kept_runs_are_compared_and_are_baselines_by_their_id(runs: Path, command: Command):
    (runs / "eval.yaml").write_text("dataset: good_rows.json\nevaluators: [trajectory_match]\n")
    config = str(runs / "eval.yaml")
    assert command("run", config, "-q").code == 0
    gate = ("--baseline", "run:latest", "--no-regression", "trajectory_match:0.1")
    assert command("run", config, "-q", *gate).code == 0
    found = json.loads(command("compare", "run:latest", "run:latest", "--json").out)
    assert found["metrics"]["trajectory_match"]["difference"] == 0
    worse = command("run", config, "--dataset", "bad_rows.json", "-q", *gate)
    assert worse.code == 3
    assert "the datasets differ in content" in worse.out


def test_a_run_is_not_saved_over_its_baseline(runs: Path, command: Command):
    gate = ("--baseline", "good.json", "--no-regression", "trajectory_match:0.1")
    done = command("score", "bad_rows.json", "-e", "trajectory_match", *gate, "-o", "good.json")
    assert done.code == 2
    assert "would be written over what is read" in done.err


def test_what_gates_came_to_is_kept_with_the_run(runs: Path, command: Command):
    (runs / "eval.yaml").write_text(
        "dataset: bad_rows.json\nevaluators: [trajectory_match]\nbaseline: good.json\n"
        "thresholds: {trajectory_match: 0.1}\nno_regression: {trajectory_match: 0.1}\n"
    )
    assert command("run", str(runs / "eval.yaml"), "-q").code == 1
    (record,) = json.loads(command("list", "runs", "--json").out)
    told = {one["threshold"]: one for one in record["result"]["thresholds"]}
    gate = told["no regression of trajectory_match by 0.1"]
    assert [one["verdict"] for one in told.values()] == ["passed", "failed"]
    assert gate["value"] < gate["bound"] == -0.1
    assert "interval" in gate["reason"]
    assert record["settings"]["no_regression"] == {"trajectory_match": 0.1}
    assert record["settings"]["baseline"].endswith("good.json")
    assert "1 of 2 thresholds failed" in command("list", "runs").out
    for form in ("md", "html", "json", "xml"):
        assert command("report", "run:latest", "-o", f"again.{form}").code == 0
        assert gate["threshold"] in Path(f"again.{form}").read_text()
    assert command("compare", "run:latest", "run:latest").code == 0


def test_a_misspelt_gate_is_refused_before_anything_is_graded(runs: Path, command: Command):
    gate = ("--baseline", "good.json", "--no-regression", "trajectory_mtch:0.1")
    (runs / "eval.yaml").write_text("dataset: bad_rows.json\nevaluators: [trajectory_match]\n")
    done = command("run", str(runs / "eval.yaml"), "-q", *gate)
    assert done.code == 2
    assert "no_regression.trajectory_mtch" in done.err
    assert "Did you mean 'trajectory_match'" in done.err
    assert json.loads(command("list", "runs", "--json").out) == []
