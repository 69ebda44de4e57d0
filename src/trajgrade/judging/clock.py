"""Clock: what tells the time and lets it pass, so that tests need not wait."""

from __future__ import annotations

import asyncio
import time


class Clock:
    """The machine's own clock."""

    def now(self) -> float:
        """Return seconds of a monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)
