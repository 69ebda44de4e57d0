"""What goes wrong around the inbox: processes die, disks fill, servers restart, tables are old."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import postgres
from tests.stores.test_contract import record
from tests.stores.test_faults import old_database
from tests.stores.test_inbox import done, outcome, take, whole
from trajgrade.errors import StoreError
from trajgrade.inbox import DIED, NewJob
from trajgrade.stores import open_store, schema
from trajgrade.stores.migrations import STEPS

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("postgres_url")
    return str(tmp_path / "x.db")


def is_whole(url: str, told: set[str]) -> set[str]:
    """Each trace that was told to be there is there with its content, and waits to be decided."""
    with open_store(url) as store:
        inbox = store.inbox
        there = {trace.id: trace.pieces for trace in inbox.traces(limit=100_000)}
        assert told <= there.keys()
        assert set(there.values()) == {1}
        jobs: list[Any] = []
        while found := take(inbox, 1e6, 1000):
            jobs += found
            inbox.finish([done(job) for job in found])
        assert sorted(job.trace_id for job in jobs) == sorted(there)
        some = next(iter(told))
        assert inbox.pieces(some)[0].body == some.encode() * 500
        assert inbox.accept([whole("afterwards", "1")]) == [True]
    return {*there}


# ------------------------------------------------------------------------------ the end of a process

ACCEPTS = """
import resource, sys
from trajgrade.errors import StoreError
from trajgrade.inbox import Piece
from trajgrade.stores import open_store

inbox = open_store(sys.argv[1]).inbox
n = 0
while n < 700:
    names = [f"t{k}" for k in range(n, n + 7)]
    try:
        inbox.accept([
            Piece(trace_id=name, key="k", body=name.encode() * 500, at=1.0) for name in names
        ])
    except StoreError as full:
        print("StoreError", full, flush=True)
        break
    print(*names, flush=True)
    n += 7
    if n == 7 and len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
