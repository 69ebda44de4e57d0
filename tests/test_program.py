"""Agents that are a process of their own: real ones."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from trajgrade.agent import Agent
from trajgrade.dataset import Dataset, Example
from trajgrade.errors import ConfigError
from trajgrade.program import Program

CALLS = [{"tool_name": "echo", "tool_input": {"a": 1}}]


def python(source):
    return [sys.executable, "-c", source]


def ran(source, n=1, *, most_bytes=None, **options):
    program = Program(python(source), **({"most_bytes": most_bytes} if most_bytes else {}))
    rows = Dataset.load([{"id": f"r{i}", "prompt": f"p{i}"} for i in range(n)])
    return list(Agent(program, **options).over(rows))


def error_of(found):
    return found[0][1].error


def is_running(pid):
    """Whether a process goes on; one that only waits to be buried does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def wait_until(holds, seconds=30.0):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        threading.Event().wait(0.01)
    return holds()


def test_a_program_reads_the_row_and_writes_its_answer():
    source = """if 1:
        import json, os, sys
        row = json.loads(sys.stdin.readline())
        env = [os.environ["TRAJGRADE_SEED"], os.environ["TRAJGRADE_TRIAL"]]
        print(json.dumps({"response": json.dumps([row, env]), "predicted_trajectory": [
            {"tool_name": "echo", "tool_input": {"a": 1}}]}))
    """
    example = Example(id="a", inputs={"q": "ß"}, trial=2, reference="secret")
    ((answered, outcome),) = Agent(Program(python(source)), seed=5).over([example])
    assert outcome.error is None
    assert json.loads(answered.response) == [
        {"id": "a", "inputs": {"q": "ß"}, "trial": 2, "seed": 7}, ["7", "2"],
    ]  # fmt: skip
    assert answered.outputs == CALLS


@pytest.mark.parametrize(
    ("written", "response", "outputs"),
    [
        ("Yes, at 09:14.", "Yes, at 09:14.", None),
        ("42", "42", None),
        ('"42"', "42", None),
        ("[1] as the source says", "[1] as the source says", None),
        ("{not JSON", "{not JSON", None),
        (json.dumps({"response": "x", "predicted_trajectory": CALLS}), "x", CALLS),
        (json.dumps(CALLS), None, CALLS),
        ('{"role": "user", "content": "q"}\n{"role": "assistant", "content": "a"}\n', None,
         [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]),
    ],
)  # fmt: skip
def test_what_it_writes_is_json_or_a_text(written, response, outputs):
    found = ran(f"import sys; sys.stdout.write({written + chr(10)!r})")
    assert error_of(found) is None
    assert (found[0][0].response, found[0][0].outputs) == (response, outputs)


def test_many_run_at_once_and_none_more_than_allowed(tmp_path):
    source = f"""if 1:
        import os, sys, time, pathlib
        here = pathlib.Path({str(tmp_path)!r}) / str(os.getpid())
        here.touch()
        time.sleep(0.05)
        print(len(list(here.parent.iterdir())))
        here.unlink()
    """
    found = ran(source, 8, max_concurrency=3)
    assert {outcome.failure for _, outcome in found} == {0}
    assert max(int(example.response) for example, _ in found) <= 3


def test_writing_nothing_is_a_failure():
    assert error_of(ran("pass")).message == "the agent returned nothing"


def test_an_exit_code_is_a_failure_with_the_end_of_what_it_said_of_it():
    found = ran("import sys; sys.stderr.write('x' * 9000 + 'no credit'); sys.exit(3)")
    error = error_of(found)
    assert error.type == "AgentCallError"
    assert error.message.startswith(f"{sys.executable} exited with 3: xxx")
    assert error.message.endswith("no credit")
    assert len(error.message) < 700


