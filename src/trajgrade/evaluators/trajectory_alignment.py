"""Trajectory alignment (SEMANTICS A8): partial credit for calls and for their arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trajgrade.evaluators.comparison import CallComparison
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.wording import (
    contrast,
    first_extra,
    first_missing,
    first_unequal,
    turn_of,
)
from trajgrade.matching.alignment import Alignment, Order, align
from trajgrade.matching.arguments import ArgsMode, Override
from trajgrade.matching.pairing import Pairing


@dataclass(frozen=True)
class TrajectoryAlignment(CallComparison):
    """`2 * total similarity / (n + m)` of the best one-to-one alignment of the calls.

    Two calls of one tool are similar by 1 where they agree, else by 0.5 and up to 0.49 more for the
    share of arguments that agree; calls of different tools are not aligned. Both sides empty: 1.

    Args:
        tool_args_match_mode: How arguments are compared, read from the agent's side.
        tool_args_match_overrides: The same, by tool.
        key: The metric's name.
        order: `any`, or `in_order` for an alignment that keeps the order.
    """

    tool_args_match_mode: ArgsMode = "exact"
    tool_args_match_overrides: Mapping[str, Override] | None = None
    key: str = "trajectory_alignment"
    order: Order = field(default="any", kw_only=True)

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            ConfigError: A choice that does not exist.
        """
        check_choice("order", self.order, Order)
        super().__post_init__()

    def measure(self, pairings: Sequence[Pairing]) -> float:
        """Return the score, similarities pooled over the turns."""
        total = math.fsum(
            pair.similarity for found in self._aligned(pairings) for pair in found.matched
        )
        calls = sum(len(pairing.ours) + len(pairing.theirs) for pairing in pairings)
        return 2 * total / calls if calls else 1.0

    def _aligned(self, pairings: Sequence[Pairing]) -> list[Alignment]:
        return [align(pairing, self.order) for pairing in pairings]

    def explain(self, pairings: Sequence[Pairing], score: float) -> str:
        """Say how many calls are aligned and agree, and the first difference."""
        found = self._aligned(pairings)
        pairs = sum(len(one.matched) for one in found)
        agreeing = sum(pair.similarity == 1.0 for one in found for pair in one.matched)
        calls = sum(len(p.ours) for p in pairings), sum(len(p.theirs) for p in pairings)
        text = f"{agreeing} agree and {pairs - agreeing} partly, of {calls[0]} calls against {calls[1]}"
        for at, (one, pairing) in enumerate(zip(found, pairings, strict=True)):
            if self.order == "in_order" and not pairing.strict:
                return f"{text}; {turn_of(pairings, at)}{first_unequal(pairing)}"
            for pair in one.matched:
                if pair.similarity < 1:
                    why = contrast(pairing.theirs[pair.expected], pairing.ours[pair.got])
                    return f"{text}; {turn_of(pairings, at)}call {pair.got}: {why}"
            if one.missing or one.extra:
                why = first_missing(pairing) if pairing.missing else first_extra(pairing)
                return f"{text}; {turn_of(pairings, at)}{why}"
        return text
