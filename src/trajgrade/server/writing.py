"""Writing: requests that come at once share one transaction.

One thread writes. While it writes, what comes waits, and is the next transaction. Who brings
something is answered once that is in the store. Where too much waits, or the rules are too far
behind, nothing more is taken for a while. What fails fails for those alone whose it is: where a
transaction of several cannot be written, each is tried on its own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import monotonic
from typing import NamedTuple

from trajgrade.inbox import Piece
from trajgrade.production import Inbox
from trajgrade.server.refusal import RefusedError

MOST = 2_000  # pieces of one transaction
_LOOK = 1.0  # seconds between two looks at how much waits to be done
_BACK_SOON, _BACK_LATER = 1, 5  # seconds
_IN_VAIN = 2  # tries in a row, after which the store itself must be at fault


class Offer(NamedTuple):
    """What one request brings.

    Attributes:
        pieces: The pieces.
        kept: Gets, for each, whether it was new.
    """

    pieces: Sequence[Piece]
    kept: Future[list[bool]]


class Writer:
    """What writes pieces to the inbox, in a thread of its own, from `start` to `stop`.

    Args:
        inbox: Where they go.
        waiting: How many pieces may wait to be written.
        backlog: How many jobs may wait to be done.
        clock: Seconds, from any beginning.

    Attributes:
        accepted: How many pieces were written.
        repeated: How many were there already.
        transactions: How many times something was written.
    """

    def __init__(
        self,
        inbox: Inbox,
        *,
        waiting: int,
        backlog: int,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.accepted = self.repeated = self.transactions = 0
        self._inbox = inbox
        self._most_waiting = waiting
        self._most_backlog = backlog
        self._clock = clock
        self._offers: deque[Offer] = deque()
        self._waiting = 0
        self._backlog = 0
        self._looked_at: float | None = None
        self._changed = threading.Condition()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="trajgrade-writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def offer(self, pieces: Sequence[Piece]) -> Future[list[bool]]:
        """Have pieces written.

        Returns:
            For each, whether it is new, once all are in the store.

        Raises:
            RefusedError: Too much waits.
        """
        kept: Future[list[bool]] = Future()
        if not pieces:
            kept.set_result([])
            return kept
        with self._changed:
            if self._is_stopping:
                raise RefusedError("unavailable", "the server stops", retry_after=_BACK_LATER)
            if self._waiting and self._waiting + len(pieces) > self._most_waiting:
                raise RefusedError(
                    "too_many", f"{self._waiting} traces wait to be written",
                    f"up to {self._most_waiting} at once", _BACK_SOON,
                )  # fmt: skip
            if self._backlog >= self._most_backlog:
                raise RefusedError(
                    "too_many", f"{self._backlog} jobs wait to be done",
                    f"up to {self._most_backlog} jobs; workers do them", _BACK_LATER,
                )  # fmt: skip
            self._offers.append(Offer(pieces, kept))
            self._waiting += len(pieces)
            self._changed.notify()
        return kept

    def _run(self) -> None:
        while (offers := self._next()) is not None:
            if offers:
                self._write_all(offers)
            self._look()

    def _next(self) -> list[Offer] | None:
        """Return what is to be written next, nothing after a while, None when all is."""
        with self._changed:
            if not self._offers and not self._is_stopping:
                self._changed.wait(_LOOK)
            if not self._offers:
                return None if self._is_stopping else []
            taken: list[Offer] = []
            room = MOST
            while self._offers and (not taken or len(self._offers[0].pieces) <= room):
                offer = self._offers.popleft()
                self._waiting -= len(offer.pieces)
                if offer.kept.set_running_or_notify_cancel():  # else nobody waits for it any more
                    taken.append(offer)
                    room -= len(offer.pieces)
            return taken

    def _write_all(self, offers: list[Offer]) -> None:
        broken = self._write(offers)
        if broken is None:
            return
        if len(offers) == 1:
            offers[0].kept.set_exception(broken)
            return
        failed = 0
        for offer in offers:
            if failed < _IN_VAIN:
                alone = self._write([offer])
                failed = 0 if alone is None else failed + 1
                broken = alone or broken
            if not offer.kept.done():
                offer.kept.set_exception(broken)

    def _write(self, offers: list[Offer]) -> Exception | None:
        """Write in one transaction, and tell who waits for it; return why that failed."""
        pieces = [piece for offer in offers for piece in offer.pieces]
        try:
            new = self._inbox.accept(pieces)
        except Exception as broken:  # noqa: BLE001 who waits must be told, and the next be written
            return broken
        self.transactions += 1
        self.accepted += sum(new)
        self.repeated += len(new) - sum(new)
        at = 0
        for offer in offers:
            offer.kept.set_result(new[at : at + len(offer.pieces)])
            at += len(offer.pieces)
        return None

    def _look(self) -> None:
        """Note how many jobs wait, from time to time."""
        now = self._clock()
        if self._looked_at is not None and now - self._looked_at < _LOOK:
            return
        self._looked_at = now
        try:
            self._backlog = self._inbox.backlog()
        except Exception:  # noqa: BLE001 what was known before is as good as anything
            return
