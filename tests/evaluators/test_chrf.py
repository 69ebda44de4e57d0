"""chrF (SEMANTICS A10), against sacrebleu."""

from __future__ import annotations

import sys

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from trajgrade.errors import ConfigError, MissingExtraError
from trajgrade.evaluators import build_evaluator
from trajgrade.evaluators.chrf import Chrf

TEXTS = st.text("ab cé我, \n", min_size=1, max_size=20).filter(str.strip)


def result(outputs, reference, **options):
    return Chrf(**options)(outputs=outputs, reference_outputs=reference)


@pytest.mark.parametrize(
    "options", [{}, {"word_order": 2}, {"char_order": 3, "beta": 1}, {"lowercase": True}]
)
@given(got=TEXTS, want=TEXTS)
def test_it_is_the_sentence_chrf_of_sacrebleu(options, got, want):
    expected = CHRF(**options).sentence_score(got, [want])
    found = result(got, want, **options)
    assert found.score == pytest.approx(expected.score / 100, abs=1e-12)
    assert 0 <= found.score <= 1


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_the_corpus_score_is_that_of_sacrebleu(rows):
    counts = [result(*row).metadata["counts"] for row in rows]
    pooled = [sum(column) for column in zip(*counts, strict=True)]
    expected = sacrebleu.corpus_chrf([got for got, _ in rows], [[want for _, want in rows]])
    assert Chrf().corpus(pooled) == pytest.approx(min(1, expected.score / 100), abs=1e-12)


@given(st.text(max_size=20))
def test_a_text_scores_1_against_itself(text):
    assert result(text, text).score == pytest.approx(1)


@pytest.mark.parametrize(("got", "want", "score"), [("", "", 1), ("", "a", 0), ("a", " ", 0)])
def test_two_empty_texts_score_1_and_one_scores_0(got, want, score):
    assert result(got, want).score == score


def test_variant_and_tokenizer_are_in_the_metadata():
    assert result("a", "a", word_order=2).metadata["variant"] == "chrF2++, up to 6 letters"
    assert result("a", "a").metadata["tokenizer"] == "characters without blanks"
    assert result("ab", "ac").comment == (
        "1 letter shared of 2 in the response and 2 in the reference"
    )


def test_all_orders_are_checked_at_once():
    with pytest.raises(ConfigError) as refused:
        build_evaluator("chrf", {"char_order": 0, "word_order": -1, "beta": True})
    assert len(refused.value.faults) == 3


def test_without_sacrebleu_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.chrf", None)
    with pytest.raises(MissingExtraError, match=r"chrF needs the package sacrebleu: .*\[text\]"):
        result("a", "a")
