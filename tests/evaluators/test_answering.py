"""What holds for every evaluator of the response (SEMANTICS A5, A10, A12, A13)."""

from __future__ import annotations

import dataclasses
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.evaluators import (
    Contains,
    EditDistance,
    EmbeddingDistance,
    EvaluationResult,
    ExactMatch,
    JSONSchemaMatch,
    JSONValid,
    RegexMatch,
    build_evaluator,
    get_supported_evaluators,
)
from trajgrade.trajectory import Step, Trajectory


def letters(text: str) -> list[float]:
    return [float(len(text)), float(text.count("a")), 1.0]


BUILT = {
    "exact_match": ExactMatch(),
    "contains": Contains("a"),
    "regex_match": RegexMatch("a"),
    "edit_distance": EditDistance(),
    "json_valid": JSONValid(),
    "json_schema_match": JSONSchemaMatch({"required": ["a"]}),
    "embedding_similarity": EmbeddingDistance(letters),
}
EVERY = pytest.mark.parametrize("evaluator", BUILT.values(), ids=BUILT)
OTHERS = [ExactMatch(False, unicode="NFKC"), Contains(), JSONValid(unique_keys=True)]

TEXTS = st.text(max_size=6) | st.text('ab{}[]":1,\ud800\u0308 ', max_size=8)
OUTPUTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "answer", "output", "any", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("evaluator", [*BUILT.values(), *OTHERS], ids=lambda e: e.key)
@given(outputs=OUTPUTS, reference=OUTPUTS.filter(lambda value: not isinstance(value, list)))
def test_any_json_gives_a_result_in_range_that_survives_writing(evaluator, outputs, reference):
    result = evaluator(outputs=outputs, reference_outputs=reference)
    assert (result.score is None) == (result.error is not None)
    if result.score is not None:
        assert 0 <= result.score <= 1
        assert math.isfinite(result.score)
    assert result.comment
    assert EvaluationResult.from_json(result.to_json()) == result


@EVERY
@pytest.mark.parametrize("outputs", [None, Trajectory(), Trajectory([Step("user", "a")])])
def test_a_response_that_is_missing_is_not_evaluated(evaluator, outputs):
    result = evaluator(outputs=outputs, reference_outputs="a")
    assert result.error.kind == "no_output"


@EVERY
def test_the_final_response_of_a_trace_is_what_is_graded(evaluator):
    for text in ("a", "b", '{"a": 1}'):
        run = Trajectory([Step("user", "a"), Step("assistant", text)])
        assert evaluator(outputs=run, reference_outputs=run) == evaluator(
            outputs=text, reference_outputs=text
        )


@pytest.mark.parametrize("name", BUILT)
def test_every_name_builds_its_evaluator_with_the_name_as_key(name):
    evaluator: Any = BUILT[name]
    fields = {
        field.name: getattr(evaluator, field.name)
        for field in dataclasses.fields(evaluator)
        if field.name != "key"
    }
    assert build_evaluator(name, fields) == evaluator
    assert evaluator.key == name
    assert name in get_supported_evaluators()


def test_the_alias_is_the_same_evaluator_and_is_not_listed():
    built: Any = build_evaluator("embedding_distance")
    assert built == EmbeddingDistance()
    assert "embedding_distance" not in get_supported_evaluators()


@EVERY
def test_parameters_give_repr_equality_and_another_key(evaluator):
    again = dataclasses.replace(evaluator)
    assert again == evaluator
    assert repr(again) == repr(evaluator)
    assert (
        dataclasses.replace(evaluator, key="mine")(outputs="a", reference_outputs="a").key == "mine"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        evaluator.key = "mine"


@EVERY
def test_evaluators_can_be_sent_to_another_process(evaluator):
    evaluator(outputs="a", reference_outputs="a")
    assert pickle.loads(pickle.dumps(evaluator)) == evaluator  # noqa: S301 our own


@EVERY
def test_evaluators_say_what_they_read_and_how_they_score(evaluator):
    assert evaluator.reads == "response"
    assert evaluator.range == (0.0, 1.0)
    assert evaluator.direction == "higher"
