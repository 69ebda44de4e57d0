"""What comes at once is one transaction; who waits is told what became of his own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from trajgrade.errors import StoreError
from trajgrade.inbox import Piece
from trajgrade.server.refusal import RefusedError
from trajgrade.server.writing import MOST, Writer
from trajgrade.stores import open_store

PATIENCE = 30


class Gated:
    """An inbox that writes when it is let, and says what it was given."""

    def __init__(self, inbox: Any) -> None:
        self.inbox = inbox
        self.given: list[list[str]] = []
        self.begun = threading.Semaphore(0)
        self.may = threading.Event()
        self.bad: set[str] = set()

    def accept(self, pieces: Sequence[Piece]) -> list[bool]:
        self.given.append([piece.trace_id for piece in pieces])
        self.begun.release()
        assert self.may.wait(PATIENCE)
        if self.bad & {piece.trace_id for piece in pieces}:
            raise StoreError("this cannot be written")
        found: list[bool] = self.inbox.accept(pieces)
        return found

    def backlog(self) -> int:
        count: int = self.inbox.backlog()
        return count


def piece(name: str) -> Piece:
    return Piece(trace_id=name, key="k", body=b"{}")


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[Gated]:
    with open_store(tmp_path / "w.db") as store:
        yield Gated(store.inbox)


@pytest.fixture
def writer(gated: Gated) -> Iterator[Writer]:
    inbox: Any = gated
    found = Writer(inbox, waiting=10, backlog=1000)
    found.start()
    yield found
    gated.may.set()
    found.stop()


def test_what_comes_while_something_is_written_is_the_next_transaction(
    gated: Gated, writer: Writer
):
    first = writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    others = [writer.offer([piece(name)]) for name in ("b", "c", "a")]
    gated.may.set()
    assert first.result(PATIENCE) == [True]
    assert [other.result(PATIENCE) for other in others] == [[True], [True], [False]]
    assert gated.given == [["a"], ["b", "c", "a"]]
    assert (writer.transactions, writer.accepted, writer.repeated) == (2, 3, 1)


def test_who_waits_is_answered_after_it_is_in_the_store(gated: Gated, writer: Writer):
    kept = writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    assert not kept.done()
    assert gated.inbox.trace("a") is None
    gated.may.set()
    assert kept.result(PATIENCE) == [True]
    assert gated.inbox.trace("a") is not None


def test_what_cannot_be_written_fails_for_those_alone_whose_it_is(gated: Gated, writer: Writer):
    gated.bad = {"bad"}
    first = writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    bad, good, empty = (writer.offer(pieces) for pieces in ([piece("bad")], [piece("b")], []))
    gated.may.set()
    assert first.result(PATIENCE) == [True]
    with pytest.raises(StoreError, match="cannot be written"):
        bad.result(PATIENCE)
    assert good.result(PATIENCE) == [True]
    assert empty.result(PATIENCE) == []
    assert gated.given == [["a"], ["bad", "b"], ["bad"], ["b"]]


def test_what_nobody_waits_for_any_more_is_not_written_and_harms_nobody(
    gated: Gated, writer: Writer
):
    first = writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    given_up, other = writer.offer([piece("b")]), writer.offer([piece("c")])
    assert given_up.cancel()
    assert not first.cancel()  # it is being written
    gated.may.set()
    assert first.result(PATIENCE) == other.result(PATIENCE) == [True]
    assert gated.given == [["a"], ["c"]]


def test_where_nothing_can_be_written_not_everybody_waits_in_turn(gated: Gated, writer: Writer):
    gated.bad = {*"abcdef"}
    first = writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    others = [writer.offer([piece(name)]) for name in "bcdef"]
    gated.may.set()
    for kept in (first, *others):
        with pytest.raises(StoreError):
            kept.result(PATIENCE)
    assert gated.given == [["a"], [*"bcdef"], ["b"], ["c"]]


def test_where_too_much_waits_more_is_refused_and_one_large_request_is_not(
    gated: Gated, writer: Writer
):
    writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    large = writer.offer([piece(f"large {n}") for n in range(50)])
    with pytest.raises(RefusedError) as refused:
        writer.offer([piece("b")])
    assert (refused.value.status, refused.value.retry_after) == (429, 1)
    gated.may.set()
    assert large.result(PATIENCE) == [True] * 50
    assert writer.offer([piece("b")]).result(PATIENCE) == [True]


def test_a_transaction_has_a_bounded_size(gated: Gated):
    inbox: Any = gated
    writer = Writer(inbox, waiting=10 * MOST, backlog=1000)
    writer.start()
    first = writer.offer([piece("a")])
    assert gated.begun.acquire(timeout=PATIENCE)
    kept = [writer.offer([piece(f"{at} {n}") for n in range(MOST // 2)]) for at in range(3)]
    gated.may.set()
    assert all(all(one.result(PATIENCE)) for one in (first, *kept))
    writer.stop()
    assert [len(names) for names in gated.given] == [1, MOST, MOST // 2]


def test_to_stop_writes_what_waits_and_takes_no_more(gated: Gated):
    inbox: Any = gated
    writer = Writer(inbox, waiting=10, backlog=1000)
    kept = writer.offer([piece("a")])
    gated.may.set()
    writer.start()
    writer.stop()
    assert kept.result(0) == [True]
    with pytest.raises(RefusedError) as refused:
        writer.offer([piece("b")])
    assert refused.value.status == 503
