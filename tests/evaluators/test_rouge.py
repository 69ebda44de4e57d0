"""ROUGE (SEMANTICS A10): the published definition, and Google's rouge-score on ASCII."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq
from rouge_score.rouge_scorer import RougeScorer

from trajgrade.errors import ConfigError, MissingExtraError, TooLargeError
from trajgrade.evaluators import build_evaluator, tokens
from trajgrade.evaluators.rouge import Rouge, Rouge1, Rouge2, RougeL, RougeLSum, shared_places

TYPES = ["rouge1", "rouge2", "rouge3", "rouge9", "rougeL", "rougeLsum"]
NAMED = {
    "rouge_1": Rouge1(), "rouge_2": Rouge2(), "rouge_l": RougeL(), "rouge_l_sum": RougeLSum(),
}  # fmt: skip

ASCII = st.text(st.characters(max_codepoint=127), max_size=60)
WORDS = st.lists(
    st.sampled_from(["the", "cat", "Running", "ran", "a", "\n", ".", "x1"]), max_size=14
)
SENTENCES = WORDS.map(" ".join)


def result(outputs, reference, **options):
    return Rouge(**options)(outputs=outputs, reference_outputs=reference)


@pytest.mark.parametrize("rouge_type", TYPES)
@given(got=ASCII | SENTENCES, want=ASCII | SENTENCES)
def test_on_ascii_it_is_rouge_score(rouge_type, got, want):
    expected = RougeScorer([rouge_type]).score(want, got)[rouge_type]
    found = result(got, want, rouge_type=rouge_type)
    if tokens.words(got) or tokens.words(want):
        assert found.score == pytest.approx(expected.fmeasure, abs=1e-12)
        assert found.metadata["precision"] == pytest.approx(expected.precision, abs=1e-12)
        assert found.metadata["recall"] == pytest.approx(expected.recall, abs=1e-12)
    else:
        assert found.score == float(got.strip() == want.strip())


@pytest.mark.parametrize("rouge_type", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
@given(got=SENTENCES, want=SENTENCES)
def test_with_stems_it_is_rouge_score_too(rouge_type, got, want):
    expected = RougeScorer([rouge_type], use_stemmer=True).score(want, got)[rouge_type]
    found = result(got, want, rouge_type=rouge_type, use_stemmer=True)
    if tokens.words(got) or tokens.words(want):
        assert found.score == pytest.approx(expected.fmeasure, abs=1e-12)


@pytest.mark.parametrize("rouge_type", TYPES)
@given(got=st.text(max_size=30), want=st.text(max_size=30))
def test_every_score_is_between_0_and_1(rouge_type, got, want):
    found = result(got, want, rouge_type=rouge_type)
    assert 0 <= found.score <= 1
    assert (
        result(want, got, rouge_type=rouge_type).metadata["counts"][1:]
        == (found.metadata["counts"][:0:-1])
    )


@given(st.text(max_size=30))
def test_a_text_scores_1_against_itself(text):
    for rouge_type in ("rouge1", "rougeL", "rougeLsum"):
        assert result(text, text, rouge_type=rouge_type).score == 1


@pytest.mark.parametrize("rouge_type", TYPES)
@pytest.mark.parametrize(
    ("got", "want", "score"), [("", "", 1), ("", "a b", 0), ("a b", "", 0), (" \n", "", 1)]
)
def test_two_empty_texts_score_1_and_one_scores_0(rouge_type, got, want, score):
    assert result(got, want, rouge_type=rouge_type).score == score


@pytest.mark.parametrize("name", NAMED)
def test_vertex_names_are_the_variants(name):
    built = build_evaluator(name, {})
    assert built == NAMED[name]
    assert built.key == name
    variant = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
    found = built(outputs="a b\nc d", reference_outputs="a b c\nd e")
    assert found.metadata["variant"] == variant.get(name, "rougeLsum")
    assert found == result("a b\nc d", "a b c\nd e", rouge_type=found.metadata["variant"], key=name)


def test_the_union_of_subsequences_is_counted_for_each_sentence_of_the_reference():
    """Lin 2004, section 3.2: of w1 w2 w3 w4 w5 the union is w1 w2 w3 w5, so recall is 4/5."""
    found = result("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5", rouge_type="rougeLsum")
    assert found.metadata["recall"] == pytest.approx(4 / 5)
    assert found.metadata["counts"] == [4, 10, 5]


@given(WORDS, WORDS)
def test_the_places_are_those_of_a_shared_length_subsequence(got, want):
    places = shared_places(got, want)
    assert [*places] == sorted(places, reverse=True)
    assert len(places) == LCSseq.similarity(got, want)
    left = iter(got)
    assert all(want[place] in left for place in reversed(places))


@pytest.mark.parametrize(
    ("got", "want", "score"),
    [
        ("Привет, мир", "привет мир", 1),
        ("das größte Übel", "DAS GRÖSSTE ÜBEL", 2 / 3),  # ß is no SS in lower case
        ("我喜欢苹果", "我喜欢香蕉", 3 / 5),
        ("リンゴが好き", "リンゴが嫌い", 4 / 6),
        ("नमस्ते दुनिया", "नमस्ते भारत", 1 / 2),
        ("สวัสดี", "สวัสดี", 1),
        ("مرحبا بالعالم", "مرحبا", 2 / 3),
    ],
)
def test_any_script_has_words(got, want, score):
    assert result(got, want, rouge_type="rouge1").score == pytest.approx(score)


def test_unicode_forms_are_normalised_on_request():
    assert result("cafe\u0301", "café").score == 0
    assert result("cafe\u0301", "café", unicode="NFC").score == 1


def test_sentences_are_lines_or_what_punctuation_ends():
    got, want = "A b. C d.", "C d. A b."
    assert result(got, want, rouge_type="rougeLsum").score == 1 / 2
    found = result(got, want, rouge_type="rougeLsum", split_summaries=True)
    assert found.score == 1
    assert found.metadata["sentences"] == "punctuation"
    assert tokens.sentences("你好。再见！Wait… what?", split=True) == [
        "你好。",
        "再见！",
        "Wait…",
        "what?",
    ]


def test_tokenizer_and_variant_are_in_the_metadata():
    found = result("a", "a", rouge_type="rougeL", use_stemmer=True)
    assert found.metadata["tokenizer"] == "unicode-words+porter"
    assert (found.metadata["variant"], found.metadata["measure"]) == ("rougeL", "f1")


def test_the_corpus_score_comes_from_pooled_counts():
    rows = [("a b", "a b"), ("c", "d e f g h i")]
    counts = [sum(n) for n in zip(*(result(*row).metadata["counts"] for row in rows), strict=True)]
    assert counts == [2, 3, 8]
    assert Rouge().corpus(counts) == pytest.approx(2 * (2 / 3) * (2 / 8) / (2 / 3 + 2 / 8))
    assert Rouge().corpus([0, 0, 0]) == 0


def test_what_cannot_be_configured_is_refused():
    with pytest.raises(ConfigError, match="Did you mean 'rougeLsum'"):
        build_evaluator("rouge", {"rouge_type": "rougelsum"})
    with pytest.raises(ConfigError, match="true or false"):
        build_evaluator("rouge_1", {"use_stemmer": "no"})
    with pytest.raises(ConfigError, match="NFC"):
        build_evaluator("rouge_1", {"unicode": "nfc"})


def test_two_endless_sentences_are_refused_and_their_lines_are_not():
    long = " ".join(map(str, range(8000)))
    with pytest.raises(TooLargeError, match="break the text into lines"):
        result(f"{long}\nx", f"{long}\ny", rouge_type="rougeLsum")
    assert result(long, long, rouge_type="rougeLsum").score == 1


def test_without_nltk_stems_name_the_extra(monkeypatch):
    tokens._porter.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk.stem.porter", None)
    with pytest.raises(MissingExtraError, match=r"trajgrade\[text\]"):
        result("a", "a", use_stemmer=True)
    assert result("a", "a").score == 1
