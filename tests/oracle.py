"""The law of SEMANTICS part A by brute force: every permutation, subsequence and partial map tried.

Written from the text alone, slow on purpose, and independent of `trajgrade.matching`: it shares no
code with what it checks. A pair of calls agrees (True), does not (False), or hangs on arguments
that were not recorded (None); a score that hangs on one of those is `HANGS`.
"""

from __future__ import annotations

import fnmatch
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any, Literal, get_args

from trajgrade.trajectory import ToolCall

HANGS = "not evaluated: hangs on unknown arguments"
ArgsMode = Literal["exact", "ignore", "subset", "superset"]
MatchMode = Literal["strict", "unordered", "subset", "superset", "in_order"]
ARGS_MODES: tuple[ArgsMode, ...] = get_args(ArgsMode)
MATCH_MODES: tuple[MatchMode, ...] = get_args(MatchMode)
ABSENT = object()

Edges = list[list[Any]]  # [i][j]: whether the i-th agent call agrees with the j-th reference call


# ------------------------------------------------------------------------------ A2: equality


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal, read from A2 word for word."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return same_number(a, b)
    if isinstance(a, str) and isinstance(b, str):
        return [ord(c) for c in a] == [ord(c) for c in b]
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(same(a[key], b[key]) for key in a)
    return a is None and b is None


def same_number(a: float, b: float) -> bool:
    if is_finite(a) and is_finite(b):
        return Fraction(a) == Fraction(b)
    return repr(a) == repr(b)  # nan, inf, -inf


def none_given(args: Any) -> bool:
    """Whether the whole arguments are no arguments: null, "" and {} are the same."""
    return args is None or (isinstance(args, str) and args == "") or args == {}


# ------------------------------------------------------------------------------ A1: agreement


@dataclass(frozen=True)
class Rules:
    """How arguments are compared: the parameters of A1, each only when given."""

    mode: str = "exact"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    deep: bool = False
    ignore_keys: tuple[str, ...] = ()
    name_aliases: Mapping[str, str] = field(default_factory=dict)
    unicode: str | None = None

    def name(self, call: ToolCall) -> str:
        name = normalised(call.name, self.unicode)
        aliases = {
            normalised(k, self.unicode): normalised(v, self.unicode)
            for k, v in self.name_aliases.items()
        }
        return aliases.get(name, name)

    def args(self, call: ToolCall) -> Any:
        args = normalised(call.args, self.unicode)
        if none_given(args):
            return {}
        if isinstance(args, dict):
            return {k: v for k, v in args.items() if not self.ignored(k)}
        return args

    def ignored(self, key: str) -> bool:
        return any(fnmatch.fnmatchcase(key, glob) for glob in self.ignore_keys)


def normalised(value: Any, form: str | None) -> Any:
    if form is None:
        return value
    if isinstance(value, str):
        return unicodedata.normalize(form, value)  # type: ignore[arg-type]  # one of the forms
    if isinstance(value, list | tuple):
        return [normalised(item, form) for item in value]
    if isinstance(value, dict):
        return {normalised(k, form): normalised(v, form) for k, v in value.items()}
    return value


def agrees(p: ToolCall, r: ToolCall, rules: Rules) -> bool | None:
    """`p ~ r`; None where it hangs on arguments that were not recorded."""
    if rules.name(p) != rules.name(r):
        return False
    override = rules.overrides.get(rules.name(r), rules.mode)
    if override == "ignore":
        return True
    if "unknown" in (p.args_state, r.args_state):
        return None
    a, b = rules.args(p), rules.args(r)
    if callable(override):
        return bool(override(a, b))
    if isinstance(override, list):
        # Arguments that are no object are a value (A1), equal to the same value only (A2).
        objects = isinstance(a, dict) and isinstance(b, dict)
        return all(at_path_same(a, b, path) for path in override) if objects else same(a, b)
    if isinstance(override, Mapping):
        listed = [steps_of(path) for path in override]
        for path, comparator in override.items():
            x, y = at(a, steps_of(path)), at(b, steps_of(path))
            if not compares(comparator, x, y):
                return False
        return by_mode(rules.mode, without(a, listed), without(b, listed), rules.deep)
    return by_mode(override, a, b, rules.deep)


