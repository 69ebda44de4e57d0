"""Hopcroft and Karp against an exhaustive search, and against plain augmenting paths when large."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import examples
from trajgrade.matching.bipartite import FREE, maximum_matching


def checked(options: list[list[int]], right: int) -> int:
    """The size of the matching found, which is a matching along the graph's own edges."""
    partner = maximum_matching(options, right)
    pairs = [(i, j) for i, j in enumerate(partner) if j != FREE]
    assert len(partner) == len(options)
    assert all(j in options[i] for i, j in pairs)
    assert len({j for _, j in pairs}) == len(pairs)
    return len(pairs)


@st.composite
def graphs(draw, most=6):
    right = draw(st.integers(0, most))
    vertices = st.lists(st.integers(0, right - 1), unique=True) if right else st.just([])
    return draw(st.lists(vertices, max_size=most)), right


@examples(150)
@given(graphs())
def test_a_matching_is_as_large_as_any(graph):
    options, right = graph
    edges = [[j in row for j in range(right)] for row in options]
    assert checked(options, right) == oracle.maximum_matching(edges, right)
    assert checked(options, right) >= oracle.greedy_matching(edges, right)


@pytest.mark.parametrize("seed", range(60))
def test_a_large_matching_is_as_large_as_augmenting_paths_find(seed):
    chance = random.Random(seed)  # noqa: S311 a made-up case needs no secrecy
    n, m = chance.randint(30, 60), chance.randint(30, 60)
    density = chance.choice([0.01, 0.03, 0.05, 0.1, 0.5])
    options = [[j for j in range(m) if chance.random() < density] for _ in range(n)]
    for row in options:
        chance.shuffle(row)
    assert checked(options, m) == oracle.by_augmenting_paths(options, m)


def test_a_path_through_every_vertex_needs_no_stack():
    length = 20_000
    options = [[i, i + 1] for i in range(length)]
    options.append([0])  # only reached by shifting all the others by one
    assert checked(options, length + 1) == length + 1
