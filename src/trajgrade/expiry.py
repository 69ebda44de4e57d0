"""Expiry: turns that end in time, or expire; a thread of its own sees to that.

All turns last equally long, so that the first to begin is the first to expire.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_THREAD = "trajgrade-expiry"


class Turn:
    """Something that has begun.

    Attributes:
        what: What it is the turn of.
        began: When it began.
        seconds: How long it may last.
    """

    __slots__ = ("began", "seconds", "what")

    def __init__(self, what: Any, seconds: float) -> None:
        self.what = what
        self.seconds = seconds
        self.began = time.monotonic()


class Expiry:
    """Lets turns expire that last too long.

    Args:
        seconds: How long a turn may last.
        expired: Called with each that lasts longer, in another thread.
    """

    def __init__(self, seconds: float, expired: Callable[[Turn], None]) -> None:
        self._seconds = seconds
        self._expired = expired
        self._changed = threading.Condition()
        self._turns: OrderedDict[Turn, None] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._closed = False

    def begin(self, what: Any) -> Turn:
        """Begin a turn."""
        turn = Turn(what, self._seconds)
        with self._changed:
            self._turns[turn] = None
            if len(self._turns) == 1:
                self._changed.notify()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, daemon=True, name=_THREAD)
                self._thread.start()
        return turn

    def end(self, turn: Turn) -> bool:
        """End a turn; return whether that was in time, or else it has expired."""
        with self._changed:
            return self._turns.pop(turn, self) is None

    def close(self) -> None:
        """Let no more turns expire."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _serve(self) -> None:
        while (turn := self._next()) is not None:
            self._expired(turn)

    def _next(self) -> Turn | None:
        """Wait for the next turn that expires; None when there are to be none."""
        with self._changed:
            while not self._closed:
                first = next(iter(self._turns), None)
                left = None if first is None else first.began + self._seconds - time.monotonic()
                if first is not None and left is not None and left <= 0:
                    del self._turns[first]
                    return first
                self._changed.wait(left)
            return None
