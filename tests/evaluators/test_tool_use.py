"""Tool use and single tool use (A7)."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import PLAIN, examples, run, sides
from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators import ToolCall, ToolUseEvaluator, TrajectorySingleToolUse
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory


def use(outputs: Any, *params: Any, **options: Any) -> EvaluationResult:
    return ToolUseEvaluator(*params, **options).evaluate(outputs=outputs)


def one(name: str, args: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "args": args or {}, **more}


SEARCH = [one("open"), one("search", {"q": "x", "limit": 5}), one("search", {"q": "y"})]


@pytest.mark.parametrize(
    ("tool", "expected", "mode", "passes"),
    [
        ("search", None, "superset", True),
        ("find", None, "superset", False),
        ("Search", None, "superset", False),
        ("open", {}, "superset", True),
        ("search", {}, "superset", False),  # {}: none, whatever the mode
        ("search", {}, "subset", False),
        ("search", {}, "ignore", False),
        ("search", {}, "exact", False),
        ("search", {"q": "x"}, "superset", True),  # every expected key is in the call
        ("search", {"q": "x", "limit": 5.0}, "superset", True),
        ("search", {"q": "x", "limit": 6}, "superset", False),
        ("search", {"q": "x", "lang": "en"}, "superset", False),
        ("search", {"q": "x"}, "exact", False),
        ("search", {"q": "y"}, "exact", True),
        ("search", {"q": "z"}, "ignore", True),
        ("find", {"q": "z"}, "ignore", False),
    ],
)
def test_any_call_of_the_tool_with_the_arguments_is_enough(tool, expected, mode, passes):
    result = use(SEARCH, tool, expected, mode)
    assert result.value is passes
    assert result.score == float(passes)
    assert result.key == f"tool_use:{tool}"
    assert result.metadata["called_tools"] == ["open", "search", "search"]


def test_the_default_means_that_what_is_expected_is_in_the_call():
    assert use(SEARCH, "search", {"q": "x"}).value is True
    assert use([one("search", {"q": "x"})], "search", {"q": "x", "limit": 5}).value is False


def test_subset_given_explicitly_is_the_laws_and_warns():
    with pytest.warns(UserWarning, match="superset"):
        evaluator = ToolUseEvaluator("search", {"q": "x", "limit": 5}, "subset")
    assert evaluator.evaluate(outputs=[one("search", {"q": "x"})]).value is True
    assert evaluator.evaluate(outputs=[one("search", {"q": "x", "lang": "en"})]).value is False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ToolUseEvaluator("search", {"q": "x"})
        ToolUseEvaluator("search", None, "subset")


@examples(80)
@given(sides(), st.sampled_from(PLAIN), st.sampled_from(oracle.ARGS_MODES), st.booleans())
def test_the_call_is_compared_as_everywhere_else(case, expected, mode, look):
    wanted = [
        call
        for call in case[0]
        if call.name == "f"
        and (
            not look
            or oracle.agrees(
                call, ToolCall("f", expected), oracle.Rules(mode if expected else "exact")
            )
        )
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = use(run(case[0]), "f", expected if look else None, mode)
    assert result.value is bool(wanted)
    assert result.metadata["calls"] == len(wanted)


@pytest.mark.parametrize(
    ("least", "most", "passes"),
    [(1, None, True), (2, None, True), (3, None, False), (0, 0, False), (0, 1, False),
     (2, 2, True), (0, None, True), (1, 2, True)],
)  # fmt: skip
def test_calls_may_be_counted(least, most, passes):
    result = use(SEARCH, "search", min_calls=least, max_calls=most)
    assert result.value is passes
    if not passes:
        assert "2 times" in result.comment
        assert str(least if least > 2 else most) in result.comment


def test_a_tool_may_be_forbidden():
    assert use(SEARCH, "delete", min_calls=0, max_calls=0).value is True
    assert use(SEARCH, "search", min_calls=0, max_calls=0).value is False
    assert use([], "search", min_calls=0, max_calls=0).value is True
    assert use(SEARCH, "search", {"q": "z"}, min_calls=0, max_calls=0).value is True


@pytest.mark.parametrize(
    ("outputs", "expected", "options", "score"),
    [
        (["?"], {"a": 1}, {}, None),
        (["?"], {}, {}, None),
        (["?"], None, {}, 1.0),
        (["?"], {"a": 1}, {"args_match_mode": "ignore"}, 1.0),
        (["?"], {"a": 1}, {"args_match_mode": "ignore", "max_calls": 1}, 1.0),
        (["?", {"a": 1}], {"a": 1}, {}, 1.0),
        (["?", {"a": 2}], {"a": 1}, {}, None),
        (["?", {"a": 1}], {"a": 1}, {"max_calls": 1}, None),
        (["?", {"a": 1}], {"a": 1}, {"min_calls": 3}, 0.0),
        (["?"], {"a": 1}, {"min_calls": 0, "max_calls": 0}, None),
        (["?"], None, {"min_calls": 0, "max_calls": 0}, 0.0),
        ([{"a": 2}], {"a": 1}, {}, 0.0),
    ],
)  # fmt: skip
def test_what_hangs_on_unknown_arguments_is_not_evaluated(outputs, expected, options, score):
    calls = [
        ToolCall("f", None, "unknown") if args == "?" else ToolCall("f", args) for args in outputs
    ]
    result = use(run(calls), "f", expected, **options)
    assert result.score == score
    if score is None:
        assert result.error is not None
        assert result.error.kind == "undefined"
        assert "not recorded" in result.comment


def test_failed_calls_count_unless_excluded():
    calls = [one("pay", {"id": 1}, status="error"), one("pay", {"id": 2}, status="not_run")]
    assert use(calls, "pay").value is True
    excluded = use(calls, "pay", failed="exclude")
    assert excluded.value is False
    for result in (use(calls, "pay"), excluded):
        assert result.metadata["failed_calls"] == 2
        assert "2 calls failed" in result.comment


@pytest.mark.parametrize(
    ("outputs", "params", "said"),
    [
        (SEARCH, ("search", {"q": "x", "limit": 6}), ["call 1", "search.limit", "6", "5"]),
        (SEARCH, ("search", {"q": "x", "zoom": 1}), ["call 1", "search.zoom", "nothing"]),
        (SEARCH, ("find",), ["'find'", "0 times"]),
        (SEARCH, ("serch",), ["'serch'", "near name", "'search'"]),
        (SEARCH, ("open", {"a": 1}), ["call 0", "open.a"]),
        ([], ("search",), ["'search'", "0 times"]),
        ([one("f", {"n": True})], ("f", {"n": 1}), ["call 0", "f.n", "1", "True"]),
    ],
)
def test_a_failing_comment_names_the_call_the_path_and_both_values(outputs, params, said):
    result = use(outputs, *params)
    assert result.value is False
    for words in said:
        assert words in result.comment


def test_a_call_that_agrees_is_not_said_to_differ_where_too_few_were_made():
    result = use([one("f", {"a": 1})], "f", min_calls=2)
    assert result.value is False
    assert "expected nothing" not in result.comment
    assert "2" in result.comment
    again = use([one("f", {"a": 1}), one("f", {"a": 2})], "f", {"a": 1}, min_calls=2)
    assert "call 1: f.a: expected 1, got 2" in again.comment


def test_tool_use_needs_outputs_and_no_reference():
    result = use(None, "f")
    assert result.score is None
    assert result.error is not None
    assert result.error.kind == "no_output"
    assert use([], "f").score == 0.0
    assert use("just an answer", "f").score == 0.0
    with pytest.raises(TraceError):
        use([{"no": "call"}], "f")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"expected_tool": ""}, "expected_tool"),
        ({"expected_tool": None}, "expected_tool"),
        ({"expected_tool": "f", "args_match_mode": "supersett"}, "superset"),
        ({"expected_tool": "f", "min_calls": -1}, "min_calls"),
        ({"expected_tool": "f", "min_calls": 2, "max_calls": 1}, "max_calls"),
        ({"expected_tool": "f", "max_calls": 0}, "max_calls"),
        ({"expected_tool": "f", "failed": "no"}, "failed"),
        ({"expected_tool": "f", "min_calls": "2"}, "min_calls"),
        ({"expected_tool": "f", "max_calls": 1.5}, "max_calls"),
        ({"expected_tool": "f", "expected_args": "q=x"}, "expected_args"),
        ({"expected_tool": "f", "expected_args": ["q"]}, "expected_args"),
    ],
)
def test_what_nothing_could_meet_is_refused_at_construction(params, said):
    with pytest.raises(ConfigError, match=said):
        ToolUseEvaluator(**params)


def test_what_is_expected_is_kept_as_given():
    expected = {"a": [1]}
    evaluator = ToolUseEvaluator("f", expected)
    assert evaluator.evaluate(outputs=[one("f", {"a": [1], "b": 2})]).value is True
    assert expected == {"a": [1]}


# ------------------------------------------------------------------------------ single tool use


@pytest.mark.parametrize(
    ("outputs", "tool", "passes"),
    [
        (SEARCH, "search", True),
        (SEARCH, "open", True),
        (SEARCH, "find", False),
        ([], "search", False),
        (Trajectory(tool_calls=[ToolCall("f", None, "unknown")]), "f", True),
        ([one("f", status="error")], "f", True),
    ],
)
def test_the_tool_was_called_at_least_once_whatever_the_arguments(outputs, tool, passes):
    result = TrajectorySingleToolUse(tool).evaluate(outputs=outputs)
    assert result.value is passes
    assert result.score == float(passes)
    assert result.key == "trajectory_single_tool_use"
    assert passes or tool in result.comment


def test_single_tool_use_without_outputs_is_not_evaluated():
    result = TrajectorySingleToolUse("f").evaluate(outputs=None, reference_outputs=[one("f")])
    assert result.score is None
    assert result.error is not None
    assert result.error.kind == "no_output"
    assert result.key == "trajectory_single_tool_use"


def test_several_are_told_apart_by_their_tool():
    assert TrajectorySingleToolUse("f").distinct_key == "trajectory_single_tool_use:f"
    assert TrajectorySingleToolUse("f", "mine").evaluate(outputs=[]).key == "mine"
    with pytest.raises(ConfigError):
        TrajectorySingleToolUse("")


def test_a_tool_inside_another_call_counts_where_that_is_asked():
    run = Trajectory(tool_calls=[ToolCall("math_agent", children=(ToolCall("add", {"a": 1}),))])

    def score(tool: str, depth: Any) -> list[float | None]:
        each = (ToolUseEvaluator(tool, depth=depth), TrajectorySingleToolUse(tool, depth=depth))
        return [one.evaluate(outputs=run).score for one in each]

    assert score("add", "top") == [0.0, 0.0]
    assert score("add", "all") == score("add", "leaves") == [1.0, 1.0]
    assert score("math_agent", "all") == score("math_agent", "top") == [1.0, 1.0]
    assert score("math_agent", "leaves") == [0.0, 0.0]
    with pytest.raises(ConfigError, match="depth"):
        ToolUseEvaluator("add", depth="deep")  # type: ignore[arg-type]
