"""Pairing: the agent's calls P against the reference's R under one rule (SEMANTICS A1 to A4).

`pairs` is a maximum matching of the graph whose edges are the pairs that agree, each call used at
most once. Tools are matched apart. Where agreement is an equivalence, counting is enough; where it
is a preorder, equal calls are paired first, which loses nothing; the rest is Hopcroft and Karp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_

from trajgrade.lazy import lazy
from trajgrade.matching.arguments import Comparer, CompiledRule
from trajgrade.matching.bipartite import FREE, matched, members
from trajgrade.matching.containment import containing
from trajgrade.trajectory import ToolCall

Pair = tuple[int, int]


class Pairing:
    """Two lists of calls, compared under one rule.

    Args:
        ours: The agent's calls, P.
        theirs: The reference's calls, R.
        rule: How arguments are compared.
        unknown_agrees: Whether a call whose arguments were not recorded agrees with every call of
            its tool. It agrees under `ignore` in any case.
        messages: How many calls each message has, in P and in R; None where that does not matter.

    Attributes:
        words: What has been put into words of it, so that several metrics say the same.
    """

    def __init__(
        self,
        ours: Sequence[ToolCall],
        theirs: Sequence[ToolCall],
        rule: CompiledRule,
        *,
        unknown_agrees: bool = False,
        messages: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        self.ours = ours
        self.theirs = theirs
        self.rule = rule
        self.unknown_agrees = unknown_agrees
        self.messages = messages
        self.words: dict[str, str] = {}

    def agree(self, call: ToolCall, reference: ToolCall) -> bool:
        """Whether `call ~ reference`."""
        name = call.name
        if self.rule.renames:
            name = self.rule.name(name)
            if name != self.rule.name(reference.name):
                return False
        elif name != reference.name:
            return False
        return self._agree(self.rule.comparer(name), call, reference)

    def _agree(self, comparer: Comparer, call: ToolCall, reference: ToolCall) -> bool:
        if call.args_state == "unknown" or reference.args_state == "unknown":
            return self.unknown_agrees or comparer.relation == "ignore"
        return comparer.agrees(call.args, reference.args)

    @lazy
    def uncertain(self) -> bool:
        """Whether the arguments of some call were not recorded."""
        return "unknown" in [call.args_state for call in self.ours] or "unknown" in [
            call.args_state for call in self.theirs
        ]

    @lazy
    def generous(self) -> Pairing:
        """The same pairing with every unrecorded argument agreeing.

        Every score rises with the pairs that agree, so where both pairings give one score, the
        arguments that were not recorded do not matter.
        """
        return Pairing(
            self.ours, self.theirs, self.rule, unknown_agrees=True, messages=self.messages
        )

    @lazy
    def first_unequal(self) -> int | None:
        """The first index at which the lists differ, None where they agree call by call."""
        plain = not (self.rule.renames or self.rule.by_tool or self.uncertain)
        agrees = self.rule.default.agrees
        index = 0
        for call, reference in zip(self.ours, self.theirs):  # noqa: B905 up to the shorter's end
            if plain:
                if call.name != reference.name or not agrees(call.args, reference.args):
                    return index
            elif not self.agree(call, reference):
                return index
            index += 1
        return None if len(self.ours) == len(self.theirs) else index

    @property
    def strict(self) -> bool:
        """Whether both lists agree call by call."""
        return self.first_unequal is None

    @lazy
    def unembedded(self) -> int | None:
        """The first reference call that has no place in P after the ones before it, or None.

        Taking the earliest call that agrees is best: it leaves the most for the rest.
        """
        position = 0
        for index, reference in enumerate(self.theirs):
            while position < len(self.ours) and not self.agree(self.ours[position], reference):
                position += 1
            if position == len(self.ours):
                return index
            position += 1
        return None

    @lazy
    def pairs(self) -> list[Pair]:
        """A maximum matching as (index in P, index in R), by index in P.

        Where agreement is an equivalence, equal calls at the same place from either end are
        paired first: calls of one kind are interchangeable, so that loses nothing.
        """
        if self.strict:
            return [(index, index) for index in range(len(self.ours))]
        start, left, right = 0, len(self.ours), len(self.theirs)
        found: list[Pair] = []
        if self.rule.countable and not self.uncertain:
            start = self.first_unequal or 0
            found += [(index, index) for index in range(start)]
            while min(left, right) > start and self.agree(
                self.ours[left - 1], self.theirs[right - 1]
            ):
                left, right = left - 1, right - 1
                found.append((left, right))
        for comparer, ours, theirs in self._by_tool(range(start, left), range(start, right)):
            found += self._tool_pairs(comparer, ours, theirs)
        found.sort()
        return found

    def _by_tool(
        self, left: range, right: range
    ) -> Iterator[tuple[Comparer, list[int], list[int]]]:
        """Yield, for each tool that both sides call, its comparer and its calls on either side."""
        name = self.rule.name if self.rule.renames else None
        theirs: dict[str, list[int]] = defaultdict(list)
        for index in right:
            tool = self.theirs[index].name
            theirs[name(tool) if name else tool].append(index)
        ours: dict[str, list[int]] = defaultdict(list)
        for index in left:
            tool = self.ours[index].name
            tool = name(tool) if name else tool
            if tool in theirs:
                ours[tool].append(index)
        for tool, indices in ours.items():
            yield self.rule.comparer(tool), indices, theirs[tool]

    @lazy
    def size(self) -> int:
        """The size of a maximum matching: ν."""
        return len(self.pairs)

    @lazy
    def partnered(self) -> tuple[set[int], set[int]]:
        """Which calls of P agree with some call of R, and which of R with some of P."""
        ours: set[int] = set()
        theirs: set[int] = set()
        for comparer, left, right in self._by_tool(range(len(self.ours)), range(len(self.theirs))):
            some, others = self._tool_partners(comparer, left, right)
            ours.update(some)
            theirs.update(others)
        return ours, theirs

    def _tool_partners(
        self, comparer: Comparer, left: list[int], right: list[int]
    ) -> tuple[Iterable[int], Iterable[int]]:
        """Return which calls of one tool agree with some call of the other side."""
        if comparer.relation == "ignore":
            return left, right
        known = self._known(left, right)
        if comparer.relation == "equal" and known:
            mine = {i: comparer.key(self.ours[i].args) for i in left}
            its = {j: comparer.key(self.theirs[j].args) for j in right}
            both = {*mine.values()} & {*its.values()}
            return [i for i in left if mine[i] in both], [j for j in right if its[j] in both]
        if comparer.relation == "preorder" and known:
            ours = [comparer.prepare(self.ours[i].args) for i in left]
            theirs = [comparer.prepare(self.theirs[j].args) for j in right]
            if comparer.mode == "superset":
                within = (lambda its, mine: comparer.agrees(mine, its)) if comparer.deep else None
                others, some = _with_partners(right, left, containing(theirs, ours, within))
                return some, others
            deep = comparer.agrees if comparer.deep else None
            return _with_partners(left, right, containing(ours, theirs, deep))
        return _with_partners(left, right, self._agreeing(comparer, left, right, known=known))

    @property
    def vouched(self) -> tuple[int, int]:
        """How many calls of either side agree with some call of the other."""
        ours, theirs = self.partnered
        return len(ours), len(theirs)

    @property
    def unmatched(self) -> list[int]:
        """The indices in P that the matching leaves out."""
        paired = {i for i, _ in self.pairs}
        return [i for i in range(len(self.ours)) if i not in paired]

    @property
    def missing(self) -> list[int]:
        """The indices in R that the matching leaves out."""
        paired = {j for _, j in self.pairs}
        return [j for j in range(len(self.theirs)) if j not in paired]

    def _tool_pairs(self, comparer: Comparer, left: list[int], right: list[int]) -> list[Pair]:
        """Match the calls of one tool."""
        if comparer.relation == "ignore":
            return list(zip(left, right))  # noqa: B905 the shorter side is matched whole
        if len(left) == 1 and len(right) == 1:
            (i,), (j,) = left, right
            agrees = self._agree(comparer, self.ours[i], self.theirs[j])
            return [(i, j)] if agrees else []
        known = self._known(left, right)
        if comparer.relation == "equal" and known:
            return self._equal_pairs(comparer, left, right)[0]
        if comparer.relation == "preorder" and known:
            first, left, right = self._equal_pairs(comparer, left, right)
            return first + self._contained_pairs(comparer, left, right)
        return self._matched(left, right, self._agreeing(comparer, left, right, known=known))

    def _known(self, left: list[int], right: list[int]) -> bool:
        return all(self.ours[i].args_state != "unknown" for i in left) and all(
            self.theirs[j].args_state != "unknown" for j in right
        )

    def _equal_pairs(
        self, comparer: Comparer, left: list[int], right: list[int]
    ) -> tuple[list[Pair], list[int], list[int]]:
        """Pair equal calls, the earliest first; return the pairs and what is left on each side."""
        waiting: dict[object, list[int]] = defaultdict(list)
        for j in reversed(right):
            waiting[comparer.key(self.theirs[j].args)].append(j)
        found: list[Pair] = []
        rest: list[int] = []
        for i in left:
            equal = waiting.get(comparer.key(self.ours[i].args))
            if equal:
                found.append((i, equal.pop()))
            else:
                rest.append(i)
        return found, rest, sorted(j for group in waiting.values() for j in group)

    def _contained_pairs(self, comparer: Comparer, left: list[int], right: list[int]) -> list[Pair]:
        """Match under `subset` or `superset`."""
        ours = [comparer.prepare(self.ours[i].args) for i in left]
        theirs = [comparer.prepare(self.theirs[j].args) for j in right]
        if comparer.mode == "subset":
            deep = comparer.agrees if comparer.deep else None
            return self._matched(left, right, containing(ours, theirs, deep))
        within = (lambda its, mine: comparer.agrees(mine, its)) if comparer.deep else None
        options = containing(theirs, ours, within)
        partner = matched(options, len(left))
        return [(left[n], j) for j, n in zip(right, partner, strict=True) if n != FREE]

    def _agreeing(
        self, comparer: Comparer, left: list[int], right: list[int], *, known: bool
    ) -> list[int]:
        """Return, for each call on the left, the set of those on the right that it agrees with.

        Equal calls are asked once, and only of calls that are equal where they must be.
        """
        kinds: dict[Hashable, dict[Hashable, tuple[ToolCall, int]]] = defaultdict(dict)
        for n, j in enumerate(right):
            call = self.theirs[j]
            group = kinds[comparer.fixed(call.args) if known else None]
            key = (call.args_state == "unknown", comparer.key(call.args))
            first, equal = group.get(key, (call, 0))
            group[key] = (first, equal | 1 << n)
        found: dict[Hashable, int] = {}
        options: list[int] = []
        for i in left:
            call = self.ours[i]
            key = (call.args_state == "unknown", comparer.key(call.args))
            if key not in found:
                group = kinds.get(comparer.fixed(call.args) if known else None, {})
                sets = [s for other, s in group.values() if self._agree(comparer, call, other)]
                found[key] = reduce(or_, sets, 0)
            options.append(found[key])
        return options

    def _matched(self, left: list[int], right: list[int], options: list[int]) -> list[Pair]:
        partner = matched(options, len(right))
        return [(i, right[n]) for i, n in zip(left, partner, strict=True) if n != FREE]


def _with_partners(
    one: list[int], other: list[int], options: list[int]
) -> tuple[list[int], list[int]]:
    """Return which of either side have a partner.

    Args:
        one: The calls of one side.
        other: Those of the other side.
        options: For each of one side, the set of those of the other that it agrees with.
    """
    reached = members(reduce(or_, options, 0))
    return [i for i, some in zip(one, options, strict=True) if some], [other[n] for n in reached]
