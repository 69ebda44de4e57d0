"""Counters: what the server took since it began, to be seen at `/api/status`."""

from __future__ import annotations

import threading
from time import time
from typing import Any


class Counters:
    """What was counted since the server began.

    Attributes:
        began_at: When that was, in seconds since 1970.
    """

    def __init__(self) -> None:
        self.began_at = time()
        self._lock = threading.Lock()
        self._counted: dict[str, int] = {}

    def count(self, **counted: int) -> None:
        """Add to counters, by name."""
        with self._lock:
            for name, number in counted.items():
                self._counted[name] = self._counted.get(name, 0) + number

    def to_dict(self) -> dict[str, Any]:
        """Return what was counted, as plain objects."""
        with self._lock:
            return dict(sorted(self._counted.items()))
