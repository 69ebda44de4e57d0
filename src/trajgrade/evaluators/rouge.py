"""ROUGE: how many words, or runs of words, response and reference share (SEMANTICS A10).

    rouge1 … rouge9   runs of n words, each counted as often as both have it
    rougeL            the longest common subsequence of words
    rougeLsum         for each sentence of the reference, the union of its longest common
                      subsequences with the response's sentences

The score is F1; precision and recall are in the metadata. Two empty texts score 1, one empty text
0. Sentences are lines, or with `split_summaries` what punctuation ends. A run's corpus score is F1
of the counts of all rows together. Source: Lin 2004; on ASCII equal to Google's rouge-score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from trajgrade.errors import TooLargeError
from trajgrade.evaluators.answering import AnswerComparison, check_flags
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.reading import Answer, texts
from trajgrade.evaluators.tokens import TOKENIZER, sentences, words
from trajgrade.evaluators.wording import count
from trajgrade.matching.arguments import UnicodeForm, normalise
from trajgrade.result import EvaluationResult

RougeType = Literal[
    "rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rouge6", "rouge7", "rouge8", "rouge9",
    "rougeL", "rougeLsum",
]  # fmt: skip
Words = Sequence[str]

_SINGLE = ("rouge1", "rougeL", "rougeLsum")
_MAX_CELLS = 50_000_000


@dataclass(frozen=True)
class _Overlap(AnswerComparison):
    """What the variants share."""

    use_stemmer: bool = field(default=False, kw_only=True)
    split_summaries: bool = field(default=False, kw_only=True)
    unicode: UnicodeForm | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigError: An option has a value that it does not take.
        """
        check_choice("rouge_type", self.variant, RougeType)
        check_flags(use_stemmer=self.use_stemmer, split_summaries=self.split_summaries)
        if self.unicode is not None:
            check_choice("unicode", self.unicode, UnicodeForm)

    @property
    def variant(self) -> RougeType:
        """Which ROUGE it is."""
        raise NotImplementedError(type(self).__name__)

    @cached_property
    def _described(self) -> dict[str, Any]:
        described: dict[str, Any] = {"variant": self.variant, "measure": "f1"}
        described["tokenizer"] = TOKENIZER + ("+porter" if self.use_stemmer else "")
        if self.variant == "rougeLsum":
            described["sentences"] = "punctuation" if self.split_summaries else "lines"
        return described

    def prepare(self) -> None:
        """Import the stemmer, if it is used.

        Raises:
            MissingExtraError: nltk is not installed.
        """
        words("", stem=self.use_stemmer)

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Count what both share.

        Raises:
            MissingExtraError: Stems are asked for and nltk is not installed.
            TooLargeError: Two sentences are too long for the union of their subsequences.
        """
        got, want = texts(answer, reference)
        if self.unicode is not None:
            got, want = normalise(got, self.unicode), normalise(want, self.unicode)
        counts = self._counts(got, want)
        precision, recall, score = measures(counts)
        wordless = counts[1] == counts[2] == 0
        if wordless and not (words(got) or words(want)) and got.strip() == want.strip():
            precision = recall = score = 1.0
        shared, ours, theirs = counts
        unit, of = (
            ("word", "") if self.variant in _SINGLE else ("run", f" of {self.variant[-1]} words")
        )
        comment = f"{count(shared, unit)}{of} shared of {ours} in the response and {theirs} in the "
        comment = f"neither side has a {unit}{of}" if wordless else f"{comment}reference"
        metadata = {
            "precision": precision, "recall": recall, "f1": score, "counts": counts,
            **self._described,
        }  # fmt: skip
        return EvaluationResult(self.key, score, score, comment, metadata)

    def _counts(self, got: str, want: str) -> list[int]:
        """Return how many are shared, how many the response has, and how many the reference."""
        stem = self.use_stemmer
        if self.variant == "rougeLsum":
            split = self.split_summaries
            return union_counts(
                [words(part, stem=stem) for part in sentences(got, split=split)],
                [words(part, stem=stem) for part in sentences(want, split=split)],
            )
        ours, theirs = words(got, stem=stem), words(want, stem=stem)
        if self.variant == "rougeL":
            return [shared_length(ours, theirs), len(ours), len(theirs)]
        return run_counts(ours, theirs, int(self.variant[-1]))

    def corpus(self, counts: Sequence[int]) -> float:
        """Return F1 of the counts of all rows together."""
        return measures(counts)[2]


def measures(counts: Sequence[int]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of shared, response's and reference's counts."""
    shared, ours, theirs = counts
    precision = shared / ours if ours else 0.0
    recall = shared / theirs if theirs else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def run_counts(ours: Words, theirs: Words, n: int) -> list[int]:
    """Count the runs of n words: shared, in the response, in the reference."""
    left, right = (
        Counter(tuple(side[at : at + n]) for at in range(len(side) - n + 1))
        for side in (ours, theirs)
    )
    return [(left & right).total(), left.total(), right.total()]


