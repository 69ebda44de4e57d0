"""Several verdicts, one result: nothing lost, no tie decided in silence (SEMANTICS A11)."""

from __future__ import annotations

import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.evaluators.votes import check_votes, combined
from trajgrade.result import EvaluationResult, not_evaluated


def flag(passed: bool) -> EvaluationResult:
    return EvaluationResult("k", float(passed), passed, "so")


UNREAD = not_evaluated("k", "unreadable_verdict", "two objects", {"raw": ["{}{}"]})


def test_one_vote_is_the_result():
    assert combined("k", [flag(True)], "majority") == flag(True)
    assert combined("k", [UNREAD], "mean") == UNREAD


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_numbers_are_averaged_with_their_spread(scores):
    found = combined("k", [EvaluationResult("k", s, s) for s in scores], "mean")
    assert found.score == pytest.approx(statistics.fmean(scores))
    assert found.metadata["spread"] == pytest.approx(statistics.stdev(scores))
    assert [vote["score"] for vote in found.metadata["votes"]] == scores


@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_the_most_frequent_flag_counts_and_a_tie_is_what_was_stated(flags):
    votes = [flag(one) for one in flags]
    counts = Counter(flags)
    if counts[True] == counts[False]:
        assert combined("k", votes, "majority", "lowest").value is False
        assert combined("k", votes, "majority", "highest").value is True
        undecided = combined("k", votes, "majority", "none")
        assert undecided.error is not None
        assert undecided.error.kind == "undefined"
        return
    found = combined("k", votes, "majority", "none")
    assert found.value is (counts[True] > counts[False])
    assert found.metadata["agreement"] == max(counts.values()) / len(flags)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(0, 7))
def test_unreadable_votes_are_no_votes_and_half_of_them_are_too_many(flags, unread):
    votes = [*map(flag, flags), *[UNREAD] * unread]
    if len(votes) < 2:
        return
    found = combined("k", votes, "mean")
    assert len(found.metadata["votes"]) == len(votes)
    if len(flags) > unread:
        assert found.score == pytest.approx(statistics.fmean(map(float, flags)))
        assert ("readable" in found.comment) is (unread > 0)
    else:
        assert found.error is not None
        assert found.error.kind == "unreadable_verdict"


def test_an_even_number_of_counted_votes_needs_a_tie_rule():
    for count in (2, 4):
        with pytest.raises(ConfigError, match=f"{count} votes may tie"):
            check_votes(count, "majority", None)
        check_votes(count, "majority", "none")
        check_votes(count, "mean", None)
    check_votes(3, "majority", None)
