"""JSONValid (SEMANTICS A10)."""

from __future__ import annotations

import pytest

from trajgrade.errors import ConfigError
from trajgrade.evaluators import JSONValid, build_evaluator
from trajgrade.trajectory import Step, Trajectory


def score(outputs, **options):
    return JSONValid(**options)(outputs=outputs).score


def kind_of(result):
    return result.error and result.error.kind


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", "1", '"a"', "null", " true\n", '"\\ud800"'])
def test_json_is_valid_scalars_too(text):
    assert score(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "so", '{"a": NaN}', "Infinity", "-Infinity", "{'a': 1}", '{"xs": [1,2,],}', "[1] ok",
        "// c\n1", "\ufeff1", "01", "True", "None", '"\t"',
    ],
)  # fmt: skip
def test_what_is_outside_the_grammar_is_invalid(text):
    result = JSONValid()(outputs=text)
    assert (result.score, result.value) == (0, False)
    assert result.comment


def test_text_inside_strings_is_never_mended():
    assert score('{"why":"got a, b, ] end","s":1}') == 1


def test_repeated_names_are_valid_and_noted_or_refused():
    result = JSONValid()(outputs='{"a":1,"a":2}')
    assert result.score == 1
    assert result.comment == "valid JSON; the name 'a' is repeated in one object"
    assert result.metadata == {"repeated_names": ["a"]}
    refused = JSONValid(unique_keys=True)(outputs='{"a":1,"a":2}')
    assert refused.score == 0
    assert refused.comment == "the name 'a' is repeated in one object"


def test_a_number_beyond_every_double_is_valid_and_noted():
    result = JSONValid()(outputs="[1e999]")
    assert result.score == 1
    assert result.metadata["notes"] == ["1e999 is beyond the range of double precision"]


def test_fences_are_left_out_on_request():
    assert score("```json\n{}\n```") == 0
    assert score("```json\n{}\n```", allow_fences=True) == 1
    assert score("{}", allow_fences=True) == 1
    assert score("```json\n{\n```", allow_fences=True) == 0


@pytest.mark.parametrize("data", [{}, [], {"a": [1, None]}, 1, 0.5, True, (1, 2)])
def test_a_parsed_value_is_valid(data):
    assert score(data) == 1


@pytest.mark.parametrize("data", [float("nan"), {"a": float("inf")}, {1: 2}, [{1}], object()])
def test_a_parsed_value_with_something_that_json_lacks_is_invalid(data):
    assert score(data) == 0


def test_a_container_is_its_text():
    assert score({"output": "sorry"}) == 0
    assert score({"output": "[1]"}) == 1


def test_the_final_response_of_a_trajectory_is_read():
    assert score(Trajectory([Step("assistant", "[1]")])) == 1


@pytest.mark.parametrize("outputs", [None, Trajectory()])
def test_no_output_is_not_evaluated(outputs):
    assert kind_of(JSONValid()(outputs=outputs)) == "no_output"


def test_options_are_checked_and_the_key_may_be_given_by_position():
    assert JSONValid("k") == JSONValid(key="k")
    with pytest.raises(ConfigError, match="unique_keys: true or false"):
        build_evaluator("json_valid", {"unique_keys": "yes"})
