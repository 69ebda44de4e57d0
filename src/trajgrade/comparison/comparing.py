"""Comparing: two runs, as they are named, → what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajgrade.comparison.gates import gates_of
from trajgrade.errors import ConfigError
from trajgrade.intervals import LEVEL
from trajgrade.run import Run

if TYPE_CHECKING:
    from trajgrade.comparison.compared import Comparison


def compare(
    base: Any,
    new: Any,
    *,
    level: float = LEVEL,
    resamples: int = 10_000,
    seed: int = 0,
    no_regression: Any = (),
    store: Any = None,
) -> Comparison:
    """Compare two runs, example by example.

    Args:
        base: The old run: a `Run`, or what `Run.load` takes.
        new: The new run.
        level: The confidence of the intervals, and of what is called a difference.
        resamples: How many resamples the intervals are from.
        seed: What they depend on.
        no_regression: Gates: metric → margin, or records of `metric` and `margin`.
        store: Where `run:ID` is looked up; the default store where it is None.

    Raises:
        ConfigError: The level, the number of resamples or a gate is wrong.
        DatasetError: A file holds no run.
    """
    if not 0.5 <= level < 1:
        raise ConfigError(f"level: from 0.5 to below 1, got {level!r}")
    if not 100 <= resamples <= 10**6:
        raise ConfigError(f"resamples: from 100 to 1,000,000, got {resamples!r}")
    gates = gates_of(no_regression)
    from trajgrade.comparison.compared import Comparison  # numpy, here and below
    from trajgrade.comparison.regression import judged

    runs = [run if isinstance(run, Run) else Run.load(run, store=store) for run in (base, new)]
    found = Comparison(*runs, level=level, resamples=resamples, seed=seed)
    found.gates = tuple(gates)
    found.outcomes = tuple(judged(gate, found) for gate in gates)
    return found
