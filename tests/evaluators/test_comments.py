"""Every failing score explains itself: which call, which argument path, expected, got.

Whatever stands in a trace, a comment is one line of printable text and not long.
"""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import calls_of, examples, letters, run, sides, values
from trajgrade.evaluators import (
    EvaluationResult,
    Evaluator,
    Step,
    ToolCall,
    ToolCallAccuracyEvaluator,
    ToolUseEvaluator,
    TrajectoryAlignment,
    TrajectoryF1,
    TrajectoryMatchEvaluator,
    TrajectoryPrecision,
    TrajectoryRecall,
    TrajectorySingleToolUse,
)
from trajgrade.trajectory import Trajectory

LONGEST = 400


def comparing(**options: Any) -> list[Evaluator]:
    return [
        *(
            TrajectoryMatchEvaluator(mode, **options)
            for mode in oracle.MATCH_MODES
        ),
        TrajectoryPrecision(**options),
        TrajectoryRecall(**options),
        TrajectoryF1(**options),
        TrajectoryPrecision(duplicates="membership", **options),
        TrajectoryRecall(duplicates="membership", **options),
        TrajectoryF1(duplicates="membership", **options),
        TrajectoryAlignment(**options),
        TrajectoryAlignment(order="in_order", **options),
    ]  # fmt: skip


EVERY = [
    *comparing(),
    ToolCallAccuracyEvaluator(),
    ToolCallAccuracyEvaluator(penalize_extra=True),
    TrajectoryMatchEvaluator(granularity="message"),
    TrajectoryMatchEvaluator("in_order", granularity="message", parallel="unordered"),
    TrajectoryMatchEvaluator(parallel="unordered"),
    TrajectoryMatchEvaluator("in_order", parallel="unordered"),
]


def is_one_line(result: EvaluationResult) -> None:
    comment = result.comment
    assert comment
    assert len(comment) <= LONGEST
    assert comment.isprintable(), comment
    comment.encode()
    assert EvaluationResult.from_json(result.to_json()) == result


# ------------------------------------------------------------------------------ what is said


@examples(100)
@given(sides(names=("f", "f", "g"), args=({"a": 1}, {"a": 2}, {"b": [1, {"c": 2}]})))
def test_a_failing_comment_names_a_call_by_index_and_tool(case):
    agent, reference = case
    for evaluator in EVERY:
        result = evaluator.evaluate(outputs=run(agent), reference_outputs=run(reference))
        is_one_line(result)
        if result.score is None or result.score == 1 or not (agent and reference):
            continue
        assert re.search(r"call \d.*: .*\b[fg]\b", result.comment), (evaluator, result.comment)


@pytest.mark.parametrize("number", range(len(EVERY)))
@pytest.mark.parametrize(
    ("got", "expected", "said"),
    [
        ({"a": 1, "b": {"c": [1, 2]}}, {"a": 1, "b": {"c": [1, 3]}}, ["f.b.c[1]", "expected 3", "got 2"]),
        ({"a": 1}, {"a": "1"}, ["f.a", "expected '1'", "got 1", "str", "int"]),
        ({"a": True}, {"a": 1}, ["f.a", "expected 1", "got True", "bool"]),
        ({}, {"a": 1}, ["f.a", "expected 1", "got nothing"]),
        ({"a": 1}, {}, ["f.a", "expected nothing", "got 1"]),
        ({"a": None}, {}, ["f.a", "expected nothing", "got None"]),
        ("text", {"a": 1}, ["f", "expected {'a': 1}", "got 'text'"]),
        ({"a.b": 1}, {"a.b": 2}, [r"f.a\\.b", "expected 2", "got 1"]),
    ],
)  # fmt: skip
def test_where_the_tool_is_right_the_path_and_both_values_are_named(number, got, expected, said):
    evaluator = EVERY[number]
    agent = run([ToolCall("g"), *calls_of(got)])
    reference = run([ToolCall("g"), *calls_of(expected)])
    result = evaluator.evaluate(outputs=agent, reference_outputs=reference)
    assert result.score is not None
    assert result.score < 1
    assert "call 1" in result.comment
    for words in said:
        assert words in result.comment


