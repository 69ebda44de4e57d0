"""AnswerEvaluator, AnswerComparison: what all evaluators of the final response share.

What is missing is not evaluated: no response is `no_output`, no reference `no_reference`. Of
several acceptable references, `{"any_of": […]}`, the best one counts, and the result says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import msgspec

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.evaluators.reading import Answer, read
from trajgrade.evaluators.references import alternatives
from trajgrade.result import EvaluationResult


class AnswerEvaluator(Evaluator):
    """Grades the response alone. A subclass says how, in `grade`."""

    reads: ClassVar[Reads] = "response"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Grade the response.

        Args:
            outputs: The response as text or structure, or a trace with its final response.
            reference_outputs: Not read.
            inputs: Not read.
            extra: Not read.

        Raises:
            TraceError: The outputs are a trace and broken.
        """
        answer = read(outputs)
        return self.without_output(outputs) if answer.said is None else self.grade(answer)

    def grade(self, answer: Answer) -> EvaluationResult:
        """Grade what the response says."""
        raise NotImplementedError(type(self).__name__)

    def without_output(self, outputs: Any) -> EvaluationResult:
        """Say that there is no response."""
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        return self.unscored("no_output", "the outputs are a trace without a final response")

    def verdict(
        self, passed: bool, comment: str, metadata: dict[str, Any] | None = None
    ) -> EvaluationResult:
        """Return the result of a test that passes or fails."""
        return EvaluationResult(self.key, float(passed), passed, comment, metadata or {})


class AnswerComparison(AnswerEvaluator):
    """Grades the response against a reference. A subclass says how, in `compare`."""

    needs_reference: ClassVar[bool] = True

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Compare the response with the reference.

        Args:
            outputs: The response as text or structure, or a trace with its final response.
            reference_outputs: The same of what was expected, or `{"any_of": […]}`.
            inputs: Not read.
            extra: Not read.

        Raises:
            TraceError: The outputs or the reference are a trace and broken.
        """
        options = alternatives(reference_outputs)
        expected = [
            read(option) for option in ([reference_outputs] if options is None else options)
        ]
        if all(reference.said is None for reference in expected):
            return self._without_reference(reference_outputs)
        answer = read(outputs)
        if answer.said is None:
            return self.without_output(outputs)
        results = [
            self._without_reference(None) if option.said is None else self.compare(answer, option)
            for option in expected
        ]
        return results[0] if options is None else best(results)

    def _without_reference(self, reference: Any) -> EvaluationResult:
        if reference is None:
            return self.unscored("no_reference", "there is no reference")
        return self.unscored("no_reference", "the reference is a trace without a final response")

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Compare what the response says with what one reference says."""
        raise NotImplementedError(type(self).__name__)


def best(results: Sequence[EvaluationResult]) -> EvaluationResult:
    """Return the result with the highest score, the first of equals, saying which one it is."""
    index = max(range(len(results)), key=lambda i: (_rank(results[i]), -i))
    chosen = results[index]
    return msgspec.structs.replace(
        chosen,
        comment=f"reference {index + 1} of {len(results)}: {chosen.comment}",
        metadata={**chosen.metadata, "reference_index": index},
    )


def _rank(result: EvaluationResult) -> float:
    return -1.0 if result.score is None else result.score


def check_flags(**flags: object) -> None:
    """Refuse what is neither true nor false.

    Raises:
        ConfigError: A flag is something else, such as the text `"no"`.
    """
    faults = [
        f"{name}: true or false is needed, got {value!r}"
        for name, value in flags.items()
        if not isinstance(value, bool)
    ]
    if faults:
        raise ConfigError(*faults)
