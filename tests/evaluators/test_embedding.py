"""EmbeddingDistance (SEMANTICS A10), with made-up vectors; tests/models has the real model."""

from __future__ import annotations

import builtins
import dataclasses
import math
import pickle
import sys
import types
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError, MissingExtraError
from trajgrade.evaluators import EmbeddingDistance, build_evaluator
from trajgrade.evaluators.embedding import cosine
from trajgrade.trajectory import Step, Trajectory

VECTORS: dict[str, list[float]] = {
    "east": [1, 0],
    "west": [-1, 0],
    "north": [0, 1],
    "north-east": [1, 1],
    "odd": [0.1, 0.7, 0.3],
    "flat": [1, 0, 0],
    "zero": [0, 0],
    "": [0, 0],
    "nan": [math.nan, 1],
    "infinite": [math.inf, 1],
    "empty": [],
}


def look_up(text: str) -> list[float]:
    return VECTORS[text]


def compare(outputs, reference, embed_fn=look_up):
    return EmbeddingDistance(embed_fn)(outputs=outputs, reference_outputs=reference)


@pytest.mark.parametrize(
    ("outputs", "reference", "score", "raw"),
    [
        ("east", "east", 1, 1),
        ("east", "north", 0, 0),
        ("east", "west", 0, -1),
        ("east", "north-east", math.sqrt(0.5), math.sqrt(0.5)),
        ("odd", "odd", 1, 1),
    ],
)
def test_the_score_is_the_cosine_clipped(outputs, reference, score, raw):
    result = compare(outputs, reference)
    assert result.key == "embedding_similarity"
    assert result.score == pytest.approx(score, abs=1e-9)
    assert result.value == result.metadata["cosine"] == pytest.approx(raw, abs=1e-9)
    assert result.metadata["distance"] == pytest.approx(1 - raw, abs=1e-9)
    assert result.score <= 1


@pytest.mark.parametrize(
    ("outputs", "reference", "reason"),
    [
        ("flat", "east", "3 dimensions, the reference's 2"),
        ("zero", "zero", "zero"),
        ("", "", "zero"),
        ("east", "zero", "reference's vector is zero"),
        ("nan", "north-east", "not finite"),
        ("east", "infinite", "not finite"),
        ("empty", "empty", "zero"),
    ],
)
def test_vectors_without_a_cosine_are_not_evaluated(outputs, reference, reason):
    result = compare(outputs, reference)
    assert result.score is None
    assert result.error.kind == "undefined"
    assert reason in result.error.message


FINITE = st.floats(allow_nan=False, allow_infinity=False)
COMPONENTS = st.lists(FINITE, min_size=1, max_size=5).filter(any)


@given(COMPONENTS)
def test_a_vector_is_as_near_as_can_be_to_itself(vector):
    assert 1 - 1e-9 <= cosine(vector, vector) <= 1
    assert -1 <= cosine(vector, [-x for x in vector]) <= -1 + 1e-9


@given(st.data(), st.integers(1, 4))
def test_the_cosine_is_exact_to_many_digits_whatever_the_size(data, size):
    moderate = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)
    pair = st.lists(moderate, min_size=size, max_size=size).filter(any)
    left, right = data.draw(pair), data.draw(pair)

    def dot(a, b):
        return sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True))

    true = float(dot(left, right)) / math.sqrt(float(dot(left, left) * dot(right, right)))
    assert cosine(left, right) == pytest.approx(true, abs=1e-9)
    assert cosine(left, right) == pytest.approx(cosine(right, left), abs=1e-12)
    huge = [x * 1e150 for x in left]
    assert cosine(huge, [x * 1e-150 for x in right]) == pytest.approx(true, abs=1e-9)


def test_squares_neither_overflow_nor_vanish():
    assert cosine([1e300, 1e300], [1e300, 1e300]) == pytest.approx(1, abs=1e-9)
    assert cosine([5e-324, 5e-324], [1, 1]) == pytest.approx(1, abs=1e-9)


