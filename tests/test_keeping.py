"""A run is kept while it grows: killed at any moment and gone on with, it is what it would be."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trajgrade import evaluate
from trajgrade.errors import StoreError
from trajgrade.evaluators.evaluator import described
from trajgrade.jsontext import dumps
from trajgrade.program import Program
from trajgrade.result import EvaluationResult
from trajgrade.run import InterruptedRunError, Row, Run
from trajgrade.stores import open_store

METRICS = [
    "trajectory_match",
    "trajectory_f1",
    {"name": "trajectory_match", "key": "any_order", "params": {"mode": "unordered"}},
]
NAMES = ("search", "book", "pay", "cancel")


def calls(seed: int) -> list[dict[str, Any]]:
    dice = random.Random(seed)  # noqa: S311 made-up rows
    names = dice.choices(NAMES, k=dice.randint(0, 4))
    return [{"tool_name": name, "tool_input": {"n": dice.randint(0, 2)}} for name in names]


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"row-{n}",
            "prompt": str(n),
            "predicted_trajectory": calls(n),
            "reference_trajectory": calls(n // 2),
        }
        for n in range(count)
    ]


def told(run: Run) -> bytes:
    """Whatever a run says, byte for byte, without its times and what only a kept run says."""
    plain = run.to_dict()
    for name in ("id", "dataset_hash", "started_at", "seconds"):
        plain.pop(name, None)
    if "agent" in plain:
        plain["agent"].pop("latency_in_seconds", None)
    return dumps({**plain, "worst": run.worst, "rows": [timeless(row) for row in run.rows]})


def timeless(row: Row) -> dict[str, Any]:
    plain = row.to_dict()
    plain.pop("latency_in_seconds", None)
    return plain


@pytest.fixture(params=["runs.db", "runs/"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"{tmp_path}/{request.param}"


class Echo:
    """An agent that answers as the rows say, and counts how often it is asked."""

    def __init__(self, *, stop_at: int | None = None, fails: frozenset[str] = frozenset()) -> None:
        self.asked: Counter[str] = Counter()
        self.stop_at = stop_at
        self.fails = fails

    async def query(self, input: str) -> dict[str, Any]:  # noqa: A002 as Vertex names it
        self.asked[input] += 1
        if input in self.fails:
            raise ConnectionError("refused")
        return {"response": f"answer {input}", "predicted_trajectory": calls(int(input))}


class StopError(Exception):
    """The program ends."""


def stop_after(count: int):
    seen = []

    def on_row(example: Any, row: Row) -> None:
        seen.append(row.id)
        if len(seen) == count:
            raise StopError

    return on_row


def test_a_run_that_is_kept_is_the_run_that_is_not(store):
    plain = evaluate(rows(300), METRICS)
    kept = evaluate(rows(300), METRICS, store=store, name="", experiment="tries")
    assert told(kept) == told(plain)
    with open_store(store) as opened:
        record = opened.run("latest")
        assert record.id == kept.id
        assert (record.state, record.experiment) == ("finished", "tries")
        assert opened.count(record.id) == 300
        assert opened.holder(record.id) is None
        assert record.made_with is not None
        assert record.made_with.python == sys.version.split()[0]


@pytest.mark.parametrize("count", [1, 7, 150])
def test_a_run_that_was_cut_off_is_gone_on_with_and_asks_the_agent_for_the_rest(store, count):
    data, whole = rows(200), Echo()
    uncut = evaluate(data, METRICS, agent=whole)
    first, second = Echo(), Echo()
    with pytest.raises(StopError):
        evaluate(data, METRICS, agent=first, store=store, on_row=stop_after(count))
    with open_store(store) as opened:
        there = {f"{key.row}" for key in opened.done(opened.run("latest").id)}
        assert opened.run("latest").state == "running"
    assert len(there) >= count
    run = evaluate(data, METRICS, agent=second, store=store, resume=True)
    assert told(run) == told(uncut)
    assert set(second.asked) == {str(n) for n in range(200)} - there
    assert set(second.asked.values()) == {1}
    with open_store(store) as opened:
        assert [one.state for one in opened.runs()] == ["finished"]
        assert opened.count(run.id) == 200
    third = Echo()
    again = evaluate(data, METRICS, agent=third, store=store, resume=True)
    assert again.id != run.id  # nothing was unfinished
    assert len(third.asked) == 200


def test_a_run_that_was_interrupted_is_gone_on_with(store):
    data = rows(60)

    def interrupt(example: Any, row: Row) -> None:
        if row.row == 20:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError) as stopped:
        evaluate(data, METRICS, store=store, on_row=interrupt)
    with open_store(store) as opened:
        assert opened.run(stopped.value.run.id).state == "interrupted"
    run = evaluate(data, METRICS, store=store, resume=True)
    assert run.id == stopped.value.run.id
    assert told(run) == told(evaluate(data, METRICS))


def test_a_run_is_gone_on_with_only_with_the_settings_and_the_data_it_began_with(store):
    data = rows(20)
    with pytest.raises(StopError):
        evaluate(data, METRICS, store=store, on_row=stop_after(5))
    begun = open_store(store).run("latest").id
    other = evaluate(data, ["trajectory_match"], store=store, resume=True)
    assert other.id != begun
    with pytest.raises(StoreError, match="is not what it was when the run began"):
        evaluate([*data[:-1], {**data[-1], "prompt": "?"}], METRICS, store=store, resume=True)
    assert evaluate(data, METRICS, store=store, resume=True).id == begun


class Shaky:
    """A metric that fails on some rows until it is mended."""

    key = "shaky"
    range = (0.0, 1.0)
    direction = "higher"

    def __init__(self, broken: set[str]) -> None:
        self.broken = broken
        self.asked: Counter[str] = Counter()

    def __repr__(self) -> str:
        return "Shaky()"

    def evaluate(self, *, inputs: Any = None, **_: Any) -> EvaluationResult:
        self.asked[inputs] += 1
        if inputs in self.broken:
            raise RuntimeError("out of order")
        return EvaluationResult("shaky", int(inputs) % 2)


class Plain:
    """A metric without a form of its own."""

    key = "plain"

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter


def test_an_evaluator_that_shows_only_its_address_is_the_same_in_the_next_process():
    assert described(Plain([1])) == described(Plain([1])) != described(Plain([2]))
    assert "0x" not in described(Plain([1]))
    assert described(Plain(object())) == "tests.test_keeping.Plain"


def test_retrying_errors_asks_the_metric_again_and_not_the_agent(store):
    data = rows(30)
    agent, shaky = Echo(fails=frozenset({"4"})), Shaky({"2", "3"})
    first = evaluate(data, [*METRICS, shaky], agent=agent, store=store)
    assert first.summary["shaky"].n_error == 2
    silent, mended = Echo(), Shaky(set())
    run = evaluate(data, [*METRICS, mended], agent=silent, store=store, retry=["errors"])
    assert run.id == first.id
    assert silent.asked == {}
    assert set(mended.asked) == {"2", "3"}
    assert run.summary["shaky"].n_error == 0
    assert run.agent["failure"].mean == pytest.approx(1 / 30)
    whole = evaluate(data, [*METRICS, Shaky(set())], agent=Echo(fails=frozenset({"4"})))
    assert [timeless(r) for r in run.rows if r.id != "row-4"] == [
        timeless(r) for r in whole.rows if r.id != "row-4"
    ]
    assert run.rows[4].agent_error is not None


def test_retrying_what_failed_asks_the_agent_again_for_those_rows_alone(store):
    data = rows(30)
    evaluate(data, METRICS, agent=Echo(fails=frozenset({"4", "9"})), store=store)
    agent = Echo()
    run = evaluate(data, METRICS, agent=agent, store=store, retry=["failed"])
    assert set(agent.asked) == {"4", "9"}
    assert told(run) == told(evaluate(data, METRICS, agent=Echo()))


def test_answers_that_are_kept_are_graded_again_without_the_agent(store):
    data = rows(40)
    first = evaluate(data, ["trajectory_match"], agent=Echo(), store=store)
    again = evaluate("run:latest", METRICS, store=store)
    direct = evaluate(data, METRICS, agent=Echo())
    assert again.id != first.id
    assert [row.results for row in again.rows] == [row.results for row in direct.rows]


def test_a_key_in_the_words_of_a_command_is_not_kept(store):
    secret = "sk-" + "a1b2c3d4" * 4
    agent = Program([sys.executable, "-c", 'print(\'{"response": "x"}\')', "--key", secret])
    run = evaluate(rows(1), ["exact_match"], agent=agent, store=store)
    with open_store(store) as opened:
        record = opened.run(run.id)
        assert "Program(" in record.settings["agent"]
        assert secret not in str(record)


class Slow:
    """A metric that takes its time for one row."""

    key = "slow"

    def __init__(self, until: threading.Event) -> None:
        self.until = until

    def evaluate(self, *, inputs: Any = None, **_: Any) -> EvaluationResult:
        if inputs == "5":
            assert self.until.wait(30)
        return EvaluationResult("slow", 1.0)


def test_rows_are_written_also_while_the_next_one_takes_its_time(store):
    go_on = threading.Event()
    runs: list[Run] = []
    grading = threading.Thread(
        target=lambda: runs.append(evaluate(rows(9), [Slow(go_on)], store=store)), daemon=True
    )
    grading.start()
    with open_store(store) as opened:
        wait_until(lambda: bool(opened.runs()))
        wait_until(lambda: opened.count(opened.run("latest").id) == 5)
        go_on.set()
        grading.join(30)
        assert opened.count(runs[0].id) == 9


def test_a_retry_that_is_cut_off_leaves_a_run_that_can_be_gone_on_with(store):
    data = rows(30)
    broken = {str(n) for n in range(10)}
    first = evaluate(data, [Shaky(broken)], store=store)
    with pytest.raises(StopError):
        evaluate(data, [Shaky(set())], store=store, retry=["errors"], on_row=stop_after(4))
    with open_store(store) as opened:
        record = opened.run(first.id)
        assert (record.state, record.result) == ("running", None)
    run = evaluate(data, [Shaky(set())], store=store, resume=True, retry=["errors"])
    assert run.id == first.id
    assert told(run) == told(evaluate(data, [Shaky(set())]))


def test_a_store_that_fails_ends_the_run(store, monkeypatch):
    from trajgrade.stores.growing import Growing
    from trajgrade.stores.jsonlines import LinesWriter

    def full(*_: Any) -> None:
        raise StoreError("the disk is full")

    for writer in (Growing, LinesWriter):
        monkeypatch.setattr(writer, "append", full)
    for agent in (Echo(), None):
        with pytest.raises(StoreError, match="the disk is full"):
            evaluate(rows(2000), METRICS, agent=agent, store=store)
    with open_store(store) as opened:
        assert [opened.holder(run.id) for run in opened.runs()] == [None, None]


# ------------------------------------------------------------------------------ real processes

SCRIPT = """
import asyncio, os, sys
from tests.test_keeping import METRICS, calls, rows, told
from trajgrade import evaluate

