"""The seams, as protocols: what a format and an evaluator must be.

An evaluator is anything with `key` and `evaluate`. `trajgrade.evaluators.Evaluator` is a
convenience, not a requirement; a plain function with any of the parameter names `outputs`,
`reference_outputs`, `inputs` is wrapped by the runner.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol, runtime_checkable

from trajgrade.glimpse import Glimpse
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory

Reads = Literal["trajectory", "response", "raw"]


class Format(Protocol):
    """Raw trace → Trajectory. Its docstring shows the raw shape.

    `recognises` answers from evidence that only the origin has. `[]` is zero calls in every format
    and so recognised by one only, `chat`.

    A format may also have `wire`, a type for msgspec so strict that whatever decodes to it is of
    this format and no other, and `read_wire`, which reads what was decoded. Such data is recognised
    by decoding it. Both ways read equal trajectories.
    """

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data bears this origin's mark. Must not raise, whatever the data."""
        ...

    def read(self, data: Any) -> Iterable[Trajectory]:
        """Read the trajectories that the data holds. Never changes the data.

        Raises:
            TraceError: The data breaks the format's rules.
        """
        ...


@runtime_checkable
class EvaluatorLike(Protocol):
    """Outputs and reference → EvaluationResult."""

    key: str

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Grade one example."""
        ...
