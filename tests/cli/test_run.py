"""`trajgrade run`: what it prints, saves and exits with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROWS, Command
from tests.conftest import ROOT, SHARED, needs_shared

FILES = (".json", ".jsonl", ".csv", ".md")


def configured(folder: Path, **changes: Any) -> str:
    document = {
        "dataset": "rows.json",
        "evaluators": ["trajectory_precision", "trajectory_recall"],
        **changes,
    }
    (folder / "eval.yaml").write_text(json.dumps(document))
    return "eval.yaml"


def metrics(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["metrics"]
    return found


# ------------------------------------------------------------------------------ exit codes


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"thresholds": {"trajectory_recall": 0.7}}, 1),
        ({"evaluators": ["no_such"]}, 2),
        ({"evaluators": [{"field": {"path": "id"}}]}, 3),
    ],
)
def test_the_exit_code_is_that_of_the_process(
    changes: dict[str, Any], code: int, folder: Path, process: Command
):
    done = process("run", configured(folder, **changes))
    assert done.code == code, done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"thresholds": {"trajectory_recall": 0.6}}, 0),
        ({"thresholds": {"trajectory_recall": 0.7}}, 1),
        ({"evaluators": ["trajectory_recall", {"field": {"path": "gone"}}]}, 3),
        ({"evaluators": ["trajectory_recall", {"field": {"path": "id"}}], "thresholds": {"trajectory_recall": 0.6}}, 0),
        ({"evaluators": ["trajectory_recall", {"field": {"path": "id"}}], "thresholds": {"trajectory_recall": 0.6}, "fail_on": "any"}, 1),
        ({"evaluators": ["no_such"]}, 2),
    ],
)  # fmt: skip
def test_the_exit_code_says_what_came_of_it(
    changes: dict[str, Any], code: int, folder: Path, command: Command
):
    assert command("run", configured(folder, **changes)).code == code


def test_an_undecided_threshold_has_a_code_of_its_own(folder: Path, command: Command):
    (folder / "rows.json").write_text(json.dumps([*ROWS, {"id": "bad", "outputs": 5, "reference_outputs": []}]))  # fmt: skip
    config = configured(folder, evaluators=["trajectory_recall"], thresholds={"trajectory_recall": 0.6})  # fmt: skip
    done = command("run", config)
    assert done.code == 3
    assert "undecided" in done.out


def test_fail_on_any_can_be_asked_for_and_taken_back(folder: Path, command: Command):
    (folder / "rows.json").write_text(json.dumps([*ROWS, {"id": "bad", "outputs": 5, "reference_outputs": []}]))  # fmt: skip
    assert command("run", configured(folder)).code == 0
    assert command("run", configured(folder), "--fail-on", "any").code == 1
    assert command("run", configured(folder, fail_on="any"), "--fail-on", "none").code == 0


@pytest.mark.parametrize(
    "content", ["[]", "", '{"examples": []}'], ids=["list", "nothing", "examples"]
)
def test_an_empty_dataset_is_bad_input_and_not_zero_failures(
    content: str, folder: Path, command: Command
):
    (folder / "rows.json").write_text(content)
    done = command("run", "eval.yaml")
    assert (done.code, done.out) == (2, "")
    assert "rows.json" in done.err


@pytest.mark.parametrize("path", ["./no-such-dir", "no-such-dir/*.json", "rwos.json"])
def test_a_mistyped_path_is_bad_input_that_names_it(path: str, folder: Path, command: Command):
    """B213: a mistyped path must not find 0 cases and pass."""
    done = command("run", "eval.yaml", "--dataset", path)
    assert (done.code, done.out) == (2, "")
    assert path in done.err


def test_a_folder_without_rows_is_bad_input(folder: Path, command: Command):
    (folder / "empty").mkdir()
    done = command("run", "eval.yaml", "--dataset", "empty")
    assert done.code == 2
    assert "the directory empty holds no file" in done.err


# ------------------------------------------------------------------------------ output


def test_json_is_one_object_on_standard_output_and_nothing_else(folder: Path, process: Command):
    done = process("run", "eval.yaml", "--json", "-o", "out.md")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["metrics"]["trajectory_recall"].items() >= {
        "mean": pytest.approx(2 / 3),
        "std": pytest.approx(0.57735, abs=1e-5),
        "coverage": 1.0,
        "n_total": 3, "n_scored": 3, "n_error": 0, "n_not_evaluated": 0, "n_examples": 3,
        "n_vacuous": 0,
    }.items()  # fmt: skip
    assert (found["n_rows"], found["exit_code"], found["dataset"]) == (3, 0, "rows.json")
    assert done.err == "saved out.md\n"


def test_json_has_the_same_exit_code_and_no_text_when_a_gate_fails(folder: Path, process: Command):
    config = configured(folder, thresholds={"trajectory_recall": 0.9})
    done = process("run", config, "--json")
    assert done.code == 1
    assert json.loads(done.out)["thresholds"][0]["verdict"] == "failed"
    assert done.err == ""


def test_quiet_prints_what_does_not_hold_and_saves_all_the_same(folder: Path, command: Command):
    assert command("run", "eval.yaml", "-q", "-o", "a.json") == (0, "", "")
    assert (folder / "a.json").exists()
    config = configured(folder, thresholds={"trajectory_recall": 0.9, "trajectory_precision": 0.1})
    done = command("run", config, "--quiet")
    assert done.code == 1
    assert "trajectory_recall >= 0.9" in done.out
    assert "trajectory_precision" not in done.out


def test_a_run_is_saved_in_every_format_asked_for(folder: Path, command: Command):
    done = command("run", "eval.yaml", *(part for s in FILES for part in ("-o", f"sub/out{s}")))
    assert done.code == 0
    assert sorted(path.suffix for path in (folder / "sub").iterdir()) == sorted(FILES)
    assert done.err.splitlines() == [f"saved sub/out{suffix}" for suffix in FILES]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("out.xlsx", "-o out.xlsx: unknown report format '.xlsx'"),
        ("rows.json", "-o rows.json: would be written over what is read"),
        ("./eval.yaml", "-o eval.yaml: unknown report format '.yaml'"),
        ("sub.json", "-o sub.json: is a folder"),
    ],
)
def test_what_could_not_be_saved_is_refused_before_anything_runs(
    path: str, said: str, folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
):
    (folder / "sub.json").mkdir()
    monkeypatch.setattr("trajgrade.cli.grading.evaluate", None)
    done = command("run", "eval.yaml", "-o", path)
    assert done.code == 2
    assert said in done.err


def test_a_config_is_not_overwritten_either(folder: Path, command: Command):
    (folder / "eval.yaml").rename(folder / "eval.json")
    assert "written over what is read" in command("run", "eval.json", "-o", "eval.json").err


def test_a_file_that_cannot_be_written_does_not_lose_the_report(folder: Path, command: Command):
    (folder / "file").write_text("")
    done = command("run", "eval.yaml", "-o", "file/out.json", "-o", "good.json")
    assert done.code == 2
    assert "trajectory_recall" in done.out
    assert "-o file/out.json: cannot be written" in done.err
    assert (folder / "good.json").exists()


def test_explain_chooses_which_rows_are_shown(folder: Path, command: Command):
    assert "example" not in command("run", "eval.yaml", "--explain", "none").out
    assert command("run", "eval.yaml", "--explain", "all").out.count("example ") == 2
    assert "example" not in command("run", configured(folder, explain="none")).out


# ------------------------------------------------------------------------------ which rows


@pytest.mark.parametrize(
    ("flags", "rows"),
    [
        (["--limit", "2"], 2),
        (["-k", "RI"], 1),
        (["--filter", "*t*"], 2),
        (["--sample-id", "wrong"], 1),
        (["--sample-id", "wrong", "--sample-id", "extra"], 2),
        (["--sample-id", "wrong", "--sample-id", "extra", "--limit", "1"], 1),
        (["-k", "r", "--limit", "3"], 3),
    ],
)
def test_rows_can_be_chosen(flags: list[str], rows: int, folder: Path, command: Command):
    done = command("run", "eval.yaml", "--json", *flags)
    assert json.loads(done.out)["n_rows"] == rows


def test_a_limit_of_the_config_holds_unless_another_is_given(folder: Path, command: Command):
    config = configured(folder, limit=1)
    assert json.loads(command("run", config, "--json").out)["n_rows"] == 1
    assert json.loads(command("run", config, "--json", "--limit", "2").out)["n_rows"] == 2


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--sample-id", "wrnog"], "rows.json has no example 'wrnog'; did you mean 'wrong'?"),
        (["--sample-id", "right", "--sample-id", "x"], "rows.json has no example 'x'"),
        (["-k", "zzz"], "has no example whose id matches 'zzz'; first: right, wrong, extra"),
    ],
)
def test_choosing_no_row_is_bad_input(flags: list[str], said: str, folder: Path, command: Command):
    done = command("run", "eval.yaml", *flags)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


# ------------------------------------------------------------------------------ terminals


def test_a_reader_that_leaves_early_changes_nothing(folder: Path, process: Command):
    (folder / "rows.json").write_text(json.dumps([{**ROWS[1], "id": str(n)} for n in range(400)]))
    config = configured(folder, thresholds={"trajectory_recall": 0.9})
    done = process("run", config, "--explain", "all", "-o", "out.json", "-q", pipe="| true")
    assert (done.code, done.err) == (1, "")
    done = process("run", config, "--explain", "all", "-o", "out.json", pipe="| head -1")
    assert done.code == 1
    assert done.out.startswith("400 rows from rows.json")
    assert done.err == "saved out.json\n"
    assert len(json.loads((folder / "out.json").read_text())["rows"]) == 400


@pytest.mark.parametrize("verb", [["list", "evaluators"], ["sample", "on-device"], ["validate", "--schema"]])  # fmt: skip
def test_other_verbs_end_quietly_too(verb: list[str], process: Command):
    done = process(*verb, pipe="| head -c 1 | wc -c")
    assert (done.code, done.out.strip(), done.err) == (0, "1", "")


def test_colours_follow_the_terminal(folder: Path, process: Command):
    assert "\x1b[" in process("run", "eval.yaml", FORCE_COLOR="1").out
    assert "\x1b" not in process("run", "eval.yaml", FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b" not in process("run", "eval.yaml", FORCE_COLOR="1", TERM="dumb").out


def on_a_terminal(folder: Path, *args: str, **env: str) -> tuple[str, str]:
    """Run the command with standard error on a pseudo-terminal; return both outputs."""
    import os
    import pty
    import subprocess
    import sys

    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "trajgrade", *args], cwd=folder, stdout=subprocess.PIPE,
        stderr=theirs, env={**os.environ, **env}, check=True, timeout=120,
    )  # fmt: skip
    os.close(theirs)
    told = b""
    try:
        while chunk := os.read(ours, 65536):
            told += chunk
    except OSError:
        pass  # Linux ends a pseudo-terminal that nobody holds with an error
    os.close(ours)
    return done.stdout.decode(), told.decode()


def test_progress_is_shown_on_standard_error_where_it_is_a_terminal(folder: Path):
    out, err = on_a_terminal(folder, "run", "eval.yaml", "--json", TERM="xterm")
    assert json.loads(out)["n_rows"] == 3
    assert "1 of 3 rows" in err
    assert err.endswith("\r")


@pytest.mark.parametrize(
    ("flags", "env"),
    [
        (["--no-progress"], {}),
        (["-q"], {}),
        ([], {"CI": "true"}),
        ([], {"TERM": "dumb"}),
    ],
)
def test_progress_is_not_shown_where_it_is_not_wanted(
    flags: list[str], env: dict[str, str], folder: Path
):
    _, err = on_a_terminal(folder, "run", "eval.yaml", *flags, **{"TERM": "xterm", **env})
    assert err == ""


INTERRUPTING = """
import signal, sys
from trajgrade.evaluators import register_evaluator
from trajgrade.cli import main

