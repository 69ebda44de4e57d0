"""Usage: what the verdicts of a run took; a reply that was there already took nothing.

It is the sum of what each result keeps of its verdicts. Where tokens or a price are not known, the
sum is of those that are, and how many are not is told beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trajgrade.alignment import verdicts_in
from trajgrade.result import EvaluationResult


@dataclass
class Spent:
    """What verdicts took.

    Attributes:
        verdicts: How many there are.
        replies: How many replies they are read from.
        cached: How many of these came from the cache, or of an equal request at the same time.
        tokens_in: Tokens read, as far as they are known.
        tokens_out: Tokens written, as far as they are known.
        cost: US dollars, as far as prices are known.
        uncounted: How many verdicts have tokens that are not known.
        unpriced: How many verdicts have a price that is not known.
    """

    verdicts: int = 0
    replies: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    uncounted: int = 0
    unpriced: int = 0

    def __str__(self) -> str:
        """Return it as a line; empty where no judge was asked."""
        if not self.verdicts:
            return ""
        said = f"judge: {_of(self.verdicts, 'verdict', 'verdicts')} in "
        said += _of(self.replies, "reply", "replies")
        if self.cached:
            said += f", {self.cached:,} of them there already"
        if self.uncounted < self.verdicts:
            said += f", {self.tokens_in:,} tokens read and {self.tokens_out:,} written"
        if self.uncounted:
            said += f", tokens of {self.uncounted:,} not known"
        if self.unpriced < self.verdicts:
            said += f", ${self.cost:.4f}"
        return said + (f", price of {self.unpriced:,} not known" if self.unpriced else "")


def _of(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def spent(results: Iterable[EvaluationResult]) -> Spent:
    """Return what the verdicts of some results took."""
    found = Spent()
    for result in results:
        for kept in verdicts_in(result.metadata):
            found.verdicts += 1
            found.replies += int(kept["asked"])
            found.cached += int(kept.get("cached") or 0)
            told = kept.get("tokens_in") is not None and kept.get("tokens_out") is not None
            found.tokens_in += kept["tokens_in"] if told else 0
            found.tokens_out += kept["tokens_out"] if told else 0
            found.uncounted += not told
            found.cost += kept.get("cost") or 0.0
            found.unpriced += kept.get("cost") is None
    return found
