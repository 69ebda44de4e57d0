"""A set of 64-bit marks, in 12 to 60 bytes a mark; Python’s own takes up to 200 while it grows."""

from __future__ import annotations

from array import array

_FIRST_SIZE = 4096  # a power of two, as every size


class Marks:
    """The marks met so far: an open hash table, at most two thirds full."""

    __slots__ = ("_count", "_slots")

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 * _FIRST_SIZE))
        self._count = 0

    def add(self, mark: int) -> bool:
        """Add a mark; return whether it is new."""
        slots = self._slots
        mask = len(slots) - 1
        mark = mark or 1  # 0 is an empty slot
        at = mark & mask
        while found := slots[at]:
            if found == mark:
                return False
            at = (at + 1) & mask
        slots[at] = mark
        self._count += 1
        if 3 * self._count > 2 * mask:
            self._grow()
        return True

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("q", bytes(4 * 8 * len(old)))
        self._count = 0
        for mark in old:
            if mark:
                self.add(mark)
