"""BLEU (SEMANTICS A10), against sacrebleu."""

from __future__ import annotations

import sys

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

import trajgrade
from trajgrade.errors import ConfigError, MissingExtraError
from trajgrade.evaluators import build_evaluator
from trajgrade.evaluators.bleu import Bleu

WORDS = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "Straße", "мир", "。", "1,000"]), min_size=1
)
TEXTS = WORDS.map(" ".join)


def result(outputs, reference, **options):
    return Bleu(**options)(outputs=outputs, reference_outputs=reference)


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
@given(got=TEXTS, want=TEXTS)
def test_it_is_the_sentence_bleu_of_sacrebleu(tokenize, got, want):
    expected = sacrebleu.sentence_bleu(got, [want], tokenize=tokenize)
    found = result(got, want, tokenize=tokenize)
    assert found.score == pytest.approx(expected.score / 100, abs=1e-12)
    assert found.value == pytest.approx(expected.score)
    assert found.metadata["tokenizer"] == tokenize


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_the_corpus_score_is_that_of_sacrebleu(rows):
    counts = [result(*row).metadata["counts"] for row in rows]
    pooled = [sum(column) for column in zip(*counts, strict=True)]
    expected = sacrebleu.corpus_bleu([got for got, _ in rows], [[want for _, want in rows]])
    assert Bleu().corpus(pooled) == pytest.approx(min(1, expected.score / 100), abs=1e-12)


@given(st.text(max_size=20), st.text(max_size=20))
def test_every_score_is_between_0_and_1(got, want):
    assert 0 <= result(got, want).score <= 1


@pytest.mark.parametrize(
    ("got", "want", "score"), [("", "", 1), ("", "a", 0), ("a", "", 0), ("one", "one", 1)]
)
def test_two_empty_texts_score_1_and_one_scores_0(got, want, score):
    assert result(got, want).score == score


def test_a_script_without_spaces_is_told_of_its_tokenizer():
    assert "tokenize='char'" in result("我喜欢苹果", "我喜欢香蕉").comment
    found = result("我喜欢苹果", "我喜欢香蕉", tokenize="char")
    assert 0 < found.score < 1
    assert "tokenize" not in found.comment


def test_a_response_that_is_too_short_is_told_so():
    found = result("the cat", "the cat sat on the mat")
    assert found.comment == "2 of 2 words from the reference; 2 words against 6"
    assert found.metadata["brevity_penalty"] < 1


def test_case_counts_unless_it_is_left_out():
    assert result("THE CAT", "the cat").score == 0
    assert result("THE CAT", "the cat", lowercase=True).score == 1


def test_the_best_of_several_references_counts():
    found = result("the cat", {"any_of": ["a dog", "the cat"]})
    assert (found.score, found.metadata["reference_index"]) == (1, 1)


def test_what_downloads_is_no_tokenizer():
    with pytest.raises(ConfigError, match="unknown choice 'flores200'"):
        build_evaluator("bleu", {"tokenize": "flores200"})


def test_without_sacrebleu_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    absent = r"BLEU needs the package sacrebleu: .*\[text\]"
    with pytest.raises(MissingExtraError, match=absent):
        result("a", "a")
    with pytest.raises(MissingExtraError, match=absent):  # before any row, not once for each
        trajgrade.evaluate([{"response": "a", "reference": "a"}], ["bleu"])
