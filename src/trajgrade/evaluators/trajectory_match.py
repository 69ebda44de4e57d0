"""Trajectory match (SEMANTICS A3): does the agent's list of calls match the reference's?

    strict, exact            n = m and the calls agree one by one
    unordered                n = m = ν: the same calls, in any order
    subset                   ν = n: every call of the agent is accounted for by the reference
    superset, any_order      ν = m: every call of the reference was made; extras are allowed
    in_order                 the reference embeds in the agent's calls in order; extras are allowed

ν is the size of a maximum matching: each call vouches for one call. Messages, roles and texts are
not compared; what was called counts, whether or not it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal

from trajgrade.errors import ConfigError
from trajgrade.evaluators.comparison import CallComparison
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.paired import Paired
from trajgrade.evaluators.wording import (
    count,
    first_apart,
    first_displaced,
    first_extra,
    first_missing,
    first_unequal,
)
from trajgrade.matching.arguments import ArgsMode, Override
from trajgrade.matching.messages import embedded_in_order, equal_in_order, messages_agree
from trajgrade.matching.pairing import Pairing

Mode = Literal["strict", "unordered", "subset", "superset", "in_order", "exact", "any_order"]
Granularity = Literal["call", "message"]
Parallel = Literal["ordered", "unordered"]

ALIASES: Mapping[str, str] = {"exact": "strict", "any_order": "superset"}


PASSES: Mapping[str, Callable[[Paired], bool]] = {
    "strict": lambda paired: paired.strict,
    "unordered": lambda paired: paired.n == paired.m == paired.nu,
    "subset": lambda paired: paired.nu == paired.n,
    "superset": lambda paired: paired.nu == paired.m,
    "in_order": lambda paired: paired.in_order,
}
"""What each mode asks of all turns together: each turn's ν is at most its n and its m, so that the
sums are equal only where every turn's are."""

FAULTS: Mapping[str, Callable[[Pairing], bool]] = {
    "strict": lambda pairing: not pairing.strict,
    "unordered": lambda pairing: not len(pairing.ours) == len(pairing.theirs) == pairing.size,
    "subset": lambda pairing: pairing.size < len(pairing.ours),
    "superset": lambda pairing: pairing.size < len(pairing.theirs),
    "in_order": lambda pairing: pairing.unembedded is not None,
}


def _count_or_missing(pairing: Pairing) -> str:
    return first_missing(pairing) if pairing.missing else first_extra(pairing)


REASONS: Mapping[str, Callable[[Pairing], str]] = {
    "strict": first_unequal,
    "unordered": _count_or_missing,
    "subset": first_extra,
    "superset": first_missing,
    "in_order": first_displaced,
}


_EMPTY_PASSES: Mapping[str, str] = {"subset": "n", "superset": "m", "in_order": "m"}
"""The side that, being empty, makes a mode pass whatever is on the other."""


def _messages(sizes: Sequence[int]) -> list[range]:
    """Return the positions of the calls of each message, given how many each has."""
    ends = list(accumulate(sizes))
    return [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]


