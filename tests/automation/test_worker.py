"""The worker: rules fire once, in order, whatever dies or fails in between."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trajgrade.automation.deciding import TRIES
from trajgrade.automation.making import make_actions
from trajgrade.automation.origin import ATTRIBUTE, mark, origin_of
from trajgrade.automation.rules import Rules, read_rules
from trajgrade.automation.worker import DEATHS, Worker
from trajgrade.event import Event, Queued, Scored, Told, TryAgainError
from trajgrade.inbox import Piece
from trajgrade.registry import actions
from trajgrade.stores import open_store

CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TRACE = {"messages": [{"role": "user", "content": "go"},
                      {"role": "assistant", "content": None, "tool_calls": [CALL]}]}  # fmt: skip


@dataclass
class Act:
    """An action of a test: does what it is told, and notes what it was given."""

    does: Callable[[Event], str | Told] = lambda event: event.rule
    fast: bool = False
    seen: list[Event] = field(default_factory=list)

    def act(self, event: Event) -> str | Told:
        self.seen.append(event)
        return self.does(event)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "x.db") as opened:
        yield opened


def rules(*written: dict[str, Any]) -> Rules:
    given = [{"when": "always", "actions": [{"type": "notify"}], **rule} for rule in written]
    return read_rules({"rules": given})


def whole(name: str, at: float, **more: Any) -> Piece:
    body = json.dumps({"id": name, **TRACE, **more}).encode()
    return Piece(trace_id=name, key=str(hash(body)), body=body, at=at)


def drained(worker: Worker, clock: Clock, most: int = 50) -> None:
    for _ in range(most):
        if not worker.step() and not worker._inbox.backlog():
            return
        clock.now += 1.0
    raise AssertionError("there is always more to do")


def told(inbox: Any) -> list[tuple[str, int, str, str]]:
    return [(o.rule, o.place, o.state, o.says) for o in reversed(inbox.outcomes())]


# ------------------------------------------------------------------------------ order


def test_actions_of_a_rule_are_done_in_the_order_in_which_they_are_written(store, clock):
    order: list[str] = []

    def note(name: str, **more: Any) -> Act:
        def does(_event: Event) -> str:
            order.append(name)
            return name

        return Act(does, **more)

    made = {
        ("r", 0): note("fast", fast=True), ("r", 1): note("slow"),
        ("r", 2): note("fast again", fast=True), ("r", 3): note("slow again"),
    }  # fmt: skip
    given = rules({"name": "r", "actions": [{"type": "notify"}] * 4})
    store.inbox.accept([whole("a", clock())])
    drained(Worker(store.inbox, given, made, clock=clock), clock)
    assert order == ["fast", "slow", "fast again", "slow again"]
    assert [place for _, place, *_ in told(store.inbox)] == [0, 1, 2, 3]


@pytest.mark.parametrize("fast", [True, False])
def test_a_rule_that_looks_at_a_score_is_asked_once_it_is_there(store, clock, fast):
    scored = Told("x 0.2", (Scored(results={"x": {}}, scores={"x": 0.2}),))
    made: dict[tuple[str, int], Any] = {
        ("bad", 0): (hook := Act()), ("grade", 0): Act(lambda _: scored, fast=fast),
    }  # fmt: skip
    given = rules(
        {"name": "bad", "when": {"field": "scores.x", "lt": 0.5}},
        {"name": "good", "when": {"field": "scores.x", "gte": 0.5}},
        {"name": "grade",
         "actions": [{"type": "run_evaluator", "evaluator": "exact_match", "key": "x"}]},
    )  # fmt: skip
    store.inbox.accept([whole("a", clock())])
    drained(Worker(store.inbox, given, {**made, ("good", 0): Act()}, clock=clock), clock)
    assert [event.scores for event in hook.seen] == [{"x": 0.2}]
    assert store.inbox.counters() == {
        "bad": {"done": 1, "fires": 1}, "good": {"does_not_fit": 1},
        "grade": {"done": 1, "fires": 1},
    }  # fmt: skip
    assert store.inbox.trace("a").scores == {"x": 0.2}


def test_late_content_is_decided_again_and_replaces_the_scores(store, clock):
    def grade(event: Event) -> Told:
        score = event.trace["score"]
        return Told("x", (Scored(results={}, scores={"x": score}),))

    given = rules({"name": "grade"})
    worker = Worker(store.inbox, given, {("grade", 0): (act := Act(grade))}, clock=clock)
    store.inbox.accept([whole("a", clock(), score=0.1)])
    drained(worker, clock)
    store.inbox.accept([whole("a", clock(), score=0.9)])
    store.inbox.accept([whole("a", clock() + 1, score=1.0)])
    clock.now += 2
    drained(worker, clock)
    assert store.inbox.trace("a").scores == {"x": 1.0}
    assert [event.trace["score"] for event in act.seen] == [0.1, 1.0]
    assert len({event.id for event in act.seen}) == 2


# ------------------------------------------------------------------------------ failures


def test_an_action_that_fails_for_a_while_is_tried_again_under_the_same_id(store, clock):
    def unreachable_twice(_event: Event) -> str:
        if len(act.seen) < 3:
            raise TryAgainError("HTTP 503", after=30.0)
        return "HTTP 200"

    act = Act(unreachable_twice)
    worker = Worker(store.inbox, rules({"name": "r"}), {("r", 0): act}, clock=clock)
    store.inbox.accept([whole("a", clock())])
    worker.step()
    assert worker.step() == 0
    clock.now += 29
    assert worker.step() == 0
    clock.now += 400
    drained(worker, clock, 1000)
    assert len(act.seen) == 3
    assert len({event.id for event in act.seen}) == 1
    (outcome,) = store.inbox.outcomes()
    assert (outcome.says, outcome.tries, outcome.state) == ("HTTP 200", 3, "done")


@pytest.mark.parametrize(
    "raised", [OSError("HTTP 410"), RuntimeError("a plugin's"), TryAgainError("HTTP 503")]
)
def test_what_fails_for_good_is_set_aside_and_what_follows_is_done(store, clock, raised):
    def fail(_event: Event) -> str:
        if broken:
            raise raised
        return "at last"

    broken = True
    made = {("r", 0): Act(fail), ("r", 1): (after := Act()), ("s", 0): (other := Act())}
    given = rules({"name": "r", "actions": [{"type": "notify"}] * 2}, {"name": "s"})
    worker = Worker(store.inbox, given, made, clock=clock)
    store.inbox.accept([whole("a", clock())])
    drained(worker, clock, 5000)
    assert (len(after.seen), len(other.seen)) == (1, 1)
    (aside,) = store.inbox.set_aside()
    assert str(raised) in aside.error
    assert [o.state for o in store.inbox.outcomes(rule="r")] == ["done", "set_aside"]
    broken = False
    assert store.inbox.revive([aside.number], clock()) == 1
    drained(worker, clock)
    assert store.inbox.set_aside() == []
    assert len(after.seen) == 1
    assert store.inbox.outcomes(rule="r")[0].says == "at last"


def test_a_trace_that_cannot_be_decided_is_set_aside_and_no_other(store, clock):
    store.inbox.accept([
        Piece(trace_id="bad", key="1", body=b"no JSON", at=clock()), whole("good", clock()),
    ])  # fmt: skip
    worker = Worker(store.inbox, rules({"name": "r"}), {("r", 0): (act := Act())}, clock=clock)
    drained(worker, clock)
    assert [event.item_id for event in act.seen] == ["good"]
    (aside,) = store.inbox.set_aside()
    assert aside.trace_id == "bad"


def test_an_action_of_a_rule_that_is_gone_says_so(store, clock):
    store.inbox.accept([whole("a", clock())])
    Worker(store.inbox, rules({"name": "old"}), {("old", 0): Act()}, clock=clock).decide()
    drained(Worker(store.inbox, rules({"name": "new"}), {("new", 0): Act()}, clock=clock), clock)
    (aside,) = store.inbox.set_aside()
    assert "no rule named 'old'" in aside.error


def test_a_row_that_no_dataset_takes_is_told_and_ends_nothing(store, clock):
    made = make_actions(
        given := read_rules(
            {"rules": [{"name": "r", "when": "always", "actions": [
                {"type": "add_to_dataset", "dataset": "d", "expected": "actual"},
                {"type": "add_to_queue"}]}]},
            actions.entries,
        ),
        store=store,
    )  # fmt: skip
    store.inbox.accept([whole("a", clock())])
    bad = Piece(trace_id="b", key="1", body=b'{"messages": 5}', at=clock())
    store.inbox.accept([bad])
    drained(Worker(store.inbox, given, made, clock=clock), clock)
    assert [row["id"] for row in store.datasets.rows("d")] == ["a"]
    assert {one.trace_id for one in store.inbox.reviews()} == {"a", "b"}
    assert [o.trace_id for o in store.inbox.outcomes(state="set_aside")] == ["b"]


# ------------------------------------------------------------------------------ processes

RULES = """
automation:
  rules:
    - name: every
      when: always
      actions:
        - {type: run_evaluator, evaluator: trajectory_single_tool_use, params: {tool_name: f}}
        - {type: add_to_queue}
        - {type: add_to_dataset, dataset: seen}
