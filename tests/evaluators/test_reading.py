"""What a text evaluator reads (SEMANTICS A10)."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.evaluators.reading import Answer, read, response, texts, written
from trajgrade.matching.values import same
from trajgrade.trajectory import Step, ToolCall, Trajectory

CALL = {"name": "look_up", "args": {"city": "Paris"}}
SAID = {"role": "assistant", "content": "Paris."}
ASKED = {"role": "user", "content": "Where?"}
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    ],
}


def test_a_trajectory_gives_its_final_response():
    assert response(Trajectory([Step("user", "Where?"), Step("assistant", "Paris.")])) == "Paris."


def test_a_trajectory_without_a_final_response_gives_none():
    assert response(Trajectory([Step("assistant", "", [ToolCall("look_up")])])) is None


@pytest.mark.parametrize(
    "data",
    [[ASKED, SAID], {"messages": [ASKED, SAID]}, [ASKED, CALLING, SAID], "Paris."],
    ids=["messages", "a dict with messages", "with a call", "text"],
)
def test_a_recognised_trace_gives_its_final_response(data):
    assert response(data) == "Paris."


@pytest.mark.parametrize("data", [[ASKED, CALLING], {"messages": [ASKED, CALLING]}, [CALLING]])
def test_a_trace_that_only_calls_answers_nothing(data):
    assert response(data) is None


VERTEX_CALL = {"tool_name": "look_up", "tool_input": {}}


@pytest.mark.parametrize(
    "data", [[CALL], [CALL, CALL], CALL, [VERTEX_CALL], VERTEX_CALL, [[CALL], [CALL]], []]
)
def test_bare_calls_are_a_structure(data):
    assert response(data) == data


def test_calls_with_a_response_are_a_trace():
    assert response({"tool_calls": [CALL], "response": "Paris."}) == "Paris."
    assert response({"tool_calls": [CALL]}) is None
    assert response({"predicted_trajectory": [VERTEX_CALL], "response": "Paris."}) == "Paris."


def test_records_that_look_like_calls_are_a_structure():
    for data in (
        [{"name": "Ada"}],
        [[{"name": "Ada"}], [{"name": "Bo"}]],
        {"name": "Ada", "input": 1},
    ):
        assert response(data) == data
    assert response({"name": "Ada", "args": {}, "answer": "Paris"}) == "Paris"


@pytest.mark.parametrize("data", [True, 0, 1.5, [], {}, [1, 2], {"city": "Paris"}, [{"a": 1}]])
def test_any_other_value_is_a_structure(data):
    assert read(data) == Answer(data, data)


@pytest.mark.parametrize(
    "name", ["output", "text", "content", "answer", "final_answer", "response"]
)
def test_a_known_container_that_holds_text_is_that_text(name):
    assert response({name: "Paris"}) == "Paris"
    assert response({name: "Paris", "seconds": 3}) == "Paris"


def test_a_known_container_that_holds_no_text_is_a_structure():
    assert response({"answer": 5}) == {"answer": 5}
    assert response({"answer": {"city": "Paris"}}) == {"answer": {"city": "Paris"}}


def test_a_container_keeps_what_holds_the_text():
    held = {"answer": "Paris", "seconds": 3}
    assert read(held).structure == held
    assert read("Paris").structure is None


class Place(NamedTuple):
    city: str
    people: int


def test_a_tuple_is_a_list():
    assert response(Place("Paris", 2)) == ["Paris", 2]


class Speaking:
    """Like a pydantic model."""

    def model_dump(self):
        return {"city": "Paris"}


def test_an_object_that_can_say_what_it_holds_is_that_structure():
    assert response(Speaking()) == {"city": "Paris"}


def test_the_data_is_never_changed():
    data = {"messages": [ASKED, CALLING, SAID]}
    before = json.dumps(data)
    response(data)
    assert json.dumps(data) == before


def test_written_is_the_same_for_equal_structures():
    assert written({"b": 1.0, "a": ["é"]}) == '{"a": ["é"], "b": 1}'
    assert written({"a": ("é",), "b": 1}) == '{"a": ["é"], "b": 1}'
    assert written(1e22) == written(10**22)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_infinity=False, allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(JSON_VALUES)
def test_written_reads_back_as_an_equal_value(value):
    assert same(json.loads(written(value)), value)


def test_a_text_against_a_structure_is_parsed_first():
    ours, theirs = texts(read('{"b":1,  "a":2}'), read({"a": 2.0, "b": 1}))
    assert ours == theirs


def test_a_text_against_a_structure_stays_if_it_is_not_json():
    assert texts(read("so: "), read([1])) == ("so: ", "[1]")


def test_two_texts_stay_as_they_are():
    assert texts(read("[1,2]"), read("[1, 2]")) == ("[1,2]", "[1, 2]")
