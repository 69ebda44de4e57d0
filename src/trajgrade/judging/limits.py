"""Limits: how many requests are under way at once, and how many a minute begin.

In any sixty seconds at most `requests_per_minute` requests are begun and at most
`tokens_per_minute` tokens are read and written. The tokens of a request are estimated when it
begins and known when it ends. A request that is larger than the limit goes alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from trajgrade.judging.clock import Clock

MINUTE = 60.0


class Window:
    """How much was used in the last minute.

    Args:
        most: How much may be used in any minute.
        clock: What tells the time.
    """

    def __init__(self, most: float, clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._used: deque[list[float]] = deque()

    def wait(self, amount: float) -> float:
        """Return how many seconds must pass before so much may be used."""
        now = self._clock.now()
        while self._used and now - self._used[0][0] >= MINUTE:
            self._used.popleft()
        over = sum(used for _, used in self._used) + amount - self._most
        if over <= 0 or not self._used:
            return 0.0
        freed = 0.0
        for began, used in self._used:
            freed += used
            if freed >= over:
                return began + MINUTE - now
        return self._used[-1][0] + MINUTE - now

    def use(self, amount: float) -> list[float]:
        """Note that so much is used now; the second member of what is returned may be mended."""
        entry = [self._clock.now(), amount]
        self._used.append(entry)
        return entry


class Limits:
    """Lets requests begin as the limits allow.

    Args:
        at_once: How many are under way at once.
        requests: How many begin in a minute.
        tokens: How many tokens are read and written in a minute.
        clock: What tells the time.
    """

    def __init__(
        self,
        at_once: int,
        requests: float | None = None,
        tokens: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._at_once = at_once
        self._requests = Window(requests, self._clock) if requests else None
        self._tokens = Window(tokens, self._clock) if tokens else None
        self._paused = 0.0
        self._places: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}

    def pause(self, seconds: float) -> None:
        """Let no request begin for so long: the provider asked for it."""
        self._paused = max(self._paused, self._clock.now() + seconds)

    @asynccontextmanager
    async def place(self, tokens: int) -> AsyncIterator[list[float]]:
        """Wait for a place; what is yielded takes the tokens that were used, as its second member.

        Args:
            tokens: How many are expected to be used.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._places:
            for other in [other for other in self._places if other.is_closed()]:
                del self._places[other]
            self._places[loop] = asyncio.Semaphore(self._at_once)
        async with self._places[loop]:
            while (seconds := self._wait(tokens)) > 0:
                await self._clock.sleep(seconds)
            if self._requests:
                self._requests.use(1)
            yield self._tokens.use(tokens) if self._tokens else [0.0, tokens]

    def _wait(self, tokens: int) -> float:
        return max(
            self._paused - self._clock.now(),
            self._requests.wait(1) if self._requests else 0.0,
            self._tokens.wait(tokens) if self._tokens else 0.0,
        )
