"""JSONSchemaMatch (SEMANTICS A10)."""

from __future__ import annotations

import pickle
import socket

import pytest

from trajgrade.errors import ConfigError
from trajgrade.evaluators import JSONSchemaMatch
from trajgrade.trajectory import Step, Trajectory

TRIP = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "minLength": 1},
        "day": {"type": "string", "format": "date"},
        "stops": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["to"],
}


def score(outputs, schema=TRIP, **options):
    return JSONSchemaMatch(schema, **options)(outputs=outputs).score


def kind_of(result):
    return result.error and result.error.kind


def test_text_and_parsed_data_are_validated():
    assert score('{"to": "Rome"}') == 1
    assert score({"to": "Rome"}) == 1
    assert score('{"to": 5}') == 0
    assert score({"to": 5}) == 0
    assert score([1], {"type": "array"}) == 1
    assert score(1.0, {"type": "integer"}) == 1
    assert score(True, {"type": "integer"}) == 0


def test_every_error_is_reported_with_its_path():
    result = JSONSchemaMatch(TRIP)(outputs={"to": "", "day": "tomorrow", "stops": [1, "x"]})
    assert result.value is False
    errors = {error["path"]: error for error in result.metadata["errors"]}
    assert errors.keys() == {"to", "day", "stops[1]"}
    assert errors["stops[1]"]["keyword"] == "type"
    assert errors["stops[1]"]["message"] == '"x" is not of type "integer"'
    assert result.comment.endswith("(and 2 more)")
    assert result.comment.partition(":")[0] in errors


def test_formats_are_asserted():
    assert score('"tomorrow"', {"type": "string", "format": "date-time"}) == 0
    assert score('"2026-11-30T10:00:00Z"', {"type": "string", "format": "date-time"}) == 1


@pytest.mark.parametrize("text", ["", "sorry", '{"to": NaN}', '{"to": "Rome",}'])
def test_text_that_is_not_json_fails_with_the_reason(text):
    result = JSONSchemaMatch(True)(outputs=text)
    assert result.score == 0
    assert result.comment.startswith("not JSON: ")
    assert result.metadata == {"errors": []}


def test_parsed_data_that_is_not_json_fails_with_the_reason():
    result = JSONSchemaMatch({"type": "object"})(outputs={"a": float("nan")})
    assert (result.score, result.comment) == (0, "not JSON: a: nan is not JSON")


def test_fences_are_left_out_on_request():
    assert score('```json\n{"to": "Rome"}\n```') == 0
    assert score('```json\n{"to": "Rome"}\n```', allow_fences=True) == 1


# ------------------------------------------------------------------------------ the schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strng"},
        {"properties": {"a": {"type": "strng"}}},
        {"pattern": "("},
        {"minimum": float("nan")},
        {"$ref": "#/$defs/absent"},
        {"$schema": "http://example.org/unknown"},
        {1: 2},
        {"const": "\ud800"},
        {"const": {1}},
        5,
        None,
        [],
        "{",
        "5",
    ],
    ids=repr,
)
def test_a_wrong_schema_is_refused_when_the_evaluator_is_made(schema):
    with pytest.raises(ConfigError, match="schema"):
        JSONSchemaMatch(schema)


def test_the_refusal_names_the_place_in_the_schema():
    with pytest.raises(ConfigError, match=r"properties\.a\.type"):
        JSONSchemaMatch({"properties": {"a": {"type": "strng"}}})


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x.json", "https://example.org/x", "file:///etc/hostname"]
)
def test_a_reference_to_another_document_is_refused_and_never_fetched(reference, monkeypatch):
    def connect(*_args):
        pytest.fail("something was fetched")

    monkeypatch.setattr(socket.socket, "connect", connect)
    for schema in ({"$ref": reference}, {"properties": {"a": {"$ref": reference}}}):
        with pytest.raises(ConfigError, match="not followed"):
            JSONSchemaMatch(schema)


def test_references_inside_the_schema_are_followed():
    schema = {"$defs": {"city": {"type": "string"}}, "items": {"$ref": "#/$defs/city"}}
    assert score(["Rome"], schema) == 1
    assert score([5], schema) == 0


