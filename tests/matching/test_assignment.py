"""The assignment of the greatest weight against all permutations, and the textbook when large."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import examples
from trajgrade.matching.assignment import best_assignment

matrices = st.integers(1, 6).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(1, 4), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


def every_assignment(rows: int, columns: int) -> list[list[tuple[int, int]]]:
    """All maps of the shorter side into the longer, each as pairs by row."""
    if rows <= columns:
        return [list(enumerate(image)) for image in permutations(range(columns), rows)]
    return [
        sorted((i, j) for j, i in enumerate(image)) for image in permutations(range(rows), columns)
    ]


def checked(weights: list[list[int]]) -> int:
    pairs = best_assignment(np.array(weights, dtype=np.int64))
    assert len(pairs) == min(len(weights), len(weights[0]))
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    return sum(weights[i][j] for i, j in pairs)


@examples(150)
@given(matrices)
def test_no_other_assignment_weighs_more_or_is_earlier(weights):
    rows, columns = len(weights), len(weights[0])
    pairs = best_assignment(np.array(weights, dtype=np.int64))
    total = {
        tuple(found): sum(weights[i][j] for i, j in found)
        for found in every_assignment(rows, columns)
    }
    most = max(total.values())
    optimal = [dict(found) for found, weight in total.items() if weight == most]
    # The first row gets the first column that it has in any optimal assignment, and so on.
    earliest = min(optimal, key=lambda found: [found.get(i, columns) for i in range(rows)])
    assert dict(pairs) == earliest


@pytest.mark.parametrize("seed", range(25))
def test_a_large_assignment_weighs_as_much_as_the_textbooks(seed):
    chance = random.Random(seed)  # noqa: S311 a made-up case needs no secrecy
    rows, columns = chance.randint(2, 45), chance.randint(2, 45)
    most = chance.choice([2, 10, 10**9])
    weights = [[chance.randint(1, most) for _ in range(columns)] for _ in range(rows)]
    assert checked(weights) == oracle.greatest_assignment(weights)


def test_weights_as_large_as_five_thousand_calls_make_them_do_not_overflow():
    first = 5001 * 10**9
    chance = random.Random(7)  # noqa: S311 a made-up case needs no secrecy
    weights = [
        [first * chance.randint(0, 1) + chance.randint(1, 10**9) for _ in range(60)]
        for _ in range(60)
    ]
    assert checked(weights) == oracle.greatest_assignment(weights)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_is_assigned_to_nothing(shape):
    assert best_assignment(np.zeros(shape, dtype=np.int64)) == []
