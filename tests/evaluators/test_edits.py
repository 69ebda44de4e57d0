"""EditDistance (SEMANTICS A10), against the textbook's table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.evaluators import EditDistance, build_evaluator
from trajgrade.trajectory import Step, Trajectory


def result(outputs, reference, **options):
    return EditDistance(**options)(outputs=outputs, reference_outputs=reference)


def table_distance(a: str, b: str) -> int:
    """Wagner and Fischer, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        left, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (x != y))
    return row[-1]


@pytest.mark.parametrize(
    ("outputs", "reference", "score", "distance"),
    [
        ("", "", 1.0, 0),
        ("  ", "", 0.0, 2),
        ("", "a", 0.0, 1),
        ("kitten", "sitting", 1 - 3 / 7, 3),
        ("abc", "abc", 1.0, 0),
        ("😀", "a", 0.0, 1),
    ],
)
def test_the_score_is_the_share_that_is_kept(outputs, reference, score, distance):
    found = result(outputs, reference)
    assert found.score == score
    assert found.value == distance
    assert found.metadata == {"distance": distance, "length": max(len(outputs), len(reference))}


ALPHABET = st.text("abé\u0301😀\ud800", max_size=8)


@given(ALPHABET, ALPHABET)
def test_the_distance_is_that_of_the_table(a, b):
    found = result(a, b)
    assert found.value == table_distance(a, b)
    assert found.score == pytest.approx(1 - found.value / max(len(a), len(b), 1))
    assert 0 <= found.score <= 1
    assert (found.score == 1) == (a == b)


@given(ALPHABET, ALPHABET, ALPHABET)
def test_the_distance_is_a_metric(a, b, c):
    assert result(a, b).value == result(b, a).value
    assert result(a, c).value <= result(a, b).value + result(b, c).value


def test_unicode_forms_are_normalised_on_request():
    assert result("é", "e\u0301").value == 2
    assert result("é", "e\u0301", unicode="NFC").value == 0
    with pytest.raises(ConfigError, match="Did you mean 'NFC'"):
        build_evaluator("edit_distance", {"unicode": "nfc"})


def test_a_text_against_a_structure_is_parsed_first():
    assert result('{"b":2,   "a":1}', {"a": 1.0, "b": 2}).score == 1
    assert 0 < result('{"a": 1', {"a": 1}).score < 1
    assert result(1, 1.0).score == 1
    assert result("12", 13).score == 0.5


def test_the_best_of_several_references_counts():
    found = result("cats", {"any_of": ["dog", "cat", "rats"]})
    assert found.score == 0.75
    assert found.metadata["reference_index"] == 1
    assert found.comment == "reference 2 of 3: 1 edits over 4 characters"


@pytest.mark.parametrize(
    ("outputs", "reference", "kind"),
    [
        (None, "", "no_output"),
        ("", None, "no_reference"),
        (Trajectory(), "a", "no_output"),
        ("a", Trajectory(), "no_reference"),
    ],
)
def test_what_is_missing_is_not_evaluated(outputs, reference, kind):
    assert result(outputs, reference).error.kind == kind


def test_a_trajectory_may_stand_on_either_side():
    run = Trajectory([Step("assistant", "Paris")])
    assert result(run, "Paris").score == result("Paris", run).score == 1


def test_the_key_may_be_given_by_position():
    assert EditDistance("k") == EditDistance(key="k")
