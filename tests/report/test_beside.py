"""The calls of a row beside what was expected: every call of both sides stands there once."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import trajgrade
from trajgrade.report.beside import MOST, Call, Place, Turn, turns_of

CALL = st.builds(
    lambda name, value: {"name": name, "args": {"x": value}},
    st.sampled_from("abc"),
    st.integers(0, 2),
)
CALLS = st.lists(CALL, max_size=6)


def turns(outputs: Any, reference: Any, *evaluators: Any, **options: Any) -> list[Turn]:
    run = trajgrade.evaluate(
        [{"id": "a", "outputs": outputs, "reference_outputs": reference}],
        [*(evaluators or ("trajectory_match",))],
        **options,
    )
    return turns_of(run.rows[0])


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


@given(CALLS, CALLS)
def test_every_call_of_both_sides_stands_there_once(outputs, reference):
    found = turns(outputs, reference)
    if not outputs and not reference:
        assert found == []
        return
    places = found[0].places
    for side, calls in (("got", outputs), ("expected", reference)):
        shown = Counter(getattr(place, side).name for place in places if getattr(place, side))
        assert shown == Counter(one["name"] for one in calls)
    for place in places:
        assert (place.mark == "lacks") == (place.got is None)
        assert (place.mark == "besides") == (place.expected is None)
        if place.mark == "same":
            assert place.got == place.expected
    expected = [place.expected.name for place in places if place.expected]
    assert expected == [one["name"] for one in reference]


def test_what_is_out_of_order_is_told_from_what_is_missing():
    (turn,) = turns([call("b"), call("a")], [call("a"), call("b")])
    assert sorted(place.mark for place in turn.places) == ["moved", "same"]


def test_rows_without_an_alignment_are_aligned_by_their_names():
    (turn,) = turns([call("a", x=1), call("c")], [call("a", x=2), call("b")], explain="none")
    assert turn.places == [
        Place(Call("a"), Call("a"), "same"),
        Place(Call("b"), None, "lacks"),
        Place(None, Call("c"), "besides"),
    ]


def test_metrics_of_one_alignment_show_it_once():
    found = turns([call("a")], [call("b")], "trajectory_match", "trajectory_f1", explain="all")
    assert len(found) == 1


def test_of_many_calls_the_first_are_shown_and_the_others_counted():
    (turn,) = turns([call("a")] * 100, [call("b")], explain="all")
    assert (len(turn.places), turn.hidden) == (MOST, 101 - MOST)


def test_arguments_are_cut_and_what_cannot_be_seen_is_written_out():
    (turn,) = turns(
        [call("a\x1b", **{"x\u202e": "y" * 5000, "z": None})], [call("b")], explain="all"
    )
    shown = next(place.got for place in turn.places if place.got)
    assert shown.name == "a\\x1b"
    assert shown.args[0].startswith('x\\u202e: "yyy')
    assert len(shown.args[0]) < 300
    assert shown.args[1] == "z: null"


def test_metrics_that_compare_no_calls_show_none():
    assert turns("x", "x", "exact_match") == []
