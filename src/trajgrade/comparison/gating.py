"""Gating: a run is held against a baseline, and what its gates come to stands with its thresholds.

The baseline is read, and the gates are checked, before the run begins: nothing is graded for a gate
that is misspelt, and `run:latest` is not the run that is judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from trajgrade.comparison.comparing import compare
from trajgrade.comparison.gates import gates_of
from trajgrade.errors import ConfigError, unknown
from trajgrade.measured import MEASURED
from trajgrade.record import RUN
from trajgrade.run import Run


class Gating:
    """The gates of a run against a baseline; without a baseline there is none.

    Args:
        baseline: The old run: a `Run`, or what `Run.load` takes; None where there is none.
        no_regression: The gates, as `compare` takes them.
        store: Where `run:ID` is looked up; the default store where it is None.

    Raises:
        ConfigError: There is a baseline without a gate, or a gate without a baseline.
        DatasetError: The baseline is no saved run.

    Attributes:
        gates: The gates.
        baseline: The old run.
    """

    def __init__(self, baseline: Any, no_regression: Any, *, store: Any = None) -> None:
        self.gates = gates_of(no_regression or ())
        if bool(self.gates) != (baseline is not None):
            lacking = "baseline: name a run" if baseline is None else "no_regression: name a metric"
            raise ConfigError(f"{lacking}; a gate needs both")
        self._named = "" if isinstance(baseline, Run) else str(baseline)
        held = baseline is None or isinstance(baseline, Run)
        self.baseline: Run | None = baseline if held else Run.load(baseline, store=store)

    def check(self, keys: Iterable[str] | None) -> None:
        """Refuse gates on a metric that neither run can have.

        Args:
            keys: The metrics of the run that is to be; None where only its results will tell.

        Raises:
            ConfigError: There is one.
        """
        if keys is None or self.baseline is None:
            return
        known = list(dict.fromkeys([*keys, *self.baseline.summary, *MEASURED]))
        faults = [
            f"no_regression.{gate.metric}: {unknown('metric', gate.metric, known)}"
            for gate in self.gates
            if gate.metric not in known
        ]
        if faults:
            raise ConfigError(*faults)

    def __call__(self, run: Run) -> Run:
        """Return a run with what its gates come to; an interrupted one as it is.

        Raises:
            ConfigError: No run has the metric of a gate.
        """
        if self.baseline is None or run.interrupted:
            return run
        found = compare(self.baseline, run, no_regression=self.gates)
        return msgspec.structs.replace(run, outcomes=(*run.outcomes, *found.outcomes))

    def to_dict(self) -> dict[str, Any]:
        """Return what was held against what, for the run's record; nothing where nothing was."""
        if self.baseline is None:
            return {}
        kept = f"{RUN}{self.baseline.id}" if self.baseline.id else ""
        return {
            "baseline": kept or self._named or self.baseline.name or self.baseline.dataset,
            "no_regression": {gate.metric: gate.margin for gate in self.gates},
        }
