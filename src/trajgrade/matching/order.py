"""Order: the best order-preserving pairs of two lists, and what stands out of order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray


def best_in_order(weights: ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Return the pairs (row, column), increasing in both, of the greatest total weight.

    Args:
        weights: Integers >= 0, rows × columns; 0 is never paired. Ties go to the earliest row,
            then to its earliest column.
    """
    import numpy as np

    rows, columns = weights.shape
    best = np.zeros((rows + 1, columns + 1), dtype=np.int64)
    for row in range(rows - 1, -1, -1):
        paired = np.where(weights[row] > 0, weights[row] + best[row + 1, 1:], 0)
        options = np.maximum(best[row + 1, :-1], paired)
        best[row, :-1] = np.maximum.accumulate(options[::-1])[::-1]
    found: list[tuple[int, int]] = []
    column = 0
    for row in range(rows):
        total = best[row, column]
        here = weights[row, column:]
        optimal = np.flatnonzero((here > 0) & (here + best[row + 1, column + 1 :] == total))
        if len(optimal):
            found.append((row, column + int(optimal[0])))
            column = found[-1][1] + 1
    return found


def out_of_order(columns: Sequence[int]) -> list[int]:
    """Return the positions outside a longest increasing subsequence."""
    tails: list[int] = []
    tail_positions: list[int] = []
    before: list[int] = []
    for position, column in enumerate(columns):
        place = bisect_left(tails, column)
        before.append(tail_positions[place - 1] if place else -1)
        if place == len(tails):
            tails.append(column)
            tail_positions.append(position)
        else:
            tails[place] = column
            tail_positions[place] = position
    inside = set()
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        inside.add(position)
        position = before[position]
    return [position for position in range(len(columns)) if position not in inside]