def shared_length(ours: Words, theirs: Words) -> int:
    """Return the length of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(ours, theirs)


def union_counts(ours: Sequence[Words], theirs: Sequence[Words]) -> list[int]:
    """Count the words of the union subsequences: shared, in the response, in the reference.

    No word is shared more often than either side has it.
    """
    left, right = (Counter(word for part in side for word in part) for side in (ours, theirs))
    totals = [left.total(), right.total()]
    if len(ours) == len(theirs) == 1:  # then no union, and the length is enough
        return [shared_length(ours[0], theirs[0]), *totals]
    shared = 0
    for expected in theirs:
        places = {place for got in ours for place in shared_places(got, expected)}
        for place in sorted(places):
            word = expected[place]
            if left[word] > 0 and right[word] > 0:
                shared += 1
                left[word] -= 1
                right[word] -= 1
    return [shared, *totals]


def shared_places(got: Words, expected: Words) -> list[int]:
    """Return the places in `expected` of one longest common subsequence with `got`.

    Of several, the one that a walk back through the table finds which leaves out a word of
    `expected` unless only leaving out one of `got` keeps the length.

    Raises:
        TooLargeError: The table would be too large.
    """
    if not got or not expected:
        return []
    table = _table(got, expected)
    places = []
    i, j = len(expected), len(got)
    while i and j:
        if expected[i - 1] == got[j - 1]:
            i, j = i - 1, j - 1
            places.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


def _table(got: Words, expected: Words) -> Any:
    """Return the lengths of the longest common subsequences of all pairs of beginnings."""
    import numpy as np

    if len(got) * len(expected) > _MAX_CELLS:
        raise TooLargeError(
            f"rougeLsum: two sentences of {len(expected)} and {len(got)} words; the product may "
            f"be {_MAX_CELLS}. A sentence is a line: break the text into lines, or give "
            "split_summaries=True"
        )
    ids: dict[str, int] = {}
    ours = np.array([ids.setdefault(word, len(ids)) for word in got])
    table = np.zeros((len(expected) + 1, len(got) + 1), dtype=np.int32)
    for i, word in enumerate(expected, start=1):
        above = table[i - 1]
        diagonal = above[:-1] + (ours == ids.get(word, -1))
        np.maximum.accumulate(np.maximum(above[1:], diagonal), out=table[i, 1:])
    return table


@dataclass(frozen=True)
class Rouge(_Overlap):
    """ROUGE of the variant given.

    Attributes:
        rouge_type: `rouge1` … `rouge9`, `rougeL`, `rougeLsum`.
        use_stemmer: Whether English words are cut to their Porter stem.
        split_summaries: Whether the sentences of `rougeLsum` are found by punctuation; else each
            line is one.
        key: The metric's name; several in one run are told apart as `rouge:<type>`.
        unicode: `NFC` or `NFKC`: the form that both texts are normalised to first.
    """

    rouge_type: RougeType = "rougeL"
    key: str = "rouge"

    @property
    def variant(self) -> RougeType:
        """Which ROUGE it is."""
        return self.rouge_type

    @property
    def distinct_key(self) -> str:
        """The key that tells several in one run apart."""
        return f"rouge:{self.rouge_type}"


@dataclass(frozen=True)
class _Named(_Overlap):
    fixed: ClassVar[RougeType]

    @property
    def variant(self) -> RougeType:
        """Which ROUGE it is."""
        return self.fixed


@dataclass(frozen=True)
class Rouge1(_Named):
    """Single words that both share."""

    fixed: ClassVar[RougeType] = "rouge1"
    key: str = "rouge_1"


@dataclass(frozen=True)
class Rouge2(_Named):
    """Pairs of neighbouring words that both share."""

    fixed: ClassVar[RougeType] = "rouge2"
    key: str = "rouge_2"


@dataclass(frozen=True)
class RougeL(_Named):
    """The longest common subsequence of words."""

    fixed: ClassVar[RougeType] = "rougeL"
    key: str = "rouge_l"


@dataclass(frozen=True)
class RougeLSum(_Named):
    """The longest common subsequences of words, sentence by sentence."""

    fixed: ClassVar[RougeType] = "rougeLsum"
    key: str = "rouge_l_sum"
