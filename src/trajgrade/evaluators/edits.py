"""EditDistance: how few edits turn the response into the reference (SEMANTICS A10).

The distance `d` is Levenshtein's: the least number of code points to insert, delete or replace. The
score is the similarity `1 - d / max(len)`, 1 for two empty texts. (The `ratio` of rapidfuzz and
others has no replacing, and is another number.) A structure is compared as its JSON text, keys
sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trajgrade.evaluators.answering import AnswerComparison
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.reading import Answer, texts
from trajgrade.matching.arguments import UnicodeForm, normalise
from trajgrade.result import EvaluationResult


@dataclass(frozen=True)
class EditDistance(AnswerComparison):
    """1 for equal texts, 0 where nothing is kept; `value` is the distance in code points.

    Attributes:
        key: The metric's name.
        unicode: `NFC` or `NFKC`: the form that both texts are normalised to first.
    """

    key: str = "edit_distance"
    unicode: UnicodeForm | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigError: The Unicode form is none.
        """
        if self.unicode is not None:
            check_choice("unicode", self.unicode, UnicodeForm)

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Measure the distance."""
        from rapidfuzz.distance import Levenshtein

        got, want = texts(answer, reference)
        if self.unicode is not None:
            got, want = normalise(got, self.unicode), normalise(want, self.unicode)
        distance = Levenshtein.distance(got, want)
        length = max(len(got), len(want))
        score = 1 - distance / length if length else 1.0
        comment = f"{distance} edits over {length} characters" if distance else "equal"
        return EvaluationResult(
            self.key, score, distance, comment, {"distance": distance, "length": length}
        )
