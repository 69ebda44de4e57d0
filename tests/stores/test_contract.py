"""What every store keeps to, on SQLite, JSON Lines and a real PostgreSQL server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trajgrade.contracts import Store
from trajgrade.errors import StoreError, UnknownNameError
from trajgrade.packing import pack, plain
from trajgrade.record import Key, MadeWith, RunRecord, StoredRow, new_id
from trajgrade.stores import open_store

KINDS = ("sqlite", "jsonl", "parquet", "postgresql")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
        return f"parquet:{tmp_path}/runs"
    return str(tmp_path / "runs.db") if request.param == "sqlite" else f"{tmp_path}/runs/"


@pytest.fixture
def store(url: str):
    with open_store(url) as opened:
        yield opened


def record(**given: Any) -> RunRecord:
    return RunRecord(**{"id": new_id(), "started_at": datetime.now(UTC), **given})


def row(place: int, trial: int = 0, score: Any = 1.0, **given: Any) -> StoredRow:
    return StoredRow(place, trial, pack({"id": f"r{place}", "score": score}), **given)


def places(store: Store, run_id: str) -> list[tuple[int, int]]:
    return [(stored.row, stored.trial) for stored in store.rows(run_id)]


def test_a_store_that_holds_nothing_has_no_runs_and_is_not_made_by_looking(store, tmp_path):
    assert store.runs() == []
    with pytest.raises(UnknownNameError, match="unknown run 'latest'"):
        store.run("latest")
    with pytest.raises(StoreError, match="no run"):
        store.reopen("20260101-000000000-aaaaaaaa")
    with pytest.raises(StoreError, match="no run"):
        list(store.rows("20260101-000000000-aaaaaaaa"))


def test_a_record_comes_back_as_it_was(store):
    kept = record(
        name="a\x00b \ud800 „é“",
        experiment="nul\x00",
        settings={"evaluators": [{"exact": {"a": float("nan")}}], "big": 2**80},
        made_with=MadeWith("0.1", packages={"x": "1"}),
        expected=3,
        cost=0.25,
        result={"mean": float("inf")},
    )
    with store.create(kept):
        pass
    found = store.run(kept.id)
    assert str(found) == str(kept)  # NaN equals nothing
    assert [one.id for one in store.runs(experiment="nul\x00")] == [kept.id]


def test_rows_come_back_whole_and_in_the_order_of_their_keys(store):
    run = record()
    example, explained = pack({"outputs": ["x" * 10_000, 2**70]}), pack({"m": {"a": 1.0}})
    with store.create(run) as writer:
        writer.append([row(3), row(1, 1)])
        writer.append([row(1, 0, example=example, explained=explained)])
        writer.append([])
    assert places(store, run.id) == [(1, 0), (1, 1), (3, 0)]
    assert list(store.done(run.id)) == [Key(1, 0), Key(1, 1), Key(3, 0)]
    assert store.count(run.id) == 3
    first = next(iter(store.rows(run.id)))
    assert plain(first.example or b"") == plain(example)
    assert (first.explained, first.amended) == (explained, None)
    assert store.row(run.id, Key(1, 1)).graded == row(1, 1).graded
    assert store.row(run.id, Key(2, 0)) is None


def test_a_row_that_is_there_stays_as_it_is_unless_it_is_rewritten(store):
    run = record()
    with store.create(run) as writer:
        writer.append([row(0, score=1.0), row(0, score=0.5), row(1)])
        writer.append([row(0, score=0.25), row(2)])
        assert [plain(r.graded)["score"] for r in store.rows(run.id)] == [1.0, 1.0, 1.0]
        writer.rewrite([row(0, score=0.75), row(3)])
    assert [plain(r.graded)["score"] for r in store.rows(run.id)] == [0.75, 1.0, 1.0, 1.0]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.lists(
                st.tuples(st.integers(0, 6), st.integers(0, 2), st.floats(allow_nan=False)),
                max_size=5,
            ),
        ),
        max_size=6,
    )
)
def test_whatever_is_written_in_whatever_order_is_there_once(store, steps):
    run, expected = record(), {}
    with store.create(run) as writer:
        for replaces, batch in steps:
            rows = [row(*one) for one in batch]
            if replaces:
                rows = list({stored.key: stored for stored in rows}.values())
            for stored in rows:
                if replaces or stored.key not in expected:
                    expected[stored.key] = stored.graded
            (writer.rewrite if replaces else writer.append)(rows)
        writer.finish(run)
    assert [(r.key, r.graded) for r in store.rows(run.id)] == sorted(expected.items())


def test_the_end_of_a_run_says_what_it_came_to_and_the_next_end_replaces_that(store):
    run = record()
    with store.create(run) as writer:
        writer.append([row(1), row(0), row(2)])
        done = msgspec.structs.replace(run, state="finished", result={"n_rows": 3})
        writer.finish(done, {Key(0): pack({"m": {"vacuous": True}})})
    assert store.run(run.id) == done
    assert [r.amended is not None for r in store.rows(run.id)] == [True, False, False]
    with store.reopen(run.id) as writer:
        writer.finish(done, {Key(2): pack({"m": {"alignment": [1]}})})
        writer.append([row(3)])
    assert [r.amended is not None for r in store.rows(run.id)] == [False, False, True, False]


def test_runs_are_found_by_what_they_are_the_newest_first(store):
    kept = [
        record(id="20260101-000000000-aaaaaaaa", experiment="a", config_hash="1"),
        record(id="20260102-000000000-bbbbbbbb", experiment="b", config_hash="1"),
        record(id="20260103-000000000-cccccccc", experiment="a", config_hash="2", state="finished"),
    ]
    for one in kept:
        store.create(one).close()
    assert [r.id[-1] for r in store.runs()] == ["c", "b", "a"]
    assert [r.id[-1] for r in store.runs(experiment="a")] == ["c", "a"]
    assert [r.id[-1] for r in store.runs(config_hash="1", limit=1)] == ["b"]
    assert [r.id[-1] for r in store.runs(state="finished")] == ["c"]
    assert store.run("latest") == kept[2]
    assert store.run("20260101") == kept[0]
    assert store.run("bbbbbbbb") == kept[1]
    with pytest.raises(StoreError, match=r"3 runs have '2026' in their id.*cccccccc"):
        store.run("2026")
    with pytest.raises(UnknownNameError, match="cccccccc"):
        store.run("x%_")


@pytest.mark.parametrize("bad", ["../x", "", "a b", "x" * 65, "a/b", "\0"])
def test_an_id_that_could_name_another_file_is_refused(store, bad):
    with pytest.raises(StoreError, match="no id"):
        store.create(record(id=bad))


def test_a_run_is_begun_once(store):
    run = record()
    store.create(run).close()
    with pytest.raises(StoreError):
        store.create(run)
    store.reopen(run.id).close()


def test_a_run_that_is_written_is_refused_to_others_with_the_reason(store, url):
    run = record()
    with store.create(run) as writer:
        writer.append([row(0)])
        with open_store(url) as other:
            for opened in (store, other):
                with pytest.raises(StoreError, match=rf"process {os.getpid()} on .*since 2"):
                    opened.reopen(run.id)
                with pytest.raises(StoreError, match="being written"):
                    opened.delete(run.id)
        assert store.holder(run.id).pid == os.getpid()
        writer.append([row(1)])  # whoever was refused has not taken it away
    assert store.holder(run.id) is None
    with pytest.raises(StoreError, match="let go"):
        writer.append([row(2)])
    with store.reopen(run.id) as writer:
        writer.append([row(2)])
    assert store.count(run.id) == 3


def test_a_run_that_is_deleted_is_gone_with_its_rows(store):
    kept, gone = record(), record()
    for run in (kept, gone):
        with store.create(run) as writer:
            writer.append([row(0)])
    store.delete(gone.id)
    assert [r.id for r in store.runs()] == [kept.id]
    assert store.count(kept.id) == 1
    with pytest.raises(StoreError, match="no run"):
        store.count(gone.id)


def test_several_threads_of_one_process_write_one_run(store):
    run = record()
    with store.create(run) as writer:
        threads = [
            threading.Thread(target=lambda n=n: [writer.append([row(n, t)]) for t in range(20)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert store.count(run.id) == 80


# ------------------------------------------------------------------------------ other processes

WRITER = """
import sys
from trajgrade.packing import pack
from trajgrade.record import StoredRow
from trajgrade.stores import open_store
url, run_id = sys.argv[1:]
with open_store(url) as store, store.reopen(run_id) as writer:
    print("held", flush=True)
    at = store.count(run_id)
    while True:
        writer.append([StoredRow(at + n, 0, pack({"id": str(at + n), "pad": "x" * 500})) for n in range(3)])
        at += 3
        print(at, flush=True)