@dataclass(frozen=True)
class TrajectoryMatchEvaluator(CallComparison):
    """1 if the agent's calls match the reference's in the given mode, else 0.

    Args:
        mode: `strict`, `unordered`, `subset`, `superset`, `in_order`, or an alias, `exact` or
            `any_order`.
        tool_args_match_mode: How arguments are compared, read from the agent's side.
        tool_args_match_overrides: The same, by tool.
        key: The metric's name.
        granularity: Of the ordered modes: `message` compares the calls message by message.
        parallel: Of the ordered modes: `unordered` lets the calls of one message come in any
            order.

    Source: the modes are those of LangChain's agentevals (strict, unordered, subset, superset) and
    of Vertex AI's trajectory metrics (exact, in order, any order).
    """

    mode: Mode = "strict"
    tool_args_match_mode: ArgsMode = "exact"
    tool_args_match_overrides: Mapping[str, Override] | None = None
    key: str = "trajectory_match"
    granularity: Granularity = field(default="call", kw_only=True)
    parallel: Parallel = field(default="ordered", kw_only=True)

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            ConfigError: A mode, a path, a comparator or another choice that does not exist.
        """
        check_choice("mode", self.mode, Mode)
        check_choice("granularity", self.granularity, Granularity)
        check_choice("parallel", self.parallel, Parallel)
        if self.by_message and self._mode not in ("strict", "in_order"):
            raise ConfigError(
                f"granularity and parallel concern order; mode {self.mode!r} has none"
            )
        super().__post_init__()

    @cached_property
    def _mode(self) -> str:
        return ALIASES.get(self.mode, self.mode)

    @cached_property
    def by_message(self) -> bool:
        """Whether it matters which calls stand in one message."""
        return self.granularity == "message" or self.parallel == "unordered"

    @cached_property
    def _modes(self) -> dict[str, str]:
        return {"mode": self.mode, "tool_args_match_mode": self.tool_args_match_mode}

    def _agrees_by_message(self, pairing: Pairing) -> bool:
        if pairing.messages is None:
            return not FAULTS[self._mode](pairing)
        sizes, wanted = pairing.messages
        ours, theirs = _messages(sizes), _messages(wanted)
        in_order, reorder = self._mode == "in_order", self.parallel == "unordered"

        def agree(call: int, reference: int) -> bool:
            return pairing.agree(pairing.ours[call], pairing.theirs[reference])

        if self.granularity == "message":
            return messages_agree(ours, theirs, agree, reorder=reorder, extras=in_order)
        if len(ours) == len(theirs) == 1:  # of one message the order says nothing
            return pairing.size == len(pairing.theirs) and (
                in_order or len(pairing.ours) == len(pairing.theirs)
            )
        return (embedded_in_order if in_order else equal_in_order)(ours, theirs, agree)

    def measure(self, paired: Paired) -> float:
        """Return 1.0 if every pairing passes, else 0.0."""
        if self.by_message:
            return float(paired.passes(self._agrees_by_message))
        return 1.0 if PASSES[self._mode](paired) else 0.0

    def verdict(self, paired: Paired, score: float) -> bool:
        """Return whether it matched."""
        return score == 1.0

    def special(self, paired: Paired) -> str | None:
        """Say where the mode cannot fail because one side is empty (SEMANTICS A5)."""
        if paired.n and paired.m:
            return None
        empty = _EMPTY_PASSES.get(self._mode)
        if empty is None or not (paired.n or paired.m):
            return None
        return None if getattr(paired, empty) else "vacuous"

    def details(self, paired: Paired) -> dict[str, Any]:
        """Return the modes."""
        return self._modes

    def explain(self, paired: Paired, score: float) -> str:
        """Say that it matched, or where it first differs."""
        if score == 1.0:
            empty = self.special(paired) is not None
            note = "; vacuous: with these calls the mode cannot fail" if empty else ""
            return f"{self.mode} match: {count(paired.n, 'call')} against {paired.m}{note}"
        if self.by_message:
            why = paired.first(lambda pairing: not self._agrees_by_message(pairing), first_apart)
        else:
            why = paired.first(FAULTS[self._mode], REASONS[self._mode])
        return f"no {self.mode} match, {count(paired.n, 'call')} against {paired.m}: {why}"


@dataclass(frozen=True)
class TrajectoryExactMatch(TrajectoryMatchEvaluator):
    """1 if the agent made exactly the reference's calls, in order (Vertex AI)."""

    mode: Mode = field(default="exact", init=False)
    key: str = "trajectory_exact_match"


@dataclass(frozen=True)
class TrajectoryInOrderMatch(TrajectoryMatchEvaluator):
    """1 if the agent made the reference's calls in order, extras allowed (Vertex AI)."""

    mode: Mode = field(default="in_order", init=False)
    key: str = "trajectory_in_order_match"


@dataclass(frozen=True)
class TrajectoryAnyOrderMatch(TrajectoryMatchEvaluator):
    """1 if the agent made all of the reference's calls, in any order, extras allowed (Vertex)."""

    mode: Mode = field(default="any_order", init=False)
    key: str = "trajectory_any_order_match"


@dataclass(frozen=True)
class GraphTrajectoryMatch(TrajectoryMatchEvaluator):
    """1 if the nodes that a LangGraph thread went through match the reference's, run by run.

    Both sides are graph trajectories, `{"inputs": […], "results": […], "steps": [["node", …], …]}`,
    with as many runs; a node is a call of its name without arguments.

    Args:
        mode: As for `TrajectoryMatchEvaluator`; in every run.
        key: The metric's name.
        turns: Whether runs are compared one by one; else all nodes in one list.

    Source: the strict mode is that of LangChain's agentevals.
    """

    key: str = "graph_trajectory_match"
    turns: bool = field(default=True, kw_only=True)
