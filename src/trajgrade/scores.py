"""Scores: what a run keeps of each row in memory.

A number and a code for each metric, and of which example the row is a trial.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from trajgrade.result import ERRORS, NOT_EVALUATED, EvaluationResult

KINDS: tuple[str, ...] = (*sorted(NOT_EVALUATED), *sorted(ERRORS))
IN_POPULATION = ERRORS | {"not_run", "no_output", "unreadable_verdict"}

Direction = Literal["higher", "lower"]

SCORED = 0
CODE = {kind: code for code, kind in enumerate(KINDS, start=1)}
NO_VERDICT = -1


class Groups:
    """Which rows are trials of which example.

    While no row is a trial every row is an example of its own, and no id is kept: 4 bytes a row.

    Args:
        earlier: Returns the ids of the rows so far, for the moment that the first trial comes.
    """

    def __init__(self, earlier: Callable[[], Iterable[str]] = tuple) -> None:
        self.example_of = array("I")
        self._earlier = earlier
        self._index: dict[str, int] | None = None

    def add(self, example_id: str, trial: int | None = None) -> None:
        """Note the example of the next row."""
        if self._index is None:
            if trial is None:
                self.example_of.append(len(self.example_of))
                return
            self._index = self._named()
        self.example_of.append(self._index.setdefault(example_id, len(self._index)))

    def _named(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._earlier())}

    @property
    def named(self) -> bool:
        """Whether ids are kept, some row being a trial."""
        return self._index is not None

    def extend(self, rows: Sequence[str] | int) -> None:
        """Note the examples of more rows: by their ids, or their number where none is a trial."""
        if isinstance(rows, int):
            start = len(self.example_of)
            self.example_of.extend(range(start, start + rows))
            return
        if self._index is None:
            self._index = self._named()
        for name in rows:
            self.example_of.append(self._index.setdefault(name, len(self._index)))

    def cut(self, rows: int) -> None:
        """Forget all rows but the first ones."""
        del self.example_of[rows:]
        if self._index is not None:
            kept = set(self.example_of)
            self._index = {name: index for name, index in self._index.items() if index in kept}

    @property
    def count(self) -> int:
        """The number of examples."""
        return len(self.example_of) if self._index is None else len(self._index)

    @property
    def repeated(self) -> bool:
        """Whether some example has several rows."""
        return self.count < len(self.example_of)


class Column:
    """One metric's scores, row by row: 10 bytes each.

    Args:
        key: The metric's name.
        bounds: The lowest and highest score that it can have, None where there is none.
        direction: Which scores are better, None where neither is.
        ends: Between what the mean can lie at all, if not `bounds`: a duration has no highest.

    Attributes:
        best: The best score that it can have, None where there is none.
    """

    def __init__(
        self,
        key: str,
        bounds: tuple[float, float] | None = None,
        direction: Direction | None = None,
        *,
        ends: tuple[float, float] | None = None,
    ) -> None:
        self.key = key
        self.bounds = bounds
        self.ends = ends or bounds
        self.direction = direction
        self.best = bounds[direction == "higher"] if bounds and direction else None
        self.scores = array("d")
        self.codes = bytearray()
        self.successes = array("b")
        self.vacuous: set[int] = set()
        self.undefined: set[int] = set()

    def add(self, result: EvaluationResult) -> None:
        """Add the result of the next row."""
        if result.error is not None or result.score is None:
            self.miss(result.error.kind if result.error else "undefined")
            return
        value = result.value
        if "vacuous" in result.metadata:
            self.vacuous.add(len(self.codes))
        elif "undefined" in result.metadata:
            self.undefined.add(len(self.codes))
        self.scores.append(result.score)
        self.codes.append(SCORED)
        self.successes.append(int(value) if value is True or value is False else NO_VERDICT)

    def miss(self, kind: str, rows: int = 1) -> None:
        """Add rows without a score."""
        self.scores.extend([math.nan] * rows)
        self.codes.extend([CODE[kind]] * rows)
        self.successes.extend([NO_VERDICT] * rows)

    def extend(self, other: Column) -> None:
        """Add the rows of another column of this metric."""
        start = len(self.codes)
        self.vacuous.update(start + row for row in other.vacuous)
        self.undefined.update(start + row for row in other.undefined)
        self.scores.extend(other.scores)
        self.codes.extend(other.codes)
        self.successes.extend(other.successes)

    def cut(self, rows: int) -> None:
        """Forget all rows but the first ones."""
        del self.scores[rows:], self.codes[rows:], self.successes[rows:]
        self.vacuous = {row for row in self.vacuous if row < rows}
        self.undefined = {row for row in self.undefined if row < rows}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)
