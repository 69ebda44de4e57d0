"""CustomMetric: a function of a row as a metric.

The function gets the row as a dict: the columns of the dataset, and where an agent answered also
`response`, `predicted_trajectory`, `latency_in_seconds` and `failure`. It returns a number, or a
dict with the score under the metric's name or under `score`; `explanation` becomes the comment, and
anything else a column of its own. Any finite number is a score; None is no score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError, shorten
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.evaluators.function import results_of
from trajgrade.result import EvaluationResult

_KNOWN = ("score", "explanation")


class CustomMetric(Evaluator):
    """A function of a row as a metric.

    Args:
        name: The metric's name.
        metric_function: The function.
        range: The lowest and highest score, where there are any.
        direction: Whether `higher` or `lower` scores are better, where either is.

    Raises:
        ConfigError: The name is no text, or the function cannot be called.
    """

    reads: ClassVar[Reads] = "raw"
    reads_row: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        metric_function: Callable[[dict[str, Any]], Any],
        *,
        range: tuple[float, float] | None = None,  # noqa: A002 the field's word for it
        direction: Literal["higher", "lower"] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ConfigError(f"CustomMetric: name: a text is needed, got {name!r}")
        if not callable(metric_function):
            raise ConfigError(
                f"CustomMetric {name!r}: metric_function: a function of the row is needed, got "
                f"{shorten(metric_function)}"
            )
        self.key = self.name = name
        self.metric_function = metric_function
        self.range = range  # type: ignore[misc]  # each metric declares its own
        self.direction = direction  # type: ignore[misc]

    @property
    def metric_name(self) -> str:
        """The metric's name."""
        return self.key

    def __str__(self) -> str:
        """Return the metric's name."""
        return self.key

    def __repr__(self) -> str:
        """Return it as it is made."""
        function = getattr(self.metric_function, "__name__", shorten(self.metric_function))
        return f"CustomMetric(name={self.key!r}, metric_function={function})"

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        row: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Call the function with the row.

        Args:
            outputs: `predicted_trajectory` of a row that is not given whole.
            reference_outputs: Its `reference_trajectory`.
            inputs: Its `prompt`.
            row: The row, by column.
            extra: What else a row holds that is not given whole, by name.

        Raises:
            TypeError: The function returns something else than a score.
        """
        if not row:
            row = {
                "prompt": inputs,
                "predicted_trajectory": outputs,
                "reference_trajectory": reference_outputs,
                **extra,
            }
        return self._result(self.metric_function(dict(row)))

    def _result(self, returned: Any) -> EvaluationResult:
        if not isinstance(returned, Mapping):
            (result,) = results_of(returned, self.key)
            return result
        for key in (self.key, "score"):
            if key in returned:
                break
        else:
            raise TypeError(
                f"the function of the custom metric {self.key!r} returned a dict with "
                f"{shorten(list(returned))}; the score must be under {self.key!r} or 'score'"
            )
        more = {k: v for k, v in returned.items() if k not in (self.key, *_KNOWN)}
        comment = str(returned.get("explanation") or "")
        (result,) = results_of(
            {"score": returned[key], "comment": comment, "metadata": more}, self.key
        )
        return result
