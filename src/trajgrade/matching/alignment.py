"""Alignment: which call answers to which, and where they differ (SEMANTICS A8).

Pairs are made one to one, only between calls of one tool. The alignment has the greatest number of
pairs that agree and, with that, the greatest total similarity; `in_order` also keeps the order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from trajgrade.errors import TooLargeError
from trajgrade.jsontext import dumps
from trajgrade.matching.assignment import best_assignment
from trajgrade.matching.order import best_in_order, out_of_order
from trajgrade.matching.pairing import Pairing
from trajgrade.matching.similarity import partial, share_of_keys, shares_of_keys
from trajgrade.matching.values import MISSING

if TYPE_CHECKING:
    from numpy import ndarray

Order = Literal["any", "in_order"]

MAX_CELLS = 30_000_000
_FINE = 10**9
_MAX_DIFFERENCES = 20
_MOST_ARGS, _MOST_LETTERS = 20, 200


class ArgumentDifference(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place in which the arguments of a pair differ; what is absent on a side is left out."""

    path: str
    expected: Any = msgspec.UNSET
    got: Any = msgspec.UNSET


class AlignedPair(msgspec.Struct, frozen=True):
    """A call of the agent and the call of the reference that it answers to.

    Attributes:
        got: Its index among the agent's calls.
        expected: Its index among the reference's calls.
        similarity: 1 where they agree, else below 1.
        differences: What keeps the arguments from agreeing, for pairs that do not agree.
    """

    got: int
    expected: int
    similarity: float
    differences: tuple[ArgumentDifference, ...] = ()


