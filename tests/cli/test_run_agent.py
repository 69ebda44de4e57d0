"""`trajgrade run` with an agent: real processes and signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

AGENT = """
import pathlib, threading, time
here = pathlib.Path(__file__).parent

def answer(prompt):
    (here / f"asked-{prompt}").touch()
    return "yes"

def hang_after_three(prompt):
    answer(prompt)
    if int(prompt) >= 3 and not (here / "go").exists():
        time.sleep(600)
    return "yes"

async def fail(prompt):
    raise ConnectionError("out of reach")

def leave(prompt):
    raise SystemExit("leaving")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents.py").write_text(AGENT)
    rows = [{"id": f"r{n}", "prompt": str(n), "reference": "yes"} for n in range(8)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "c.yaml").write_text(
        "dataset: rows.jsonl\nevaluators: [exact_match]\nagent: agents:answer\n"
    )
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "trajgrade", "run", "c.yaml", *arguments]


def ran(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_it_calls_the_agent_of_the_config(folder):
    done = ran(folder, "--json", "--no-store")
    found = json.loads(done.stdout)
    assert (done.returncode, found["metrics"]["exact_match"]["mean"], found["seed"]) == (0, 1, 0)
    assert found["agent"]["failure"]["mean"] == 0
    assert len([*folder.glob("asked-*")]) == 8


def test_flags_count_before_the_config(folder):
    done = ran(
        folder, "--json", "--no-store", "--agent", f"{{command: [{sys.executable}, -c, 'print(1)']}}",
        "--trials", "2", "--seed", "4", "--budget", "rows=5", "--timeout", "60", "-j", "2",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert (found["metrics"]["exact_match"]["mean"], found["seed"]) == (0, 4)
    assert (found["n_rows"], found["metrics"]["exact_match"]["n_scored"]) == (16, 5)
    assert not [*folder.glob("asked-*")]


def test_what_is_wrong_with_a_flag_is_said_of_the_flag(folder):
    done = ran(folder, "--agent", "{comand: [x]}", "--budget", "row=1")
    assert done.returncode == 2
    assert "--agent.comand: unknown key 'comand'. Did you mean 'command'?" in done.stderr
    assert "--budget.row: unknown key 'row'. Did you mean 'rows'?" in done.stderr
    assert "write KIND=NUMBER" in ran(folder, "--budget", "cheap").stderr
    assert "--timeout: expected a number" in ran(folder, "--timeout", "0").stderr
    refused = ran(folder, TRAJGRADE_MAX_CONCURRENCY="many")
    assert (refused.returncode, "TRAJGRADE_MAX_CONCURRENCY" in refused.stderr) == (2, True)


@pytest.mark.parametrize(("agent", "type_"), [("fail", "ConnectionError"), ("leave", "SystemExit")])
def test_an_agent_that_fails_or_exits_fails_its_rows_only(folder, agent, type_):
    done = ran(folder, "--no-store", "--agent", f"agents:{agent}", "-o", "run.jsonl", "--json")
    assert json.loads(done.stdout)["agent"]["failure"]["mean"] == 1
    rows = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    failed = [row for row in rows if "agent_error" in row]
    assert [row["agent_error"]["type"] for row in failed] == [type_] * 8
    assert all(row["results"]["exact_match"]["score"] == 0 for row in failed)


def test_an_interrupt_keeps_what_is_done_and_resume_asks_for_the_rest_only(folder):
    """Known faults B151, B158: with a real process and a real signal."""
    arguments = ("--agent", "agents:hang_after_three", "-j", "2", "--resume")
    process = subprocess.Popen(
        command(*arguments), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while len([*folder.glob("asked-*")]) < 5 and time.monotonic() < until:
        threading.Event().wait(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    told = re.search(r"interrupted after (\d) rows", stderr)
    assert (process.returncode, told is not None) == (130, True), stderr
    kept = int(told[1]) if told else 0
    assert 1 <= kept <= 3
    for asked in folder.glob("asked-*"):
        asked.unlink()
    (folder / "go").touch()
    done = ran(folder, *arguments, "--json")
    found = json.loads(done.stdout)
    assert (found["n_rows"], found["metrics"]["exact_match"]["mean"]) == (8, 1)
    assert len([*folder.glob("asked-*")]) == 8 - kept


def test_a_run_stopped_by_its_budget_is_gone_on_with(folder):
    first = ran(folder, "--budget", "rows=3", "--json")
    assert "stopped: the budget of 3 rows is spent; 5 rows were not run" in first.stdout
    for asked in folder.glob("asked-*"):
        asked.unlink()
    found = json.loads(ran(folder, "--resume", "--json").stdout)
    assert (found["n_rows"], found["metrics"]["exact_match"]["n_scored"]) == (8, 8)
    assert len([*folder.glob("asked-*")]) == 5


def test_flags_of_calls_are_refused_where_no_agent_is_called(folder):
    (folder / "rows.jsonl").write_text('{"response": "a", "reference": "a"}\n')
    (folder / "c.yaml").write_text("dataset: rows.jsonl\nevaluators: [exact_match]\n")
    done = ran(folder, "-j", "4", "--timeout", "3")
    assert done.returncode == 2
    assert "-j and --timeout: no agent is called" in done.stderr
    # The variable is for runs with an agent, too.
    assert ran(folder, TRAJGRADE_MAX_CONCURRENCY="4").returncode == 0


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("broken:answer", "broken cannot be imported: RuntimeError: no key is set"),
        ("agents:anser", "anser"),
        ("agents:answer", ""),
    ],
)
def test_validate_imports_the_agent_and_does_not_call_it(folder, agent, said):
    (folder / "broken.py").write_text("raise RuntimeError('no key is set')")
    config = folder / "c.yaml"
    config.write_text(config.read_text().replace("agents:answer", agent))
    done = subprocess.run(
        [sys.executable, "-m", "trajgrade", "validate", "c.yaml"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == (2 if said else 0), done.stderr
    assert said in done.stderr
    assert not [*folder.glob("asked-*")]
