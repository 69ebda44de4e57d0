"""The GitHub Action: what it calls exists, and no input is pasted into a script."""

from __future__ import annotations

import re
import subprocess
import sys

import yaml

from tests.conftest import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


def test_inputs_reach_scripts_through_the_environment_only():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


def test_every_flag_that_it_gives_exists():
    given = {flag for step in ACTION["runs"]["steps"] for flag in
             re.findall(r"(?<![\w-])--?[a-z][\w-]*", step["run"].partition("trajgrade run")[2])}  # fmt: skip
    told = subprocess.run(
        [sys.executable, "-m", "trajgrade", "run", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert given
    assert {flag for flag in given if flag not in told} == set()
