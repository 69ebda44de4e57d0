"""Tool calls that a response writes as JSON: Vertex AI's four metrics."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajgrade
from trajgrade.errors import TraceError
from trajgrade.evaluators import build_evaluator

NAMES = [
    "tool_call_valid",
    "tool_name_match",
    "tool_parameter_key_match",
    "tool_parameter_kv_match",
]


def written(*calls, **more):
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return json.dumps({"content": "", "tool_calls": made, **more})


def result(name, response, reference=None):
    return build_evaluator(name).evaluate(outputs=response, reference_outputs=reference)


def scores(response, reference):
    return [result(name, response, reference).score for name in NAMES]


BOOK = ("book", {"film": "Alien", "seats": 2})


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (written(BOOK), [1, 1, 1, 1]),
        (written(("book", {"seats": 2.0, "film": "Alien"})), [1, 1, 1, 1]),
        (written(("book", '{"film": "Alien", "seats": 2}')), [1, 1, 1, 1]),
        (written(("book", {"film": "Aliens", "seats": 2})), [1, 1, 1, 0.5]),
        (written(("book", {"film": "Alien"})), [1, 1, 0.5, 0.5]),
        (written(("book", {"film": "Alien", "seats": 2, "row": "A", "hall": 1})), [1, 1, 0.5, 0.5]),
        (written(("book", {"Film": "Alien", "places": 2})), [1, 1, 0, 0]),
        (written(("reserve", BOOK[1])), [1, 0, 0, 0]),
        (written(BOOK, BOOK), [1, 0.5, 0.5, 0.5]),
        (written(), [0, 0, 0, 0]),
        ("Booked!", [0, 0, 0, 0]),
        ("{'content': '', 'tool_calls': []}", [0, 0, 0, 0]),
        ('{"tool_calls": {"name": "book"}}', [0, 0, 0, 0]),
        ('{"tool_calls": ["book"]}', [0, 0, 0, 0]),
        ('{"tool_calls": [{"name": "", "arguments": {}}]}', [0, 0, 0, 0]),
        ('{"tool_calls": [{"name": "book", "arguments": "film"}]}', [0, 0, 0, 0]),
        ('{"tool_calls": [{"name": "book"}]}', [0, 0, 0, 0]),
    ],
)
def test_one_call_against_one(response, expected):
    assert scores(response, written(BOOK)) == expected
    assert scores(response, json.loads(written(BOOK))) == expected


def test_calls_are_compared_one_by_one():
    a, b = ("a", {"x": 1}), ("b", {"x": 2})
    assert scores(written(a, b), written(a, b)) == [1, 1, 1, 1]
    assert scores(written(b, a), written(a, b)) == [1, 0, 0, 0]
    assert scores(written(a), written(a, b)) == [1, 0.5, 0.5, 0.5]


def test_no_calls_where_none_are_expected_are_right_and_yet_no_call():
    assert scores(written(), written()) == [0, 1, 1, 1]


def test_the_first_difference_is_named():
    reference = written(BOOK)
    comment = result(
        "tool_parameter_kv_match", written(("book", {"film": "Heat"})), reference
    ).comment
    assert comment == "1 call against 1; call 0: book.film: expected 'Alien', got 'Heat'"
    comment = result(
        "tool_parameter_key_match", written(("book", {"film": "x"})), reference
    ).comment
    assert comment.endswith("book.seats is missing")
    comment = result("tool_name_match", written(("buy", {})), reference).comment
    assert comment.endswith("expected book, got buy")
    comment = result("tool_call_valid", '{"tool_calls": [{"name": "book"}]}').comment
    assert comment == "tool_calls[0], book: no object of arguments: none"


def test_a_reference_without_calls_is_an_error_and_not_the_agents_fault():
    for name in NAMES[1:]:
        with pytest.raises(TraceError, match="no calls in JSON"):
            result(name, written(BOOK), "book two seats")


def test_calls_of_a_trace_count_where_the_response_writes_none():
    trace = [{"tool_name": "book", "tool_input": BOOK[1]}]
    row = {"response": "Booked!", "predicted_trajectory": trace, "reference": written(BOOK)}
    run = trajgrade.evaluate([row], NAMES)
    assert [metric.mean for metric in run.summary.values()] == [1, 1, 1, 1]


def test_columns_of_vertex_are_read():
    rows = [{"response": written(BOOK), "reference": written(BOOK), "predicted_trajectory": []}]
    run = trajgrade.evaluate(rows, NAMES)
    assert [metric.mean for metric in run.summary.values()] == [1, 1, 1, 1]


ARGUMENTS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))
CALLS = st.lists(st.tuples(st.sampled_from("fg"), ARGUMENTS), max_size=3)


@given(CALLS, CALLS)
def test_equal_values_are_rarer_than_equal_keys_and_those_than_equal_names(calls, reference):
    valid, name, keys, values = scores(written(*calls), written(*reference))
    assert 0 <= values <= keys <= name <= 1
    assert (values == 1) == (calls == reference)
    assert valid == bool(calls)
