"""BLEU: how precisely the response's runs of one to four words are the reference's (SEMANTICS A10).

Computed by sacrebleu, whose sentence BLEU this is, divided by 100: smoothing `exp`, and in a text
of fewer than four words the orders that it has. Two empty texts score 1, one empty text 0. The
corpus score of a run is sacrebleu's corpus BLEU, from the counts of all rows together: the mean of
the rows is another number. Source: Papineni et al. 2002; Post 2018.

The tokenizer `13a` is made for European languages and takes a sentence without spaces for one word;
`zh` and `char` cut Chinese and other scripts into letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from trajgrade.errors import MissingExtraError
from trajgrade.evaluators.answering import AnswerComparison, check_flags
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.reading import Answer, texts
from trajgrade.evaluators.tokens import is_unspaced
from trajgrade.evaluators.wording import count
from trajgrade.result import EvaluationResult

Tokenizer = Literal["13a", "intl", "zh", "char", "none"]  # those that download nothing
_BY_SPACES = ("13a", "intl", "none")
_ORDER = 4


@dataclass(frozen=True)
class Bleu(AnswerComparison):
    """Sentence BLEU, from 0 to 1; `value` is sacrebleu's number, from 0 to 100.

    Attributes:
        tokenize: How texts are cut into words: sacrebleu's `13a`, `intl`, `zh`, `char` or `none`.
        lowercase: Whether the case of letters is left out.
        key: The metric's name.
    """

    tokenize: Tokenizer = field(default="13a", kw_only=True)
    lowercase: bool = field(default=False, kw_only=True)
    key: str = "bleu"

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigError: An option has a value that it does not take.
        """
        check_choice("tokenize", self.tokenize, Tokenizer)
        check_flags(lowercase=self.lowercase)

    @cached_property
    def _sacrebleu(self) -> Any:
        try:
            from sacrebleu.metrics.bleu import BLEU
        except ImportError:
            raise MissingExtraError("BLEU", "sacrebleu", "text") from None
        return BLEU(lowercase=self.lowercase, tokenize=self.tokenize, effective_order=True)

    def prepare(self) -> None:
        """Import sacrebleu.

        Raises:
            MissingExtraError: It is not installed.
        """
        _ = self._sacrebleu

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Count the runs of words that the response has from the reference.

        Raises:
            MissingExtraError: sacrebleu is not installed.
        """
        got, want = texts(answer, reference)
        found = self._sacrebleu.sentence_score(got, [want])
        score = min(1.0, found.score / 100)
        if not got.strip() or not want.strip():
            score = float(got.strip() == want.strip())
        metadata = {
            "counts": [*found.counts, *found.totals, found.sys_len, found.ref_len],
            "precisions": [share / 100 for share in found.precisions],
            "brevity_penalty": found.bp,
            "tokenizer": self.tokenize,
            "variant": "sentence BLEU, up to 4 words, exp smoothing, effective order",
        }
        comment = f"{found.counts[0]} of {count(found.totals[0], 'word')} from the reference"
        if found.bp < 1:
            comment += f"; {count(found.sys_len, 'word')} against {found.ref_len}"
        if self.tokenize in _BY_SPACES and (is_unspaced(got) or is_unspaced(want)):
            comment += (
                f"; the tokenizer {self.tokenize} needs spaces between words, which this script "
                "lacks: tokenize='char' does not"
            )
        return EvaluationResult(self.key, score, score * 100, comment, metadata)

    def corpus(self, counts: Sequence[int]) -> float:
        """Return corpus BLEU of the counts of all rows together, from 0 to 1."""
        found = type(self._sacrebleu).compute_bleu(
            correct=list(counts[:_ORDER]),
            total=list(counts[_ORDER : 2 * _ORDER]),
            sys_len=counts[-2],
            ref_len=counts[-1],
            smooth_method="exp",
        )
        return min(1.0, float(found.score) / 100)
