"""How far a run is."""

from __future__ import annotations

import io

import pytest

from trajgrade.cli import progress
from trajgrade.cli.progress import Progress
from trajgrade.dataset import Dataset
from trajgrade.result import AgentError, EvaluationResult, ResultError
from trajgrade.run import Row


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def rows(n):
    return Dataset.load([{"prompt": str(i)} for i in range(n)])


def shown(monkeypatch, *, screen, **options):
    """Progress on a standard error that is a screen, or is none, its clock, and what it wrote."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setattr(progress, "someone_looks", lambda: screen)
    clock = Clock()
    return Progress(rows(10), **{"wanted": True, "clock": clock, **options}), clock, written


def test_the_line_has_rows_rate_failures_and_the_time_left(monkeypatch):
    bar, clock, written = shown(monkeypatch, screen=True, trials=20)
    with bar:
        clock.now += 2
        bar.note(None, Row("a", {}, failure=1, agent_error=AgentError("E", "m")))
        bar.note(None, Row("b", {}, failure=0))
        bar.note(None, Row("c", {"k": EvaluationResult("k", error=ResultError("judge", "m"))}))
        bar.note(None, Row("d", {"k": EvaluationResult("k", error=ResultError("not_run", "m"))}))
        bar(10)
    assert "\r10 of 200 rows, 5.0/s, 2 failed, 0:38 left" in written.getvalue()
    assert written.getvalue().endswith(" \r")


def test_the_rate_is_that_of_late(monkeypatch):
    """Rows that an earlier run had done come all at once, and say nothing of the rate."""
    bar, clock, _ = shown(monkeypatch, screen=True, trials=200)
    with bar:
        clock.now += 1
        bar(1000)
        for done in range(1001, 1061):
            clock.now += 1
            bar(done)
        assert bar.said(clock.now, 1060) == "1,060 of 2,000 rows, 1.0/s, 15:40 left"


def test_it_is_written_no_more_often_than_can_be_seen(monkeypatch):
    bar, clock, written = shown(monkeypatch, screen=True)
    with bar:
        for done in range(1, 11):
            clock.now += 0.01
            bar(done)
    assert written.getvalue().count("rows") == 1


def test_where_nobody_looks_a_line_is_written_now_and_then(monkeypatch):
    bar, clock, written = shown(monkeypatch, screen=False, limit=8)
    with bar:
        for done in range(1, 9):
            clock.now += 10
            bar(done)
    assert written.getvalue().splitlines() == [
        "3 of 8 rows, 0.1/s, 0:50 left", "6 of 8 rows, 0.1/s, 0:20 left",
    ]  # fmt: skip


def test_a_short_run_says_nothing_where_nobody_looks(monkeypatch):
    bar, clock, written = shown(monkeypatch, screen=False)
    with bar:
        clock.now += 29
        bar(10)
    assert written.getvalue() == ""


@pytest.mark.parametrize("screen", [True, False])
def test_nothing_is_shown_where_it_is_not_wanted(monkeypatch, screen):
    bar, clock, written = shown(monkeypatch, screen=screen, wanted=False)
    with bar:
        clock.now += 1000
        bar(10)
    assert written.getvalue() == ""


def test_rows_are_not_counted_where_only_some_are_graded(monkeypatch):
    bar, clock, written = shown(monkeypatch, screen=False, counted=False)
    with bar:
        clock.now += 40
        bar(4)
    assert written.getvalue() == "4 rows, 0.1/s\n"


def test_hours_are_spelt():
    assert progress._spelt(3725) == "1:02:05"