def test_arrays_are_vectors_too():
    result = compare("a", "b", embed_fn=lambda _: np.array([0.5, 0.5], dtype=np.float32))
    assert result.score == pytest.approx(1)
    assert type(result.score) is float


@pytest.mark.parametrize("returned", [None, 1.0, [[1, 2]], ["a"], [None], np.ones((1, 3))])
def test_a_function_that_returns_no_vector_is_an_error(returned):
    with pytest.raises(TypeError, match="one list of numbers"):
        compare("a", "b", embed_fn=lambda _: returned)


def test_a_function_that_raises_is_heard():
    def broken(text):
        raise RuntimeError(f"no vector for {text}")

    with pytest.raises(RuntimeError, match="no vector for a"):
        compare("a", "b", embed_fn=broken)


def test_the_function_gets_one_text_at_a_time():
    asked = []

    def embed(text):
        asked.append(text)
        return [1.0, 2.0]

    compare({"answer": "a"}, {"b": 1.0}, embed_fn=embed)
    assert asked == ["a", '{"b": 1}']


def test_the_best_of_several_references_counts_and_is_named():
    result = compare("east", {"any_of": ["zero", "north-east", "east", "flat"]})
    assert result.score == 1
    assert result.metadata["reference_index"] == 2
    none = compare("east", {"any_of": ["zero", "flat"]})
    assert none.error.kind == "undefined"


@pytest.mark.parametrize(
    ("outputs", "reference", "kind"),
    [
        (None, "east", "no_output"),
        ("east", None, "no_reference"),
        (Trajectory(), "east", "no_output"),
    ],
)
def test_what_is_missing_is_not_evaluated_and_not_embedded(outputs, reference, kind):
    def embed(_):
        pytest.fail("nothing to embed")

    assert compare(outputs, reference, embed_fn=embed).error.kind == kind


def test_a_trajectory_may_stand_on_either_side():
    run = Trajectory([Step("assistant", "east")])
    assert compare(run, "east").score == compare("east", run).score == 1


# ------------------------------------------------------------------------------ the model


@pytest.fixture
def loaded(monkeypatch):
    """A stand-in for sentence-transformers that lists the models it loads."""
    names: list[str] = []

    class SentenceTransformer:
        def __init__(self, name):
            names.append(name)

        def encode(self, text):
            return np.array([len(text), 1.0], dtype=np.float32)

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return names


def test_the_model_is_loaded_when_first_used_and_once_for_each_evaluator(loaded):
    first, second = EmbeddingDistance(model_name="small"), EmbeddingDistance()
    assert loaded == []
    for evaluator in (first, first, second):
        result = evaluator(outputs="ab", reference_outputs="ab")
        assert result.score == pytest.approx(1)
    assert loaded == ["small", "all-MiniLM-L6-v2"]
    assert result.metadata["model"] == "all-MiniLM-L6-v2"


def test_a_loaded_model_changes_neither_repr_nor_equality_nor_pickling(loaded):
    evaluator = EmbeddingDistance()
    evaluator(outputs="ab", reference_outputs="ab")
    assert evaluator == EmbeddingDistance()
    assert repr(evaluator) == repr(EmbeddingDistance())
    assert pickle.loads(pickle.dumps(evaluator)) == evaluator  # noqa: S301 our own
    assert dataclasses.replace(evaluator, key="k").key == "k"


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def importing(name, *args, **kwargs):
        if name.partition(".")[0] == "sentence_transformers":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", importing)
    evaluator = EmbeddingDistance()
    with pytest.raises(MissingExtraError, match=r"pip install 'trajgrade\[embed\]'"):
        evaluator(outputs="a", reference_outputs="b")


def test_parameters_are_checked():
    with pytest.raises(ConfigError, match="embed_fn"):
        build_evaluator("embedding_similarity", {"embed_fn": [1, 2]})
    with pytest.raises(ConfigError, match="model_name"):
        EmbeddingDistance(model_name="")


def test_the_parameters_are_positional_in_potatos_order():
    assert EmbeddingDistance(look_up, "m", "k") == EmbeddingDistance(
        embed_fn=look_up, model_name="m", key="k"
    )
