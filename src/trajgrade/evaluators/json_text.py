"""JSONValid: the response is JSON (SEMANTICS A10).

The grammar is that of RFC 8259, without leniency: NaN, Infinity, trailing commas, comments and text
around the JSON are invalid; a lone scalar is valid. Repeated names are valid and noted, or refused.
A response that is parsed already is valid, unless something in it, such as NaN, has no place in
JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trajgrade.errors import shorten
from trajgrade.evaluators.answering import AnswerEvaluator, check_flags
from trajgrade.evaluators.json_strict import parsed_fault, read_strictly, unfenced
from trajgrade.evaluators.reading import Answer
from trajgrade.result import EvaluationResult


@dataclass(frozen=True)
class JSONValid(AnswerEvaluator):
    """1 if the response is JSON, else 0; `value` is the same as a bool.

    Attributes:
        key: The metric's name.
        unique_keys: Whether an object that repeats a name is refused.
        allow_fences: Whether one Markdown fence around the whole response is left out.
    """

    key: str = "json_valid"
    unique_keys: bool = field(default=False, kw_only=True)
    allow_fences: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigError: An option is neither true nor false.
        """
        check_flags(unique_keys=self.unique_keys, allow_fences=self.allow_fences)

    def grade(self, answer: Answer) -> EvaluationResult:
        """Read the text, or look through the parsed value."""
        if not isinstance(answer.said, str):
            fault = parsed_fault(answer.said)
            return self.verdict(fault is None, fault or "a parsed JSON value")
        found = read_strictly(unfenced(answer.said) if self.allow_fences else answer.said)
        if found.fault is not None:
            return self.verdict(False, found.fault)
        remarks = list(found.notes)
        metadata: dict[str, Any] = {}
        if found.notes:
            metadata["notes"] = found.notes
        if found.repeated:
            metadata["repeated_names"] = found.repeated
            remarks.append(f"the name {shorten(found.repeated[0])} is repeated in one object")
        passed = not (found.repeated and self.unique_keys)
        start = ["valid JSON"] if passed else []
        return self.verdict(passed, "; ".join([*start, *reversed(remarks)]), metadata)