def test_the_draft_is_the_one_that_the_schema_names():
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "minimum": 5,
        "exclusiveMinimum": True,
    }
    assert score(5, old) == 0
    with pytest.raises(ConfigError):
        JSONSchemaMatch({"minimum": 5, "exclusiveMinimum": True})


def test_a_schema_may_be_true_or_false_or_text():
    assert score("[1]", True) == 1
    assert score("[1]", False) == 0
    assert score('{"to": "Rome"}', '{"required": ["to"]}') == 1
    assert JSONSchemaMatch('{"type": "array"}') == JSONSchemaMatch({"type": "array"})


# ------------------------------------------------------------------------------ containers


def test_a_container_is_its_text_unless_the_schema_names_a_member():
    answer = {"properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    assert score({"output": '{"to": "Rome"}'}) == 1
    assert score({"output": "sorry"}) == 0
    assert score({"output": "sorry"}, {"type": "object"}) == 0
    for text in ("Paris", "5", "[1]"):
        assert score({"answer": text}, answer) == 1
        assert score({"answer": text, "n": 1}, answer) == 1
    assert score({"answer": "x", "n": 1}, {"properties": {"n": {"type": "string"}}}) == 0


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {"required": ["answer"]}}},
        {"allOf": [{"required": ["answer"]}]},
        {"anyOf": [{"required": ["n"]}, {"properties": {"answer": {"type": "string"}}}]},
    ],
)
def test_the_members_are_found_behind_references_and_combinations(schema):
    assert score({"answer": "5"}, schema) == 1


def test_a_schema_that_refers_to_itself_is_no_endless_loop():
    assert score({"answer": "5"}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}) in (
        0,
        1,
    )


# ------------------------------------------------------------------------------ extremes


def test_numbers_beyond_every_double_are_numbers():
    assert score("1e999", {"type": "number"}) == 1
    assert score("1e999", {"maximum": 5}) == 0
    assert score("1" * 5000, {"type": "integer"}) == 1
    assert score(str(2**64 + 1), {"const": 2**64 + 1}) == 1


def test_lone_surrogates_are_characters():
    assert score('"\\ud800"', {"type": "string", "maxLength": 1}) == 1
    assert score({"to": "\ud800"}) == 1
    assert score({"\ud800": 1}, {"additionalProperties": False}) == 0


def test_deep_and_cyclic_data_is_refused():
    recursive = {"items": {"$ref": "#"}}
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    cycle: list = []
    cycle.append(cycle)
    for data in (deep, cycle, "[" * 100_000 + "]" * 100_000):
        result = JSONSchemaMatch(recursive)(outputs=data)
        assert result.score == 0
        assert "254" in result.comment
    assert score("[" * 254 + "]" * 254, recursive) == 1
    assert score("[" * 254 + "]" * 254, {"type": "string"}) == 0


def test_a_pattern_that_takes_too_long_is_an_error_and_no_score():
    slow = {"pattern": r"^(\w+\s?)*(?=\$)\1$"}
    for schema in (slow, {"not": slow}):
        with pytest.raises(TimeoutError):
            score('"' + "a" * 60 + '!"', schema)


def test_a_long_value_is_cut_in_the_message():
    result = JSONSchemaMatch({"type": "integer"})(outputs='"' + "x" * 10_000 + '"')
    assert len(result.comment) < 400


@pytest.mark.parametrize("outputs", [None, Trajectory()])
def test_no_output_is_not_evaluated(outputs):
    assert kind_of(JSONSchemaMatch(True)(outputs=outputs)) == "no_output"


def test_the_final_response_of_a_trajectory_is_read():
    assert score(Trajectory([Step("assistant", '{"to": "Rome"}')])) == 1


def test_the_schema_is_neither_changed_nor_lost_in_pickling():
    evaluator = JSONSchemaMatch(TRIP, "k")
    again = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 our own
    assert again == evaluator
    assert again(outputs={"to": "Rome"}).score == 1
