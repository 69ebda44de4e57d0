"""chrF: how many runs of one to six letters response and reference share (SEMANTICS A10).

Computed by sacrebleu, divided by 100: an F-score over letters, blanks left out, that weighs recall
twice; with `word_order=2` it is chrF++. It needs no words, and so works alike in every script. Two
empty texts score 1, one empty text 0. The corpus score of a run is sacrebleu's, from the counts of
all rows together. Source: Popović 2015, 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trajgrade.errors import ConfigError, MissingExtraError
from trajgrade.evaluators.answering import AnswerComparison, check_flags
from trajgrade.evaluators.reading import Answer, texts
from trajgrade.evaluators.wording import count
from trajgrade.result import EvaluationResult


@dataclass(frozen=True)
class Chrf(AnswerComparison):
    """Sentence chrF, from 0 to 1; `value` is sacrebleu's number, from 0 to 100.

    Attributes:
        char_order: The longest run of letters.
        word_order: The longest run of words; 0 is chrF, 2 is chrF++.
        beta: How much more recall weighs than precision.
        lowercase: Whether the case of letters is left out.
        key: The metric's name.
    """

    char_order: int = field(default=6, kw_only=True)
    word_order: int = field(default=0, kw_only=True)
    beta: int = field(default=2, kw_only=True)
    lowercase: bool = field(default=False, kw_only=True)
    key: str = "chrf"

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigError: An option has a value that it does not take.
        """
        check_flags(lowercase=self.lowercase)
        least = {"char_order": 1, "word_order": 0, "beta": 1}
        faults = [
            f"{name}: a whole number of at least {low} is needed, got {value!r}"
            for name, low in least.items()
            for value in [getattr(self, name)]
            if not isinstance(value, int) or isinstance(value, bool) or value < low
        ]
        if faults:
            raise ConfigError(*faults)

    @cached_property
    def _sacrebleu(self) -> Any:
        try:
            from sacrebleu.metrics.chrf import CHRF
        except ImportError:
            raise MissingExtraError("chrF", "sacrebleu", "text") from None
        return CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
        )

    def prepare(self) -> None:
        """Import sacrebleu.

        Raises:
            MissingExtraError: It is not installed.
        """
        _ = self._sacrebleu

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Count the runs of letters that both share.

        Raises:
            MissingExtraError: sacrebleu is not installed.
        """
        got, want = texts(answer, reference)
        # What sacrebleu's own significance tests add up, row by row.
        (counts,) = self._sacrebleu._extract_corpus_statistics([got], [[want]])  # noqa: SLF001
        score = self.corpus(counts)
        if not got.strip() or not want.strip():
            score = float(got.strip() == want.strip())
        ours, theirs, shared = counts[:3]
        comment = f"{count(shared, 'letter')} shared of {ours} in the response and {theirs} in the "
        comment += "reference"
        metadata = {
            "counts": [int(count) for count in counts],
            "tokenizer": "characters without blanks",
            "variant": f"chrF{self.beta}{'+' * self.word_order}, up to {self.char_order} letters",
        }
        return EvaluationResult(self.key, score, score * 100, comment, metadata)

    def corpus(self, counts: Sequence[int]) -> float:
        """Return chrF of the counts of all rows together, from 0 to 1."""
        found = self._sacrebleu._compute_score_from_stats(list(counts))  # noqa: SLF001 as above
        return min(1.0, float(found.score) / 100)
