"""Precision, recall and F1 of tool calls, and tool-call accuracy (SEMANTICS A4).

With ν the size of a maximum matching of n calls against m: precision ν/n, recall ν/m, F1
2ν/(n+m). Each reference call vouches for one call, so that a loop of fifty equal calls has no
precision of 1. `duplicates="membership"` reads Vertex AI's wording by the letter instead: the share
of calls that agree with *some* call of the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from trajgrade.evaluators.comparison import CallComparison
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.wording import first_extra, first_missing, turn_of
from trajgrade.matching.arguments import ArgsMode, Override
from trajgrade.matching.pairing import Pairing

Duplicates = Literal["once", "membership"]


def _counts(pairings: Sequence[Pairing]) -> tuple[int, int, int]:
    """Return ν, n, m over all pairings."""
    if len(pairings) == 1:
        pairing = pairings[0]
        return pairing.size, len(pairing.ours), len(pairing.theirs)
    return (
        sum(pairing.size for pairing in pairings),
        sum(len(pairing.ours) for pairing in pairings),
        sum(len(pairing.theirs) for pairing in pairings),
    )


def precision_of(nu: int, n: int, m: int) -> float:
    """Return ν/n: 1 where both sides are empty, 0 where only the agent's is."""
    return nu / n if n else float(not m)


def recall_of(nu: int, n: int, m: int) -> float:  # noqa: ARG001 the three share a signature
    """Return ν/m: 1 where the reference is empty, for then nothing was missed."""
    return nu / m if m else 1.0


def f1_of(nu: int, n: int, m: int) -> float:
    """Return 2ν/(n+m): 1 where both sides are empty."""
    return 2 * nu / (n + m) if n + m else 1.0


@dataclass(frozen=True)
class _Share(CallComparison):
    """A share of calls that have a partner."""

    tool_args_match_mode: ArgsMode = "exact"
    tool_args_match_overrides: Mapping[str, Override] | None = None
    key: str = "share"
    duplicates: Duplicates = field(default="once", kw_only=True)

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            ConfigError: A choice that does not exist.
        """
        check_choice("duplicates", self.duplicates, Duplicates)
        super().__post_init__()

    def _vouched(self, pairings: Sequence[Pairing]) -> tuple[int, int]:
        """Return how many calls of either side have a partner."""
        if self.duplicates == "membership":
            both = [pairing.vouched for pairing in pairings]
            return sum(ours for ours, _ in both), sum(theirs for _, theirs in both)
        nu = _counts(pairings)[0]
        return nu, nu

    def details(self, pairings: Sequence[Pairing]) -> dict[str, Any]:
        """Return the counts."""
        ours, theirs = self._vouched(pairings)
        _, n, m = _counts(pairings)
        found = {"matched": ours, "agent_count": n, "reference_count": m}
        return found if ours == theirs else {**found, "matched_reference": theirs}


def _reason(pairings: Sequence[Pairing], why: Any, fault: str) -> str:
    for at, pairing in enumerate(pairings):
        if getattr(pairing, fault):
            return f"; {turn_of(pairings, at)}{why(pairing)}"
    return ""


@dataclass(frozen=True)
class TrajectoryPrecision(_Share):
    """The share of the agent's calls that the reference accounts for: ν/n (Vertex AI)."""

    key: str = "trajectory_precision"

    def measure(self, pairings: Sequence[Pairing]) -> float:
        """Return the precision."""
        _, n, m = _counts(pairings)
        return precision_of(self._vouched(pairings)[0], n, m)

    def special(self, pairings: Sequence[Pairing]) -> str | None:
        """Say where the share is of no calls (SEMANTICS A5)."""
        _, n, m = _counts(pairings)
        return "undefined" if m and not n else None

    def explain(self, pairings: Sequence[Pairing], score: float) -> str:
        """Say how many calls are accounted for, and which is the first that is not."""
        ours, n = self._vouched(pairings)[0], _counts(pairings)[1]
        if not n:
            undefined = self.special(pairings) is not None
            return "no calls were made" + (", so precision is undefined" if undefined else "")
        why = "" if ours == n else _reason(pairings, first_extra, "unmatched")
        return f"{ours} of {n} calls are in the reference{why}"