def by_mode(mode: str, a: Any, b: Any, deep: bool) -> bool:
    if mode == "ignore":
        return True
    if mode == "exact" or not (isinstance(a, dict) and isinstance(b, dict)):
        return same(a, b)
    if mode == "superset":
        return within(b, a, deep)
    return within(a, b, deep)


def within(small: dict, large: dict, deep: bool) -> bool:
    return all(
        key in large and (deep_within if deep else same)(small[key], large[key]) for key in small
    )


def deep_within(small: Any, large: Any) -> bool:
    if isinstance(small, dict) and isinstance(large, dict):
        return within(small, large, deep=True)
    if isinstance(small, list) and isinstance(large, list):
        return len(small) == len(large) and all(
            deep_within(x, y) for x, y in zip(small, large, strict=True)
        )
    return same(small, large)


def at_path_same(a: Any, b: Any, path: str) -> bool:
    x, y = at(a, steps_of(path)), at(b, steps_of(path))
    if x is ABSENT or y is ABSENT:
        return x is y
    return same(x, y)


def steps_of(path: str) -> tuple[str | int, ...]:
    r"""`a.b[0].c`, with `\.` for a dot inside a key."""
    steps: list[str | int] = []
    for part in re.split(r"(?<!\\)\.", path):
        key, *indices = re.split(r"\[(\d+)\]", part)
        steps += [key.replace("\\.", ".")] if key else []
        steps += [int(index) for index in indices if index]
    return tuple(steps)


