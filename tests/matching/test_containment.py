"""Containment for whole lists against asking every pair."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.strategies import examples
from trajgrade.matching.arguments import ArgumentRule, Comparer
from trajgrade.matching.bipartite import as_set, members
from trajgrade.matching.containment import containing

SCALARS = st.sampled_from([0, 1, True, None, "a", ""])
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)
ARGS = st.dictionaries(st.sampled_from("abc"), NESTED, max_size=3) | NESTED.filter(
    lambda value: value is not None and value != ""
)
LISTS = st.lists(ARGS, max_size=6)


@examples(100)
@given(LISTS, LISTS, st.booleans())
def test_all_at_once_is_every_pair_asked(smaller, larger, deep):
    agrees = Comparer(ArgumentRule(mode="subset", deep=deep), None).agrees
    found = containing(smaller, larger, agrees if deep else None)
    assert [list(members(one)) for one in found] == [
        [n for n, other in enumerate(larger) if agrees(args, other)] for args in smaller
    ]


@pytest.mark.parametrize("deep", [False, True])
def test_items_that_many_hold_are_intersected(deep):
    chance = random.Random(5)  # noqa: S311 a made-up case needs no secrecy
    smaller = [{f"k{chance.randrange(6)}": chance.randrange(2) for _ in range(3)} for _ in "x" * 50]
    larger = [{f"k{n}": chance.randrange(2) for n in range(6)} for _ in range(300)]
    agrees = Comparer(ArgumentRule(mode="subset", deep=deep), None).agrees
    found = containing(smaller, larger, agrees if deep else None)
    assert found == [as_set(n for n, o in enumerate(larger) if agrees(a, o)) for a in smaller]
    assert max(map(int.bit_count, found)) > 16
