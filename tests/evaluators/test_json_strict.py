"""JSON by the letter of RFC 8259, against the grammar itself written as a recursive expression."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.evaluators.json_strict import MAX_DEPTH, parsed_fault, read_strictly, unfenced

# Sections 2 to 7 of the RFC, rule by rule.
GRAMMAR = regex.compile(
    r"""(?(DEFINE)
        (?P<ws>[ \t\n\r]*)
        (?P<value>(?&ws)(?:false|null|true|(?&object)|(?&array)|(?&number)|(?&string))(?&ws))
        (?P<object>\{(?&ws)\}|\{(?&member)(?:,(?&member))*\})
        (?P<member>(?&ws)(?&string)(?&ws):(?&value))
        (?P<array>\[(?&ws)\]|\[(?&value)(?:,(?&value))*\])
        (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
        (?P<string>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*")
    )(?&value)""",
    regex.VERBOSE,
)


def is_json(text: str) -> bool:
    return GRAMMAR.fullmatch(text) is not None


def fault_of(text: str) -> str | None:
    return read_strictly(text).fault


PIECES = [
    "[", "]", "{", "}", ":", ",", " ", "\n", "\t", "\r", "\u00a0", "\ufeff", '"', '""', '"a"', '"b"',
    "\\", '\\"', "\\u00e9", "\\ud800", "\\x", "0", "1", "01", "-", "-1", "1.5", "1.", ".5", "e", "1e5",
    "1E-5", "1e", "+", "true", "false", "null", "NaN", "Infinity", "-Infinity", "True", "\x00", "\x1f",
    "\x7f", "é", "١",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_the_reader_agrees_with_the_grammar(text):
    assert (fault_of(text) is None) == is_json(text), text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_what_is_written_as_json_is_json(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read_strictly(text) == (value, None, [], [])
    assert parsed_fault(value) is None


@given(VALUES, st.data())
def test_one_changed_character_is_judged_by_the_grammar(value, data):
    text = json.dumps(value)
    place = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.sampled_from(["", '"', ",", "]", "0", "\\"]))
    changed = text[:place] + put + text[place + 1 :]
    assert (fault_of(changed) is None) == is_json(changed)


def test_the_fault_names_its_place():
    assert fault_of('{"a" 1}') == "Expecting ':' delimiter: line 1 column 6 (char 5)"
    assert fault_of("[1,") == "Expecting value: line 1 column 4 (char 3)"
    assert fault_of('{"a": NaN}') == "NaN is not JSON"


def test_repeated_names_are_found_at_any_depth_and_however_escaped():
    assert read_strictly('{"a": 1, "b": 0, "a": 2}').repeated == ["a"]
    assert read_strictly('[{"b": {"a": 1, "\\u0061": 2}}]').repeated == ["a"]
    assert read_strictly('[{"a": 1}, {"a": 1}]').repeated == []
    assert read_strictly('{"a": "a", "b": {"a": 1}}').repeated == []


def test_numbers_beyond_every_double_are_noted_and_kept():
    value, _, _, notes = read_strictly("[1e999, -1e999, 1e308]")
    assert value == [Decimal("1e999"), Decimal("-1e999"), 1e308]
    assert notes == [
        "1e999 is beyond the range of double precision",
        "-1e999 is beyond the range of double precision",
    ]


def test_digits_are_not_limited():
    assert read_strictly("1" * 10_000).value == Decimal("1" * 10_000)
    assert fault_of("0." + "1" * 10_000) is None


def test_depth_is_limited_and_brackets_in_texts_do_not_count():
    limit = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert fault_of(limit) is None
    for deep in (f"[{limit}]", "[" * 100_000, '{"a":' * 300):
        assert fault_of(deep) == "nested more than 254 deep, which is not read"
    for text in ("[" * 1000, '\\"[' * 300, '"[{' * 300):
        assert fault_of(json.dumps([text, {text: text}])) is None
    assert fault_of("[[]," * 200 + "0" + "]" * 200) is None


def test_a_long_text_without_an_end_is_refused_at_once():
    assert fault_of('"' + "\\n" * 200_000) is not None
    assert fault_of('"' + "[" * 1_000_000) is not None
    assert fault_of('"' + "\\" * 200_001) is not None


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
    assert fault_of(unfenced("```\n[1]\n```\nor\n```\n[2]\n```")) is not None
