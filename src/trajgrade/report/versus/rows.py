"""One line for each example of either run: `id`, `in`, and per metric `/old`, `/new`, `/change`.

A score is the mean of the example's trials. It is empty where there is none, and so is a change
that lacks one of its two scores. `in` is `both`, `old` or `new`: which runs have the example.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from trajgrade.comparison.compared import Comparison

PARTS = ("old", "new", "change")


class Line(NamedTuple):
    """One example.

    Attributes:
        id: Which.
        present: Which runs have it: `both`, `old` or `new`.
        scores: By metric: in the old run, in the new, and the change.
    """

    id: str
    present: str
    scores: dict[str, tuple[float | None, float | None, float | None]]


def lines(comparison: Comparison) -> Iterator[Line]:
    """Yield every example: those of both runs, in the old one's order, then the others."""
    pairs = comparison.pairs
    by_key = {key: comparison.scores(key, unmatched=True) for key in comparison.metrics}
    names = [*pairs.names, *pairs.only_base, *pairs.only_new]
    both, old = len(pairs.names), len(pairs.names) + len(pairs.only_base)
    for place, name in enumerate(names):
        present = "both" if place < both else "old" if place < old else "new"
        scores = {}
        for key, (base, new) in by_key.items():
            sides = (float(base.means[place]), float(new.means[place]))
            before, after = (None if np.isnan(side) else side for side in sides)
            change = None if before is None or after is None else after - before
            scores[key] = (before, after, change)
        yield Line(name, present, scores)
