"""Assignment: the pairs of one-to-one matching of the greatest total weight.

Shortest augmenting paths with dual variables (Kuhn 1955; Edmonds and Karp 1972), in integers, so
that the duals tell exactly which pairs an optimal assignment may use. Among the optimal ones, the
one is taken that pairs the earliest rows with the earliest columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import ndarray

EXACT_TIES_UP_TO = 200


def best_assignment(weights: ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of an assignment of the greatest total weight.

    Args:
        weights: Positive integers, rows × columns. As many pairs are made as the shorter side has.
            Up to `EXACT_TIES_UP_TO` a side, ties are broken by the earliest positions: the first
            row gets the first column that it has in any optimal assignment, and so on.
    """
    import numpy as np

    rows, columns = weights.shape
    if rows == 0 or columns == 0:
        return []
    if min(rows, columns) == 1:
        best = int(np.argmax(weights))
        return [(best // columns, best % columns)]
    side = max(rows, columns)
    cost = np.zeros((side, side), dtype=np.int64)
    cost[:rows, :columns] = -weights
    column_of, slack = _solve(cost)
    if side <= EXACT_TIES_UP_TO:
        _earliest(column_of, slack == 0)
    return [(i, int(j)) for i, j in enumerate(column_of[:rows]) if j < columns]


def _solve(cost: ndarray[Any, Any]) -> tuple[list[int], ndarray[Any, Any]]:
    """Return each row's column, and the reduced costs: 0 where an optimum may pair."""
    import numpy as np

    side = len(cost)
    rows = cost.min(axis=1)
    columns = (cost - rows[:, None]).min(axis=0)
    column_of, row_of = [-1] * side, [-1] * side
    for row in range(side):
        for column in np.flatnonzero(cost[row] == rows[row] + columns):
            if row_of[column] < 0:
                column_of[row], row_of[column] = int(column), row
                break
    for row in range(side):
        if column_of[row] < 0:
            _augment(row, cost, rows, columns, column_of, row_of)
    return column_of, cost - rows[:, None] - columns[None, :]


def _augment(
    root: int,
    cost: ndarray[Any, Any],
    rows: ndarray[Any, Any],
    columns: ndarray[Any, Any],
    column_of: list[int],
    row_of: list[int],
) -> None:
    """Give `root` a column along a shortest augmenting path and update the duals."""
    import numpy as np

    far = np.iinfo(np.int64).max // 4
    distance = np.full(len(cost), far, dtype=np.int64)
    reached_from = np.full(len(cost), root)
    closed = np.zeros(len(cost), dtype=bool)
    scanned: list[int] = []
    row, reach = root, 0
    while True:
        through = cost[row] - columns + (reach - rows[row])
        nearer = (through < distance) & ~closed
        distance[nearer] = through[nearer]
        reached_from[nearer] = row
        column = int(np.argmin(np.where(closed, far, distance)))
        reach = int(distance[column])
        if row_of[column] < 0:
            break
        scanned.append(column)
        closed[column] = True
        row = row_of[column]
    rows[root] += reach
    for passed in scanned:
        gain = reach - distance[passed]
        rows[row_of[passed]] += gain
        columns[passed] -= gain
    while True:
        row = int(reached_from[column])
        row_of[column] = row
        column_of[row], column = column, column_of[row]
        if row == root:
            return


def _earliest(column_of: list[int], tight: ndarray[Any, Any]) -> None:
    """Change an optimal assignment, along tight pairs only, to the lexicographically first one."""
    options = [[int(j) for j in row.nonzero()[0]] for row in tight]
    row_of = {column: row for row, column in enumerate(column_of)}
    for row in range(len(column_of)):
        for column in options[row]:
            if column == column_of[row]:
                break
            if row_of[column] > row and _move(row, column, options, column_of, row_of):
                break


def _move(
    row: int, column: int, options: list[list[int]], column_of: list[int], row_of: dict[int, int]
) -> bool:
    """Give `column` to `row`, if the rows after it can be rearranged around it."""
    free = column_of[row]
    came_from: dict[int, int] = {}
    queue = [row_of[column]]
    seen = {row_of[column]}
    for holder in queue:
        for other in options[holder]:
            if other == column or other in came_from:
                continue
            owner = row_of[other]
            if other == free:
                came_from[other] = holder
                _shift(other, column, came_from, column_of, row_of)
                column_of[row], row_of[column] = column, row
                return True
            if owner > row and owner not in seen:
                came_from[other] = holder
                seen.add(owner)
                queue.append(owner)
    return False


def _shift(
    free: int, taken: int, came_from: dict[int, int], column_of: list[int], row_of: dict[int, int]
) -> None:
    """Move the holders along the path, each to the column before which it stands."""
    while free != taken:
        holder = came_from[free]
        column_of[holder], free_next = free, column_of[holder]
        row_of[free] = holder
        free = free_next
