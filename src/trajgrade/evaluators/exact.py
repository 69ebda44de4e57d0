"""ExactMatch: the response equals the reference (SEMANTICS A2, A10).

Two texts are equal code point by code point, after leaving out blanks at both ends (`strip`) and,
if asked for, differences of case (full case folding: `STRASSE` equals `straße`) or of Unicode form.
Two structures are equal as JSON values: the order of keys does not count, `1` equals `1.0`, `true`
does not equal `1`. A text against a structure is parsed as JSON first; a text that is not JSON
differs. Two objects of which each holds more than its text are compared as structures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trajgrade.errors import shorten
from trajgrade.evaluators.answering import AnswerComparison, check_flags
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.reading import Answer
from trajgrade.jsontext import loads
from trajgrade.matching.arguments import UnicodeForm, normalise
from trajgrade.matching.values import differences, has_nan, same
from trajgrade.result import EvaluationResult

_NOT_JSON = object()


@dataclass(frozen=True)
class ExactMatch(AnswerComparison):
    """1 if the response equals the reference, else 0; `value` is the same as a bool.

    Attributes:
        case_sensitive: Whether the case of letters counts; in texts only.
        strip: Whether blanks at both ends are left out; in texts only.
        key: The metric's name.
        unicode: `NFC` or `NFKC`: the form that text is normalised to, inside structures too.
    """

    case_sensitive: bool = True
    strip: bool = True
    key: str = "exact_match"
    unicode: UnicodeForm | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigError: An option has a value that it does not take.
        """
        check_flags(case_sensitive=self.case_sensitive, strip=self.strip)
        if self.unicode is not None:
            check_choice("unicode", self.unicode, UnicodeForm)

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Compare two texts, two structures, or a text with a structure."""
        got, want = answer.said, reference.said
        both_texts = isinstance(got, str) and isinstance(want, str)
        if both_texts and not (_holds_more(answer) and _holds_more(reference)):
            ours, theirs = self._form(got), self._form(want)
            if ours == theirs:
                return self.verdict(True, "equal")
            if not self._same_structure(answer, reference, []):
                return self.verdict(False, first_difference(ours, theirs))
        return self._structures(answer, reference)

    def _form(self, text: str) -> str:
        if self.unicode is not None:
            text = normalise(text, self.unicode)
        if self.strip:
            text = text.strip()
        if not self.case_sensitive:
            text = text.casefold()
            if self.unicode is not None:  # folding may undo it
                text = normalise(text, self.unicode)
        return text

    def _structures(self, answer: Answer, reference: Answer) -> EvaluationResult:
        notes: list[str] = []
        if self._same_structure(answer, reference, notes):
            if has_nan(answer.structure) or has_nan(reference.structure):
                notes.append("NaN, which is not JSON, counts as equal to NaN")
            comment = "; ".join(["equal as JSON values", *notes])
            return self.verdict(True, comment, {"notes": notes} if notes else None)
        got, want = (_side(self._normal(side)) for side in (answer, reference))
        for side, value in (("response", got), ("reference", want)):
            if value is _NOT_JSON:
                other = "reference" if side == "response" else "response"
                return self.verdict(False, f"the {other} is a structure and the {side} is not JSON")
        place = next(differences(got, want))
        expected, found = shorten(place.expected), shorten(place.got)
        comment = f"{place.path or 'the whole'}: expected {expected}, got {found}"
        return self.verdict(
            False, comment, {"path": place.path, "expected": expected, "got": found}
        )

    def _same_structure(self, answer: Answer, reference: Answer, notes: list[str]) -> bool:
        """Whether they are the same structure, a text on one side being parsed."""
        ours, theirs = self._normal(answer), self._normal(reference)
        got, want = ours.structure, theirs.structure
        return (
            (got is not None and want is not None and same(got, want))
            or (
                want is not None
                and isinstance(ours.said, str)
                and same(_parsed(ours.said, notes), want)
            )
            or (
                got is not None
                and isinstance(theirs.said, str)
                and same(got, _parsed(theirs.said, notes))
            )
        )

    def _normal(self, answer: Answer) -> Answer:
        if self.unicode is None:
            return answer
        return Answer(*(normalise(part, self.unicode) for part in answer))


def _holds_more(answer: Answer) -> bool:
    """Whether a text comes from an object that says more than the text."""
    return isinstance(answer.held, dict) and len(answer.held) > 1


def _side(answer: Answer) -> Any:
    return answer.structure if answer.structure is not None else _parsed(answer.said, [])


def _parsed(text: str, notes: list[str]) -> Any:
    try:
        return loads(text, notes)
    except ValueError:
        return _NOT_JSON


def first_difference(got: str, want: str, context: int = 20) -> str:
    """Say where two different texts part, with some text around; characters count from 1."""
    pairs = enumerate(zip(got, want, strict=False))
    place = next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(got), len(want)))
    start = max(0, place - context // 2)
    lead = "…" if start else ""

    def around(text: str) -> str:
        piece = text[start : place + context]
        tail = "…" if len(text) > place + context else ""
        return f"{lead}{piece!r}{tail}" if text[place:] else f"{lead}{piece!r} and then the end"

    return f"differs at character {place + 1}: expected {around(want)}, got {around(got)}"
