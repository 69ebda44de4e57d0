"""Containment: which argument objects contain which, for whole lists at once (SEMANTICS A1).

Each side's arguments become sets of items, so that `subset` is ⊆. What contains an object is found
among the holders of its rarest item, or where even that is held by many, as the intersection of the
holders of all its items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_
from typing import Any

from trajgrade.matching.bipartite import as_set, members
from trajgrade.matching.values import canonical

Items = frozenset[object]

_OBJECT, _VALUE = object(), object()
_FEW = 16


def containing(
    smaller: Sequence[Any], larger: Sequence[Any], deep: Callable[[Any, Any], bool] | None = None
) -> list[int]:
    """Return, for each of the smaller arguments, the set of the larger ones that contain it.

    Args:
        smaller: Prepared arguments.
        larger: Prepared arguments.
        deep: Whether a larger one contains a smaller one, where that also looks into nested values;
            what stands at the top and is not nested must be equal all the same.
    """
    within = [_items(args, nested=deep is None) for args in smaller]
    around = [_items(args, nested=deep is None) for args in larger]
    holders: dict[object, list[int]] = defaultdict(list)
    for index, items in enumerate(around):
        for item in items:
            holders[item].append(index)
    sets: dict[object, int] = {}
    found: dict[Items, int] = {}
    for items in within:
        if items not in found:
            found[items] = _holding(items, holders, sets, around)
    options = [found[items] for items in within]
    if deep is None:
        return options
    return [
        as_set(index for index in members(option) if deep(args, larger[index]))
        for args, option in zip(smaller, options, strict=True)
    ]


def _holding(
    items: Items, holders: dict[object, list[int]], sets: dict[object, int], around: list[Items]
) -> int:
    """Return the set of those that hold every item; `sets` keeps the holders of common items."""
    lists = [holders.get(item, ()) for item in items]
    rarest = min(lists, key=len)
    if len(rarest) <= _FEW:
        return as_set(index for index in rarest if items <= around[index])
    for item in items:
        if item not in sets:
            sets[item] = as_set(holders[item])
    return reduce(and_, [sets[item] for item in items])


def _items(args: Any, *, nested: bool) -> Items:
    """Return the arguments as a set of items.

    A mark keeps objects and other values apart: the empty object is no part of a text.

    Args:
        args: Prepared arguments.
        nested: Whether nested values are items as well.
    """
    if not isinstance(args, dict):
        return frozenset([_VALUE, canonical(args)]) if nested else frozenset([_VALUE])
    return frozenset(
        [_OBJECT]
        + [
            (name, canonical(value))
            for name, value in args.items()
            if nested or not isinstance(value, (dict, list, tuple))
        ]
    )
