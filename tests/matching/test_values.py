"""Equality of values (A2), against the oracle's own reading of it."""

from __future__ import annotations

import enum
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import ARGS, LEAVES, examples, values
from trajgrade.matching.paths import lookup, parse
from trajgrade.matching.values import MISSING, canonical, differences, has_nan, same

NESTED = [*LEAVES, *([leaf] for leaf in LEAVES), *({"a": leaf} for leaf in LEAVES), *ARGS, [[]], {}]


def test_every_pair_of_a_table_is_equal_or_not_as_the_law_says():
    for left, right in product(NESTED, repeat=2):
        wanted = oracle.same(left, right)
        assert same(left, right) is wanted, (left, right)
        assert (canonical(left) == canonical(right)) is wanted, (left, right)
        if wanted:
            assert hash(canonical(left)) == hash(canonical(right)), (left, right)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (2**53, 2**53 + 1, False),
        (float(2**53), 2**53 + 1, False),
        (2**60 + 1, 1.152921504606846976e18, False),
        (True, 1, False),
        (False, 0, False),
        ({"n": [0]}, {"n": [False]}, False),
        ("1", 1, False),
        ({"a": None}, {}, False),
        (float("nan"), float("nan"), True),
        ([float("nan")], [float("nan")], True),
        (float("nan"), None, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ([12, 15], [12.0, 15.0], True),
        ("é", "e\u0301", False),
        (0.0, -0.0, True),
        ([], {}, False),
        ([1], {"0": 1}, False),
        ("", None, False),
    ],
)
def test_equality_of_values_is_that_of_json(left, right, equal):
    assert same(left, right) is equal
    assert same(right, left) is equal


@examples(150)
@given(values, values, values)
def test_equality_is_an_equivalence_that_the_key_tells_apart(a, b, c):
    assert same(a, a)
    assert same(a, b) == same(b, a) == oracle.same(a, b) == (canonical(a) == canonical(b))
    if same(a, b) and same(b, c):
        assert same(a, c)
    hash(canonical(a))


@examples(200)
@given(values, values)
def test_values_have_a_difference_exactly_where_they_are_not_equal(a, b):
    found = list(differences(a, b))
    assert (not found) == oracle.same(a, b)
    for place in found:
        path = parse(place.path) if place.path else ()
        assert not oracle.same(lookup(a, path), lookup(b, path))
        assert oracle.same(lookup(a, path), place.got) or lookup(a, path) is place.got is MISSING


def test_a_text_of_another_class_is_still_that_text():
    class Colour(enum.StrEnum):
        RED = "red"

    class Large(int):
        pass

    for left, right in [("red", Colour.RED), ({"c": "red"}, {"c": Colour.RED}), (3, Large(3))]:
        assert same(left, right)
        assert same(right, left)
        assert canonical(left) == canonical(right)


@given(st.lists(values, max_size=4))
def test_a_nan_is_found_wherever_it_stands(found):
    assert has_nan(found) == ("nan" in repr(found))


def test_a_tuple_is_a_list():
    nested = {"a": (1, {"b": (2, 3)})}
    plain = {"a": [1, {"b": [2, 3]}]}
    assert same(nested, plain)
    assert canonical(nested) == canonical(plain)
    assert list(differences(nested, plain)) == []
    (place,) = differences({"a": (1, 2)}, {"a": [1, 3]})
    assert place.path == "a[1]"
    assert lookup(nested, parse("a[1].b[0]")) == 2
    assert has_nan((float("nan"),))
