"""Votes: several verdicts on one example → one result (SEMANTICS A11).

Every vote is recorded. Numbers are averaged, with their spread; flags and labels are counted, and
the most frequent one counts. Where two are equally frequent the tie rule decides, which is stated
before anything is asked whenever an even number of votes could tie. A vote that could not be read
is none; where no more than half of them could be, there is no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from trajgrade.errors import ConfigError
from trajgrade.result import EvaluationResult, not_evaluated
from trajgrade.summary import mean, std

Reduce = Literal["mean", "majority"]
Tie = Literal["lowest", "highest", "none"]


def check_votes(count: int, reduce: Reduce, tie: Tie | None) -> None:
    """Refuse an even number of votes that are counted and have no tie rule.

    Raises:
        ConfigError: It is.
    """
    if reduce == "majority" and count % 2 == 0 and tie is None:
        raise ConfigError(
            f"tie: {count} votes may tie; give an odd number, or say what a tie is: "
            "tie='lowest', 'highest', or 'none' for not evaluated"
        )


def combined(
    key: str, votes: Sequence[EvaluationResult], reduce: Reduce, tie: Tie | None = None
) -> EvaluationResult:
    """Return what several votes come to.

    Args:
        key: The metric's name.
        votes: One result for each verdict.
        reduce: Whether scores are averaged or values counted.
        tie: Which of several most frequent values counts, by their score.
    """
    if len(votes) == 1:
        return votes[0]
    recorded = {"votes": [_recorded(vote) for vote in votes]}
    scored = [vote for vote in votes if vote.score is not None]
    if 2 * len(scored) <= len(votes):
        first = next(vote for vote in votes if vote.score is None)
        kind: Any = first.error.kind if first.error is not None else "undefined"
        told = f"{len(scored)} of {len(votes)} votes have a score: {first.comment}"
        return not_evaluated(key, kind, told, recorded)
    if reduce == "mean":
        return _averaged(key, scored, len(votes), recorded)
    return _counted(key, scored, len(votes), tie, recorded)


def _recorded(vote: EvaluationResult) -> dict[str, Any]:
    told: dict[str, Any] = {"score": vote.score, "value": vote.value, "comment": vote.comment}
    return {**told, **vote.metadata}


def _averaged(
    key: str, scored: Sequence[EvaluationResult], asked: int, recorded: dict[str, Any]
) -> EvaluationResult:
    scores = [vote.score for vote in scored if vote.score is not None]
    middle = mean(scores)
    spread = std(scores) or 0.0
    comment = f"mean of {_of(len(scored), asked)} votes, from {min(scores):g} to {max(scores):g}"
    return EvaluationResult(key, middle, middle, comment, {**recorded, "spread": spread})


def _counted(
    key: str,
    scored: Sequence[EvaluationResult],
    asked: int,
    tie: Tie | None,
    recorded: dict[str, Any],
) -> EvaluationResult:
    counts: dict[Any, int] = {}
    for vote in scored:
        counts[_value(vote)] = counts.get(_value(vote), 0) + 1
    most = max(counts.values())
    leading = [vote for vote in scored if counts[_value(vote)] == most]
    share = most / len(scored)
    recorded = {**recorded, "agreement": share}
    values = dict.fromkeys(map(_value, leading))
    if len(values) > 1 and tie in (None, "none"):
        told = " and ".join(repr(value) for value in values)
        return not_evaluated(key, "undefined", f"{told} have {most} votes each", recorded)
    pick = max if tie == "highest" else min
    won = pick(leading, key=_score)
    tied = f", a tie that goes to the {tie}" if len(values) > 1 else ""
    comment = f"{most} of {_of(len(scored), asked)} votes for {_value(won)!r}{tied}: {won.comment}"
    return EvaluationResult(key, won.score, won.value, comment, recorded)


def _value(vote: EvaluationResult) -> Any:
    """Return what is counted: a flag or label, else the score."""
    return vote.value if isinstance(vote.value, (bool, str)) else vote.score


def _score(vote: EvaluationResult) -> float:
    return vote.score if vote.score is not None else 0.0


def _of(count: int, asked: int) -> str:
    return str(asked) if count == asked else f"{count} readable of {asked}"
