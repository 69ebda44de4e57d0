"""YAML in: what is read, what is a fault, and what bounds it."""

from itertools import pairwise

import pytest

from trajgrade.errors import ConfigError
from trajgrade.yamltext import MAX_BYTES, loads


def read(text: str) -> object:
    faults: list[str] = []
    value = loads(text.encode(), faults)
    assert faults == []
    return value


def faults_in(text: str) -> list[str]:
    faults: list[str] = []
    loads(text.encode(), faults)
    return faults


def test_plain_values_are_those_of_json():
    text = "{a: 1, b: -2.5, c: true, d: False, e: null, f: ~, g: text, h: [], i: {}, j: '1', k: .5}"
    assert read(text) == {
        "a": 1, "b": -2.5, "c": True, "d": False, "e": None, "f": None, "g": "text", "h": [],
        "i": {}, "j": "1", "k": 0.5,
    }  # fmt: skip


def test_a_number_in_scientific_notation_needs_no_point():
    assert read("[1e-9, 2E3, +4, 1.]") == [1e-9, 2000.0, 4, 1.0]


def test_a_date_is_text():
    assert read("[2024-05-15, 2024-05-15T10:00:00Z]") == ["2024-05-15", "2024-05-15T10:00:00Z"]


def test_a_key_is_the_text_that_stands_there():
    assert read("{on: 1, 2: b, 1.50: c, null: d}") == {"on": 1, "2": "b", "1.50": "c", "null": "d"}


def test_anchors_and_merges_are_followed():
    text = "base: &base {a: 1, b: 2}\nboth:\n  <<: *base\n  b: 3\nsame: *base"
    assert read(text) == {
        "base": {"a": 1, "b": 2},
        "both": {"b": 3, "a": 1},
        "same": {"a": 1, "b": 2},
    }


def test_nothing_is_none():
    assert read("") is None
    assert read("# only a comment\n") is None


@pytest.mark.parametrize("flag", ["yes", "no", "on", "off", "Yes", "OFF"])
def test_a_word_that_some_readers_take_for_a_flag_is_a_fault_with_its_path_and_line(flag: str):
    (fault,) = faults_in(f"params:\n  mode: {flag}")
    assert fault.startswith(f"params.mode: {flag} (line 2) is ")
    assert f"'{flag}' in quotes" in fault


@pytest.mark.parametrize("number", ["010", "0x1f", "1_000", "12:30", "0b1"])
def test_a_number_that_readers_disagree_about_is_a_fault(number: str):
    (fault,) = faults_in(f"[{number}]")
    assert fault.startswith(f"[0]: '{number}' (line 1) is one number to some")


def test_a_quoted_word_or_number_is_text():
    assert read("[\"yes\", '010', 'on']") == ["yes", "010", "on"]


def test_a_key_given_twice_is_a_fault_that_names_both_lines():
    assert faults_in("a: 1\nb: 2\na: 3") == ["a: is given twice, in lines 1 and 3"]


@pytest.mark.parametrize(
    "tag", ["!!python/object:os.system x", "!!set {x}", "!!binary aGk=", "!my x"]
)
def test_other_tags_are_not_read(tag: str):
    (fault,) = faults_in(f"a: {tag}")
    assert fault.startswith("a: the tag ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n\t- b", "line 2, column 1: this is not YAML: .*spaces, not tabs"),
        ("a: b: c", "line 1, column 5: this is not YAML: mapping values are not allowed here; is"),
        ("a: [1", "line 1, column 6: this is not YAML"),
        ("a: 1\n---\nb: 2", "line 2, column 1: .*another document"),
        ("a: *nowhere", "line 1, column 4: .*undefined alias"),
        ("a: &x [*x]", r"a\[0\]: an alias refers to what it stands in"),
        ("a: \0", "this is not YAML in UTF-8"),
    ],
)
def test_a_syntax_error_names_line_and_column(text: str, said: str):
    with pytest.raises(ConfigError, match=said):
        loads(text.encode(), [])


def test_bytes_that_are_not_utf_8_are_refused():
    with pytest.raises(ConfigError, match="not YAML in UTF-8"):
        loads(b"a: \xe9", [])


def test_aliases_that_expand_without_end_are_refused():
    levels = "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghi"))
    with pytest.raises(ConfigError, match="more than 100,000 values, aliases expanded"):
        loads(f"a: &a [x]\n{levels}".encode(), [])


def test_depth_and_size_are_bounded():
    with pytest.raises(ConfigError, match="nested too deeply"):
        loads(b"[" * 500, [])
    with pytest.raises(ConfigError, match="at most 1,000,000 are read"):
        loads(b"#" * (MAX_BYTES + 1), [])


def test_a_number_beyond_all_bounds_is_a_fault():
    assert "too large a number" in faults_in(f"a: {'9' * 5000}")[0]