class Alignment(msgspec.Struct, frozen=True, omit_defaults=True):
    """An alignment as data; calls are named by their index.

    Attributes:
        score: `2 * total similarity / (n + m)`; both empty 1, one empty 0.
        matched: The pairs, by index in the agent's calls.
        missing: Calls of the reference that nothing answers to.
        extra: Calls of the agent that answer to nothing.
        misordered: Indices in the agent's calls of the pairs outside a longest increasing
            subsequence.
        got_args: The arguments of each of the agent's calls as text, where they are to be shown.
        expected_args: And of the reference's.
    """

    score: float
    matched: tuple[AlignedPair, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    misordered: tuple[int, ...]
    got_args: tuple[str, ...] = ()
    expected_args: tuple[str, ...] = ()


def align(pairing: Pairing, order: Order = "any") -> Alignment:
    """Align the calls of a pairing.

    Raises:
        TooLargeError: More than `MAX_CELLS` pairs of calls would have to be weighed.
    """
    n, m = len(pairing.ours), len(pairing.theirs)
    if pairing.strict:
        pairs = [(index, index, 1.0) for index in range(n)]
    elif order == "in_order":
        pairs = _in_order(pairing)
    else:
        pairs = _any_order(pairing)
    total = math.fsum(similarity for _, _, similarity in pairs)
    ours, theirs = {i for i, _, _ in pairs}, {j for _, j, _ in pairs}
    crossing = out_of_order([j for _, j, _ in pairs])
    return Alignment(
        score=2 * total / (n + m) if n + m else 1.0,
        matched=tuple(_pair(pairing, *pair) for pair in pairs),
        missing=tuple(j for j in range(m) if j not in theirs),
        extra=tuple(i for i in range(n) if i not in ours),
        misordered=tuple(pairs[position][0] for position in crossing),
    )


def shown(pairing: Pairing, order: Order = "any") -> Alignment:
    """Return an alignment with the arguments of all calls, so that it can be read by itself.

    Raises:
        TooLargeError: There are too many calls.
    """
    found = align(pairing, order)
    got, expected = (
        tuple(_args_text(call.args) for call in side) for side in (pairing.ours, pairing.theirs)
    )
    return msgspec.structs.replace(found, got_args=got, expected_args=expected)


def _args_text(args: Any) -> str:
    """Return arguments as text, one on a line, cut where they are long."""
    if isinstance(args, Mapping):
        told = [f"{name}: {_json(value)}" for name, value in islice(args.items(), _MOST_ARGS)]
        left = len(args) - len(told)
        return "\n".join([*told, f"… {left} more"] if left > 0 else told)
    return "" if args is None else _json(args)


def _json(value: Any) -> str:
    if isinstance(value, str):
        value = f"{value[:_MOST_LETTERS]}…" if len(value) > _MOST_LETTERS else value
    text = dumps(value).decode("utf-8", "replace")
    return text if len(text) <= _MOST_LETTERS + 3 else f"{text[:_MOST_LETTERS]}…"


def _pair(pairing: Pairing, got: int, expected: int, similarity: float) -> AlignedPair:
    if similarity == 1.0:
        return AlignedPair(got, expected, similarity)
    call, reference = pairing.ours[got], pairing.theirs[expected]
    comparer = pairing.rule.comparer(pairing.rule.name(call.name))
    found = []
    for place in comparer.disagreements(call.args, reference.args):
        sides = {"expected": place.expected, "got": place.got}
        known = {side: value for side, value in sides.items() if value is not MISSING}
        found.append(ArgumentDifference(place.path, **known))
        if len(found) == _MAX_DIFFERENCES:
            break
    return AlignedPair(got, expected, similarity, tuple(found))


def _by_tool(pairing: Pairing) -> list[tuple[list[int], list[int]]]:
    """Return, for each tool that both sides call, the indices of its calls on each side."""
    name = pairing.rule.name
    groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for index, call in enumerate(pairing.ours):
        groups[name(call.name)][0].append(index)
    for index, call in enumerate(pairing.theirs):
        groups[name(call.name)][1].append(index)
    shared = [group for group in groups.values() if group[0] and group[1]]
    if sum(len(left) * len(right) for left, right in shared) > MAX_CELLS:
        raise TooLargeError(
            f"{len(pairing.ours)} calls against {len(pairing.theirs)} are too many to align "
            f"(at most {MAX_CELLS} pairs of calls of one tool)"
        )
    return shared


def _any_order(pairing: Pairing) -> list[tuple[int, int, float]]:
    found: list[tuple[int, int, float]] = []
    for left, right in _by_tool(pairing):
        if len(left) == len(right) == 1:
            found.append((left[0], right[0], _similarity(pairing, left[0], right[0])))
            continue
        weights, similar = _weights(pairing, left, right)
        for i, j in best_assignment(weights):
            found.append((left[i], right[j], float(similar[i, j])))
    return sorted(found)


def _in_order(pairing: Pairing) -> list[tuple[int, int, float]]:
    import numpy as np

    shape = (len(pairing.ours), len(pairing.theirs))
    if shape[0] * shape[1] > MAX_CELLS:
        raise TooLargeError(
            f"{shape[0]} calls against {shape[1]} are too many to align in order "
            f"(at most {MAX_CELLS} pairs of calls)"
        )
    every = np.zeros(shape, dtype=np.int64)
    similar = np.zeros(shape)
    for left, right in _by_tool(pairing):
        cells = np.ix_(left, right)
        every[cells], similar[cells] = _weights(pairing, left, right)
    return [(i, j, float(similar[i, j])) for i, j in best_in_order(every)]


def _similarity(pairing: Pairing, got: int, expected: int) -> float:
    call, reference = pairing.ours[got], pairing.theirs[expected]
    if pairing.agree(call, reference):
        return 1.0
    if call.args_state == "unknown" or reference.args_state == "unknown":
        return partial(0.0)
    comparer = pairing.rule.comparer(pairing.rule.name(call.name))
    return partial(share_of_keys(comparer, call.args, reference.args))


def _weights(
    pairing: Pairing, left: Sequence[int], right: Sequence[int]
) -> tuple[ndarray[Any, Any], ndarray[Any, Any]]:
    """Return integer weights that rank agreeing pairs first, and the similarities themselves."""
    import numpy as np

    ours = [pairing.ours[i] for i in left]
    theirs = [pairing.theirs[j] for j in right]
    comparer = pairing.rule.comparer(pairing.rule.name(ours[0].name))
    shares = shares_of_keys(comparer, [c.args for c in ours], [c.args for c in theirs])
    known = np.outer(
        [c.args_state != "unknown" for c in ours], [c.args_state != "unknown" for c in theirs]
    )
    similar = np.minimum(0.99, 0.5 + 0.5 * np.where(known, shares, 0.0))
    agreeing = _agreement(pairing, ours, theirs)
    similar[agreeing] = 1.0
    first = (min(len(pairing.ours), len(pairing.theirs)) + 1) * _FINE
    weights = np.rint(similar * _FINE).astype(np.int64) + np.where(agreeing, first, 0)
    return weights, similar


def _agreement(pairing: Pairing, ours: Sequence[Any], theirs: Sequence[Any]) -> ndarray[Any, Any]:
    """Return which pairs agree, comparing equal calls once."""
    import numpy as np

    comparer = pairing.rule.comparer(pairing.rule.name(ours[0].name))
    kinds_left, left = _kinds(comparer, ours)
    kinds_right, right = _kinds(comparer, theirs)
    if comparer.relation == "equal":
        unknown_left = np.array([c.args_state == "unknown" for c in ours])
        unknown_right = np.array([c.args_state == "unknown" for c in theirs])
        numbers = {key: n for n, key in enumerate({**kinds_left, **kinds_right})}
        mine = np.array([numbers[key] for key in left])
        its = np.array([numbers[key] for key in right])
        equal = mine[:, None] == its[None, :]
        unknown = unknown_left[:, None] | unknown_right[None, :]
        return np.where(unknown, pairing.unknown_agrees, equal)
    small = np.array(
        [[pairing.agree(one, other) for other in kinds_right.values()]
         for one in kinds_left.values()]
    )  # fmt: skip
    row = {key: n for n, key in enumerate(kinds_left)}
    column = {key: n for n, key in enumerate(kinds_right)}
    return small[np.ix_([row[key] for key in left], [column[key] for key in right])]


def _kinds(comparer: Any, calls: Sequence[Any]) -> tuple[dict[Any, Any], list[Any]]:
    """Return one call of each kind by key, and the key of each call."""
    keys = [(call.args_state == "unknown", comparer.key(call.args)) for call in calls]
    return dict(zip(keys, calls, strict=True)), keys