"""


def begun(folder: Path) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "trajgrade",
        "work",
        "--config",
        "rules.yaml",
        "--store",
        "x.db",
    ]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)


def test_kill_9_loses_and_doubles_nothing(store, tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    n = 300
    store.inbox.accept([whole(f"t{number}", 1.0) for number in range(n)])
    for least in (1, n // 4, n // 2):
        worker = begun(tmp_path)
        while len(store.inbox.reviews(limit=n)) < least and worker.poll() is None:
            pass
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    with_a_clock_ahead = Worker(
        store.inbox, *loaded(tmp_path / "rules.yaml", store), clock=lambda: 1e10
    )
    while with_a_clock_ahead.step():
        pass
    assert len(store.inbox.reviews(limit=2 * n)) == n
    assert len([*store.datasets.rows("seen")]) == n
    assert store.inbox.counters()["every"] == {"done": 3 * n, "fires": n}


def test_told_to_stop_a_worker_ends_what_it_has_begun(store, tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    store.inbox.accept([whole(f"t{number}", 1.0) for number in range(500)])
    worker = begun(tmp_path)
    while not store.inbox.reviews(limit=1):
        assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    done = len(store.inbox.reviews(limit=1000))
    assert store.inbox.counters()["every"]["fires"] == done
    assert len([*store.datasets.rows("seen")]) == done


POISON = """
import os, sys
from dataclasses import dataclass
@dataclass(frozen=True)
class Die:
    fast = sys.argv[2] == "fast"
    def act(self, event):
        if event.item_id == "poison":
            os._exit(9)
        return "alive"