def test_a_crash_is_a_failure_that_names_the_signal():
    found = ran("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert "was ended by SIGSEGV, and said nothing of it" in error_of(found).message


def test_one_that_reads_nothing_of_a_long_row_may_answer_all_the_same():
    program = Program(python("print('short')"))
    ((answered, outcome),) = Agent(program).over([Example(id="a", inputs="x" * 2_000_000)])
    assert (answered.response, outcome.error) == ("short", None)


def test_an_endless_answer_is_cut_and_its_process_ended(tmp_path):
    pid = tmp_path / "pid"
    source = f"""if 1:
        import os, sys
        open({str(pid)!r}, "w").write(str(os.getpid()))
        while True: sys.stdout.write("x" * 10000)
    """
    error = error_of(ran(source, most_bytes=100_000))
    assert (error.type, error.message) == (
        "TooLargeError", "it writes more than 100,000 bytes to standard output",
    )  # fmt: skip
    assert wait_until(lambda: not is_running(int(pid.read_text())))


FAMILY = """if 1:
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open({pids!r}, "a").write(f"{{os.getpid()}} {{child.pid}}\\n")
    {then}
"""


@pytest.mark.parametrize("then", ["time.sleep(600)", "print('x'); sys.exit(0)"])
def test_all_that_a_program_began_ends_with_it(tmp_path, then):
    """A child that holds standard output open delays no answer, and none outlives its row."""
    pids = tmp_path / "pids"
    found = ran(FAMILY.format(pids=str(pids), then=then), timeout=5 if "sleep" in then else 60)
    error = error_of(found)
    if "sleep" in then:
        assert (error.type, error.message) == ("TimeoutError", "no answer within 5 s")
    else:
        assert (error, found[0][0].response) == (None, "x")
    begun = [int(pid) for pid in pids.read_text().split()]
    assert len(begun) == 2
    assert wait_until(lambda: not any(map(is_running, begun)))


def test_a_caller_who_stops_ends_the_processes(tmp_path):
    pids = tmp_path / "pids"
    agent = Agent(Program(python(FAMILY.format(pids=str(pids), then="time.sleep(600)"))))
    with agent.answering() as answering:
        futures = [answering.submit(Example(id=str(n))) for n in range(2)]
        assert wait_until(lambda: pids.exists() and pids.read_text().count("\n") == 2)
    assert all(future.cancelled() for future in futures)
    begun = [int(pid) for pid in pids.read_text().split()]
    assert wait_until(lambda: not any(map(is_running, begun)))


def test_exit_codes_that_are_named_are_tried_again(tmp_path):
    counted = tmp_path / "count"
    source = f"""if 1:
        import pathlib, sys
        count = pathlib.Path({str(counted)!r})
        tries = count.read_text() if count.exists() else ""
        count.write_text(tries + "x")
        sys.exit(75) if len(tries) < 2 else print("third time")
    """
    ((answered, outcome),) = ran(source, retries=3, retry_on=[75], backoff=0)
    assert (answered.response, outcome.attempts) == ("third time", 3)
    counted.unlink()
    refused = error_of(ran(source, retries=3, retry_on=[74], backoff=0))
    assert refused.message.startswith(f"{sys.executable} exited with 75")


def test_it_runs_in_its_folder_and_through_no_shell(tmp_path):
    (tmp_path / "agent.sh").write_text('#!/bin/sh\npwd; printf "%s" "$1"\n')
    (tmp_path / "agent.sh").chmod(0o755)
    program = Program(["./agent.sh", "$HOME; `id`"], folder=tmp_path)
    ((answered, outcome),) = Agent(program).over([Example(id="a")])
    assert outcome.error is None
    assert answered.response == f"{tmp_path.resolve()}\n$HOME; `id`"


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("python agent.py", "command: expected a list"),
        ([], "command: expected a list"),
        ([1], "command: expected a list"),
        (["no-such-program"], "no program 'no-such-program' is on the PATH"),
        (["./no-such-program"], "no program '.*no-such-program' is there"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_row(command, fault, tmp_path):
    with pytest.raises(ConfigError, match=fault):
        Program(command, folder=tmp_path)


def test_a_program_that_vanishes_fails_its_rows(tmp_path):
    file = tmp_path / "agent"
    file.write_text("#!/bin/sh\necho x\n")
    file.chmod(0o755)
    program = Program([str(file)])
    file.unlink()
    ((_, outcome),) = Agent(program).over([Example(id="a")])
    assert outcome.error is not None
    assert "cannot be started: [Errno 2] No such file" in outcome.error.message


def test_signals_without_a_name_are_numbered():
    assert hasattr(os, "killpg")
    found = ran(f"import os; os.kill(os.getpid(), {int(signal.SIGRTMIN) + 2})")
    assert "was ended by signal" in error_of(found).message


def test_a_program_beside_the_config_is_found_where_the_folder_is_the_working_directory(
    tmp_path, monkeypatch
):
    script = tmp_path / "agent.sh"
    script.write_text("#!/bin/sh\necho here\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert Program(["./agent.sh"]).command == ("./agent.sh",)
