"""Alignment (A8): partial credit, and the alignment as data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import PLAIN, calls_of, examples, letters, run, sides
from trajgrade.errors import ConfigError, TooLargeError
from trajgrade.evaluators import ToolCall, TrajectoryAlignment
from trajgrade.matching import alignment
from trajgrade.matching.alignment import Alignment


def score(outputs: Any, reference: Any, **options: Any) -> float:
    result = TrajectoryAlignment(**options).evaluate(outputs=outputs, reference_outputs=reference)
    assert result.score is not None
    return result.score


def aligned(outputs: Any, reference: Any, order: Any = "any", **options: Any) -> Alignment:
    (found,) = TrajectoryAlignment(**options).alignment(
        outputs=outputs, reference_outputs=reference, order=order
    )
    return found


@pytest.mark.parametrize(
    ("case", "any_order", "in_order"),
    [
        ("/", 1, 1),
        ("/a", 0, 0),
        ("a/", 0, 0),
        ("kqmk/klmk", 3 / 4, 3 / 4),
        ("oor/oro", 1, 2 / 3),
        ("ba/ab", 1, 1 / 2),
        ("aa/a", 2 / 3, 2 / 3),
        ("axb/ab", 4 / 5, 4 / 5),
        ("cab/abc", 1, 2 / 3),
    ],
)
def test_calls_written_as_letters_are_aligned(case, any_order, in_order):
    agent, _, reference = case.partition("/")
    assert score(letters(agent), letters(reference)) == pytest.approx(any_order)
    assert score(letters(agent), letters(reference), order="in_order") == pytest.approx(in_order)


@pytest.mark.parametrize(
    ("got", "expected", "similarity"),
    [
        ({"a": 1}, {"a": 1.0}, 1),
        ({"a": 1}, {"a": 2}, 0.5),
        ({"a": 1, "b": 1}, {"a": 1, "b": 2}, 0.75),
        ({"a": 1, "b": 1}, {"a": 1}, 0.75),
        ({"a": 1}, {"b": 1}, 0.5),
        ({}, {"a": 1}, 0.5),
        ("text", {"a": 1}, 0.5),
        ("text", "other", 0.5),
        ([1], [2], 0.5),
        ({str(i): i for i in range(100)}, {str(i): i or "x" for i in range(100)}, 0.99),
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 1, "y": 2}}, 0.5),  # keys, not paths
    ],
)
def test_calls_of_one_tool_are_similar_by_half_and_by_their_share_of_equal_keys(
    got, expected, similarity
):
    pair = calls_of(got), calls_of(expected)
    for order in ("any", "in_order"):
        assert score(run(pair[0]), run(pair[1]), order=order) == pytest.approx(similarity)
    more = [*pair[0], ToolCall("z")], [*pair[1], ToolCall("z")]
    assert score(run(more[0]), run(more[1])) == pytest.approx((1 + similarity) / 2)
    assert score(run(pair[0]), run([ToolCall("g", expected)])) == 0


@pytest.mark.parametrize(
    ("options", "got", "expected", "similarity"),
    [
        ({"tool_args_match_mode": "ignore"}, {"a": 1}, {"b": 2}, 1),
        ({"tool_args_match_mode": "subset"}, {"a": 1}, {"a": 1, "b": 2}, 1),
        ({"tool_args_match_mode": "subset"}, {"a": 2}, {"a": 1, "b": 2}, 0.5),
        ({"ignore_keys": ["ts"]}, {"a": 1, "b": 2, "ts": 1}, {"a": 1, "b": 3, "ts": 2}, 0.75),
        ({"tool_args_match_overrides": {"f": {"a": {"number": {"abs": 1}}}}},
         {"a": 1, "b": 2}, {"a": 2, "b": 3}, 0.75),
        ({"tool_args_match_overrides": {"f": {"a": "ignore"}}},
         {"a": 1, "b": 2}, {"b": 3}, 0.75),
        ({"tool_args_match_overrides": {"f": ["a", "c"]}},
         {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 4}, 0.75),
        ({"tool_args_match_overrides": {"f": lambda a, _: a == {"a": 2}}},
         {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1, "d": 1}, 0.75),
        ({"tool_args_match_overrides": {"f": lambda *_: False}}, {"a": 1}, {"a": 1}, 0.99),
        ({"deep": True, "tool_args_match_mode": "subset"},
         {"a": {"x": 1}, "b": 1}, {"a": {"x": 1, "y": 2}, "b": 2}, 0.75),
        ({"name_aliases": {"F": "f"}}, {"a": 1}, {"a": 1}, 1),
    ],
)  # fmt: skip
def test_the_evaluators_own_rules_decide_which_keys_agree(options, got, expected, similarity):
    assert score(run(calls_of(got)), run(calls_of(expected)), **options) == pytest.approx(
        similarity
    )
    two = run(calls_of(got, got)), run(calls_of(expected, expected))
    assert score(*two, **options) == pytest.approx(similarity)
    assert score(*two, order="in_order", **options) == pytest.approx(similarity)


def test_agreeing_pairs_come_before_total_similarity():
    reference = calls_of({"a": 1, "b": 1}, {"a": 1, "c": 1})
    agent = calls_of({"a": 1, "b": 1}, {"b": 1, "a": 1})
    found = aligned(run(agent), run(reference))
    assert [pair.similarity for pair in found.matched].count(1.0) == 1
    assert [(pair.got, pair.expected) for pair in found.matched] == [(0, 0), (1, 1)]
    # p0 ~ r0 alone, though the other two pairs would be 0.99 alike each.
    long = {str(i): i for i in range(200)}
    reference = calls_of({**long, "x": 1}, {**long, "x": 2})
    mode = {"f": lambda a, r: a.get("x") == 0 and r.get("x") == 2}
    agent = calls_of({"x": 0}, {**long, "x": 3})
    found = aligned(run(agent), run(reference), tool_args_match_overrides=mode)
    assert [(p.got, p.expected) for p in found.matched] == [(0, 1), (1, 0)]


def test_the_alignment_as_data_names_what_is_missing_extra_and_misordered():
    agent = [ToolCall("b"), ToolCall("x"), ToolCall("a"), ToolCall("f", {"u": {"v": 1}, "w": 2})]
    reference = [
        ToolCall("a"),
        ToolCall("b"),
        ToolCall("f", {"u": {"v": 2}, "w": 2}),
        ToolCall("y"),
    ]
    found = aligned(run(agent), run(reference))
    assert [(pair.got, pair.expected) for pair in found.matched] == [(0, 1), (2, 0), (3, 2)]
    assert found.missing == (3,)
    assert found.extra == (1,)
    assert found.misordered == (0,)
    assert found.score == pytest.approx(2 * (1 + 1 + 0.75) / 8)
    (difference,) = found.matched[2].differences
    assert (difference.path, difference.expected, difference.got) == ("u.v", 2, 1)
    kept = aligned(run(agent), run(reference), "in_order")
    assert kept.misordered == ()
    assert len(kept.matched) == 2


def test_only_differences_that_count_are_told():
    agent = calls_of({"ts": 1, "near": 1.0, "q": "x", "extra": 1})
    reference = calls_of({"ts": 2, "near": 1.2, "q": "y"})
    options: dict[str, Any] = {
        "tool_args_match_mode": "superset", "ignore_keys": ["ts"],
        "tool_args_match_overrides": {"f": {"near": {"number": {"abs": 0.5}}}},
    }  # fmt: skip
    found = aligned(run(agent), run(reference), **options)
    assert [place.path for place in found.matched[0].differences] == ["q"]


@pytest.mark.parametrize("order", ["any", "in_order"])
@examples(100)
@given(sides(most=4), st.sampled_from(oracle.ARGS_MODES))
def test_an_alignment_is_consistent_with_itself(order, case, mode):
    agent, reference = case
    evaluator = TrajectoryAlignment(mode, order=order)
    given_: dict[str, Any] = {"outputs": run(agent), "reference_outputs": run(reference)}
    (found,) = evaluator.alignment(**given_, order=order)
    n, m = len(agent), len(reference)
    left = [pair.got for pair in found.matched]
    right = [pair.expected for pair in found.matched]
    assert sorted([*left, *found.extra]) == list(range(n))
    assert sorted([*right, *found.missing]) == list(range(m))
    assert left == sorted(left)
    if order == "in_order":
        assert right == sorted(right)
    rules = oracle.Rules(mode)
    for pair in found.matched:
        similar = oracle.similarity(agent[pair.got], reference[pair.expected], rules)
        assert pair.similarity == pytest.approx(float(similar))
        assert bool(pair.differences) == (pair.similarity < 1)
    assert found.score == evaluator.evaluate(**given_).score
    kept = [pair for pair in found.matched if pair.got not in found.misordered]
    images = [pair.expected for pair in kept]
    assert images == sorted(images)


@pytest.mark.parametrize(
    ("case", "order", "said"),
    [
        ("kqmk/klmk", "in_order", "call 1: expected l(), got q()"),
        ("oor/oro", "in_order", "call 1: expected r(), got o()"),
        ("kqmk/klmk", "any", "reference call 1 not made: l()"),
        ("aa/a", "any", "call 1 is extra: a()"),
        ("ab/abc", "in_order", "call 2: expected c(), got no call"),
    ],
)
def test_the_comment_names_the_first_difference(case, order, said):
    agent, _, reference = case.partition("/")
    result = TrajectoryAlignment(order=order).evaluate(
        outputs=letters(agent), reference_outputs=letters(reference)
    )
    assert said in result.comment


def test_of_calls_that_partly_agree_the_argument_is_named():
    agent = run([ToolCall("g"), *calls_of({"a": 1, "b": {"c": 2}})])
    reference = run([*calls_of({"a": 1, "b": {"c": 3}}), ToolCall("g")])
    result = TrajectoryAlignment().evaluate(outputs=agent, reference_outputs=reference)
    assert "call 1: f.b.c: expected 3, got 2" in result.comment


def test_ties_go_to_the_earliest_positions():
    agent, reference = run(calls_of({"a": 1}, {"a": 1})), run(calls_of({"a": 1}))
    for order in ("any", "in_order"):
        assert [(p.got, p.expected) for p in aligned(agent, reference, order).matched] == [(0, 0)]
        found = aligned(reference, agent, order)
        assert [(p.got, p.expected) for p in found.matched] == [(0, 0)]
        assert found.missing == (1,)
    other = run(calls_of({"a": 2}, {"a": 3}, {"a": 4})), run(calls_of({"a": 5}, {"a": 6}))
    for order in ("any", "in_order"):
        assert [(p.got, p.expected) for p in aligned(*other, order).matched] == [(0, 0), (1, 1)]


def test_a_function_that_tells_types_apart_is_asked_of_every_pair():
    def whole(got: Any, expected: Any) -> bool:
        return type(got["n"]) is type(expected["n"]) is int

    options = {"tool_args_match_overrides": {"f": whole}}
    agent, reference = run(calls_of({"n": 1.0}, {"n": 1})), run(calls_of({"n": 1}, {"n": 1.0}))
    found = aligned(agent, reference, **options)
    assert [pair.similarity == 1 for pair in found.matched].count(True) == 1


def test_too_many_pairs_to_weigh_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(alignment, "MAX_CELLS", 10)
    many = run(calls_of(*({"a": n} for n in range(4))))
    other = run(calls_of(*({"b": n} for n in range(4))))
    for order in ("any", "in_order"):
        with pytest.raises(TooLargeError, match="4 calls against 4"):
            aligned(many, other, order)
        assert aligned(many, many, order).score == 1.0


def test_an_order_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="in_order"):
        TrajectoryAlignment(order="inorder")  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
def test_whole_lists_are_as_similar_as_their_calls_one_by_one(mode):
    """Similarities of many calls at once are those of each pair alone."""
    for got in PLAIN:
        for expected in PLAIN:
            alone = score(run(calls_of(got)), run(calls_of(expected)), tool_args_match_mode=mode)
            both = aligned(
                run(calls_of(got, "only here")),
                run(calls_of(expected, "only there")),
                tool_args_match_mode=mode,
            )
            pair = {(p.got, p.expected): p.similarity for p in both.matched}
            if (0, 0) in pair:
                assert pair[0, 0] == pytest.approx(alone)
