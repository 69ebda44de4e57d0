"""The grammar of RFC 8259, against the standard library's reader with its leniencies taken away."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.evaluators.json_grammar import findings, parse, parsed_fault, unfenced


def refuse(constant: str):
    raise ValueError(constant)


def is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


PIECES = [
    "[", "]", "{", "}", ":", ",", " ", "\n", "\t", "\r", "\u00a0", "\ufeff", '"', '""', '"a"', '"b"',
    "\\", '\\"', "\\u00e9", "\\ud800", "\\x", "0", "1", "01", "-", "-1", "1.5", "1.", ".5", "e", "1e5",
    "1E-5", "1e", "+", "true", "false", "null", "NaN", "Infinity", "-Infinity", "True", "\x00", "\x1f",
    "\x7f", "é", "١",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_the_grammar_agrees_with_a_strict_reader(text):
    assert (findings(text).fault is None) == is_json(text), text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_what_is_written_as_json_is_json(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert findings(text).fault is None
    assert findings(text).repeated == []
    assert parse(text) == value
    assert parsed_fault(value) is None


@given(VALUES, st.data())
def test_one_changed_character_is_judged_like_a_strict_reader_would(value, data):
    text = json.dumps(value)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = (
        text[:place]
        + data.draw(st.sampled_from(["", '"', ",", "]", "0", "\\"]))
        + text[place + 1 :]
    )
    assert (findings(changed).fault is None) == is_json(changed)


def test_the_fault_names_its_place():
    assert findings('{"a": 1,\n "b": NaN}').fault == (
        "line 2, column 7: expected a value, found 'NaN}'"
    )
    assert findings('{"a" 1}').fault == "line 1, column 6: expected a colon, found '1}'"
    assert findings("[1,").fault == "line 1, column 4: expected a value, found the end"


def test_repeated_names_are_found_at_any_depth_and_however_escaped():
    assert findings('{"a": 1, "a": 2}').repeated == ["a"]
    assert findings('[{"b": {"a": 1, "\\u0061": 2}}]').repeated == ["a"]
    assert findings('[{"a": 1}, {"a": 1}]').repeated == []
    assert findings('{"a": "a", "b": {"a": 1}}').repeated == []


def test_numbers_beyond_every_double_are_noted():
    assert findings("[1e999, -1e999]").notes == [
        "1e999 is beyond the range of double precision",
        "-1e999 is beyond the range of double precision",
    ]
    assert findings("[1e308, 1e-999]").notes == []


def test_neither_depth_nor_digits_are_limited():
    deep = "[" * 100_000 + "]" * 100_000
    assert findings(deep).fault is None
    assert findings(deep).depth == 100_000
    assert findings(deep[:-1]).fault is not None
    assert findings("1" * 10_000).fault is None


def test_a_long_text_without_an_end_is_refused_at_once():
    assert findings('"' + "\\n" * 200_000).fault is not None
    assert findings('"' + "a" * 1_000_000).fault is not None


def test_numbers_that_python_would_lose_are_decimals():
    assert parse("1e999") == Decimal("1e999")
    assert parse("1" * 5000) == Decimal("1" * 5000)
    assert parse("[1, 1.5]") == [1, 1.5]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (float("nan"), "nan is not JSON"),
        ({"a": [1, float("inf")]}, "a[1]: inf is not JSON"),
        ({"a": {"b.c": {1}}}, "a.b\\.c: set is not JSON"),
        ([[{1: 2}]], "[0][0]: the name 1 is no text"),
        (b"x", "bytes is not JSON"),
        ({"a": Decimal(1)}, "a: Decimal is not JSON"),
    ],
)
def test_the_fault_of_a_parsed_value_names_its_path(value, fault):
    assert parsed_fault(value) == fault


def test_a_value_that_contains_itself_is_refused():
    cycle: list = []
    cycle += [cycle, cycle]
    assert "contains itself" in (parsed_fault(cycle) or "")


def test_a_fence_is_left_out_only_if_it_is_the_whole_text():
    assert unfenced("```json\n[1]\n```") == "[1]"
    assert unfenced("\n```\n[1]```\n") == "[1]"
    assert unfenced("```json\n[1,\n2]\n  ```") == "[1,\n2]"
    for text in ("[1]", "so: ```json\n[1]\n```", "```json\n[1]\n``` so", "```[1]```"):
        assert unfenced(text) == text
    assert findings(unfenced("```\n[1]\n```\nor\n```\n[2]\n```")).fault is not None