@dataclass(frozen=True)
class TrajectoryRecall(_Share):
    """The share of the reference's calls that the agent made: ν/m (Vertex AI)."""

    key: str = "trajectory_recall"

    def measure(self, pairings: Sequence[Pairing]) -> float:
        """Return the recall."""
        _, n, m = _counts(pairings)
        return recall_of(self._vouched(pairings)[1], n, m)

    def special(self, pairings: Sequence[Pairing]) -> str | None:
        """Say where the share is of no calls (SEMANTICS A5)."""
        _, n, m = _counts(pairings)
        return "undefined" if n and not m else None

    def explain(self, pairings: Sequence[Pairing], score: float) -> str:
        """Say how many calls were made, and which is the first that was not."""
        theirs, m = self._vouched(pairings)[1], _counts(pairings)[2]
        if not m:
            undefined = self.special(pairings) is not None
            return "no calls are expected" + (", so recall is undefined" if undefined else "")
        why = "" if theirs == m else _reason(pairings, first_missing, "missing")
        return f"{theirs} of {m} reference calls were made{why}"


@dataclass(frozen=True)
class TrajectoryF1(_Share):
    """The harmonic mean of precision and recall: 2ν/(n+m)."""

    key: str = "trajectory_f1"

    def measure(self, pairings: Sequence[Pairing]) -> float:
        """Return F1."""
        nu, n, m = _counts(pairings)
        if self.duplicates == "once":
            return f1_of(nu, n, m)
        ours, theirs = self._vouched(pairings)
        precision, recall = precision_of(ours, n, m), recall_of(theirs, n, m)
        total = precision + recall
        return 2 * precision * recall / total if total else 0.0

    def explain(self, pairings: Sequence[Pairing], score: float) -> str:
        """Say how many calls have a partner, and which is the first that has none."""
        nu, n, m = _counts(pairings)
        why = ""
        if score < 1:
            why = _reason(pairings, first_missing, "missing") or _reason(
                pairings, first_extra, "unmatched"
            )
        return f"{nu} calls agree, of {n} made and {m} expected{why}"


@dataclass(frozen=True)
class ToolCallAccuracyEvaluator(CallComparison):
    """The share of the reference's calls that the agent made: recall (Potato).

    With no reference calls there is no score (kind `undefined`). Extra calls do not lower it, and
    are said in the comment; `penalize_extra` scores F1 instead.

    Args:
        args_match_mode: How arguments are compared, read from the agent's side.
        key: The metric's name.
        penalize_extra: Whether extra calls lower the score.
    """

    args_match_mode: ArgsMode = "exact"
    key: str = "tool_call_accuracy"
    tool_args_match_overrides: Mapping[str, Override] | None = field(default=None, kw_only=True)
    penalize_extra: bool = field(default=False, kw_only=True)

    @property
    def args_mode(self) -> ArgsMode:
        """How arguments are compared, where no override says otherwise."""
        return self.args_match_mode

    def measure(self, pairings: Sequence[Pairing]) -> float | None:
        """Return recall, or F1 where extra calls count."""
        nu, n, m = _counts(pairings)
        if not m:
            return None
        return f1_of(nu, n, m) if self.penalize_extra else recall_of(nu, n, m)

    def verdict(self, pairings: Sequence[Pairing], score: float) -> str:
        """Return how many of the reference's calls were made, as `2/3`."""
        nu, _, m = _counts(pairings)
        return f"{nu}/{m}"

    def details(self, pairings: Sequence[Pairing]) -> dict[str, Any]:
        """Return precision, recall, F1 and the counts."""
        counts = nu, n, m = _counts(pairings)
        return {
            "matched": nu,
            "agent_count": n,
            "reference_count": m,
            "precision": precision_of(*counts),
            "recall": recall_of(*counts),
            "f1": f1_of(*counts),
        }

    def explain(self, pairings: Sequence[Pairing], score: float) -> str:
        """Say how many calls were made, which is missing, and how many are extra."""
        nu, n, m = _counts(pairings)
        if not m:
            return "the reference has no calls, so there is no accuracy"
        why = _reason(pairings, first_missing, "missing")
        extra = f"; {n - nu} extra calls" if n > nu else ""
        return f"{nu} of {m} reference calls were made{why}{extra}"
