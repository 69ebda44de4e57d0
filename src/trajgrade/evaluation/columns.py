"""Which column of the dataset is which of Vertex AI's, and what is said where one is missing.

A column has its own name, or the one that `metric_column_mapping` gives it, or else one of the
names that trajgrade knows for that role. What a metric needs and no row has is an error before
anything runs: it names the columns that there are, and the one that was likely meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from trajgrade.dataset import NAMES, Role
from trajgrade.dataset.fields import is_gap
from trajgrade.errors import ConfigError, DatasetError, near
from trajgrade.evaluators.rated import Rated
from trajgrade.reply import said_in

PROMPT = "prompt"
RESPONSE = "response"
REFERENCE = "reference"
PREDICTED = "predicted_trajectory"
EXPECTED = "reference_trajectory"
ROLES: dict[str, Role] = {
    PROMPT: "inputs", PREDICTED: "outputs", EXPECTED: "reference_outputs", RESPONSE: "response",
    REFERENCE: "reference", "context": "context",
}  # fmt: skip
ANSWERED = (RESPONSE, PREDICTED)
TEXTS = (PROMPT, RESPONSE, REFERENCE, "context", "instruction", "baseline_model_response")

Row = dict[str, Any]


class Columns:
    """The columns of a dataset by Vertex AI's names.

    Args:
        rows: The rows.
        mapping: Which column is meant by a name of Vertex AI's.

    Raises:
        ConfigError: The mapping names a column that there is not.
    """

    def __init__(self, rows: Sequence[Row], mapping: Mapping[str, str] | None = None) -> None:
        self.names = tuple(dict.fromkeys(name for row in rows for name in row))
        self.mapping = dict(mapping or {})
        self._rows = rows
        faults = [
            f"metric_column_mapping: {variable!r}: {self.absent(column)}"
            for variable, column in self.mapping.items()
            if column not in self.names
        ]
        if faults:
            raise ConfigError(*faults)

    def also(self, mapping: Mapping[str, str]) -> Columns:
        """Return the columns with more names mapped."""
        return Columns(self._rows, {**self.mapping, **mapping})

    def of(self, variable: str) -> str | None:
        """Return the column that holds a variable of Vertex AI's; None where none does."""
        if variable in self.mapping:
            return self.mapping[variable]
        role = ROLES.get(variable)
        known = (variable, *(NAMES[role] if role is not None else ()))
        return next((name for name in known if name in self.names), None)

    def value(self, row: Row, variable: str) -> Any:
        """Return what a row holds of a variable, None where it holds nothing."""
        column = self.of(variable)
        found = row.get(column) if column is not None else None
        return None if is_gap(found) else found

    def absent(self, name: object) -> str:
        """Say that there is no column of that name, which ones there are, and the likely one."""
        guess = near(name, self.names)
        hint = f" Did you mean {guess!r}?" if guess else ""
        return f"the dataset has no column {name!r}.{hint} Columns: {', '.join(self.names)}"

    def check(self, metrics: Iterable[Any], gives: Collection[str] = ()) -> None:
        """Refuse metrics that need a column which holds nothing in any row.

        Args:
            metrics: The evaluators.
            gives: The variables that an agent gives.

        Raises:
            DatasetError: There are any; each column is named once, with the metrics that need it.
        """
        needing: dict[str, list[str]] = {}
        for metric in metrics:
            for variable in _needs(metric):
                if variable not in gives and not self._holds(variable):
                    needing.setdefault(variable, []).append(metric.key)
        if needing:
            faults = [self._fault(variable, keys, gives) for variable, keys in needing.items()]
            raise DatasetError("\n".join(faults))

    def _holds(self, variable: str) -> bool:
        if any(self.value(row, variable) is not None for row in self._rows):
            return True
        trace = {RESPONSE: PREDICTED, REFERENCE: EXPECTED}.get(variable)
        return trace is not None and any(
            said_in(self.value(row, trace)) is not None for row in self._rows
        )

    def _fault(self, variable: str, keys: Sequence[str], gives: Collection[str]) -> str:
        column = self.of(variable)
        need = f"{', '.join(keys)}: needs {variable!r}"
        if column is not None:
            return f"{need}, and the column {column!r} holds nothing in any row"
        lack = f"which the dataset does not have. Columns: {', '.join(self.names)}"
        return f"{need}, {lack}. {self._hint(variable, gives)}"

    def _hint(self, variable: str, gives: Collection[str]) -> str:
        if variable == EXPECTED and self.of(PREDICTED) is not None:
            predicted = self.of(PREDICTED)
            given = "is what the agent does" if PREDICTED in gives else "is what the agent did"
            return (
                f"{PREDICTED!r} {given}, {EXPECTED!r} what it should have done: if {predicted!r} "
                f"holds that, rename it, or give metric_column_mapping={{{EXPECTED!r}: "
                f"{predicted!r}}}"
            )
        others = [name for name in self.names if name not in ROLES]
        guess = near(variable, others)
        if guess is not None:
            return (
                f"Did you mean {guess!r}? Rename it, or give "
                f"metric_column_mapping={{{variable!r}: {guess!r}}}"
            )
        if variable in ANSWERED:
            return "Give the column, or an agent that answers each prompt: evaluate(runnable=…)" + (
                ", or evaluate(model=…)" if variable == RESPONSE else ""
            )
        return f"Name the right one: metric_column_mapping={{{variable!r}: …}}"


def _needs(metric: Any) -> Sequence[str]:
    """Return the variables that a metric cannot do without."""
    if isinstance(metric, Rated):
        return metric.variables
    needs_reference = getattr(metric, "needs_reference", False)
    reads = getattr(metric, "reads", "raw")
    if reads == "trajectory":
        return (PREDICTED, EXPECTED) if needs_reference else (PREDICTED,)
    if reads == "response" or needs_reference:
        return (RESPONSE, REFERENCE) if needs_reference else (RESPONSE,)
    return ()
