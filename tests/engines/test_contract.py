"""What holds for every engine: every job once, whole, whoever dies."""

from __future__ import annotations

import os

import pytest

from tests.engines import work
from trajgrade import registry
from trajgrade.engines.event_loop import EventLoop
from trajgrade.engines.process_pool import ProcessPool
from trajgrade.errors import ConfigError, EngineError

ENGINES = {"event_loop": EventLoop(), "process_pool": ProcessPool(2)}


@pytest.fixture(params=ENGINES)
def engine(request):
    return ENGINES[request.param]


def test_every_job_is_done_once_and_whole(engine):
    found = work.made(engine.map(work.doubled, range(20)))
    assert found == {n: [n, 2 * n] for n in range(20)}


def test_pieces_come_before_their_job_has_ended(engine):
    whats = [came.what for came in engine.map(work.doubled, range(1))]
    assert whats == ["piece", "piece", "ended"]


def test_a_job_may_make_nothing_and_there_may_be_no_jobs(engine):
    assert work.made(engine.map(work.nothing, range(3))) == {0: [], 1: [], 2: []}
    assert [*engine.map(work.doubled, [])] == []


def test_jobs_are_drawn_as_there_is_room_for_them(engine):
    drawn = []

    def jobs():
        for n in range(100):
            drawn.append(n)
            yield n

    results = engine.map(work.doubled, jobs())
    next(results)
    assert len(drawn) <= 2 * engine.workers + 1
    assert len([came for came in results if came.what == "ended"]) == 100


def test_what_the_work_raises_is_raised_with_its_place(engine):
    with pytest.raises((EngineError, ValueError), match="job three is broken"):
        list(engine.map(work.broken, range(10)))


def test_the_caller_may_leave_early(engine):
    results = engine.map(work.doubled, range(1000))
    next(results)
    results.close()


def test_a_worker_that_is_killed_takes_nothing_with_it(tmp_path):
    jobs = [(str(tmp_path / "mark"), n) for n in range(8)]
    came = [*ProcessPool(2).map(work.dies_once, jobs)]
    assert [one.number for one in came if one.what == "again"] == [3]
    found = work.made(came)
    assert found == {n: [n, n * 10] for n in range(8)}


def test_a_job_that_always_kills_its_worker_ends_the_run_with_the_reason():
    with pytest.raises(
        EngineError, match=r"job 0 ended its worker 3 times \(killed by signal 9; is there"
    ):
        list(ProcessPool(2).map(work.always_dies, [1]))


def test_the_work_is_done_by_other_processes_and_none_is_left():
    found = {pid for (pid,) in work.made(ProcessPool(2).map(work.where, range(6))).values()}
    assert os.getpid() not in found
    for pid in found:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_fewer_than_one_worker_is_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        ProcessPool(0)


def test_every_engine_has_a_name():
    assert set(registry.engines) == {"event_loop", "process_pool", "ray"}
