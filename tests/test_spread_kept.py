"""Runs on every engine are kept as they grow, gone on with, and retried, alike."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.engines.work import Marked
from tests.test_keeping import METRICS, StopError, rows, stop_after, told, wait_until
from trajgrade import evaluate
from trajgrade.run import Run
from trajgrade.stores import open_store

ENGINES = ("event_loop", "process_pool")
ROWS = 200


def written(folder: Path) -> str:
    """A file of about 3 MB, which is cut into four slices."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({**row, "pad": "x" * 16_000}) + "\n" for row in rows(ROWS)))
    return str(path)


@pytest.fixture(params=["runs.db", "runs/", "parquet"])
def store(request, tmp_path):
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
        return f"parquet:{tmp_path}/runs"
    return f"{tmp_path}/{request.param}"


@pytest.mark.parametrize("first", ENGINES)
@pytest.mark.parametrize("second", ENGINES)
def test_a_run_is_gone_on_with_on_whichever_engine(tmp_path, store, first, second):
    path = written(tmp_path)
    with pytest.raises(StopError):
        evaluate(path, METRICS, store=store, engine=first, workers=2, on_row=stop_after(90))
    with open_store(store) as opened:
        begun = opened.run("latest")
        assert 90 <= opened.count(begun.id) < ROWS
    run = evaluate(path, METRICS, store=store, engine=second, workers=2, resume=True)
    assert run.id == begun.id
    assert told(run) == told(evaluate(path, METRICS))
    with open_store(store) as opened:
        assert [tuple(key) for key in opened.done(run.id)] == [(n, 0) for n in range(ROWS)]
        assert [row.graded for row in opened.rows(run.id)] == [*packed_rows(run)]


def packed_rows(run):
    whole, ends = run.rows.packed()
    return [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_alone_are_retried_on_whichever_engine(tmp_path, store, engine):
    path = written(tmp_path)
    for n in (3, 120, 199):
        (tmp_path / f"broken-{n}").touch()
    metrics = [*METRICS, Marked(str(tmp_path))]
    first = evaluate(path, metrics, store=store, engine=engine, workers=2)
    assert first.summary["marked"].n_error == 3
    for n in (3, 120, 199):
        (tmp_path / f"broken-{n}").unlink()
    (tmp_path / "broken-5").touch()  # what has its result is not asked again
    run = evaluate(path, metrics, store=store, engine=engine, workers=2, retry=["errors"])
    (tmp_path / "broken-5").unlink()
    assert run.id == first.id
    assert told(run) == told(evaluate(path, metrics))
    with open_store(store) as opened:
        assert opened.count(run.id) == ROWS


def test_rows_are_written_while_a_worker_has_not_ended_its_slice(tmp_path, store):
    path = written(tmp_path)
    (tmp_path / "wait-7").touch()
    metrics = [Marked(str(tmp_path))]
    runs = []
    grading = threading.Thread(
        target=lambda: runs.append(
            evaluate(path, metrics, store=store, engine="process_pool", workers=1)
        )
    )
    grading.start()
    with open_store(store) as opened:
        wait_until(lambda: [opened.count(run.id) for run in opened.runs()] == [7])
        (tmp_path / "wait-7").unlink()
        grading.join(60)
        assert opened.count(runs[0].id) == ROWS


def test_a_worker_that_is_killed_in_a_kept_run_costs_no_row(tmp_path, store):
    path = written(tmp_path)
    for n in (50, 180):
        (tmp_path / f"kill-{n}").touch()
    metrics = [*METRICS, Marked(str(tmp_path))]
    run = evaluate(path, metrics, store=store, engine="process_pool", workers=2)
    assert not [*tmp_path.glob("kill-*")]
    assert told(run) == told(evaluate(path, metrics))
    with open_store(store) as opened:
        assert [tuple(key) for key in opened.done(run.id)] == [(n, 0) for n in range(ROWS)]


SCRIPT = """
import sys
from tests.test_keeping import METRICS, told
from tests.engines.work import Marked
from trajgrade import evaluate
from trajgrade.run import Run

if __name__ == "__main__":
    url, path, folder, out, engine = sys.argv[1:]
    run = evaluate(path, [*METRICS, Marked(folder)], store=url, resume=True, engine=engine, workers=2)
    open(out, "wb").write(told(run))
"""


def test_kill_9_on_all_cores_loses_and_doubles_nothing(tmp_path, store):
    path, out = written(tmp_path), tmp_path / "out"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    here = str(Path(__file__).parents[1])
    dice = random.Random(store)  # noqa: S311 where to stop
    there: set[int] = set()
    with open_store(store) as opened:
        for engine in ("process_pool", "event_loop", "process_pool", ""):
            wait = tmp_path / f"wait-{dice.choice(sorted(set(range(ROWS)) - there))}"
            if engine:
                wait.touch()
            process = subprocess.Popen(
                [sys.executable, script, store, path, tmp_path, out, engine or "process_pool"],
                cwd=here,
                env={**os.environ, "PYTHONPATH": here},
            )
            if not engine:
                assert process.wait(60) == 0
                break
            pause = threading.Event()
            known = -1
            for _ in range(40):
                found = sum(opened.count(run.id) for run in opened.runs())
                if process.poll() is not None or (found == known and found > len(there)):
                    break  # one worker waits, the other has ended all it could
                known = found
                pause.wait(0.3)
            process.send_signal(signal.SIGKILL)
            process.wait()
            wait.unlink()
            now = {key.row for run in opened.runs() for key in opened.done(run.id)}
            assert there <= now
            there = now
        (run,) = opened.runs()
        assert run.state == "finished"
        assert [tuple(key) for key in opened.done(run.id)] == [(n, 0) for n in range(ROWS)]
    assert out.read_bytes() == told(evaluate(path, [*METRICS, Marked(str(tmp_path))]))


def test_workers_write_parquet_that_other_programs_read(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path, store = written(tmp_path), f"parquet:{tmp_path}/runs"
    run = evaluate(
        path,
        METRICS,
        store=store,
        engine="process_pool",
        workers=2,
        thresholds={"trajectory_f1": 0.1},
    )
    folder = tmp_path / "runs" / run.id
    names = sorted(one.name for one in folder.iterdir())
    assert names[0] == "manifest.json"
    assert json.loads((folder / "manifest.json").read_text())["parts"] == names[1:]
    table = parquet.read_table(folder / names[1]).to_pydict()
    assert table["id"] == [f"row-{n}" for n in range(ROWS)]
    assert table["trajectory_f1/score"] == [row.results["trajectory_f1"].score for row in run.rows]
    loaded = Run.load(f"run:{run.id}", store=store)
    assert told(loaded) == told(run)
