"""The examples that are programs are run, as a newcomer would run them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

LOOP = ROOT / "examples" / "production_loop" / "loop.py"


def test_the_loop_goes_round_from_an_agents_spans_to_the_regression_that_they_show():
    for package in ("fastapi", "uvicorn", "opentelemetry.sdk"):
        pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, str(LOOP), "--once"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "the agent has handled 6 requests" in done.stdout
    assert "3 traces are in the review queue" in done.stdout
    now, _, before = done.stdout.partition("the release before")
    assert "reference call 0\n       not made: find_order(order='1002')" in now
    means = [part.split("trajectory_match     ")[1].split()[0] for part in (now, before)]
    assert means == ["0.000", "1.000"]
    assert "look at all of it: http://127.0.0.1:" in before
