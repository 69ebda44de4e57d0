"""The GitHub Action: what it calls exists, no input is pasted into a script, and its script works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


def test_inputs_reach_scripts_through_the_environment_only():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


def test_every_flag_that_it_gives_exists():
    script = STEPS["Grade"]["run"]
    for verb in ("run", "compare"):
        lines = [line for line in script.splitlines() if f"trajgrade {verb}" in line]
        given = {flag for line in lines for flag in re.findall(r"(?<=\s)--?[a-z][\w-]*", line)}
        told = subprocess.run(
            [sys.executable, "-m", "trajgrade", verb, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert given
        assert {flag for flag in given if flag not in told} == set()


def test_the_example_workflow_gives_inputs_that_the_action_has():
    flow = yaml.safe_load((ROOT / "examples" / "github" / "evaluate.yml").read_text())
    (step,) = [
        step for step in flow["jobs"]["grade"]["steps"] if step["uses"].endswith("/trajgrade@main")
    ]
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= set(
        step["with"]
    )


@pytest.mark.parametrize(("answer", "code"), [("a", 0), ("b", 1)])
def test_its_script_grades_compares_and_ends_with_the_exit_code_of_the_run(
    tmp_path: Path, answer: str, code: int
):
    def graded(name: str, said: str) -> None:
        # Two rows in five tell the same in both runs, so that something varies.
        rows = [
            {"id": f"e{n}", "response": said if n % 5 else "c", "reference": "a"} for n in range(90)
        ]
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)))

    def done(script: str, **env: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "TRAJGRADE_STORE": "runs.db", **env},
            capture_output=True,
            text=True,
            check=False,
        )

    graded("rows.jsonl", "a")
    assert done("trajgrade score rows.jsonl -e exact_match -o base.json -q").returncode == 0
    graded("rows.jsonl", answer)
    (tmp_path / "eval.yaml").write_text("dataset: rows.jsonl\nevaluators: [exact_match]\n")
    found = done(
        STEPS["Grade"]["run"],
        CONFIG="eval.yaml",
        ARGUMENTS="-q",
        BASELINE="base.json",
        GATES="exact_match:0.1",
        OUTPUT="trajgrade-report.html",
        COMPARISON="trajgrade-comparison.html",
        GITHUB_OUTPUT="output",
        GITHUB_STEP_SUMMARY="summary.md",
    )
    assert found.returncode == code, found.stderr
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    assert "exact_match" in (tmp_path / "trajgrade-report.html").read_text()
    assert "exact_match" in (tmp_path / "trajgrade-comparison.html").read_text()
    summary = (tmp_path / "summary.md").read_text()
    assert "no regression of exact_match by 0.1" in summary
    assert ("The new run is worse" in summary.replace("\\", "")) is (code == 1)
