"""Contains (SEMANTICS A10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.evaluators import Contains, build_evaluator
from trajgrade.trajectory import Step, Trajectory


def score(outputs, *args, reference=None, **options):
    return Contains(*args, **options)(outputs=outputs, reference_outputs=reference).score


def kind_of(result):
    return result.error and result.error.kind


def test_the_needle_is_a_parameter_or_the_reference():
    assert score("I like tea", "tea") == 1
    assert score("I like tea", reference="tea") == 1
    assert score("I like tea", reference="coffee") == 0
    assert score("tea", "tea", reference="coffee") == 1


def test_a_text_is_one_needle_and_never_split():
    assert score("coffee only", "tea,") == 0
    assert score("coffee only", "tea,", mode="none") == 1
    assert score("tea, please", "tea,") == 1


def test_case_is_folded_by_default():
    assert score("STRASSE", "straße") == 1
    assert score("STRASSE", "straße", case_sensitive=True) == 0
    assert score("Tea", "Tea", case_sensitive=True) == 1


@pytest.mark.parametrize(
    ("mode", "expected"), [("any", [1, 1, 0]), ("all", [1, 0, 0]), ("none", [0, 0, 1])]
)
def test_a_list_is_met_by_any_all_or_none(mode, expected):
    texts = ["tea and milk", "tea", "water"]
    assert [score(text, ["tea", "milk"], mode=mode) for text in texts] == expected
    assert [score(text, reference=["tea", "milk"], mode=mode) for text in texts] == expected


@pytest.mark.parametrize(
    "substring", ["", [], ["tea", ""], ["tea", 1], 42, {"a": 1}, [""]], ids=repr
)
def test_a_needle_that_is_empty_or_no_text_is_refused(substring):
    with pytest.raises(ConfigError, match="substring"):
        Contains(substring, mode="any")


def test_a_list_needs_a_mode():
    with pytest.raises(ConfigError, match="any, all, none"):
        Contains(["tea", "milk"])
    with pytest.raises(ConfigError, match="any, all, none"):
        score("tea", reference=["tea"])


def test_an_unknown_mode_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'none'"):
        build_evaluator("contains", {"substring": "tea", "mode": "non"})


@pytest.mark.parametrize("reference", ["", [], ["tea", ""], {"any_of": [""]}, {"a": 1}, [None]])
def test_a_reference_with_nothing_to_look_for_is_not_evaluated(reference):
    result = Contains(mode="any")(outputs="tea", reference_outputs=reference)
    assert result.score is None
    assert kind_of(result) == "undefined"


@pytest.mark.parametrize(
    ("outputs", "reference", "kind"),
    [("tea", None, "no_reference"), (None, "tea", "no_output"), (None, "", "no_output")],
)
def test_what_is_missing_is_not_evaluated(outputs, reference, kind):
    result = Contains()(outputs=outputs, reference_outputs=reference)
    assert kind_of(result) == kind


def test_no_output_is_not_evaluated_with_a_parameter_either():
    assert kind_of(Contains("tea")(outputs=None)) == "no_output"
    assert kind_of(Contains("tea", mode="none")(outputs=None)) == "no_output"
    assert kind_of(Contains("tea")(outputs=Trajectory())) == "no_output"


def test_the_empty_output_contains_nothing():
    assert score("", "tea") == 0


def test_several_acceptable_references_are_any():
    assert score("tea", reference={"any_of": ["coffee", "tea"]}) == 1
    assert score("water", reference={"any_of": ["coffee", "tea"]}) == 0


def test_a_number_in_the_reference_is_looked_for_as_written():
    assert score("It costs 42 euros", reference=42) == 1
    assert score("It costs 42 euros", reference=42.0) == 1
    assert score("It costs 41 euros", reference=42) == 0


def test_a_structure_is_searched_as_its_json_text():
    assert score({"city": "Paris"}, "paris") == 1
    assert score(["Größe"], "größe") == 1


def test_a_trajectory_may_stand_on_either_side():
    run = Trajectory([Step("assistant", "tea")])
    assert score(run, "tea") == 1
    assert score("I like tea", reference=run) == 1


def test_the_evidence_names_what_was_found_and_what_not():
    result = Contains(["tea", "milk"], mode="all")(outputs="Tea")
    assert result.value is False
    assert result.comment == "contains 'tea'; lacks 'milk'; 1 of 2 found, all wanted"
    assert result.metadata == {"found": ["tea"], "missing": ["milk"]}


def test_the_parameters_are_positional_in_potatos_order():
    assert Contains("a", True, "k") == Contains(substring="a", case_sensitive=True, key="k")


@given(st.text(), st.text(min_size=1), st.text())
def test_what_was_put_in_is_found(before, needle, after):
    text = before + needle + after
    assert score(text, needle, case_sensitive=True) == 1
    assert score(text, [needle], mode="none", case_sensitive=True) == 0


@given(st.text(max_size=4), st.lists(st.text(min_size=1, max_size=2), min_size=1, max_size=3))
def test_none_is_the_opposite_of_any_and_all_implies_any(text, needles):
    by_mode = {mode: score(text, needles, mode=mode) for mode in ("any", "all", "none")}
    assert by_mode["none"] == 1 - by_mode["any"]
    assert by_mode["all"] <= by_mode["any"]
