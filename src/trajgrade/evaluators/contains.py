"""Contains: a text, the needle, stands in the response (SEMANTICS A10).

A text is one needle, commas and all; a list of needles needs a mode. Case is folded in full, unless
it counts. A response that is a structure is searched as its JSON text, keys sorted. The empty text
stands in every text, so that it tests nothing: as a parameter it is refused, from a row's reference
it is not evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from trajgrade.errors import ConfigError, shorten
from trajgrade.evaluators.answering import AnswerEvaluator, check_flags
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.reading import read
from trajgrade.evaluators.references import alternatives
from trajgrade.matching.values import is_number
from trajgrade.result import EvaluationResult

ContainsMode = Literal["any", "all", "none"]


@dataclass(frozen=True)
class Contains(AnswerEvaluator):
    """1 if the needle stands in the response, else 0; `value` is the same as a bool.

    Attributes:
        substring: The needle, or a list of them; None takes it from the row's reference.
        case_sensitive: Whether the case of letters counts.
        key: The metric's name.
        mode: Whether `any`, `all` or `none` of the needles must stand there. One needle must stand
            there, unless the mode is `none`; a list needs a mode; the references of `any_of` are
            `any`.
    """

    substring: str | Sequence[str] | None = None
    case_sensitive: bool = False
    key: str = "contains"
    mode: ContainsMode | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the needles and the mode.

        Raises:
            ConfigError: A needle is empty or not a text, or a list comes without a mode.
        """
        check_flags(case_sensitive=self.case_sensitive)
        if self.mode is not None:
            check_choice("mode", self.mode, ContainsMode)
        if self.substring is None or (isinstance(self.substring, str) and self.substring):
            return
        self._check_mode("substring", self.substring)
        if not isinstance(self.substring, (str, list, tuple)):
            raise ConfigError(
                f"substring: a text or a list of texts is needed, got {self.substring!r}; "
                "in YAML, put a number in quotes"
            )
        wrong = [needle for needle in self.substring if not (isinstance(needle, str) and needle)]
        if wrong or not self.substring:
            raise ConfigError(
                "substring: each needle must be a text that is not empty, as the empty text stands "
                f"in every response; got {self.substring!r}"
            )

    @property
    def needs_reference(self) -> bool:  # type: ignore[override]  # as it is configured
        """Whether the needle is the row's."""
        return self.substring is None

    def _check_mode(self, name: str, needles: object) -> None:
        if isinstance(needles, (list, tuple)) and self.mode is None:
            choices = ", ".join(get_args(ContainsMode))
            raise ConfigError(f"{name}: a list needs mode=…, one of {choices}")

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Look for the needles in the response.

        Args:
            outputs: The response as text or structure, or a trace with its final response.
            reference_outputs: The needle, if `substring` is not given: a text, a number, a list of
                them, or `{"any_of": […]}`.
            inputs: Not read.
            extra: Not read.

        Raises:
            ConfigError: The reference is a list, and there is no mode.
            TraceError: The outputs or the reference are a trace and broken.
        """
        if self.substring is not None:
            given = [self.substring] if isinstance(self.substring, str) else self.substring
            return self._search(outputs, given, self.mode or "all")
        options = alternatives(reference_outputs)
        wanted = read(reference_outputs).said if options is None else options
        if wanted is None:
            return self.unscored("no_reference", "there is neither a substring nor a reference")
        if options is None:
            self._check_mode("reference", wanted)
        mode = self.mode or ("all" if options is None else "any")
        needles = []
        for item in wanted if isinstance(wanted, list) else [wanted]:
            needle = item if item is None else read(item)
            if needle is None or needle.said == "" or not _is_needle(needle.said):
                return self._no_needle(outputs, item)
            needles.append(needle.text)
        return self._search(outputs, needles, mode) if needles else self._no_needle(outputs, wanted)

    def _no_needle(self, outputs: Any, item: Any) -> EvaluationResult:
        if read(outputs).said is None:
            return self.without_output(outputs)
        return self.unscored("undefined", f"the reference {shorten(item)} is nothing to look for")

    def _search(self, outputs: Any, needles: Sequence[str], mode: ContainsMode) -> EvaluationResult:
        answer = read(outputs)
        if answer.said is None:
            return self.without_output(outputs)
        text = self._folded(answer.text)
        found = [needle for needle in needles if self._folded(needle) in text]
        absent = [needle for needle in needles if needle not in found]
        passed = {"any": bool(found), "all": not absent, "none": not found}[mode]
        parts = [f"contains {shorten(found[0])}"] if found else []
        parts += [f"lacks {shorten(absent[0])}"] if absent else []
        if len(needles) > 1:
            parts.append(f"{len(found)} of {len(needles)} found, {mode} wanted")
        return self.verdict(passed, "; ".join(parts), {"found": found, "missing": absent})

    def _folded(self, text: str) -> str:
        return text if self.case_sensitive else text.casefold()


def _is_needle(said: Any) -> bool:
    return isinstance(said, (str, bool)) or is_number(said)