@pytest.mark.parametrize("number", range(len(comparing())))
@pytest.mark.parametrize(
    ("options", "got", "expected", "path"),
    [
        ({"ignore_keys": ["ts"]}, {"ts": 1, "a": 1}, {"ts": 2, "a": 2}, "f.a"),
        ({"tool_args_match_mode": "subset"}, {"a": 1}, {"b": 2, "a": 2}, "f.a"),
        ({"tool_args_match_mode": "superset"}, {"b": 2, "a": 1}, {"a": 2}, "f.a"),
        ({"tool_args_match_mode": "superset", "deep": True},
         {"a": {"x": 1, "y": 2}}, {"a": {"x": 2}}, "f.a.x"),
        ({"tool_args_match_overrides": {"f": {"n": {"number": {"abs": 1}}}}},
         {"n": 1, "a": 1}, {"n": 2, "a": 2}, "f.a"),
        ({"tool_args_match_overrides": {"f": {"n": {"number": {"abs": 1}}}}},
         {"n": 1, "a": 1}, {"n": 3, "a": 1}, "f.n"),
        ({"tool_args_match_overrides": {"f": ["b.c"]}},
         {"a": 1, "b": {"c": 1}}, {"a": 2, "b": {"c": 2}}, "f.b.c"),
        ({"unicode": "NFC"}, {"q": "é", "z": 1}, {"q": "e\u0301", "z": 2}, "f.z"),
    ],
)  # fmt: skip
def test_the_path_named_is_one_that_the_rule_does_not_tolerate(
    number, options, got, expected, path
):
    evaluator = comparing(**options)[number]
    result = evaluator.evaluate(
        outputs=run(calls_of(got)), reference_outputs=run(calls_of(expected))
    )
    assert result.score is not None
    assert result.score < 1
    assert f"{path}: expected" in result.comment


def test_a_function_that_refuses_equal_arguments_is_not_left_unexplained():
    for evaluator in comparing(tool_args_match_overrides={"f": lambda *_: False}):
        result = evaluator.evaluate(
            outputs=run(calls_of({"a": 1})), reference_outputs=run(calls_of({"a": 1}))
        )
        assert "f(a=1)" in result.comment


def test_under_an_alias_it_is_the_arguments_that_differ():
    for evaluator in comparing(name_aliases={"F": "f"}):
        result = evaluator.evaluate(
            outputs=run([ToolCall("F", {"a": 1})]), reference_outputs=run(calls_of({"a": 2}))
        )
        assert ".a: expected 2, got 1" in result.comment


