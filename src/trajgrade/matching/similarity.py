"""Similarity of two calls of one tool (SEMANTICS A8), alone and for whole lists at once.

1 where the calls agree; otherwise `min(0.99, 0.5 + 0.5 a)`, `a` being the share of agreeing keys in
the union of both argument objects. Keys that the rule leaves out do not count, a comparator decides
where it has the key; `a` is 0 where either side's arguments are no object, or are not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajgrade.matching import comparators, paths
from trajgrade.matching.arguments import Comparer, compare_at, holds
from trajgrade.matching.values import MISSING, canonical, same

if TYPE_CHECKING:
    from numpy import ndarray

SAME_NAME = 0.5
NOT_QUITE = 0.99


def partial(share: float) -> float:
    """Return the similarity of two calls that do not agree, given the share of agreeing keys."""
    return min(NOT_QUITE, SAME_NAME + (1 - SAME_NAME) * share)


def share_of_keys(comparer: Comparer, got: Any, expected: Any) -> float:
    """Return the share of keys, in the union of both argument objects, whose values agree."""
    ours, theirs = _compared(comparer, got), _compared(comparer, expected)
    if ours is None or theirs is None:
        return 0.0
    union = {**theirs, **ours}
    if not union:
        return 0.0
    return sum(_key_agrees(comparer, key, ours, theirs) for key in union) / len(union)


def _compared(comparer: Comparer, args: Any) -> dict[Any, Any] | None:
    """Return the arguments as compared, by key, or by path where only listed paths count."""
    args = comparer.prepare(args)
    if not isinstance(args, dict):
        return None
    if not comparer.only_listed:
        return args
    found = {path: paths.lookup(args, path) for path in comparer.comparators}
    return {path: value for path, value in found.items() if value is not MISSING}


def _key_agrees(comparer: Comparer, key: Any, ours: dict[Any, Any], theirs: dict[Any, Any]) -> bool:
    inside = [] if comparer.only_listed else [p for p in comparer.comparators if p[0] == key]
    if inside and comparer.comparators.get((key,)) is comparators.always:
        return True
    if key not in ours or key not in theirs:
        return False
    got, expected = ours[key], theirs[key]
    if not inside:
        deep = comparer.deep and comparer.mode in ("subset", "superset")
        return holds(comparer.mode, got, expected, deep=True) if deep else same(got, expected)
    mine, its = {key: got}, {key: expected}
    if not all(compare_at(path, comparer.comparators[path], mine, its) for path in inside):
        return False
    for path in inside:
        mine, its = paths.without(mine, path), paths.without(its, path)
    return same(mine, its)


def shares_of_keys(comparer: Comparer, got: list[Any], expected: list[Any]) -> ndarray[Any, Any]:
    """Return `share_of_keys` for every pair, as an array of len(got) × len(expected).

    Where keys agree by equality they are compared as numbers that stand for values, all at once.
    """
    import numpy as np

    if (comparer.comparators and not comparer.only_listed) or comparer.deep:
        rows = [[share_of_keys(comparer, one, other) for other in expected] for one in got]
        return np.array(rows, dtype=float).reshape(len(got), len(expected))
    ours = [_compared(comparer, args) for args in got]
    theirs = [_compared(comparer, args) for args in expected]
    numbers: dict[Any, int] = {}
    agreeing = np.zeros((len(got), len(expected)))
    shared = np.zeros_like(agreeing)
    for key in {key for args in (*ours, *theirs) if args for key in args}:
        left = np.array([_numbered(args, key, numbers, -1) for args in ours])
        right = np.array([_numbered(args, key, numbers, -2) for args in theirs])
        agreeing += left[:, None] == right[None, :]
        shared += (left >= 0)[:, None] & (right >= 0)[None, :]
    sizes_left = np.array([len(args or ()) for args in ours], dtype=float)
    sizes_right = np.array([len(args or ()) for args in theirs], dtype=float)
    union = sizes_left[:, None] + sizes_right[None, :] - shared
    objects = np.outer([args is not None for args in ours], [args is not None for args in theirs])
    return np.where(objects & (union > 0), agreeing / np.maximum(union, 1), 0.0)


def _numbered(args: dict[Any, Any] | None, key: Any, numbers: dict[Any, int], absent: int) -> int:
    if args is None or key not in args:
        return absent
    return numbers.setdefault(canonical(args[key]), len(numbers))
