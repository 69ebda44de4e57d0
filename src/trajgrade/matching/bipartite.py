"""Maximum matching of a bipartite graph (Hopcroft and Karp, 1973).

A set of vertices is an integer, one bit for each, so that a step of the search takes a whole set at
once: calls by the thousand that may all be matched with each other are no work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

FREE = -1


def as_set(vertices: Iterable[int]) -> int:
    """Return the set of some vertices."""
    found = 0
    for vertex in vertices:
        found |= 1 << vertex
    return found


def members(vertices: int) -> Iterator[int]:
    """Yield the vertices of a set, the lowest first."""
    while vertices:
        lowest = vertices & -vertices
        yield lowest.bit_length() - 1
        vertices ^= lowest


def maximum_matching(neighbours: Sequence[Iterable[int]], right: int) -> list[int]:
    """Return, for each left vertex, its partner on the right, or -1.

    Args:
        neighbours: The right vertices that each left vertex may be matched with.
        right: The number of right vertices.
    """
    return matched([as_set(options) for options in neighbours], right)


def matched(neighbours: Sequence[int], right: int) -> list[int]:
    """Return what `maximum_matching` does, given sets."""
    partner = [FREE] * len(neighbours)
    owner = [FREE] * right
    free = (1 << right) - 1
    for vertex, options in enumerate(neighbours):
        open_ = options & free
        if open_:
            lowest = open_ & -open_
            free ^= lowest
            option = lowest.bit_length() - 1
            partner[vertex], owner[option] = option, vertex
    while layers := _layers(neighbours, partner, owner, free):
        for vertex, taken in enumerate(partner):
            if taken == FREE:
                free ^= _augment(vertex, neighbours, partner, owner, layers)
    return partner


def _layers(
    neighbours: Sequence[int], partner: Sequence[int], owner: Sequence[int], free: int
) -> list[int]:
    """Return the right vertices by their distance from a free left one, the last ones all free.

    Nothing where no free right vertex can be reached.
    """
    layers: list[int] = []
    fresh = (1 << len(owner)) - 1
    frontier: Iterable[int] = [v for v, taken in enumerate(partner) if taken == FREE]
    while True:
        reached = 0
        for options in {neighbours[vertex] for vertex in frontier}:
            reached |= options
        reached &= fresh
        if not reached:
            return []
        if reached & free:
            return [*layers, reached & free]
        layers.append(reached)
        fresh ^= reached
        frontier = [owner[option] for option in members(reached)]


def _augment(
    root: int, neighbours: Sequence[int], partner: list[int], owner: list[int], layers: list[int]
) -> int:
    """Follow the layers depth first from a free left vertex; flip the path if it ends.

    What was passed is taken out of the layers: no second path may use it.

    Returns:
        The right vertex that is free no longer, as a set; nothing where there is no path.
    """
    path, links = [root], list[int]()
    while path:
        depth = len(links)
        options = neighbours[path[-1]] & layers[depth]
        if not options:
            path.pop()
            if links:
                links.pop()
            continue
        lowest = options & -options
        layers[depth] ^= lowest
        links.append(lowest.bit_length() - 1)
        if len(links) == len(layers):
            for vertex, option in zip(path, links, strict=True):
                partner[vertex], owner[option] = option, vertex
            return lowest
        path.append(owner[links[-1]])
    return 0
