"""Expecting: evaluators as assertions, `expect(outputs).trajectory_match(reference)`.

In a test `trajgrade.expect(…)` also logs what comes of it; `from trajgrade.expecting import expect`
is the same without a log, under the names of Potato's `expect`. What fails says why, and shows the
calls of both sides beside each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

from trajgrade import registry
from trajgrade.errors import UnknownNameError, shorten
from trajgrade.evaluators.naming import build_evaluator, with_key
from trajgrade.matching.values import is_number, same
from trajgrade.result import EvaluationResult
from trajgrade.summary import TOLERANCE

Graded = Callable[[Any, Any, Any], EvaluationResult]


class Expectation:
    """What is expected of a value. Every evaluator is a method of its name.

    Args:
        value: The value.
        graded: Grades the value by an evaluator against a reference, and logs that.
    """

    def __init__(self, value: Any, graded: Graded) -> None:
        self._value = value
        self._graded = graded

    @property
    def value(self) -> Any:
        """The value."""
        return self._value

    def __getattr__(self, name: str) -> Callable[..., EvaluationResult]:
        if name.startswith("_") or name not in registry.evaluators.entries:
            known = [*registry.evaluators, *_PLAIN]
            raise AttributeError(str(UnknownNameError("expectation", name, known)))

        def expected(
            reference: Any = None, *, at_least: float = 1.0, key: str | None = None, **params: Any
        ) -> EvaluationResult:
            __tracebackhide__ = True
            evaluator = build_evaluator(name, params)
            if key is not None:
                evaluator = with_key(evaluator, key)
            return self._met(evaluator, reference, at_least)

        return expected

    def _met(self, evaluator: Any, reference: Any, at_least: float) -> EvaluationResult:
        __tracebackhide__ = True
        result = self._graded(evaluator, self._value, reference)
        passed = result.score is not None and result.score >= at_least - TOLERANCE
        if not passed:
            _fail(_why(result, at_least), *_shown(evaluator, result, self._value, reference))
        return result

    def to_equal(self, other: Any) -> None:
        """Assert that the value equals another as JSON: `1` is `1.0`, `true` is no number."""
        if not same(self._value, other):
            _fail(f"expected {shorten(other, 400)}, got {shorten(self._value, 400)}")

    def to_contain(self, part: Any) -> None:
        """Assert that a text contains another, or a list an item."""
        value = self._value
        if isinstance(value, str):
            inside = isinstance(part, str) and part in value
        else:
            inside = isinstance(value, (list, tuple)) and any(same(one, part) for one in value)
        if not inside:
            _fail(f"expected {shorten(value, 400)} to contain {shorten(part, 400)}")

    def to_be_at_least(self, bound: float) -> None:
        """Assert that a number is no less than a bound."""
        self._compared(self._number() >= bound - TOLERANCE, f"at least {bound}")

    def to_be_at_most(self, bound: float) -> None:
        """Assert that a number is no more than a bound."""
        self._compared(self._number() <= bound + TOLERANCE, f"at most {bound}")

    def to_be_greater_than(self, bound: float) -> None:
        """Assert that a number is more than a bound."""
        self._compared(self._number() > bound, f"more than {bound}")

    def to_be_less_than(self, bound: float) -> None:
        """Assert that a number is less than a bound."""
        self._compared(self._number() < bound, f"less than {bound}")

    def to_be_between(self, low: float, high: float) -> None:
        """Assert that a number lies between two others, or is one of them."""
        holds = low - TOLERANCE <= self._number() <= high + TOLERANCE
        self._compared(holds, f"from {low} to {high}")

    def to_be_close_to(self, other: float, *, within: float = 1e-6) -> None:
        """Assert that a number lies within a distance of another."""
        self._compared(abs(self._number() - other) <= within, f"within {within} of {other}")

    def _number(self) -> float:
        if not is_number(self._value) or math.isnan(self._value):
            _fail(f"expected a number, got {shorten(self._value)}")
        return float(self._value)

    def _compared(self, holds: bool, wanted: str) -> None:
        if not holds:
            _fail(f"expected {wanted}, got {self._value}")


class Expecting:
    """`expect(value)`, outside of a test's log: what it asserts is kept nowhere."""

    def __call__(self, value: Any) -> Expectation:
        """Return what can be asserted of a value."""
        return Expectation(value, _graded)

    def edit_distance(self, outputs: str, reference: str) -> Expectation:
        """Return what can be asserted of how far two texts are apart: 0 equal, 1 nothing alike."""
        return self._distance("edit_distance", outputs, reference)

    def embedding_distance(
        self, outputs: str, reference: str, *, embed_fn: Any = None
    ) -> Expectation:
        """Return what can be asserted of how far two texts are apart in meaning.

        Args:
            outputs: One text.
            reference: The other.
            embed_fn: Gives the vector of a text; a local model where it is None.
        """
        given = {} if embed_fn is None else {"embed_fn": embed_fn}
        return self._distance("embedding_similarity", outputs, reference, **given)

    def _distance(self, name: str, outputs: str, reference: str, **params: Any) -> Expectation:
        __tracebackhide__ = True
        result = _graded(build_evaluator(name, params), outputs, reference)
        if result.score is None:
            _fail(_why(result, 1.0))
        return self(1.0 - result.score)


def _graded(evaluator: Any, outputs: Any, reference: Any) -> EvaluationResult:
    result: EvaluationResult = evaluator.evaluate(outputs=outputs, reference_outputs=reference)
    return result


expect = Expecting()

_PLAIN = tuple(name for name in vars(Expectation) if name.startswith("to_"))


def _why(result: EvaluationResult, at_least: float) -> str:
    if result.score is None:
        kind = result.error.kind if result.error is not None else "undefined"
        return f"{result.key}: no score ({kind}): {result.comment}"
    bound = "" if at_least == 1.0 else f", at least {at_least:g} is expected"
    return f"{result.key}: {result.score:g}{bound}: {result.comment}"


def _shown(evaluator: Any, result: EvaluationResult, outputs: Any, reference: Any) -> list[str]:
    """Return both sides' calls beside each other, where the evaluator compares calls."""
    from trajgrade.report.digest import alignment_lines

    found = alignment_of(evaluator, result, outputs, reference)
    if found is None:
        return []
    told = alignment_lines({**result.metadata, "alignment": found})
    return [line for lines in told for line in lines]


def alignment_of(
    evaluator: Any, result: EvaluationResult, outputs: Any, reference: Any
) -> dict[str, Any] | list[Any] | None:
    """Return the alignment of the calls that were compared, as plain objects.

    Returns:
        One for each turn, or the one alone; None where the evaluator compares no calls, where they
        agree, or where they are too many.
    """
    from trajgrade.errors import TooLargeError, TraceError
    from trajgrade.jsontext import dumps, read_back

    agree = result.score is not None and result.score >= 1
    if agree or not hasattr(evaluator, "alignment") or outputs is None or reference is None:
        return None
    try:
        found = evaluator.alignment(outputs=outputs, reference_outputs=reference)
    except (TooLargeError, TraceError):
        return None
    plain: dict[str, Any] | list[Any] = read_back(dumps(found if len(found) > 1 else found[0]))
    return plain


def _fail(*lines: str) -> NoReturn:
    __tracebackhide__ = True
    raise AssertionError("\n".join(lines))