url, log, out, count, agent = sys.argv[1:]
log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

async def answer(prompt):
    os.write(log, f"asked {prompt}\\n".encode())
    await asyncio.sleep(0.001)
    return {"response": prompt, "predicted_trajectory": calls(int(prompt))}

def on_row(example, row):
    os.write(log, f"kept {row.row}\\n".encode())

run = evaluate(rows(int(count)), METRICS, agent=answer if agent == "agent" else None,
               store=url, resume=True, on_row=on_row)
open(out, "wb").write(told(run))
"""


def wait_until(holds: Callable[[], bool], seconds: float = 30) -> None:
    pause = threading.Event()
    for _ in range(int(seconds * 100)):
        if holds():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come about")


def begin(url: str, log: Path, out: Path, count: int, kind: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SCRIPT, url, str(log), str(out), str(count), kind]
    return subprocess.Popen(command, cwd=Path(__file__).parents[1], env={**os.environ})


def words(log: Path, kind: str) -> Counter[str]:
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return Counter(line.split()[1] for line in lines if line.startswith(kind))


def killed_and_gone_on_with(url: str, tmp_path: Path, kind: str, kills: int) -> None:
    log, out, count = tmp_path / "log", tmp_path / "out", 400
    dice = random.Random(kills)  # noqa: S311 when to kill
    kept_before: set[str] = set()
    pause = threading.Event()
    for _ in range(kills):
        process = begin(url, log, out, count, kind)
        more = dice.randint(1, 90)
        while process.poll() is None and sum(words(log, "kept").values()) < len(kept_before) + more:
            pause.wait(0.003)
        process.send_signal(signal.SIGKILL)
        process.wait()
        asked_then = words(log, "asked")
        with open_store(url) as opened:
            there = {str(key.row) for run in opened.runs() for key in opened.done(run.id)}
            assert len(opened.runs()) == 1
        if kind == "agent":  # every row is written before it is told of
            assert set(words(log, "kept")) <= there
        assert kept_before <= there
        kept_before = there
    process = begin(url, log, out, count, kind)
    assert process.wait() == 0
    if kind == "agent":
        again = words(log, "asked") - asked_then
        assert set(again) == {str(n) for n in range(count)} - kept_before
        assert set(again.values()) == {1}
    with open_store(url) as opened:
        (run,) = opened.runs()
        assert run.state == "finished"
        assert [tuple(key) for key in opened.done(run.id)] == [(n, 0) for n in range(count)]
    uncut = evaluate(rows(count), METRICS, agent=Echo() if kind == "agent" else None)
    assert out.read_bytes() == told(uncut)


@pytest.mark.parametrize("kind", ["agent", "plain"])
def test_kill_9_at_any_moment_loses_and_doubles_nothing(store, tmp_path, kind):
    killed_and_gone_on_with(store, tmp_path, kind, kills=4)


def test_kill_9_loses_and_doubles_nothing_on_postgresql(postgres_url, tmp_path):
    killed_and_gone_on_with(postgres_url, tmp_path, "agent", kills=3)
