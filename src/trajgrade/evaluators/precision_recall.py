"""Precision, recall and F1 of tool calls, and tool-call accuracy (SEMANTICS A4).

With ν the size of a maximum matching of n calls against m: precision ν/n, recall ν/m, F1
2ν/(n+m). Each reference call vouches for one call, so that a loop of fifty equal calls has no
precision of 1. `duplicates="membership"` reads Vertex AI's wording by the letter instead: the share
of calls that agree with *some* call of the other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trajgrade.evaluators.answering import check_flags
from trajgrade.evaluators.comparison import CallComparison
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.paired import Paired
from trajgrade.evaluators.wording import (
    count,
    first_extra,
    first_missing,
    first_unlike_any_expected,
    first_unlike_any_made,
)
from trajgrade.matching.arguments import ArgsMode, Override

Duplicates = Literal["once", "membership"]


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

    def _vouched(self, paired: Paired) -> tuple[int, int]:
        """Return how many calls of either side have a partner."""
        return paired.vouched if self.duplicates == "membership" else (paired.nu, paired.nu)

    def _not_made(self, paired: Paired) -> str:
        return (_unlike_any_made if self.duplicates == "membership" else _missing)(paired)

    def _not_expected(self, paired: Paired) -> str:
        return (_unlike_any_expected if self.duplicates == "membership" else _extra)(paired)

    def details(self, paired: Paired) -> dict[str, Any]:
        """Return the counts."""
        ours, theirs = self._vouched(paired)
        found = {"matched": ours, "agent_count": paired.n, "reference_count": paired.m}
        return found if ours == theirs else {**found, "matched_reference": theirs}


def _missing(paired: Paired) -> str:
    why = paired.first(lambda pairing: pairing.size < len(pairing.theirs), first_missing)
    return f"; {why}" if why else ""


def _extra(paired: Paired) -> str:
    why = paired.first(lambda pairing: pairing.size < len(pairing.ours), first_extra)
    return f"; {why}" if why else ""


def _unlike_any_made(paired: Paired) -> str:
    why = paired.first(lambda p: p.vouched[1] < len(p.theirs), first_unlike_any_made)
    return f"; {why}" if why else ""


def _unlike_any_expected(paired: Paired) -> str:
    why = paired.first(lambda p: p.vouched[0] < len(p.ours), first_unlike_any_expected)
    return f"; {why}" if why else ""


@dataclass(frozen=True)
class TrajectoryPrecision(_Share):
    """The share of the agent's calls that the reference accounts for: ν/n (Vertex AI)."""

    key: str = "trajectory_precision"

    def measure(self, paired: Paired) -> float:
        """Return the precision."""
        return precision_of(self._vouched(paired)[0], paired.n, paired.m)

    def special(self, paired: Paired) -> str | None:
        """Say where the share is of no calls (SEMANTICS A5)."""
        return "undefined" if paired.m and not paired.n else None

    def explain(self, paired: Paired, score: float) -> str:
        """Say how many calls are accounted for, and which is the first that is not."""
        if not paired.n:
            undefined = self.special(paired) is not None
            return "no calls were made" + (", so precision is undefined" if undefined else "")
        ours = self._vouched(paired)[0]
        why = "" if ours == paired.n else self._not_expected(paired)
        return f"{ours} of {count(paired.n, 'call')} in the reference{why}"


@dataclass(frozen=True)
class TrajectoryRecall(_Share):
    """The share of the reference's calls that the agent made: ν/m (Vertex AI)."""

    key: str = "trajectory_recall"

    def measure(self, paired: Paired) -> float:
        """Return the recall."""
        return recall_of(self._vouched(paired)[1], paired.n, paired.m)

    def special(self, paired: Paired) -> str | None:
        """Say where the share is of no calls (SEMANTICS A5)."""
        return "undefined" if paired.n and not paired.m else None

    def explain(self, paired: Paired, score: float) -> str:
        """Say how many calls were made, and which is the first that was not."""
        if not paired.m:
            undefined = self.special(paired) is not None
            return "no calls are expected" + (", so recall is undefined" if undefined else "")
        theirs = self._vouched(paired)[1]
        why = "" if theirs == paired.m else self._not_made(paired)
        return f"{theirs} of {count(paired.m, 'reference call')} made{why}"


@dataclass(frozen=True)
class TrajectoryF1(_Share):
    """The harmonic mean of precision and recall: 2ν/(n+m)."""

    key: str = "trajectory_f1"

    def measure(self, paired: Paired) -> float:
        """Return F1."""
        if self.duplicates == "once":
            return f1_of(paired.nu, paired.n, paired.m)
        ours, theirs = self._vouched(paired)
        precision = precision_of(ours, paired.n, paired.m)
        recall = recall_of(theirs, paired.n, paired.m)
        total = precision + recall
        return 2 * precision * recall / total if total else 0.0

    def explain(self, paired: Paired, score: float) -> str:
        """Say how many calls have a partner, and which is the first that has none."""
        why = "" if score == 1 else self._not_made(paired) or self._not_expected(paired)
        counts = f"{paired.n} made and {paired.m} expected"
        return f"{count(paired.nu, 'call')} in agreement, of {counts}{why}"


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

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            ConfigError: A choice that does not exist.
        """
        check_flags(penalize_extra=self.penalize_extra)
        super().__post_init__()

    @property
    def args_mode(self) -> ArgsMode:
        """How arguments are compared, where no override says otherwise."""
        return self.args_match_mode

    def measure(self, paired: Paired) -> float | None:
        """Return recall, or F1 where extra calls count."""
        if not paired.m:
            return None
        rate = f1_of if self.penalize_extra else recall_of
        return rate(paired.nu, paired.n, paired.m)

    def verdict(self, paired: Paired, score: float) -> str:
        """Return how many of the reference's calls were made, as `2/3`."""
        return f"{paired.nu}/{paired.m}"

    def details(self, paired: Paired) -> dict[str, Any]:
        """Return precision, recall, F1 and the counts."""
        counts = nu, n, m = paired.nu, paired.n, paired.m
        return {
            "matched": nu,
            "agent_count": n,
            "reference_count": m,
            "precision": precision_of(*counts),
            "recall": recall_of(*counts),
            "f1": f1_of(*counts),
        }

    def explain(self, paired: Paired, score: float) -> str:
        """Say how many calls were made, which is missing, and how many are extra."""
        nu, n, m = paired.nu, paired.n, paired.m
        if not m:
            return "the reference has no calls, so there is no accuracy"
        extra = f"; {count(n - nu, 'extra call')}" if n > nu else ""
        if self.penalize_extra and nu == m:
            extra += _extra(paired)
        return f"{nu} of {count(m, 'reference call')} made{_missing(paired)}{extra}"