@pytest.mark.parametrize(
    ("case", "mode", "said"),
    [
        ("ab/ac", "strict", "call 1: expected c(), got b()"),
        ("a/ab", "strict", "call 1: expected b(), got no call"),
        ("ab/a", "strict", "call 1: expected no more calls, got b()"),
        ("a/ab", "superset", "reference call 1 not made: b()"),
        ("ax/aa", "superset", "reference call 1 not made: a()"),
        ("aa/a", "subset", "call 1 is extra: a()"),
        ("ba/ab", "in_order", "reference call 1 is out of order: b(); call 0: expected a(), got b()"),
        ("a/aa", "in_order", "reference call 1 not made: a()"),
        ("ab/abb", "in_order", "reference call 2 not made: b()"),
        ("/abc", "unordered", "reference call 0 not made and 2 more: a()"),
        ("abc/", "unordered", "call 0 is extra and 2 more: a()"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(case, mode, said):
    agent, _, reference = case.partition("/")
    result = TrajectoryMatchEvaluator(mode).evaluate(
        outputs=letters(agent), reference_outputs=letters(reference)
    )
    assert result.value is False
    assert said in result.comment


def test_a_split_into_other_messages_is_explained():
    f, g = ToolCall("f"), ToolCall("g")
    together = Trajectory([Step("assistant", "", [f, g])])
    apart = Trajectory([Step("assistant", "", [f]), Step("assistant", "", [g])])
    for mode in ("strict", "in_order"):
        evaluator = TrajectoryMatchEvaluator(mode, granularity="message")
        result = evaluator.evaluate(outputs=apart, reference_outputs=together)
        assert result.value is False
        assert "messages of 1, 1 calls, expected 2" in result.comment


# ------------------------------------------------------------------------------ hostile values


class Hostile:
    """What a caller's object may do when it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("\x1b[31mno")

    __hash__ = None  # type: ignore[assignment]  # unhashable, too

    def __eq__(self, other: object) -> bool:
        return self is other


class Loud:
    def __repr__(self) -> str:
        return "\x1b[2J\r\n" * 10_000


HOSTILE: list[Any] = [
    "\x1b[31mred\x1b[0m\r\n\x00\x07" * 50,
    "\u202eright to left\u2028\u2029\u200b",
    "\ud800 alone",
    "x" * 1_000_000,
    "\U000e0001" * 1000,
    ["y" * 10_000] * 50,
    [[[[["deep"] * 30] * 10] * 5] * 3],
    {f"key {i}": "z" * 100 for i in range(70)},
    {f"key {i}": i for i in range(1000)},
    {"k" * 100_000: "v"},
    {"\x1b[31m\n": 1},
    10**1000,
    10**100_000,
    math.nan,
    -math.inf,
    b"\x00" * 10_000,
    Hostile(),
    Loud(),
    {"nested": Hostile()},
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_values_neither_break_nor_flood_a_comment(number):
    value = HOSTILE[number]
    cases = [
        ([ToolCall("f", {"a": value})], [ToolCall("f", {"a": 1})]),
        ([ToolCall("f", {"a": 1})], [ToolCall("f", {"a": value})]),
        ([ToolCall("f", value)], [ToolCall("f", {"a": 1})]),
        ([ToolCall("f", {f"k{i}": value for i in range(10)})], [ToolCall("g")]),
        ([ToolCall("g")], [ToolCall("f", {f"k{i}": value for i in range(10)})]),
        ([ToolCall("f", {"a": [{"b": value}]})], [ToolCall("f", {"a": [{"b": 1}]})]),
        ([ToolCall("f", {"a": 1}), ToolCall("f", {"a": value})], [ToolCall("f", {"a": 2})] * 2),
    ]
    for agent, reference in cases:
        for evaluator in EVERY:
            result = evaluator.evaluate(outputs=run(agent), reference_outputs=run(reference))
            assert len(result.comment) <= LONGEST
            assert result.comment.isprintable()
            assert result.score is not None
        use = ToolUseEvaluator("f", {"a": 3}).evaluate(outputs=run(agent))
        assert len(use.comment) <= LONGEST
        assert use.comment.isprintable()


NAMES = {
    "control": "\x1b[31m\r\n\x00" * 10,
    "long": "n" * 100_000,
    "lone surrogate": "\ud800",
    "right to left": "\u202e",
    "empty": "",
    "quotes": "'\"",
    "backslash": "\\",
    "wide escapes": "\U000e0001" * 500,
}


@pytest.mark.parametrize("kind", NAMES)
def test_hostile_names_keys_and_notes_are_escaped_and_cut(kind):
    text = NAMES[kind]
    broken = ToolCall(text, "{" + text, "unparseable")
    unknown = ToolCall(text, None, "unknown")
    keyed = ToolCall("f", {text: {text: [1, {text: 2}]}})
    other = ToolCall("f", {text: {text: [1, {text: 3}]}})
    for agent, reference in [
        ([broken], [ToolCall("f")]),
        ([ToolCall("f")], [broken]),
        ([broken, broken], [broken]),
        ([unknown], [ToolCall(text, {"a": 1})]),
        ([keyed], [other]),
        ([keyed], [ToolCall("g", {text: 1})]),
    ]:
        noted = Trajectory([Step("assistant", "", agent)], notes=[text, text])
        for evaluator in EVERY:
            result = evaluator.evaluate(outputs=noted, reference_outputs=run(reference))
            is_one_line(result)
        for asked in (ToolUseEvaluator("f", {"a": 1}), TrajectorySingleToolUse(text or "f")):
            is_one_line(asked.evaluate(outputs=noted))
    many = {"any_of": [run([broken]), run([keyed])]}
    for evaluator in EVERY:
        is_one_line(evaluator.evaluate(outputs=run([other]), reference_outputs=many))


@examples(100)
@given(values, values, st.text(max_size=5), st.text(max_size=5))
def test_any_values_names_and_keys_give_one_line(got, expected, name, key):
    agent = run([ToolCall(name, {key: got}), ToolCall(key, got)])
    reference = run([ToolCall(name, {key: expected}), ToolCall(key, expected)])
    for evaluator in EVERY:
        is_one_line(evaluator.evaluate(outputs=agent, reference_outputs=reference))


def test_a_long_run_has_a_short_comment():
    agent = run(calls_of(*({"a": n} for n in range(300))))
    reference = run(calls_of(*({"a": -n} for n in range(1, 301))))
    for evaluator in EVERY:
        is_one_line(evaluator.evaluate(outputs=agent, reference_outputs=reference))


def test_what_is_odd_about_the_reference_is_said_as_well():
    turns = [{"speaker": "User", "text": "q"}, {"speaker": "Agent (Action)", "text": "f(("}]
    evaluator = TrajectoryMatchEvaluator("strict")
    result = evaluator(outputs=[{"name": "f"}], reference_outputs=turns)
    assert "reference: turn 1: an action whose text is no call" in (result.comment or "")
    assert result.metadata["notes"] == ["reference: turn 1: an action whose text is no call: 'f(('"]


def test_what_is_odd_about_the_trace_does_not_hide_what_is_odd_about_the_reference():
    turns = [{"speaker": "User", "text": "q"}, {"speaker": "Agent (Action)", "text": "f(("}]
    result = TrajectoryMatchEvaluator("strict")(outputs=turns, reference_outputs=list(turns))
    assert result.comment is not None
    assert "; turn 1: an action" in result.comment
    assert "; reference: turn 1: an action" in result.comment