def at(value: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return ABSENT
        elif not isinstance(value, dict) or step not in value:
            return ABSENT
        value = value[step]
    return value


def without(value: Any, paths: Sequence[Sequence[str | int]]) -> Any:
    """Return the value with what lies at those paths left out."""
    if any(not path for path in paths):
        return ABSENT
    if isinstance(value, dict):
        below = {k: [p[1:] for p in paths if p[0] == k] for k in value}
        kept = {k: without(v, below[k]) for k, v in value.items()}
        return {k: v for k, v in kept.items() if v is not ABSENT}
    if isinstance(value, list):
        items = [
            without(v, [p[1:] for p in paths if p[0] == i and isinstance(p[0], int)])
            for i, v in enumerate(value)
        ]
        return [None if item is ABSENT else item for item in items]
    return value


# ------------------------------------------------------------------------------ A1: comparators


def compares(comparator: Any, a: Any, r: Any) -> bool:
    """What a comparator says of the agent's and the reference's value at a path."""
    if comparator == "ignore":
        return True
    if a is ABSENT or r is ABSENT:  # as a list of key paths has it
        return a is r
    config: dict[str, Any] = {}
    if isinstance(comparator, Mapping):
        ((comparator, given),) = comparator.items()
        config = given if isinstance(given, dict) else {"": given}
    if callable(comparator):
        return bool(comparator(a, r))
    return bool(COMPARATORS[comparator](a, r, config))


def number(a: Any, r: Any, config: dict[str, Any]) -> bool:
    if not (is_finite(a) and is_finite(r)):
        return same(a, r)
    allowed = max(written(config.get("abs", 0)), written(config.get("rel", 0)) * abs(written(r)))
    return abs(written(a) - written(r)) <= allowed


def written(value: float) -> Fraction:
    """The number as JSON text has it: 1.1 is eleven tenths."""
    return Fraction(json.dumps(value))


def is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def instant(text: Any) -> Any:
    """The date alone, or the instant; None for what is neither."""
    if not isinstance(text, str):
        return None
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return date.fromisoformat(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def parsed(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def multiset_same(a: Any, r: Any, _: Any = None) -> bool:
    if not (isinstance(a, list) and isinstance(r, list)):
        return same(a, r)
    return len(a) == len(r) and any(
        all(same(x, y) for x, y in zip(a, order, strict=True)) for order in permutations(r)
    )


COMPARATORS: dict[str, Callable[[Any, Any, dict[str, Any]], bool]] = {
    "exact": lambda a, r, _: same(a, r),
    "casefold": lambda a, r, _: (
        a.casefold() == r.casefold() if isinstance(a, str) and isinstance(r, str) else same(a, r)
    ),
    "number": number,
    "regex": lambda a, r, config: (
        isinstance(a, str) and re.fullmatch(config.get("", r), a) is not None
    ),
    "one_of": lambda a, r, config: (
        isinstance(config.get("", r), list) and any(same(a, one) for one in config.get("", r))
    ),
    "unordered": multiset_same,
    "date": lambda a, r, _: (
        same(a, r)
        if instant(a) is None or instant(r) is None
        else type(instant(a)) is type(instant(r)) and instant(a) == instant(r)
    ),
    "json": lambda a, r, _: same(parsed(a), parsed(r)),
}


# ------------------------------------------------------------------------------ A3: matching


def edges_of(agent: Sequence[ToolCall], reference: Sequence[ToolCall], rules: Rules) -> Edges:
    return [[agrees(p, r, rules) for r in reference] for p in agent]


def fillings(edges: Edges) -> Iterator[Edges]:
    """Every way to decide the pairs that hang on unknown arguments."""
    hanging = [(i, j) for i, row in enumerate(edges) for j, edge in enumerate(row) if edge is None]
    for decided in product((False, True), repeat=len(hanging)):
        answer = dict(zip(hanging, decided, strict=True))
        yield [[answer.get((i, j), edge) for j, edge in enumerate(r)] for i, r in enumerate(edges)]


def maximum_matching(edges: Edges, m: int) -> int:
    """ν, by trying every way to give each agent call a reference call of its own or none."""

    def best(i: int, taken: frozenset[int]) -> int:
        if i == len(edges):
            return 0
        free = [j for j in range(m) if edges[i][j] and j not in taken]
        return max([best(i + 1, taken), *(1 + best(i + 1, taken | {j}) for j in free)])

    return best(0, frozenset())


def greedy_matching(edges: Edges, m: int) -> int:
    taken: set[int] = set()
    for row in edges:
        taken |= set([j for j in range(m) if row[j] and j not in taken][:1])
    return len(taken)


def match(mode: str, edges: Edges, n: int, m: int) -> bool:
    """Whether a trajectory match of that mode passes, edges being decided."""
    if mode == "strict":
        return n == m and all(edges[i][i] for i in range(n))
    if mode == "in_order":
        return any(
            all(edges[i][j] for j, i in enumerate(places)) for places in combinations(range(n), m)
        )
    nu = maximum_matching(edges, m)
    return {"unordered": n == m == nu, "subset": nu == n, "superset": nu == m}[mode]


def decided(edges: Edges, score: Callable[[Edges], Any]) -> Any:
    """The score, if all ways to fill in the unknown agree on it."""
    found = {score(filled) for filled in fillings(edges)}
    return found.pop() if len(found) == 1 else HANGS


# ------------------------------------------------------------------------------ A3: messages


def reorderings(groups: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Every order of the calls that keeps the order of the messages."""
    for orders in product(*(permutations(group) for group in groups)):
        yield [i for order in orders for i in order]


def strict_parallel(
    edges: Edges, agent: Sequence[Sequence[int]], reference: Sequence[Sequence[int]]
) -> bool:
    """Whether calls can be put in another order inside their messages so that both lists agree."""
    return any(
        len(ps) == len(rs) and all(edges[i][j] for i, j in zip(ps, rs, strict=True))
        for ps in reorderings(agent)
        for rs in reorderings(reference)
    )


def in_order_parallel(
    edges: Edges, agent: Sequence[Sequence[int]], reference: Sequence[Sequence[int]]
) -> bool:
    """Whether R embeds so that no call of an earlier message lands after one of a later message."""
    message = {i: number for number, group in enumerate(agent) for i in group}
    wanted = [(j, number) for number, group in enumerate(reference) for j in group]
    for images in permutations(message, len(wanted)):
        agree = all(edges[i][j] for i, (j, _) in zip(images, wanted, strict=True))
        if agree and all(
            message[i1] <= message[i2]
            for (i1, (_, g1)), (i2, (_, g2)) in combinations(zip(images, wanted, strict=True), 2)
            if g1 < g2
        ):
            return True
    return False


# ------------------------------------------------------------------------------ A4: shares


def precision(edges: Edges, n: int, m: int) -> Fraction:
    if n == 0:
        return Fraction(int(m == 0))
    return Fraction(maximum_matching(edges, m), n)


def recall(edges: Edges, n: int, m: int) -> Fraction:
    if m == 0:
        return Fraction(1)
    return Fraction(maximum_matching(edges, m), m)


def f1(edges: Edges, n: int, m: int) -> Fraction:
    if n + m == 0:
        return Fraction(1)
    return Fraction(2 * maximum_matching(edges, m), n + m)


def membership(edges: Edges, n: int, m: int) -> tuple[Fraction, Fraction, Fraction]:
    """Precision, recall and F1 where one call may vouch for many; the empty cases as A5 has them."""
    if n == 0 or m == 0:
        return precision(edges, n, m), recall(edges, n, m), f1(edges, n, m)
    p = Fraction(sum(any(row) for row in edges), n)
    r = Fraction(sum(any(edges[i][j] for i in range(n)) for j in range(m)), m)
    return p, r, 2 * p * r / (p + r) if p + r else Fraction(0)


# ------------------------------------------------------------------------------ A8: alignment


def similarity(p: ToolCall, r: ToolCall, rules: Rules) -> Fraction:
    """The similarity of two calls; comparators and path lists are left to their own tests."""
    if rules.name(p) != rules.name(r):
        return Fraction(0)
    if agrees(p, r, rules):
        return Fraction(1)
    a, b = rules.args(p), rules.args(r)
    share = Fraction(0)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() | b.keys():
        agreeing = [k for k in a.keys() | b.keys() if k in a and k in b and same(a[k], b[k])]
        share = Fraction(len(agreeing), len(a.keys() | b.keys()))
    return min(Fraction(99, 100), Fraction(1, 2) + Fraction(1, 2) * share)


def alignment(
    similarities: Sequence[Sequence[Fraction]], m: int, *, in_order: bool
) -> tuple[int, Fraction]:
    """The greatest (number of agreeing pairs, total similarity), in that order of importance.

    Every partial one-to-one map is tried; every order-preserving one, if asked.
    """
    scale = math.lcm(1, *(value.denominator for row in similarities for value in row))
    first = scale * (len(similarities) + m + 1)  # worth more than all similarities together
    weights = [[int(v * scale) + first * (v == 1) for v in row] for row in similarities]

    def best(i: int, free: tuple[int, ...]) -> int:
        if i == len(weights):
            return 0
        found = best(i + 1, free)
        for place, j in enumerate(free):
            if weights[i][j]:
                left = free[place + 1 :] if in_order else free[:place] + free[place + 1 :]
                found = max(found, weights[i][j] + best(i + 1, left))
        return found

    count, total = divmod(best(0, tuple(range(m))), first)
    return count, Fraction(total, scale)


def alignment_score(total: Fraction, n: int, m: int) -> Fraction:
    return Fraction(1) if n + m == 0 else 2 * total / (n + m)


# ------------------------------------------------------------------------------ larger cases


def by_augmenting_paths(options: Sequence[Sequence[int]], right: int) -> int:
    """ν by Kuhn's algorithm: one augmenting path after the other, depth first."""
    owner: list[int | None] = [None] * right

    def finds_a_place(i: int, visited: set[int]) -> bool:
        for j in options[i]:
            if j not in visited:
                visited.add(j)
                holder = owner[j]
                if holder is None or finds_a_place(holder, visited):
                    owner[j] = i
                    return True
        return False

    return sum(finds_a_place(i, set()) for i in range(len(options)))


def greatest_assignment(weights: Sequence[Sequence[int]]) -> int:
    """The greatest total weight, by the O(n³) Hungarian algorithm as textbooks print it."""
    rows, columns = len(weights), len(weights[0])
    if rows > columns:
        return greatest_assignment([list(column) for column in zip(*weights, strict=True)])
    u, v = [0] * (rows + 1), [0] * (columns + 1)
    row_of, way = [0] * (columns + 1), [0] * (columns + 1)
    for i in range(1, rows + 1):
        row_of[0], j0 = i, 0
        least: list[float] = [math.inf] * (columns + 1)
        used = [False] * (columns + 1)
        while row_of[j0]:
            used[j0] = True
            delta, j1 = math.inf, 0
            for j in range(1, columns + 1):
                if not used[j]:
                    here = -weights[row_of[j0] - 1][j - 1] - u[row_of[j0]] - v[j]
                    if here < least[j]:
                        least[j], way[j] = here, j0
                    if least[j] < delta:
                        delta, j1 = least[j], j
            for j in range(columns + 1):
                if used[j]:
                    u[row_of[j]] += int(delta)
                    v[j] -= int(delta)
                else:
                    least[j] -= delta
            j0 = j1
        while j0:
            row_of[j0] = row_of[way[j0]]
            j0 = way[j0]
    return sum(weights[row_of[j] - 1][j - 1] for j in range(1, columns + 1) if row_of[j])
