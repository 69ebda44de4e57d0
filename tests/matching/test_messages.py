"""Order where the calls of one message have none (A3), against every reordering."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import examples
from trajgrade.matching.messages import embedded_in_order, equal_in_order, messages_agree


def numbered(sizes: list[int]) -> list[list[int]]:
    """Messages of those sizes, calls numbered through."""
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    return [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]


@st.composite
def cases(draw, most=4):
    """Two lists of messages, and which calls agree."""
    sizes = st.lists(st.integers(1, 3), max_size=4).filter(lambda found: sum(found) <= most)
    ours, theirs = numbered(draw(sizes)), numbered(draw(sizes))
    n, m = sum(map(len, ours)), sum(map(len, theirs))
    kinds = st.lists(st.integers(0, 2), min_size=n + m, max_size=n + m)
    kind = draw(kinds)
    noise = draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))
    edges = [
        [kind[i] == kind[n + j] or (noise[i * m + j] and kind[i] > kind[n + j]) for j in range(m)]
        for i in range(n)
    ]
    return ours, theirs, edges


@examples(150)
@given(cases())
def test_lists_are_equal_if_some_reordering_inside_the_messages_makes_them_so(case):
    ours, theirs, edges = case
    found = equal_in_order(ours, theirs, lambda i, j: edges[i][j])
    assert found == oracle.strict_parallel(edges, ours, theirs)


@examples(150)
@given(cases())
def test_the_reference_embeds_if_some_placing_respects_the_order_of_messages(case):
    ours, theirs, edges = case
    found = embedded_in_order(ours, theirs, lambda i, j: edges[i][j])
    assert found == oracle.in_order_parallel(edges, ours, theirs)


@examples(100)
@given(cases(), st.booleans(), st.booleans())
def test_whole_messages_agree_one_by_one_or_with_others_between(case, reorder, extras):
    ours, theirs, edges = case

    def whole(ps: list[int], rs: list[int]) -> bool:
        if reorder:
            return oracle.strict_parallel(edges, [ps], [rs])
        return len(ps) == len(rs) and all(edges[i][j] for i, j in zip(ps, rs, strict=True))

    chosen = combinations(ours, len(theirs)) if extras else [tuple(ours)]
    wanted = any(len(some) == len(theirs) and all(map(whole, some, theirs)) for some in chosen)
    found = messages_agree(ours, theirs, lambda i, j: edges[i][j], reorder=reorder, extras=extras)
    assert found == wanted


@examples(100)
@given(cases())
def test_with_one_call_a_message_nothing_is_looser_than_the_flat_modes(case):
    ours, theirs, edges = case
    n, m = sum(map(len, ours)), sum(map(len, theirs))
    ours, theirs = numbered([1] * n), numbered([1] * m)

    def agree(i: int, j: int) -> bool:
        return bool(edges[i][j])

    assert equal_in_order(ours, theirs, agree) == oracle.match("strict", edges, n, m)
    assert embedded_in_order(ours, theirs, agree) == oracle.match("in_order", edges, n, m)
