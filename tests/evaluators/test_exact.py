"""ExactMatch (SEMANTICS A2, A9, A10)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError, MalformedTraceError
from trajgrade.evaluators import ExactMatch, build_evaluator
from trajgrade.trajectory import Step, Trajectory


def score(outputs, reference, **options):
    return ExactMatch(**options)(outputs=outputs, reference_outputs=reference).score


def comment(outputs, reference, **options):
    return ExactMatch(**options)(outputs=outputs, reference_outputs=reference).comment


def kind_of(result):
    return result.error and result.error.kind


# ------------------------------------------------------------------------------ texts


def test_order_and_repeats_of_words_count():
    assert score("good not bad", "bad not good") == 0
    assert score("no no no", "no") == 0


def test_blanks_at_both_ends_are_left_out_by_default():
    assert score(" Paris\n", "Paris") == 1
    assert score(" Paris\n", "Paris", strip=False) == 0


def test_case_counts_by_default_and_is_folded_in_full_on_request():
    assert score("PARIS", "paris") == 0
    assert score("PARIS", "paris", case_sensitive=False) == 1
    assert score("STRASSE", "straße", case_sensitive=False) == 1


PAIRS = [("München", "Mu\u0308nchen"), ("\ufb01le", "file"), ("1\u00a0kg", "1 kg")]


@pytest.mark.parametrize(
    ("unicode", "expected"), [(None, [0, 0, 0]), ("NFC", [1, 0, 0]), ("NFKC", [1, 1, 1])]
)
def test_unicode_forms_are_equal_only_when_asked_for(unicode, expected):
    assert [score(a, b, unicode=unicode) for a, b in PAIRS] == expected
    assert score("8.540", "9.540", unicode=unicode) == 0


def test_folding_after_normalising_is_normalised_again():
    assert score("\u01f0\u0323", "J\u0323\u030c", unicode="NFC", case_sensitive=False) == 1


def test_texts_that_look_like_json_are_texts():
    assert score("1", "1.0") == 0
    assert score('{"a":1}', '{"a": 1}') == 0


def test_the_value_is_the_verdict():
    assert ExactMatch()(outputs="a", reference_outputs="a").value is True
    assert ExactMatch()(outputs="a", reference_outputs="b").value is False


def test_the_comment_says_where_two_texts_part():
    assert comment("The cat sat", "The cat sits") == (
        "differs at character 10: expected 'The cat sits', got 'The cat sat'"
    )
    assert comment("Paris", "Paris!") == (
        "differs at character 6: expected 'Paris!', got 'Paris' and then the end"
    )
    assert len(comment("x" * 10_000, "x" * 9_999 + "y" * 10_000)) < 200


# ------------------------------------------------------------------------------ structures


@pytest.mark.parametrize(
    ("outputs", "reference", "expected"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        (1, 1.0, 1),
        (True, 1, 0),
        (True, True, 1),
        (3, [3], 0),
        ([1, 2], [2, 1], 0),
        (2**53, 2**53 + 1, 0),
        ({"a": None}, {}, 0),
        ({"n": "1"}, {"n": 1}, 0),
        (3, {"n": 1}, 0),
    ],
)
def test_structures_are_equal_as_json_values(outputs, reference, expected):
    assert score(outputs, reference) == expected
    assert score(reference, outputs) == expected


@pytest.mark.parametrize(
    ("outputs", "reference", "expected"),
    [
        ('{"y":[2],"x":1}', {"x": 1, "y": [2]}, 1),
        ("{", {"x": 1}, 0),
        ("x = 1", {"x": 1}, 0),
        ("42", 42, 1),
        ("True", True, 0),
        ("true", True, 1),
        ("true", 1, 0),
        ("None", 0, 0),
    ],
)
def test_a_text_against_a_structure_is_parsed_first(outputs, reference, expected):
    assert score(outputs, reference) == expected
    assert score(reference, outputs) == expected


def test_nan_equals_nan_and_is_noted():
    result = ExactMatch()(outputs={"a": float("nan")}, reference_outputs={"a": float("nan")})
    assert result.score == 1
    assert "NaN" in result.metadata["notes"][0]
    assert "NaN" in result.comment


def test_text_that_is_read_leniently_is_noted():
    result = ExactMatch()(outputs='{"a": NaN}', reference_outputs={"a": float("nan")})
    assert result.score == 1
    assert "not strict JSON" in result.comment


def test_the_comment_names_the_first_path_that_differs():
    result = ExactMatch()(outputs={"a": {"b": [1, 2]}}, reference_outputs={"a": {"b": [1, 3]}})
    assert result.comment == "a.b[1]: expected 3, got 2"
    assert result.metadata == {"path": "a.b[1]", "expected": "3", "got": "2"}
    assert comment({}, {"a": 1}) == "a: expected 1, got <missing>"
    assert comment([1], 5) == "the whole: expected 5, got [1]"


def test_the_comment_says_which_side_is_not_json():
    assert comment("so", [1]) == "the reference is a structure and the response is not JSON"
    assert comment([1], "so") == "the response is a structure and the reference is not JSON"


def test_texts_inside_structures_are_normalised_on_request_only():
    assert score({"c": PAIRS[0][0]}, {"c": PAIRS[0][1]}) == 0
    assert score({"c": PAIRS[0][0]}, {"c": PAIRS[0][1]}, unicode="NFC") == 1


# ------------------------------------------------------------------------------ containers


def test_a_container_is_its_text():
    assert score({"output": "Paris"}, "Paris") == 1
    assert score({"output": "Paris"}, {"answer": "Paris"}) == 1
    assert score({"output": "Paris", "seconds": 3}, "Paris") == 1
    assert score({"answer": "5"}, 5) == 1


def test_the_json_text_of_a_container_equals_it():
    assert score('{"answer": "Paris"}', {"answer": "Paris"}) == 1
    assert score({"answer": "Paris"}, '{"answer": "Paris"}') == 1


def test_objects_that_hold_more_than_a_text_are_compared_as_structures():
    assert score({"answer": "x", "n": 1}, {"n": 1, "answer": "x"}) == 1
    assert score({"answer": "x", "n": 1}, {"answer": "x", "n": 2}) == 0
    assert comment({"answer": "x", "n": 1}, {"answer": "x", "n": 2}) == "n: expected 2, got 1"


# ------------------------------------------------------------------------------ missing, several


@pytest.mark.parametrize(
    ("outputs", "reference", "kind"),
    [
        (None, "", "no_output"),
        ("", None, "no_reference"),
        (None, None, "no_reference"),
        (None, {"n": 1}, "no_output"),
        ({"n": 1}, None, "no_reference"),
        (None, "None", "no_output"),
        (Trajectory([Step("user", "?")]), "x", "no_output"),
        ("x", Trajectory([Step("user", "?")]), "no_reference"),
        ("x", {"any_of": [None]}, "no_reference"),
    ],
)
def test_what_is_missing_is_not_evaluated(outputs, reference, kind):
    result = ExactMatch()(outputs=outputs, reference_outputs=reference)
    assert result.score is None
    assert kind_of(result) == kind


def test_a_trajectory_may_stand_on_either_side():
    run = Trajectory([Step("user", "Where?"), Step("assistant", "Paris")])
    assert score(run, "Paris") == 1
    assert score("Paris", run) == 1


def test_any_of_several_references_will_do_and_is_named():
    result = ExactMatch()(outputs="cat", reference_outputs={"any_of": ["dog", "cat", "cat"]})
    assert (result.score, result.comment) == (1, "reference 2 of 3: equal")
    assert result.metadata["reference_index"] == 1
    assert score("c", {"any_of": ["dog", "cat"]}) == 0


def test_a_text_is_never_taken_letter_by_letter():
    assert score("cat", "cat") == 1
    assert score("c", "cat") == 0
    with pytest.raises(MalformedTraceError, match="list"):
        score("c", {"any_of": "cat"})


def test_a_bare_list_is_a_structure_and_no_choice():
    assert score("cat", ["cat", "dog"]) == 0
    assert score('["cat", "dog"]', ["cat", "dog"]) == 1


@pytest.mark.parametrize("options", [{"unicode": "NFD"}, {"strip": "no"}, {"case_sensitive": 0}])
def test_options_are_checked(options):
    with pytest.raises(ConfigError):
        ExactMatch(**options)


def test_a_misspelt_option_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'NFKC'"):
        build_evaluator("exact_match", {"unicode": "nfkc"})


def test_the_parameters_are_positional_in_potatos_order():
    assert ExactMatch(False, False, "k") == ExactMatch(case_sensitive=False, strip=False, key="k")


# ------------------------------------------------------------------------------ laws

NUMBERS = st.sampled_from([0, 1, 1.0, True, False, 2**53, 2**53 + 1, 1e22, 10**22, float("nan")])
WORDS = st.sampled_from(["", "a", " a", "A", "ß", "SS", "1", "true", "é", "e\u0301", "[1]"])
STRUCTURES = st.recursive(
    st.none() | NUMBERS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
).filter(lambda value: value is not None and not isinstance(value, str))
OPTIONS = st.fixed_dictionaries(
    {
        "case_sensitive": st.booleans(),
        "strip": st.booleans(),
        "unicode": st.sampled_from([None, "NFC", "NFKC"]),
    }
)


@given(
    OPTIONS, st.lists(WORDS, min_size=3, max_size=3) | st.lists(STRUCTURES, min_size=3, max_size=3)
)
def test_equality_is_an_equivalence_among_texts_and_among_structures(options, values):
    a, b, c = values
    equal = {
        (i, j): score(values[i], values[j], **options) == 1
        for i, j in itertools.product(range(3), repeat=2)
    }
    assert all(equal[i, i] for i in range(3))
    assert all(equal[i, j] == equal[j, i] for i, j in equal)
    if equal[0, 1] and equal[1, 2]:
        assert equal[0, 2], (a, b, c)


@given(OPTIONS, WORDS | STRUCTURES, WORDS | STRUCTURES)
def test_equality_is_symmetric_between_text_and_structure(options, a, b):
    assert score(a, b, **options) == score(b, a, **options)
