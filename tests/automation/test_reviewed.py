"""What people said in a review queue: a judge is measured by it, and rows get references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.test_promise import ROW
from trajgrade.automation.making import make_actions
from trajgrade.automation.rules import read_rules
from trajgrade.automation.worker import Worker
from trajgrade.cli.entry import command
from trajgrade.contracts import Store
from trajgrade.inbox import Label, Piece
from trajgrade.registry import actions
from trajgrade.stores import open_store

RIGHT = [{"name": "book", "args": {"seats": 2, "at": "20:00"}}]
RULES = [
    {
        "name": "grade", "when": "always",
        "actions": [
            {
                "type": "run_evaluator",
                "evaluator": {"name": "field", "params": {"path": "polite"}, "key": "polite"},
            },
            {"type": "add_to_queue", "queue": "review"},
            {"type": "add_to_dataset", "dataset": "cases", "split": "new"},
        ],
    }
]  # fmt: skip


@pytest.fixture
def address(tmp_path: Path) -> str:
    return str(tmp_path / "kept.db")


def send(store: Store, number: int, *, polite: bool) -> None:
    trace = {**ROW, "id": f"t{number}", "polite": polite}
    piece = Piece(trace_id=f"t{number}", key="1", body=json.dumps(trace).encode(), at=1.0)
    store.inbox.accept([piece])


def worked(store: Store) -> None:
    rules = read_rules({"rules": RULES}, actions.entries)
    worker = Worker(store.inbox, rules, make_actions(rules, store=store))
    while worker.step():
        pass


def asked(*args: str) -> Any:
    return CliRunner().invoke(command, [*args])


@pytest.fixture
def reviewed(address: str) -> str:
    """Four traces: two that the evaluator passes, of which people pass one, and so on."""
    with open_store(address) as store:
        for number, polite in enumerate((True, True, False, False)):
            send(store, number, polite=polite)
        worked(store)
        labels = {
            "t0": Label(verdict=True, judged={"polite": True}),
            "t1": Label(verdict=False, judged={"polite": False}),
            "t2": Label(verdict=False, judged={"polite": 0}, reference=RIGHT),
        }
        for review in store.inbox.reviews(queue="review"):
            if review.trace_id in labels:
                store.inbox.label(review.number, labels[review.trace_id], 2.0)
    return address


def test_a_judge_is_measured_by_what_people_say_of_its_verdicts(reviewed: str):
    done = asked("judge", "align", "queue:review", "--store", reviewed, "--json")
    assert done.exit_code == 0, done.output
    (polite,) = json.loads(done.stdout)
    assert polite["criterion"] == "polite"
    assert polite["confusion"] == [
        {"label": False, "verdict": False, "n": 1},
        {"label": False, "verdict": True, "n": 1},
        {"label": True, "verdict": True, "n": 1},
    ]
    assert [one["id"] for one in polite["disagreements"]] == ["t1"]


def test_rows_that_people_accept_or_correct_get_a_reference(reviewed: str):
    done = asked("dataset", "add", "cases", "--from", "queue:review", "--store", reviewed)
    assert done.exit_code == 0, done.output
    assert "left out: 1 trace that people did not accept" in done.stderr
    with open_store(reviewed) as store:
        rows = {row["id"]: row for row in store.datasets.rows("cases")}
    assert [*rows] == ["t0", "t1", "t2", "t3"]
    assert [call["name"] for call in rows["t0"]["reference_outputs"]] == ["book", "notify"]
    assert rows["t0"]["reference"] == "Done."
    assert rows["t2"]["reference_outputs"] == RIGHT
    assert all(row["split"] == "new" for row in rows.values())
    assert rows["t1"]["reference_outputs"] == ROW["reference_outputs"]


def test_what_was_said_of_a_trace_that_has_changed_since_is_left_out(reviewed: str):
    with open_store(reviewed) as store:
        later = json.dumps({**ROW, "id": "t1", "polite": True, "more": 1}).encode()
        store.inbox.accept([Piece(trace_id="t1", key="2", body=later, at=1.0)])
    done = asked("judge", "align", "queue:review", "--store", reviewed, "--json")
    (polite,) = json.loads(done.stdout)
    assert sum(cell["n"] for cell in polite["confusion"]) == 2
    done = asked("dataset", "add", "cases", "--from", "queue:review", "--store", reviewed)
    assert "t1: has changed since somebody looked at it" in done.stderr
    with open_store(reviewed) as store:
        for name in ("t0", "t2"):
            body = json.dumps({**ROW, "id": name, "more": 2}).encode()
            store.inbox.accept([Piece(trace_id=name, key="2", body=body, at=1.0)])
    done = asked("judge", "align", "queue:review", "--store", reviewed)
    assert done.exit_code == 2
    assert "(3 have changed since somebody looked at them)" in done.stderr


def changed(store: Store, name: str, **more: Any) -> None:
    """Have another content come for a trace."""
    body = json.dumps({**ROW, "id": name, **more}).encode()
    store.inbox.accept([Piece(trace_id=name, key="2", body=body, at=1.0)])


def test_a_row_of_an_earlier_revision_becomes_that_which_the_person_saw(reviewed: str):
    later = [{"role": "user", "content": "Cancel it."}, {"role": "assistant", "content": "Gone."}]
    with open_store(reviewed) as store:
        store.inbox.publish()
        changed(store, "t0", inputs="Cancel it.", outputs=later, polite=False)
        worked(store)
        (first, *_) = store.datasets.rows("cases")
        assert (first["id"], first["inputs"], first["scores"]) == (
            "t0", "Book a table for two.", {"polite": 1.0},
        )  # fmt: skip
        said = [one.says for one in store.inbox.outcomes(trace_id="t0") if one.revision == 2]
        assert "for the dataset cases, where a row of its id stays as it is" in said
        (item,) = store.inbox.reviews(queue="review", trace_id="t0")
        store.inbox.label(item.number, Label(verdict=False, reference=RIGHT), 3.0)
    done = asked("dataset", "add", "cases", "--from", "queue:review", "--store", reviewed)
    assert done.exit_code == 0, done.output
    with open_store(reviewed) as store:
        row = {one["id"]: one for one in store.datasets.rows("cases")}["t0"]
    assert row == {
        "id": "t0", "inputs": "Cancel it.", "outputs": later, "scores": {"polite": 0.0},
        "reference_outputs": RIGHT, "split": "new",
    }  # fmt: skip


def test_labels_are_compared_only_with_what_evaluators_said_of_the_same_revision(reviewed: str):
    with open_store(reviewed) as store:
        changed(store, "t1", polite=False)
        (item,) = store.inbox.reviews(trace_id="t1", state="done")
        store.inbox.label(item.number, Label(judged={"polite": False}), 3.0)
        record = store.inbox.trace("t1")
        assert record is not None
        assert not record.is_graded
    done = asked("judge", "align", "queue:review", "--store", reviewed, "--json")
    (polite,) = json.loads(done.stdout)
    assert (polite["without_verdict"], polite["disagreements"]) == (1, [])
    with open_store(reviewed) as store:
        worked(store)
        assert store.inbox.reviews(trace_id="t1") == []
    done = asked("judge", "align", "queue:review", "--store", reviewed, "--json")
    (polite,) = json.loads(done.stdout)
    assert (polite["without_verdict"], polite["disagreements"]) == (0, [])


def test_a_queue_that_nobody_has_looked_at_says_so(address: str):
    with open_store(address) as store:
        send(store, 0, polite=True)
        worked(store)
    for words in (["judge", "align", "queue:review"], ["dataset", "add", "d", "--from", "queue:review"]):  # fmt: skip
        done = asked(*words, "--store", address)
        assert done.exit_code == 2
        assert "queue:review: nobody has looked at what waits there" in done.stderr
    done = asked("judge", "align", "queue:other", "--store", address)
    assert "queue:other: there is no such queue" in done.stderr
    done = asked("judge", "align", "queue:", "--store", address)
    assert done.exit_code == 2
    assert "the name of a review queue is needed, as in queue:failures" in done.stderr


def test_labels_are_needed_of_a_run_that_is_no_queue():
    done = asked("judge", "align", "run:latest")
    assert done.exit_code == 2
    assert "--labels queue:NAME" in done.stderr
