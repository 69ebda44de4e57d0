"""Trajectory alignment (SEMANTICS A8): partial credit for calls and for their arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trajgrade.evaluators.comparison import CallComparison
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.paired import Paired
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
from trajgrade.trajectory import Trajectory


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

    def measure(self, paired: Paired) -> float:
        """Return the score, similarities pooled over the turns."""
        total = math.fsum(
            pair.similarity for found in self._aligned(paired) for pair in found.matched
        )
        return 2 * total / (paired.n + paired.m) if paired.n + paired.m else 1.0

    def _at_most(self, ours: Trajectory, reference: Any) -> float:
        """Return 1: with more pairs that agree the others may be less alike."""
        return 1.0

    def _aligned(self, paired: Paired) -> list[Alignment]:
        return [align(pairing, self.order) for pairing in paired.pairings]

    def explain(self, paired: Paired, score: float) -> str:
        """Say how many calls are aligned and agree, and the first difference."""
        found = self._aligned(paired)
        pairs = sum(len(one.matched) for one in found)
        agreeing = sum(pair.similarity == 1.0 for one in found for pair in one.matched)
        text = (
            f"{agreeing} agree and {pairs - agreeing} partly, "
            f"of {paired.n} calls against {paired.m}"
        )
        for at, (one, pairing) in enumerate(zip(found, paired.pairings, strict=True)):
            why = self._first_difference(one, pairing)
            if why:
                return f"{text}; {turn_of(paired.pairings, at)}{why}"
        return text

    def _first_difference(self, found: Alignment, pairing: Pairing) -> str:
        if self.order == "in_order":
            return "" if pairing.strict else first_unequal(pairing)
        for pair in found.matched:
            if pair.similarity < 1:
                why = contrast(pairing.rule, pairing.theirs[pair.expected], pairing.ours[pair.got])
                return f"call {pair.got}: {why}"
        if found.missing:
            return first_missing(pairing)
        return first_extra(pairing) if found.extra else ""
