"""The inbox's contract, over every database: nothing accepted is lost, nothing is done twice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trajgrade.errors import ChangedError, StoreError
from trajgrade.event import Added, Queued, Scored
from trajgrade.inbox import Change, Finished, Job, KeyRecord, Label, NewJob, Outcome, Piece
from trajgrade.stores import open_store
from trajgrade.stores.inbox_sql import GRACE


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    url = (
        tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    )
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def inbox(store):
    return store.inbox


def whole(name: str, body: str = "{}", at: float = 1.0) -> Piece:
    return Piece(trace_id=name, key=f"{hash(body) & 0xFFFFFF:x}", body=body.encode(), at=at)


def span(name: str, key: str, at: float, *, ends: bool = False) -> Piece:
    return Piece(trace_id=name, key=key, body=b"[]", is_spans=True, ends=ends, at=at)


def take(inbox: Any, now: float = 100.0, limit: int = 100) -> list[Job]:
    return inbox.claim(now=now, until=now + 10, limit=limit)


def done(job: Job, **more: Any) -> Finished:
    return Finished(job=job, at=50.0, **more)


def outcome(job: Job, rule: str = "r", says: str = "so") -> Outcome:
    return Outcome(
        trace_id=job.trace_id, revision=job.revision, rule=rule, place=job.place,
        action="notify", state="done", says=says, at=50.0,
    )  # fmt: skip


# ------------------------------------------------------------------------------ what comes


def test_a_trace_is_accepted_once_and_decided_once(inbox):
    first, second = whole("a"), whole("b", '{"x": 1}')
    assert inbox.accept([first, second, first]) == [True, True, False]
    assert inbox.accept([second, first]) == [False, False]
    jobs = take(inbox)
    assert [(job.kind, job.trace_id, job.revision, job.tries) for job in jobs] == [
        ("decide", "a", 1, 1),
        ("decide", "b", 1, 1),
    ]
    assert [piece.body for piece in inbox.pieces("b")] == [b'{"x": 1}']
    assert [trace.id for trace in inbox.traces()] == ["b", "a"]
    assert inbox.trace("c") is None


def test_another_content_of_a_trace_is_a_revision_of_it(inbox):
    inbox.accept([whole("a", "1"), whole("a", "2")])
    assert inbox.trace("a").revision == 1
    inbox.accept([whole("a", "3")])
    trace = inbox.trace("a")
    assert (trace.pieces, trace.revision) == (3, 2)
    assert [job.revision for job in take(inbox)] == [1, 2]


def test_spans_wait_for_the_root_and_for_what_comes_just_behind_it(inbox):
    inbox.accept([span("t", "1", 10.0)])
    assert (inbox.trace("t").is_complete, inbox.trace("t").revision) == (False, 0)
    assert take(inbox, 1000.0) == []
    inbox.accept([span("t", "2", 300.0, ends=True)])
    assert take(inbox, 300.0 + GRACE - 0.1) == []
    (job,) = take(inbox, 300.0 + GRACE)
    assert job.revision == 1
    inbox.finish([done(job)])
    inbox.accept([span("t", "3", 400.0)])
    assert inbox.trace("t").revision == 2
    assert [job.revision for job in take(inbox, 400.0 + GRACE)] == [2]


def test_a_trace_that_is_quiet_is_complete(inbox):
    inbox.accept([span("quiet", "1", 10.0), span("busy", "1", 10.0), span("busy", "2", 50.0)])
    assert inbox.settle(40.0) == 1
    assert inbox.settle(40.0) == 0
    assert inbox.trace("quiet").is_complete
    assert not inbox.trace("busy").is_complete
    assert [job.trace_id for job in take(inbox)] == ["quiet"]


def test_names_are_what_they_are(inbox):
    names = ["é", "e\u0301", "A", "a", "a ", "%", "_", "x" * 256]
    inbox.accept([whole(name, "same") for name in names])
    assert {trace.id for trace in inbox.traces()} == {*names}
    assert inbox.trace("e\u0301").number != inbox.trace("é").number


# ------------------------------------------------------------------------------ what is to be done


def test_a_job_is_given_to_one_until_its_time_has_passed(inbox):
    inbox.accept([whole("a")])
    (job,) = inbox.claim(now=10.0, until=20.0, limit=5)
    assert inbox.claim(now=19.0, until=30.0, limit=5) == []
    (again,) = inbox.claim(now=20.0, until=30.0, limit=5)
    assert (again.number, again.tries) == (job.number, 2)
    assert inbox.finish([done(job, outcomes=(outcome(job),))]) == [False]
    assert inbox.outcomes() == []
    assert inbox.finish([done(again, outcomes=(outcome(again),))]) == [True]
    assert inbox.finish([done(again, outcomes=(outcome(again),))]) == [False]
    assert len(inbox.outcomes()) == 1
    assert inbox.backlog() == 0


def test_a_job_that_is_renewed_stays_with_its_taker(inbox):
    inbox.accept([whole("a")])
    (job,) = inbox.claim(now=10.0, until=20.0, limit=5)
    inbox.renew([job], 40.0)
    assert inbox.claim(now=30.0, until=50.0, limit=5) == []
    (other,) = inbox.claim(now=40.0, until=50.0, limit=5)
    inbox.renew([job], 90.0)
    assert inbox.finish([done(other)]) == [True]


def test_what_failed_is_tried_again_and_at_last_set_aside_with_the_reason(inbox):
    inbox.accept([whole("a")])
    (job,) = take(inbox, 10.0)
    inbox.finish([done(job, again_at=30.0, error="HTTP 503")])
    assert take(inbox, 29.0) == []
    (job,) = take(inbox, 30.0)
    assert (job.tries, job.error) == (2, "HTTP 503")
    inbox.finish([done(job, error="HTTP 410: gone")])
    assert take(inbox, 1000.0) == []
    (aside,) = inbox.set_aside()
    assert (aside.error, aside.tries) == ("HTTP 410: gone", 2)
    assert inbox.revive([aside.number, 999], 50.0) == 1
    assert [(job.number, job.tries) for job in take(inbox)] == [(aside.number, 1)]


def test_jobs_that_follow_are_made_once_and_counted(inbox):
    inbox.accept([whole("a")])
    (job,) = take(inbox)
    act = NewJob(kind="act", trace_id="a", rule="hook", place=0, because="x", due_at=60.0)
    inbox.finish([done(job, follow=(act, act), decided={"hook": "fires", "other": "disabled"})])
    assert inbox.pending("a", 1, ["hook"]) == 1
    assert inbox.pending("a", 1, ["other"]) == inbox.pending("a", 2, ["hook"]) == 0
    (job,) = take(inbox)
    assert (job.kind, job.rule, job.because) == ("act", "hook", "x")
    inbox.finish([done(job, outcomes=(outcome(job, "hook"),))])
    assert inbox.counters() == {"hook": {"done": 1, "fires": 1}, "other": {"disabled": 1}}


def test_outcomes_are_found_by_trace_rule_and_state(inbox):
    inbox.accept([whole(name, name) for name in "abc"])
    jobs = take(inbox)
    inbox.finish([done(job, outcomes=(outcome(job, "r"), outcome(job, "s"))) for job in jobs])
    assert len(inbox.outcomes()) == 6
    assert {one.rule for one in inbox.outcomes(trace_id="a")} == {"r", "s"}
    assert {one.trace_id for one in inbox.outcomes(rule="s")} == {*"abc"}
    assert inbox.outcomes(state="set_aside") == []
    newest = inbox.outcomes(limit=2)
    assert [one.number for one in inbox.outcomes(before=newest[-1].number)] == [4, 3, 2, 1]


# ------------------------------------------------------------------------------ effects


def effects(inbox: Any, name: str, *found: Any, body: str = "{}") -> None:
    inbox.accept([whole(name, body)])
    (job,) = take(inbox)
    changes = tuple(Change(rule="r", effect=effect) for effect in found)
    assert inbox.finish([done(job, changes=changes)]) == [True]


def scored(**scores: float | None) -> Scored:
    return Scored(
        results={key: {"key": key, "score": s} for key, s in scores.items()}, scores=scores
    )


def test_scores_are_those_of_the_last_revision(inbox):
    effects(inbox, "a", scored(x=0.5, y=1.0))
    assert inbox.trace("a").scores == {"x": 0.5, "y": 1.0}
    effects(inbox, "a", scored(x=0.25), body="2")
    trace = inbox.trace("a")
    assert (trace.scores, trace.graded, trace.revision) == ({"x": 0.25}, 2, 2)
    assert trace.results == {"x": {"key": "x", "score": 0.25}}


def test_scores_of_an_older_revision_come_too_late(inbox):
    inbox.accept([whole("a", "1")])
    inbox.accept([whole("a", "2")])
    old, new = take(inbox)
    inbox.finish([done(new, changes=(Change(rule="r", effect=scored(x=1.0)),))])
    inbox.finish([done(old, changes=(Change(rule="r", effect=scored(x=0.0, y=0.0)),))])
    assert inbox.trace("a").scores == {"x": 1.0}


def test_a_trace_is_in_a_review_queue_once_and_the_most_urgent_come_first(inbox):
    for name, priority in (("a", 1.0), ("b", 5.0), ("c", 5.0)):
        effects(inbox, name, Queued(queue="q", priority=priority, reason=f"for {name}"), body=name)
    effects(inbox, "a", Queued(queue="q", priority=9.0, reason="worse"), body="again")
    found = inbox.reviews(queue="q")
    assert [(one.trace_id, one.priority) for one in found] == [("a", 9.0), ("b", 5.0), ("c", 5.0)]
    assert found[0].reason == "worse"
    assert [one.trace_id for one in inbox.reviews(after=found[0].number)] == ["b", "c"]
    assert [one.trace_id for one in inbox.reviews(after=found[1].number, limit=1)] == ["c"]
    assert inbox.reviews(queue="other") == []


def test_a_label_is_kept_and_ends_the_wait(inbox):
    effects(inbox, "a", Queued(queue="q", priority=1.0, reason="x"))
    (item,) = inbox.reviews()
    said = Label(verdict=False, reference=[{"name": "f", "args": {}}], judged={"j": True}, by="ann")
    known = msgspec.structs.replace(said, revision=1)
    assert inbox.label(item.number, said, 77.0).label == known
    assert inbox.reviews() == []
    (kept,) = inbox.reviews(state="done")
    assert (kept.label, kept.labelled_at, kept.revision) == (known, 77.0, 1)
    effects(inbox, "a", Queued(queue="q", priority=8.0, reason="late"), body="2")
    (again,) = inbox.reviews()
    assert (again.number, again.reason) == (item.number, "late")
    assert inbox.reviews(state="done") == []
    with pytest.raises(StoreError, match="no review queue has an item 999"):
        inbox.label(999, said, 78.0)


def test_what_is_said_of_a_trace_that_has_changed_since_is_refused(inbox):
    effects(inbox, "a", Queued(queue="q", priority=1.0, reason="x"))
    (item,) = inbox.reviews()
    inbox.accept([whole("a", "later")])
    assert inbox.review(item.number).revision == 2
    with pytest.raises(ChangedError, match="of its revision 1, and revision 2 is there"):
        inbox.label(item.number, Label(verdict=True, revision=1), 77.0)
    with pytest.raises(ChangedError, match="of its revision 0, and revision 2 is there"):
        inbox.label(item.number, Label(verdict=True, revision=0), 77.0)
    assert inbox.review(item.number).label is None
    assert inbox.label(item.number, Label(verdict=True, revision=2), 78.0).label.verdict is True


def test_an_item_whose_newer_revision_no_rule_puts_there_stays_as_it_is(inbox):
    for name in ("looked at", "waiting"):
        effects(inbox, name, Queued(queue="q", priority=1.0, reason="x"), body=name)
    items = {item.trace_id: item for item in inbox.reviews()}
    inbox.label(items["looked at"].number, Label(verdict=True), 77.0)
    for name in items:
        effects(inbox, name, body=f"{name}, later")
    found = {item.trace_id: item for item in inbox.reviews(state=None)}
    assert {name: (item.state, item.reason, item.revision) for name, item in found.items()} == {
        "looked at": ("done", "x", 2),
        "waiting": ("open", "x", 2),
    }
    assert found["looked at"].label == Label(verdict=True, revision=1)


def test_a_label_ends_the_wait_for_its_revision_whichever_rule_puts_it_there_again(inbox):
    inbox.accept([whole("a", "1")])
    (first,) = take(inbox)
    queued = Change(rule="late", effect=Queued(queue="q", priority=3.0, reason="judge"))
    act = NewJob(kind="act", trace_id="a", rule="late", due_at=1.0)
    inbox.finish([done(first, changes=(queued,), follow=(act,))])
    (item,) = inbox.reviews()
    inbox.label(item.number, Label(verdict=True), 77.0)
    (slow,) = take(inbox)
    inbox.finish([done(slow, changes=(queued,))])
    assert inbox.reviews() == []
    inbox.accept([whole("a", "2")])
    (second,) = take(inbox)
    inbox.finish([done(second, changes=(queued,))])
    assert [one.number for one in inbox.reviews()] == [item.number]


def test_rows_are_added_to_a_dataset_once_and_what_people_corrected_stays(store, inbox):
    store.datasets.put("failures", [{"id": "b", "reference": "corrected"}])
    row = {"id": "a", "inputs": "x"}
    effects(inbox, "a", Added(dataset="failures", row=row, split="test"))
    effects(inbox, "a", Added(dataset="failures", row=row | {"inputs": "y"}), body="2")
    effects(inbox, "b", Added(dataset="failures", row={"id": "b", "reference": None}), body="3")
    assert len(store.datasets.versions("failures")) == 1
    assert inbox.publish() == 2
    assert inbox.publish() == 0
    assert [*store.datasets.rows("failures")] == [
        {"id": "b", "reference": "corrected"},
        row | {"split": "test"},
    ]
    assert len(store.datasets.versions("failures")) == 2


# ------------------------------------------------------------------------------ keys


def test_keys_are_kept_by_their_hash_and_can_be_revoked(inbox):
    key = KeyRecord(name="ci", digest="0" * 64, scopes=("ingest",), made_at=1.0)
    inbox.add_key(key)
    assert inbox.keys() == [key]
    with pytest.raises(StoreError, match="there is a key 'ci' already"):
        inbox.add_key(key)
    with pytest.raises(StoreError, match="Did you mean 'ci'"):
        inbox.revoke_key("cii", 5.0)
    inbox.revoke_key("ci", 5.0)
    (gone,) = inbox.keys()
    assert gone.revoked_at == 5.0


def test_an_inbox_that_is_not_there_yet_is_empty(inbox):
    assert inbox.backlog() == inbox.settle(1e12) == inbox.publish() == 0
    assert take(inbox) == inbox.traces() == inbox.reviews() == inbox.keys() == []
    assert inbox.counters() == {}


def test_a_folder_has_none_and_says_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="automation needs a database"):
        open_store(f"{tmp_path}/runs/").inbox  # noqa: B018 it is asked for


# ------------------------------------------------------------------------------ whatever happens

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("accept"), st.sampled_from("abc"), st.integers(0, 2)),
        st.tuples(st.just("claim"), st.integers(1, 3)),
        st.tuples(st.just("finish"), st.integers(0, 5)),
        st.tuples(st.just("fail"), st.integers(0, 5)),
        st.tuples(st.just("forget")),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_in_whatever_order_each_revision_is_decided_once_and_none_is_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
):
    with open_store(tmp_path_factory.mktemp("inbox") / "x.db") as store:
        inbox: Any = store.inbox
        now, held = 1.0, []
        came: set[tuple[str, int]] = set()
        revisions: Counter[str] = Counter()
        for kind, *given_ in steps:
            now += 1.0
            if kind == "accept":
                name, body = given_
                assert inbox.accept([whole(name, str(body), now)]) == [(name, body) not in came]
                revisions[name] += (name, body) not in came
                came.add((name, body))
            elif kind == "claim":
                held += inbox.claim(now=now, until=now + 3, limit=given_[0])
            elif kind == "forget":
                held = held[1:]
            elif held:
                job = held.pop(given_[0] % len(held))
                again = now if kind == "fail" else None
                told = () if again else (outcome(job),)
                inbox.finish([done(job, outcomes=told, again_at=again, error="x" * bool(again))])
        while jobs := inbox.claim(now=1e6, until=1e6, limit=2):
            inbox.finish([done(job, outcomes=(outcome(job),)) for job in jobs])
        decided = Counter((one.trace_id, one.revision) for one in inbox.outcomes(limit=1000))
        wanted = {(name, n) for name, most in revisions.items() for n in range(1, most + 1)}
        assert decided == Counter(wanted)
        assert inbox.backlog() == 0


WORKER = """
import sys
from trajgrade.inbox import Change, Finished, Outcome
from trajgrade.event import Queued
from trajgrade.stores import open_store
inbox = open_store(sys.argv[1]).inbox
while jobs := inbox.claim(now=100.0, until=1e9, limit=7):
    inbox.finish([
        Finished(job=job, at=1.0,
                 outcomes=(Outcome(trace_id=job.trace_id, rule="r", place=0, action="a",
                                   state="done", says="x"),),
                 changes=(Change(rule="r", effect=Queued(queue="q", priority=1, reason="x")),))
        for job in jobs
    ])
"""


def test_several_workers_share_the_jobs_and_do_each_once(store, inbox):
    inbox.accept([whole(f"t{n}", str(n)) for n in range(200)])
    url = store.engine.url.render_as_string(hide_password=False)
    where = store.url if url.startswith("sqlite") else url.replace("+psycopg", "")
    command = [sys.executable, "-c", WORKER, where]
    workers = [subprocess.Popen(command) for _ in range(3)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    found = inbox.outcomes(limit=1000)
    assert Counter(one.trace_id for one in found) == Counter(f"t{n}" for n in range(200))
    assert len(inbox.reviews(limit=1000)) == 200
