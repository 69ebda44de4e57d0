"""Raw arguments → value and state (SEMANTICS A2)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import MalformedTraceError
from trajgrade.formats.arguments import MAX_DEPTH, parsed


@pytest.mark.parametrize("raw", [None, "", "  \n", "{}", "null", '""', {}])
def test_no_arguments_in_all_their_spellings(raw: Any):
    notes: list[str] = []
    assert parsed(raw, "f", notes) == ({}, "ok")
    assert notes == []


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("5", 5),
        ("0", 0),
        ("false", False),
        ("[]", []),
        ('"text"', "text"),
        ({"a": [1]}, {"a": [1]}),
        ([1, 2], [1, 2]),
        (0, 0),
        (False, False),
        ("9007199254740993", 2**53 + 1),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
    ],
)
def test_a_value_is_kept_whatever_its_type(raw: Any, value: Any):
    found, state = parsed(raw, "f", [])
    assert (found, type(found), state) == (value, type(value), "ok")


@pytest.mark.parametrize("raw", ['{"a": 1', "{'a': 1}", "query=x", "{bad}", '{"a":1} trailing'])
def test_text_that_is_not_json_stays_text_and_is_noted(raw: str):
    notes: list[str] = []
    assert parsed(raw, "f", notes) == (raw, "unparseable")
    assert len(notes) == 1
    assert notes[0].startswith("f: its arguments are not JSON")


def test_json_that_only_some_programs_write_is_read_and_noted():
    notes: list[str] = []
    value, state = parsed('{"a": NaN, "b": 1e999}', "f", notes)
    assert state == "ok"
    assert math.isnan(value["a"])
    assert value["b"] == 10**999
    assert "not strict JSON" in notes[0]


def test_numbers_beyond_the_largest_float_are_equal_to_themselves_only():
    one, other, whole, below = (
        parsed(raw, "f", [])[0] for raw in ("[1e400]", "[1e500]", f"[{10**400}]", "[-1.5e400]")
    )
    assert one == whole == [10**400]
    assert other == [10**500]
    assert below == [-15 * 10**399]


@pytest.mark.parametrize("raw", ["[1e4000]", "[1E999999999]", f"[{'9' * 400}.5]"])
def test_a_number_that_is_too_large_to_be_exact_stays_text(raw: str):
    notes: list[str] = []
    assert parsed(raw, "f", notes) == (raw, "unparseable")
    assert len(notes) == 1


@pytest.mark.parametrize(
    "raw",
    [
        '{"to": 1, "to": 2}',
        '{"to" : 1, "to" : 2, "at": "a:b"}',
        '{"at": {"to": [1], "to": [2]}}',
        '[{"to": 1, "to": 1}]',
        '{"\\u0074o": NaN, "to": 1}',
        '{"\\u0074o": 0, "to": 1}',
    ],
)
def test_a_name_that_an_object_has_twice_is_noted(raw: str):
    notes: list[str] = []
    assert parsed(raw, "f", notes)[0] == json.loads(raw)
    assert "f: its arguments give 'to' more than once; the last one counts" in notes


@pytest.mark.parametrize(
    "raw", ['{"at": "09:14:00"}', '{"a": {"b": 1}, "c": ["x:y"]}', '[{"a": 1}, {"a": 2}]', "[1]"]
)
def test_colons_and_names_of_several_objects_are_no_doubles(raw: str):
    notes: list[str] = []
    assert parsed(raw, "f", notes) == (json.loads(raw), "ok")
    assert notes == []


values = st.recursive(
    st.one_of(st.none(), st.text(alphabet='a:"', max_size=4), st.integers(0, 3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(st.tuples(st.sampled_from("ab"), inner), max_size=3).map(tuple),
    ),
    max_leaves=8,
)


def written(value: Any) -> str:
    """JSON of lists, and of tuples of pairs, which are objects that may have a name twice."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f'"{name}": {written(one)}' for name, one in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def has_double(value: Any) -> bool:
    if isinstance(value, tuple):
        names = [name for name, _ in value]
        return len(names) != len(set(names)) or any(has_double(one) for _, one in value)
    return isinstance(value, list) and any(map(has_double, value))


@given(values)
def test_every_double_is_noted_and_nothing_else(value: Any):
    notes: list[str] = []
    parsed(written(value), "f", notes)
    assert bool(notes) == has_double(value)


def test_the_same_object_comes_back_and_is_not_changed():
    raw = {"a": {"b": [1]}}
    assert parsed(raw, "f", [])[0] is raw


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_arguments_may_be_nested_so_deep_and_no_deeper():
    for form in (nested, lambda depth: json.dumps(nested(depth))):
        assert parsed(form(MAX_DEPTH), "f", [])[1] == "ok"
        with pytest.raises(MalformedTraceError, match="nested deeper"):
            parsed(form(MAX_DEPTH + 1), "f", [])


@pytest.mark.parametrize("raw", ['{"a":' * 100_000, "[" * 100_000])
def test_a_text_of_nothing_but_brackets_is_refused_or_unparseable(raw: str):
    assert parsed(raw, "f", [])[1] == "unparseable"


def test_a_circle_is_refused():
    circle: dict[str, Any] = {}
    circle["again"] = [circle]
    with pytest.raises(MalformedTraceError, match="circle"):
        parsed(circle, "f", [])


def test_the_same_object_in_many_places_is_no_circle():
    shared: list[Any] = []
    for _ in range(60):
        shared = [shared, shared]
    assert parsed({"a": shared}, "f", [])[1] == "ok"


def test_an_integer_of_many_digits_is_not_turned_into_a_number():
    assert parsed("9" * 5_000, "f", [])[1] in ("ok", "unparseable")


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), values, max_size=4) | st.lists(values, max_size=4))
def test_an_object_and_its_json_text_are_the_same_arguments(value: Any):
    assert parsed(json.dumps(value), "f", []) == parsed(value, "f", [])
