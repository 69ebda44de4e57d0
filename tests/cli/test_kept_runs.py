"""`trajgrade run` keeps its run: killed, refused while another writes it, gone on with, listed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from trajgrade.stores import open_store

ROWS = 60
AGENT = """
import os, time

def answer(prompt):
    with open("asked", "a") as log:
        log.write(f"{prompt}\\n")
    while os.path.exists("wait") and int(prompt) >= 20:
        time.sleep(0.01)
    if os.path.exists("down") and prompt in ("3", "4"):
        raise ConnectionError("refused")
    return {"response": prompt, "predicted_trajectory": [{"tool_name": "go", "tool_input": {"n": prompt}}]}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a config, rows, and an agent that waits at row 20 while `wait` is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJGRADE_STORE", raising=False)
    expected = [{"tool_name": "go", "tool_input": {"n": "7"}}]
    rows = [
        {"id": f"r{n}", "prompt": str(n), "reference_trajectory": expected} for n in range(ROWS)
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("robot.py").write_text(AGENT)
    Path("eval.yaml").write_text(
        "dataset: rows.jsonl\nagent: {function: 'robot:answer', max_concurrency: 4}\n"
        "evaluators: [trajectory_match, trajectory_f1]\n"
    )
    return tmp_path


def begin(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "trajgrade", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ".", "NO_COLOR": "1"},
    )


def done(*args: str) -> tuple[int, str, str]:
    process = begin(*args)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def asked() -> list[str]:
    return sorted(Path("asked").read_text().split(), key=int)


def begun_and_waiting() -> subprocess.Popen[str]:
    """A run that has kept 20 rows and gets no further."""
    Path("wait").touch()
    process = begin("run", "eval.yaml", "-q")
    pause = threading.Event()
    for _ in range(6000):
        with open_store() as store:
            if store.runs() and store.count(store.run("latest").id) == 20:
                return process
        assert process.poll() is None, process.communicate()
        pause.wait(0.01)
    raise AssertionError("it kept nothing")


def results(out: str) -> Any:
    found = json.loads(out)
    return {name: found[name] for name in ("metrics", "n_rows", "thresholds", "exit_code")}


def test_a_run_that_is_killed_is_gone_on_with_and_each_row_is_answered_once():
    process = begun_and_waiting()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert "cut off" in done("list", "runs")[1]
    Path("wait").unlink()
    before = asked()
    code, out, err = done("run", "eval.yaml", "--resume", "--json")
    assert (code, "error" in err) == (0, False)
    again = Path("asked").read_text().split()[len(before) :]
    assert sorted(again, key=int) == [str(n) for n in range(20, ROWS)]
    with open_store() as store:
        (run,) = store.runs()
        assert (run.state, store.count(run.id)) == ("finished", ROWS)
    assert json.loads(out)["id"] == run.id
    assert results(out) == results(done("run", "eval.yaml", "--no-store", "--json")[1])


def test_a_second_process_is_refused_with_the_reason_and_the_first_goes_on():
    process = begun_and_waiting()
    assert "running" in done("list", "runs")[1]
    code, out, err = done("run", "eval.yaml", "--resume")
    assert (code, out) == (2, "")
    assert f"is being written by process {process.pid} on " in err
    Path("wait").unlink()
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert asked() == [str(n) for n in range(ROWS)]


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on():
    process = begun_and_waiting()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "go on with it by --resume" in err
    assert "interrupted" in done("list", "runs")[1]
    Path("wait").unlink()
    assert done("run", "eval.yaml", "--resume", "-q")[0] == 0
    with open_store() as store:
        assert [run.state for run in store.runs()] == ["finished"]


def test_rows_whose_agent_failed_are_begun_anew_on_request_only():
    Path("down").touch()
    assert done("run", "eval.yaml", "-q")[0] == 0
    Path("down").unlink()
    Path("asked").unlink()
    code, out, _ = done("run", "eval.yaml", "--retry-errors", "--json")
    assert not Path("asked").exists()
    assert json.loads(out)["agent"]["failure"]["mean"] == pytest.approx(2 / ROWS)
    code, out, _ = done("run", "eval.yaml", "--retry-failed", "--json")
    assert code == 0
    assert asked() == ["3", "4"]
    assert json.loads(out)["agent"]["failure"]["mean"] == 0
    with open_store() as store:
        assert len(store.runs()) == 1


def test_the_store_is_that_of_the_flag_else_of_the_config_else_of_the_environment(monkeypatch):
    with Path("eval.yaml").open("a") as config:
        config.write("store: configured/\nexperiment: tries\n")
    monkeypatch.setenv("TRAJGRADE_STORE", "surrounding.db")
    assert done("run", "eval.yaml", "-q", "--store", "flagged.db")[0] == 0
    assert done("run", "eval.yaml", "-q")[0] == 0
    assert done("score", "sample:on-device", "-e", "trajectory_f1", "-q")[0] == 0
    there = {path.name for path in Path().iterdir()}
    assert {"flagged.db", "configured"} <= there
    assert not {"surrounding.db", "trajgrade.db"} & there
    for store in ("flagged.db", "configured/"):
        assert "tries" in done("list", "runs", "--store", store)[1]
        assert done("list", "runs", "--store", store, "--experiment", "other")[1] == ""


def test_a_store_that_cannot_be_written_is_said_before_the_agent_is_called():
    Path("notes.txt").write_text("These are my notes.\n" * 100)
    code, out, err = done("run", "eval.yaml", "--store", "notes.txt")
    assert (code, out) == (2, "")
    assert "notes.txt: the file is no SQLite database" in err
    assert len(err.strip().splitlines()) == 1
    assert not Path("asked").exists()