class Slow:
    key = "slow"
    def evaluate(self, *, outputs=None, **_):
        if outputs == "stop":
            signal.raise_signal(signal.SIGINT)
        return 1.0

register_evaluator("slow", Slow)
main(sys.argv[1:])
"""


def test_an_interrupted_run_reports_and_saves_what_was_done(folder: Path, process: Command):
    rows = [
        {"id": str(n), "outputs": "stop" if n == 7 else "go", "reference": "go"} for n in range(20)
    ]
    (folder / "rows.json").write_text(json.dumps(rows))
    config = configured(folder, evaluators=["exact_match", "slow", "edit_distance"])
    done = process("run", config, "-o", "out.json", script=INTERRUPTING)
    assert done.code == 130
    assert done.err == "interrupted after 7 rows; go on with it by --resume\nsaved out.json\n"
    assert done.out.startswith("7 rows from rows.json")
    assert "interrupted, the figures are of these rows only" in done.out
    saved = json.loads((folder / "out.json").read_text())
    assert (saved["interrupted"], saved["exit_code"], len(saved["rows"])) == (True, 130, 7)
    assert {m["n_total"] for m in saved["metrics"].values()} == {7}


def test_an_interruption_before_the_first_row_is_no_crash(folder: Path, process: Command):
    (folder / "rows.json").write_text(
        json.dumps([{"id": "a", "outputs": "stop", "reference": "x"}])
    )
    config = configured(folder, evaluators=["exact_match", "slow"])
    done = process("run", config, "--json", script=INTERRUPTING)
    assert done.code == 130
    assert json.loads(done.out)["n_rows"] == 0


def test_an_interruption_outside_of_a_run_has_its_code_too(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trajgrade.config.load_config", stop)
    done = command("run", "eval.yaml")
    assert (done.code, done.out, done.err.strip()) == (130, "", "interrupted")


# ------------------------------------------------------------------------------ the example

EXAMPLE = ROOT / "examples" / "tau_airline" / "eval.yaml"


def test_the_example_grades_its_own_runs(command: Command):
    done = command("run", EXAMPLE, "--json")
    found = metrics(done.out)
    assert done.code == 0
    assert found["reward"]["pass^1"] == pytest.approx(4 / 6)
    assert found["reward"]["pass^2"] == pytest.approx(1 / 3)
    assert found["trajectory_exact_match"]["mean"] == pytest.approx(1 / 6)
    assert found["trajectory_any_order_match"]["mean"] == pytest.approx(5 / 6)
    assert found["trajectory_any_order_match"]["n_vacuous"] == 2


@needs_shared
def test_the_example_grades_the_published_runs(command: Command):
    done = command(
        "run", EXAMPLE, "--dataset", SHARED / "data" / "tau_airline_gpt4o.json", "--json"
    )
    found = metrics(done.out)
    rates = [round(found["reward"][f"pass^{k}"], 3) for k in (1, 2, 3, 4)]
    assert rates == [0.420, 0.273, 0.220, 0.200]
    assert found["trajectory_in_order_match"]["n_vacuous"] == 26
    assert {m["n_scored"] for m in found.values()} == {200}
