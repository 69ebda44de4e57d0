"""Stored: a number or flag that the dataset holds already, as a metric of its own.

For example the reward that an environment gave the run: `{field: {path: reward, pass: 1.0}}`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError, shorten
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.matching.values import MISSING, is_number
from trajgrade.result import EvaluationResult

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Stored(Evaluator):
    """The number or flag at a path of the row, as it is.

    Args:
        path: Where in the row, as `a.b[0].c`.
        key: The metric's name; the path by default.
        pass_: The least score that is a success (tolerance 1e-9), for pass@k and pass^k; in YAML
            `pass`. A flag is a success when it is true, without it.
    """

    reads: ClassVar[Reads] = "raw"
    range: ClassVar[tuple[float, float] | None] = None
    direction: ClassVar[Literal["higher", "lower"] | None] = None

    path: str
    key: str = ""
    pass_: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ConfigError: No path, or a success that is no number.
        """
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(f"path: a path into the row is needed, got {self.path!r}")
        if self.pass_ is not None and not is_number(self.pass_):
            raise ConfigError(f"pass: a number is needed, got {self.pass_!r}")
        if not self.key:
            object.__setattr__(self, "key", self.path)

    @property
    def stored_paths(self) -> tuple[str, ...]:
        """The paths of the row that this reads."""
        return (self.path,)

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        stored: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Return the number or flag.

        Args:
            outputs: Not read.
            reference_outputs: Not read.
            inputs: Not read.
            stored: What the row holds, by path.
            extra: Not read.

        Raises:
            ValueError: What the row holds is neither a finite number nor a flag.
        """
        found = (stored or {}).get(self.path, MISSING)
        if found is MISSING or found is None:
            return self.unscored("no_output", f"the row has nothing at {self.path!r}")
        if isinstance(found, bool):
            return EvaluationResult(self.key, float(found), found, f"{self.path} is {found}")
        if not is_number(found):
            raise ValueError(f"{self.path!r} holds {shorten(found)}; a number or flag is needed")
        if abs(found) > sys.float_info.max or found != found:  # noqa: PLR0124 NaN alone differs
            raise ValueError(
                f"{self.path!r} holds {shorten(found)}; a finite number is needed, "
                f"of at most {sys.float_info.max:.1e}"
            )
        value: Any = found
        if self.pass_ is not None:
            value = found >= self.pass_ - TOLERANCE
        return EvaluationResult(self.key, float(found), value, f"{self.path} is {found}")
