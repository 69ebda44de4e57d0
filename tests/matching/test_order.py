"""Order-preserving pairs and increasing subsequences, against trying all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.strategies import examples
from trajgrade.matching.order import best_in_order, out_of_order

matrices = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 3), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


def chains(rows: int, columns: int) -> list[list[tuple[int, int]]]:
    return [
        list(zip(chosen, image, strict=True))
        for size in range(min(rows, columns) + 1)
        for chosen in combinations(range(rows), size)
        for image in combinations(range(columns), size)
    ]


@examples(200)
@given(matrices)
def test_no_other_chain_of_pairs_weighs_more_or_is_earlier(weights):
    rows, columns = len(weights), len(weights[0])
    pairs = best_in_order(np.array(weights, dtype=np.int64))
    assert pairs in chains(rows, columns)
    assert all(weights[i][j] > 0 for i, j in pairs)
    total = {tuple(c): sum(weights[i][j] for i, j in c) for c in chains(rows, columns)
             if all(weights[i][j] > 0 for i, j in c)}  # fmt: skip
    most = max(total.values())
    earliest = min(
        (dict(chain) for chain, weight in total.items() if weight == most),
        key=lambda chain: [chain.get(i, columns) for i in range(rows)],
    )
    assert dict(pairs) == earliest


@examples(200)
@given(st.permutations(range(7)))
def test_what_is_left_of_the_misplaced_is_a_longest_increasing_subsequence(columns):
    outside = out_of_order(columns)
    kept = [column for place, column in enumerate(columns) if place not in outside]
    assert kept == sorted(kept)
    longer = combinations(columns, len(kept) + 1)
    assert not any(list(chosen) == sorted(chosen) for chosen in longer)


def test_nothing_is_misplaced_in_nothing():
    assert out_of_order([]) == []
    assert best_in_order(np.zeros((0, 3), dtype=np.int64)) == []
    assert best_in_order(np.zeros((3, 0), dtype=np.int64)) == []
