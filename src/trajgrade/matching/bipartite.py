"""Maximum matching of a bipartite graph (Hopcroft and Karp, 1973)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

FREE = -1


def maximum_matching(neighbours: Sequence[Sequence[int]], right: int) -> list[int]:
    """Return, for each left vertex, its partner on the right, or -1.

    Args:
        neighbours: The right vertices that each left vertex may be matched with.
        right: The number of right vertices.
    """
    partner = [FREE] * len(neighbours)
    owner = [FREE] * right
    for vertex, options in enumerate(neighbours):
        for option in options:
            if owner[option] == FREE:
                partner[vertex], owner[option] = option, vertex
                break
    while (layer := _layers(neighbours, partner, owner)) is not None:
        cursor = [0] * len(neighbours)
        for vertex, taken in enumerate(partner):
            if taken == FREE:
                _augment(vertex, neighbours, partner, owner, layer, cursor)
    return partner


def _layers(
    neighbours: Sequence[Sequence[int]], partner: list[int], owner: list[int]
) -> list[int] | None:
    """Number the left vertices by their distance from a free one; None if no path augments."""
    layer = [0 if taken == FREE else -1 for taken in partner]
    queue = deque(vertex for vertex, taken in enumerate(partner) if taken == FREE)
    reached = False
    while queue:
        vertex = queue.popleft()
        for option in neighbours[vertex]:
            following = owner[option]
            if following == FREE:
                reached = True
            elif layer[following] < 0:
                layer[following] = layer[vertex] + 1
                queue.append(following)
    return layer if reached else None


def _augment(
    root: int,
    neighbours: Sequence[Sequence[int]],
    partner: list[int],
    owner: list[int],
    layer: list[int],
    cursor: list[int],
) -> None:
    """Follow the layers depth first from a free vertex; flip the path if it ends at a free one."""
    path = [root]
    while path:
        vertex = path[-1]
        options = neighbours[vertex]
        while cursor[vertex] < len(options):
            following = owner[options[cursor[vertex]]]
            if following == FREE:
                for step in reversed(path):
                    option = neighbours[step][cursor[step]]
                    partner[step], owner[option] = option, step
                return
            if layer[following] == layer[vertex] + 1:
                path.append(following)
                break
            cursor[vertex] += 1
        else:
            layer[vertex] = -1
            path.pop()
            if path:
                cursor[path[-1]] += 1