"""


@pytest.mark.parametrize("answers", [1, 6, 15])
def test_what_was_acknowledged_before_kill_9_is_there(url, answers):
    command = [sys.executable, "-c", ACCEPTS, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        told = [running.stdout.readline() for _ in range(answers)]
        running.kill()
        told += running.stdout.readlines()[:-1]  # the last may be cut short
    names = {name for line in told for name in line.split()}
    assert len(names) >= 7 * answers
    there = is_whole(url, names)
    assert len(there) % 7 == 0


# ------------------------------------------------------------------------------ disks


def test_a_full_disk_refuses_what_comes_and_keeps_what_came(tmp_path):
    url = str(tmp_path / "x.db")
    command = [sys.executable, "-c", ACCEPTS, url, "600000"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    *told, error = finished.stdout.splitlines()
    assert error.startswith("StoreError")
    assert "what was written before is unharmed" in error
    names = {name for line in told for name in line.split()}
    assert len(names) > 7
    assert is_whole(url, names) == names
    with closing(sqlite3.connect(url)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# ------------------------------------------------------------------------------ the server of a database


@pytest.fixture
def own_server():
    """A PostgreSQL server that may be restarted, and what restarts it."""
    if (why := postgres.why_not()) is not None:
        pytest.skip(why)
    state = postgres.start()
    found, folder = postgres.binaries(), Path(str(state["folder"]))
    assert found is not None
    options = f"-p {state['port']} -h 127.0.0.1 -k {folder} -F"

    def restart() -> None:
        postgres.run(
            found / "pg_ctl", "-D", folder / "cluster", "-m", "immediate", "-w",
            "-l", folder / "log", "-o", options, "restart",
        )  # fmt: skip

    address = f"postgresql://trajgrade@127.0.0.1:{state['port']}"
    yield postgres.new_database(address), restart
    postgres.stop(state)


def test_a_restart_of_the_database_loses_nothing_and_doubles_nothing(own_server):
    url, restart = own_server
    with open_store(url) as store:
        inbox: Any = store.inbox
        assert inbox.accept([whole("a"), whole("b")]) == [True, True]
        (first, second) = take(inbox, limit=2)
        assert inbox.finish([done(first, outcomes=(outcome(first),))]) == [True]
        restart()
        assert patient(lambda: inbox.accept([whole("b"), whole("c")])) == [False, True]
        assert patient(lambda: inbox.finish([done(second, outcomes=(outcome(second),))])) == [True]
        restart()
        assert patient(lambda: inbox.finish([done(first, outcomes=(outcome(first),))])) == [False]
        assert [job.trace_id for job in take(inbox)] == ["c"]
        assert sorted(one.trace_id for one in inbox.outcomes()) == ["a", "b"]


def patient(attempt: Any) -> Any:
    """Try what fails while a server restarts; a connection that was lost fails once."""
    for _ in range(3):
        try:
            return attempt()
        except StoreError as lost:
            error = lost
    raise error


# ------------------------------------------------------------------------------ many at once


def test_clients_that_send_the_same_in_another_order_do_not_block_each_other(url):
    pieces = [whole(f"t{n}", str(n)) for n in range(60)]
    orders = [pieces, pieces[::-1], pieces[30:] + pieces[:30], pieces[::2] + pieces[1::2]]
    with open_store(url) as store, ThreadPoolExecutor(4) as pool:
        store.inbox.accept([whole("first")])
        told = [*pool.map(store.inbox.accept, orders * 3)]
        assert sum(sum(new) for new in told) == 60
        assert store.inbox.backlog() == 61


def test_of_jobs_whose_takers_died_one_at_a_time_is_given(url):
    with open_store(url) as store:
        inbox = store.inbox
        inbox.accept([whole(f"t{n}", str(n)) for n in range(3)])
        assert len(inbox.claim(now=10.0, until=20.0, limit=3)) == 3
        inbox.accept([whole("fresh", "f", at=15.0)])
        died, fresh = inbox.claim(now=20.0, until=30.0, limit=3)
        assert (died.tries, died.error) == (2, DIED)
        assert (fresh.trace_id, fresh.tries, fresh.error) == ("fresh", 1, "")
        assert [job.error for job in inbox.claim(now=20.0, until=30.0, limit=3)] == [DIED]
        assert [job.error for job in inbox.claim(now=20.0, until=30.0, limit=3)] == [DIED]
        assert inbox.claim(now=20.0, until=30.0, limit=3) == []


def test_a_rule_that_waits_is_itself_waited_for(url):
    with open_store(url) as store:
        inbox = store.inbox
        inbox.accept([whole("a")])
        (job,) = take(inbox)
        waits = NewJob(kind="decide", trace_id="a", rule="reads x, gives y", due_at=60.0)
        inbox.finish([done(job, follow=(waits,))])
        assert inbox.pending("a", 1, ["reads x, gives y"]) == 1
        (job,) = take(inbox)
        assert inbox.pending("a", 1, ["reads x, gives y"]) == 1
        inbox.finish([done(job)])
        assert inbox.pending("a", 1, ["reads x, gives y"]) == 0


# ------------------------------------------------------------------------------ older tables


def test_a_database_of_the_first_version_gets_an_inbox(tmp_path):
    with open_store(old_database(tmp_path / "old.db")) as store:
        assert store.inbox.traces() == []
        store.inbox.accept([whole("a")])
        assert [job.trace_id for job in take(store.inbox)] == ["a"]
        assert [run.name for run in store.runs()] == ["first"]


def test_a_database_of_the_second_version_gets_an_inbox_and_keeps_what_it_has(url, monkeypatch):
    run = record()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "LATEST", 2)
        patch.setattr("trajgrade.stores.schema.STEPS", STEPS[:2])
        with open_store(url) as store:
            store.create(run).close()
            store.datasets.put("d", [{"id": "1", "inputs": "x"}])
            with pytest.raises(StoreError):
                store.inbox.accept([whole("a")])
    opened: Any = open_store(url)
    with opened as store:
        assert store.inbox.accept([whole("a")]) == [True]
        assert [job.trace_id for job in take(store.inbox)] == ["a"]
        assert store.run("latest").id == run.id
        assert [*store.datasets.rows("d")] == [{"id": "1", "inputs": "x"}]
        with store.engine.connect() as connection:
            assert schema.version_of(connection) == len(STEPS)


def test_bodies_come_back_byte_for_byte(url):
    bodies = [b"", b"\x00\xff", json.dumps({"text": "é\u0000"}).encode(), b"x" * 300_000]
    with open_store(url) as store:
        pieces = [whole(f"t{n}", "x") for n in range(len(bodies))]

        store.inbox.accept(
            [msgspec.structs.replace(p, body=b) for p, b in zip(pieces, bodies, strict=True)]
        )
        assert [store.inbox.pieces(p.trace_id)[0].body for p in pieces] == bodies