"""


def begin_writing(url: str, run_id: str) -> Any:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, url, run_id], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def kill(process: Any) -> int:
    """Kill a writer; return how many rows it has said are there."""
    process.send_signal(signal.SIGKILL)
    told = process.communicate()[0].split()
    # A line may be cut where the process died.
    return max((int(n) for n in told[:-1]), default=0)


def test_what_was_written_survives_kill_9_and_the_run_is_taken_over(store, url):
    run = record()
    store.create(run).close()
    for _ in range(3):
        process = begin_writing(url, run.id)
        assert store.holder(run.id).pid == process.pid
        with pytest.raises(StoreError, match=f"process {process.pid} "):
            store.reopen(run.id)
        told = [int(process.stdout.readline()) for _ in range(5)][-1]
        told = max(told, kill(process))
        wait_until(partial(is_free, store, run.id))
        found = places(store, run.id)
        assert found == [(n, 0) for n in range(len(found))]
        assert len(found) >= told > 0
        assert store.run(run.id) == run
    with store.reopen(run.id) as writer:
        writer.finish(run)


def is_free(store: Store, run_id: str) -> bool:
    return store.holder(run_id) is None


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for another process's end to be noticed."""
    stop = threading.Event()
    for _ in range(int(seconds * 100)):
        if holds():
            return
        stop.wait(0.01)
    raise AssertionError("it did not come about")


def test_two_processes_write_two_runs_of_one_store_at_once(store, url):
    runs = [record(), record()]
    for run in runs:
        store.create(run).close()
    writers = [begin_writing(url, run.id) for run in runs]
    for process in writers:
        for _ in range(30):
            assert process.stdout.readline()
    for process, run in zip(writers, runs, strict=True):
        told = kill(process)
        wait_until(partial(is_free, store, run.id))
        found = places(store, run.id)
        assert found == [(n, 0) for n in range(len(found))]
        assert len(found) >= told


def test_a_store_is_made_by_several_processes_at_once(url):
    script = (
        "import sys\nfrom datetime import UTC, datetime\n"
        "from trajgrade.record import RunRecord, new_id\nfrom trajgrade.stores import open_store\n"
        "sys.stdin.read()\n"
        "open_store(sys.argv[1]).create(RunRecord(id=new_id(), started_at=datetime.now(UTC))).close()\n"
    )
    command = [sys.executable, "-c", script, url]
    together = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(4)]
    for process in together:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait() for process in together] == [0] * 4
    with open_store(url) as store:
        assert len(store.runs()) == 4