from trajgrade.automation.rules import read_rules
from trajgrade.automation.worker import Worker
from trajgrade.stores import open_store
rules = read_rules({"rules": [{"name": "r", "when": "always", "actions": [{"type": "x"}]}]})
worker = Worker(open_store("x.db").inbox, rules, {("r", 0): Die()}, clock=lambda: float(sys.argv[1]))
while worker.step():
    pass
"""


@pytest.mark.parametrize(("how", "most"), [("fast", DEATHS), ("slow", TRIES)])
def test_what_ends_its_worker_is_set_aside_and_all_else_is_done(store, tmp_path, how, most):
    others = {f"t{n}" for n in range(20)}
    store.inbox.accept([whole(name, 1.0) for name in (*sorted(others)[:7], "poison")])
    store.inbox.accept([whole(name, 1.0) for name in sorted(others)[7:]])
    for attempt in range(most + 2):
        command = [sys.executable, "-c", POISON, str(1000 * (attempt + 1)), how]
        ended = subprocess.run(command, cwd=tmp_path, check=False)
        if not ended.returncode:
            break
    assert (ended.returncode, attempt) == (0, most)
    (aside,) = store.inbox.set_aside()
    assert (aside.trace_id, "ended its worker" in aside.error) == ("poison", True)
    done = Counter(o.trace_id for o in store.inbox.outcomes(state="done"))
    assert done == Counter(others)


def test_a_worker_goes_on_when_the_store_comes_back(store, clock):
    class Flaky:
        def __init__(self) -> None:
            self.left = 3

        def __getattr__(self, name: str) -> Any:
            if name == "settle" and self.left:
                self.left -= 1
                from trajgrade.errors import StoreError

                raise StoreError("the connection was lost")
            return getattr(store.inbox, name)

    stop = threading.Event()

    def done(event: Event) -> str:
        stop.set()
        return "done"

    store.inbox.accept([whole("a", clock())])
    flaky: Any = Flaky()
    Worker(flaky, rules({"name": "r"}), {("r", 0): Act(done)}, clock=clock).run(stop)
    assert flaky.left == 0
    assert [o.says for o in store.inbox.outcomes()] == ["done"]


def loaded(path: Path, store: Any) -> tuple[Rules, Any]:
    from trajgrade.automation.loading import load_automation

    found = load_automation(path)
    return found.rules, found.actions(store)


def test_a_review_is_made_once_by_a_worker_that_is_too_late(store, clock):
    effect = Told("queued", (Queued(queue="q", priority=1.0, reason="x"),))
    slow = Worker(store.inbox, rules({"name": "r"}), {("r", 0): Act(lambda _: effect)}, clock=clock)
    store.inbox.accept([whole("a", clock())])
    slow.decide()
    (job,) = store.inbox.claim(now=clock(), until=clock() + 5, limit=1)
    clock.now += 10
    drained(slow, clock)
    ended = slow._acted(job, store.inbox.loaded(["a"]))
    assert store.inbox.finish([ended]) == [False]
    assert len(store.inbox.outcomes()) == 1


# ------------------------------------------------------------------------------ its own traces


def spans(*resources: dict[str, Any]) -> dict[str, Any]:
    scopes = [{"spans": [{"traceId": "1" * 32, "spanId": "2" * 16, "name": "judge"}]}]
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in one.items()]
                },
                "scopeSpans": scopes,
            }
            for one in resources
        ]
    }


OWN = {ATTRIBUTE: "automation", "service.name": "judge"}


@pytest.mark.parametrize(
    ("trace", "origin"),
    [
        (spans(OWN), "automation"),
        (spans(OWN, OWN), "automation"),
        (spans(OWN, {"service.name": "agent"}), None),
        (spans({"service.name": "agent"}), None),
        ({ATTRIBUTE: "automation", "messages": []}, "automation"),
        ({"resourceSpans": []}, None),
        ({"resourceSpans": [None, {"resource": 3}]}, None),
        ([1], None),
    ],
)
def test_a_trace_says_whether_trajgrade_made_it(trace, origin):
    assert origin_of(trace) == origin


def test_what_a_worker_exports_is_marked_once():
    environ = {"OTEL_RESOURCE_ATTRIBUTES": "service.name=judge,team=a"}
    mark(environ)
    mark(environ)
    assert environ["OTEL_RESOURCE_ATTRIBUTES"] == (
        "service.name=judge,team=a,trajgrade.origin=automation"
    )
    bare: dict[str, str] = {}
    mark(bare)
    assert bare == {"OTEL_RESOURCE_ATTRIBUTES": "trajgrade.origin=automation"}


def test_the_traces_of_trajgrade_itself_are_decided_only_by_rules_that_ask_for_them(store, clock):
    agent = whole("agent", clock())
    body = json.dumps(spans(OWN)).encode()
    store.inbox.accept([agent, Piece(trace_id="judge", key="1", body=body, at=clock())])
    given = rules(
        {"name": "every"},
        {"name": "own", "when": {"field": "trajgrade.origin", "equals": "automation"}},
    )
    every, own = Act(), Act(fast=True)
    made: dict[tuple[str, int], Any] = {("every", 0): every, ("own", 0): own}
    drained(Worker(store.inbox, given, made, clock=clock), clock)
    assert [event.item_id for event in every.seen] == ["agent"]
    assert [event.item_id for event in own.seen] == ["judge"]
    assert store.inbox.counters()["every"] == {"fires": 1, "own_trace": 1, "done": 1}


def test_a_worker_that_ends_lets_go_of_what_its_actions_hold(store):
    class Holding(Act):
        is_open = True

        def close(self) -> None:
            self.is_open = False

    holding, other = Holding(lambda _: "done"), Act(lambda _: "done")
    given = rules({"name": "r", "actions": [{"type": "notify"}] * 2})
    with closing(Worker(store.inbox, given, {("r", 0): holding, ("r", 1): other})):
        assert holding.is_open
    assert not holding.is_open
