"""Alignment: what was measured of a judge against people, as it is kept beside runs that ask it.

A judge is known by its model and its prompt: what was measured of one says nothing of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from trajgrade.agreement import Estimate

_MARKS = frozenset(("judge", "model", "prompt_hash", "asked"))
_HASH = 12  # as much of a prompt's hash as tells it from another


class Cell(msgspec.Struct, frozen=True):
    """How often people's label and the judge's verdict came together."""

    label: bool | str
    verdict: bool | str
    n: int


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """How far a judge agrees with people by one metric.

    Attributes:
        metric: The metric's key.
        judges: Whose verdicts were measured, as `model, prompt HASH`; empty where that is not
            known, since the verdicts are not a judge's.
        measured_at: When.
        passes: The least score that counted as a pass.
        level: The confidence of the intervals.
        estimates: By name (`accuracy`, `kappa`, `sensitivity`, `specificity`, `consistency`,
            `length_bias`, `position_bias`), the number, its interval, and over how many labels.
        cells: Labels and verdicts, counted: what a pass rate is corrected by.
        judged_rate: The share of the run's examples that the judge passes; None before it is
            attached to a run.
        corrected_rate: The share that people would have passed.
        differs: Why it may say nothing of the run; empty where the run's verdicts are of the judge
            that was measured.
    """

    metric: str
    judges: tuple[str, ...] = ()
    measured_at: datetime
    passes: float
    level: float
    estimates: dict[str, Estimate]
    cells: tuple[Cell, ...] = ()
    judged_rate: Estimate | None = None
    corrected_rate: Estimate | None = None
    differs: str = ""

    @property
    def n_labels(self) -> int:
        """How many labelled examples had a verdict."""
        return sum(cell.n for cell in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain objects, without what is not known."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("judged_rate", "corrected_rate"):
            if plain[name] is None:
                del plain[name]
        return plain


def alignments_in(plain: Mapping[str, Any]) -> tuple[Alignment, ...]:
    """Return what a saved run says of its judges, as it was attached."""
    found = plain.get("judge_alignment", ())
    return msgspec.convert(found, tuple[Alignment, ...])


def judges_in(metadata: Any) -> Iterator[str]:
    """Yield whom a result's evidence says that its verdicts are of."""
    for kept in verdicts_in(metadata):
        yield f"{kept['model'] or kept['judge']}, prompt {str(kept['prompt_hash'])[:_HASH]}"


def verdicts_in(metadata: Any) -> Iterator[Mapping[str, Any]]:
    """Yield what a result's metadata keeps of each verdict of a judge, at any depth."""
    if isinstance(metadata, Mapping):
        if metadata.keys() >= _MARKS and isinstance(metadata["asked"], int):
            yield metadata
            return
        metadata = list(metadata.values())
    if isinstance(metadata, (list, tuple)):
        for part in metadata:
            yield from verdicts_in(part)
