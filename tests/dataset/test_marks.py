"""The marks met so far are a set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trajgrade.dataset.marks import Marks

marks = (
    st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.integers(0, 9).map(lambda n: n << 40)
)


@given(st.lists(marks.filter(bool), max_size=60))
def test_a_mark_is_new_once(given: list[int]):
    met, seen = set(), Marks()
    for mark in given:
        assert seen.add(mark) == (mark not in met)
        met.add(mark)


def test_it_grows_without_forgetting():
    seen = Marks()
    assert all(seen.add(mark) for mark in range(1, 30_000))
    assert not any(seen.add(mark) for mark in range(1, 30_000))
