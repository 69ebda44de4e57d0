"""A plain function as an evaluator, and what evaluators may return.

A function with any of the parameter names `outputs`, `reference_outputs`, `inputs`, `response`,
`reference`, `context`, `row` is an evaluator; `row` is all that the row holds, by field. It returns
a number, a flag, a dict with `score`, an `EvaluationResult`, a list of those, or None where there
is nothing to score.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError, shorten
from trajgrade.evaluators.evaluator import Evaluator, takes
from trajgrade.matching.values import is_number
from trajgrade.result import EvaluationResult, not_evaluated

NAMES = frozenset(
    {"outputs", "reference_outputs", "inputs", "response", "reference", "context", "row"}
)


class FunctionEvaluator:
    """A plain function as an evaluator.

    Args:
        function: The function.
        key: The metric's name; that of the function by default.

    Raises:
        ConfigError: The function takes none of the names that an evaluator is given.
    """

    reads: ClassVar[Reads] = "raw"

    def __init__(self, function: Callable[..., Any], key: str | None = None) -> None:
        names = takes(function)
        name: str = getattr(_inner(function), "__name__", type(function).__name__)
        self.key = key or name
        self._wanted = NAMES if "**" in names else names & NAMES
        self.reads_row = "row" in names
        if not self._wanted:
            raise ConfigError(
                f"evaluator {self.key}: a function needs at least one of the parameters "
                f"{', '.join(sorted(NAMES))}; it has {', '.join(sorted(names)) or 'none'}"
            )
        self._function = function

    def __repr__(self) -> str:
        """Return the function's name: an address would tell nothing."""
        return f"FunctionEvaluator({self.key})"

    def _called(self, example: Mapping[str, Any]) -> Any:
        return self._function(**{name: example.get(name) for name in self._wanted})

    def evaluate(self, **example: Any) -> Sequence[EvaluationResult]:
        """Call the function with what it asks for."""
        return results_of(self._called(example), self.key)


class AsyncFunctionEvaluator(FunctionEvaluator, Evaluator):
    """An async function as an evaluator; see `FunctionEvaluator`."""

    evaluate = Evaluator.evaluate  # type: ignore[assignment]  # results_of reads what it returns

    async def aevaluate(self, **example: Any) -> Any:
        """Await the function with what it asks for."""
        return results_of(await self._called(example), self.key)


def function_evaluator(function: Callable[..., Any], key: str | None = None) -> FunctionEvaluator:
    """Return a function, async or not, as an evaluator.

    Raises:
        ConfigError: The function takes none of the names that an evaluator is given.
    """
    inner = _inner(function)
    waits = inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(type(inner).__call__)
    return (AsyncFunctionEvaluator if waits else FunctionEvaluator)(function, key)


def _inner(function: Any) -> Any:
    return function.func if isinstance(function, partial) else function


def results_of(returned: Any, key: str) -> Sequence[EvaluationResult]:
    """Return the results that an evaluator's return value means.

    Raises:
        TypeError: It means none; the message names its type.
        ValueError: A score is NaN or infinite.
    """
    if isinstance(returned, EvaluationResult):
        return (_checked(returned),)
    if isinstance(returned, (list, tuple)):
        if not returned:
            return [not_evaluated(key, "undefined", "the evaluator returned an empty list")]
        return [result for item in returned for result in results_of(item, key)]
    return [_checked(_result_of(returned, key))]


def _result_of(returned: Any, key: str) -> EvaluationResult:
    if returned is None:
        return not_evaluated(key, "undefined", "the evaluator returned None")
    if isinstance(returned, bool):
        return EvaluationResult(key, float(returned), returned)
    if is_number(returned) or _is_scalar(returned):
        return EvaluationResult(key, float(returned), returned)
    if isinstance(returned, Mapping):
        return _from_mapping(returned, key)
    if hasattr(returned, "key") and hasattr(returned, "score"):
        return _from_mapping({name: getattr(returned, name, None) for name in _FIELDS}, key)
    raise TypeError(
        f"evaluator {key} returned {type(returned).__name__} {shorten(returned)}; it must return a "
        "number, a flag, a dict with 'score', an EvaluationResult, a list of those, or None"
    )


_FIELDS = ("key", "score", "value", "comment", "metadata")


def _is_scalar(returned: Any) -> bool:
    """Whether it is a number of another library, such as numpy's."""
    return getattr(returned, "shape", None) == () and hasattr(returned, "__float__")


def _from_mapping(returned: Mapping[str, Any], key: str) -> EvaluationResult:
    if "score" not in returned and "value" not in returned:
        raise TypeError(
            f"evaluator {key} returned a dict without 'score'; it has {shorten(list(returned))}"
        )
    name = returned.get("key") or key
    comment = returned.get("comment") or returned.get("explanation") or ""
    metadata = dict(returned.get("metadata") or {})
    score, value = returned.get("score"), returned.get("value")
    if score is None and isinstance(value, bool):
        score = value
    if score is None:
        return not_evaluated(name, "undefined", comment or "the evaluator gave no score", metadata)
    if isinstance(score, bool) and value is None:
        value = score
    if not isinstance(score, bool) and not is_number(score) and not _is_scalar(score):
        raise TypeError(f"evaluator {key} returned the score {shorten(score)}, which is no number")
    return EvaluationResult(name, float(score), value, str(comment), metadata)


def _checked(result: EvaluationResult) -> EvaluationResult:
    score = result.score
    if score is None:
        if result.error is None:
            message = result.comment or "the evaluator gave no score"
            return not_evaluated(result.key, "undefined", message, result.metadata)
        return result
    if result.error is not None:
        raise TypeError(
            f"evaluator {result.key} returned a score and an error; a result has one of them"
        )
    if not math.isfinite(score):
        raise ValueError(f"evaluator {result.key} returned the score {score}")
    return result
