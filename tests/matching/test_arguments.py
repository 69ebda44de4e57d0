"""Agreement of two calls (A1), read from the agent's side, against the oracle."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import ARGS, PLAIN, examples
from trajgrade.errors import ConfigError
from trajgrade.matching.arguments import ArgumentRule, CompiledRule
from trajgrade.matching.pairing import Pairing
from trajgrade.matching.values import MISSING
from trajgrade.trajectory import ToolCall


def agree(p: ToolCall, r: ToolCall, **options: Any) -> bool:
    return Pairing((p,), (r,), CompiledRule(ArgumentRule(**options))).agree(p, r)


def args_agree(got: Any, expected: Any, **options: Any) -> bool:
    return agree(ToolCall("f", got), ToolCall("f", expected), **options)


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
@pytest.mark.parametrize("deep", [False, True])
def test_every_two_arguments_agree_as_the_law_says(mode, deep):
    compiled = CompiledRule(ArgumentRule(mode=mode, deep=deep))
    rules = oracle.Rules(mode, deep=deep)
    for got, expected in product((*ARGS, *PLAIN), repeat=2):
        p, r = ToolCall("f", got), ToolCall("f", expected)
        wanted = oracle.agrees(p, r, rules)
        assert Pairing((p,), (r,), compiled).agree(p, r) is wanted, (got, expected)


@pytest.mark.parametrize(
    ("got", "expected", "subset", "superset"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True, False),
        ({"a": 1, "b": 2}, {"a": 1}, False, True),
        ({}, {"a": 1}, True, False),
        (None, {"a": 1}, True, False),
        ("", {"a": 1}, True, False),
        ({"a": 1}, {"a": 2, "b": 2}, False, False),
        ({"a": None}, {}, False, True),
        ({}, "text", False, False),
        ("text", {}, False, False),
        ("text", "text", True, True),
        ([1], [1, 2], False, False),
        ([1], [1.0], True, True),
        ([], {}, False, False),
        ({"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, False, False),
    ],
)
def test_subset_is_always_agent_in_reference_and_superset_the_reverse(
    got, expected, subset, superset
):
    assert args_agree(got, expected, mode="subset") is subset
    assert args_agree(got, expected, mode="superset") is superset


@pytest.mark.parametrize(
    ("got", "expected", "agrees"),
    [
        ({"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, True),
        ({"a": {"x": 2}}, {"a": {"x": 1, "y": 2}}, False),
        ({"a": {}}, {"a": {"x": 1}}, True),
        ({"a": {}}, {"a": []}, False),
        ({"a": [{"x": 1}]}, {"a": [{"x": 1, "y": 2}]}, True),
        ({"a": [{"x": 1}]}, {"a": [{"x": 1}, {"y": 2}]}, False),
        ({"a": [1, {}]}, {"a": [{}, 1]}, False),
        ([{"x": 1}], [{"x": 1, "y": 2}], False),  # no object: a value
    ],
)
def test_deep_applies_the_rule_to_nested_objects_and_lists_item_by_item(got, expected, agrees):
    assert args_agree(got, expected, mode="subset", deep=True) is agrees
    assert args_agree(expected, got, mode="superset", deep=True) is agrees
    assert args_agree(got, expected, mode="exact", deep=True) is False


@pytest.mark.parametrize("first", [{}, None, ""])
@pytest.mark.parametrize("second", [{}, None, ""])
@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
def test_null_empty_text_and_the_empty_object_are_all_no_arguments(first, second, mode):
    assert args_agree(first, second, mode=mode)


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
def test_unknown_arguments_agree_under_ignore_only(mode):
    unknown, known = ToolCall("f", None, "unknown"), ToolCall("f", {})
    for p, r in [(unknown, known), (known, unknown), (unknown, unknown)]:
        assert agree(p, r, mode=mode) is (mode == "ignore")
        assert agree(p, r, overrides={"f": mode}) is (mode == "ignore")


def test_text_that_is_no_json_agrees_with_the_same_text_only():
    broken = ToolCall("f", '{"a": 1', "unparseable")
    assert agree(broken, broken)
    assert agree(broken, ToolCall("f", '{"a": 1', "text"))
    for other in [{"a": 1}, '{"a": 1 ', '{"a": 1}', {}]:
        assert not agree(broken, ToolCall("f", other))
        assert not agree(ToolCall("f", other), broken, mode="superset")
        assert agree(broken, ToolCall("f", other), mode="ignore")


# ------------------------------------------------------------------------------ overrides

OVERRIDES: list[Any] = [
    "exact", "ignore", "subset", "superset",
    ["a"], ["a.x"], ["b", "a.x"], ["a[0]"], ["a[0].x", "c"], ["nowhere"],
    {"a": "ignore"}, {"a.x": "ignore"}, {"a": {"number": {"abs": 1}}}, {"a": "unordered"},
    {"a.x": {"number": {"abs": 1}}}, {"a": {"one_of": [1, "1", None]}}, {"a": "json", "b": "json"},
    {"a": {"regex": "[0-9]"}}, {"a": "casefold", "nowhere": "exact"}, {"a": "exact", "a.x": "ignore"},
    {"a[0]": "ignore"}, {"a[0].x": "exact"}, {"a": "date"}, {},
    lambda got, expected: len(got) <= len(expected),
    lambda got, expected: bool(got) and got == expected,
]  # fmt: skip


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
@pytest.mark.parametrize("number", range(len(OVERRIDES)))
def test_an_override_of_the_tool_decides_as_the_law_says(number, mode):
    override = OVERRIDES[number]
    compiled = CompiledRule(ArgumentRule(mode=mode, overrides={"f": override}))
    rules = oracle.Rules(mode, {"f": override})
    for got, expected in product((*ARGS[1::2], *PLAIN), repeat=2):
        p, r = ToolCall("f", got), ToolCall("f", expected)
        wanted = oracle.agrees(p, r, rules)
        assert Pairing((p,), (r,), compiled).agree(p, r) is wanted, (override, got, expected)


def test_an_override_concerns_its_own_tool_only():
    options: dict[str, Any] = {"overrides": {"f": "ignore"}}
    assert agree(ToolCall("f", {"a": 1}), ToolCall("f", {"a": 2}), **options)
    assert not agree(ToolCall("g", {"a": 1}), ToolCall("g", {"a": 2}), **options)
    assert not agree(ToolCall("f"), ToolCall("g"), **options)


def test_of_listed_key_paths_absent_on_one_side_differs_and_absent_on_both_is_equal():
    options: dict[str, Any] = {"overrides": {"f": ["q"]}}
    assert args_agree({"q": 1, "x": 1}, {"q": 1, "x": 2}, **options)
    assert not args_agree({"q": 1}, {"q": 2}, **options)
    assert not args_agree({"q": None}, {}, **options)
    assert not args_agree({}, {"q": None}, **options)
    assert args_agree({"x": 1}, {"y": 2}, **options)


def test_an_empty_list_of_key_paths_compares_nothing():
    assert args_agree({"a": 1}, {"a": 2}, overrides={"f": []})


def test_a_key_path_written_twice_counts_once():
    assert args_agree({"a": 1, "b": 1}, {"a": 1, "b": 2}, overrides={"f": ["a", "a"]})


def test_keys_without_a_comparator_follow_the_argument_mode():
    close: dict[str, Any] = {"overrides": {"f": {"n": {"number": {"abs": 1}}}}}
    assert args_agree({"n": 1, "u": "m"}, {"n": 2, "u": "m"}, **close)
    assert not args_agree({"n": 1, "u": "m"}, {"n": 2, "u": "k"}, **close)
    assert args_agree({"n": 1, "u": "m"}, {"n": 2, "u": "k"}, mode="ignore", **close)
    assert args_agree({"n": 1}, {"n": 2, "u": "k"}, mode="subset", **close)
    assert not args_agree({"n": 1, "u": "m"}, {"n": 2}, mode="subset", **close)
    assert not args_agree({}, {"n": 2}, mode="subset", **close)
    assert not args_agree({"n": 5}, "text", mode="ignore", **close)


def test_a_function_gets_the_agents_arguments_first_in_every_order_of_matching():
    asked: list[Any] = []

    def record(got: Any, expected: Any) -> bool:
        asked.append((got, expected))
        return False

    p, r = ToolCall("f", {"mine": 1}), ToolCall("f", None)
    pairing = Pairing((p, p), (r, r), CompiledRule(ArgumentRule(overrides={"f": record})))
    assert pairing.size == 0
    assert pairing.unembedded == 0
    assert pairing.vouched == (0, 0)
    assert {repr(one) for one in asked} == {"({'mine': 1}, {})"}


# ------------------------------------------------------------------------------ what is left out


@examples(200)
@given(
    st.sampled_from((*ARGS, *PLAIN)),
    st.sampled_from((*ARGS, *PLAIN)),
    st.lists(st.sampled_from(["a", "b", "?", "*", "x", "[ab]", "A"]), max_size=2),
    st.sampled_from(oracle.ARGS_MODES),
)
def test_ignored_keys_are_left_out_on_both_sides(got, expected, ignored, mode):
    p, r = ToolCall("f", got), ToolCall("f", expected)
    # The oracle's globs know top-level keys only, which `*` and `?` name in all that is drawn.
    rules = oracle.Rules(mode, ignore_keys=tuple(key for key in ignored if key != "[ab]"))
    wanted = oracle.agrees(p, r, rules)
    assert agree(p, r, mode=mode, ignore_keys=tuple(ignored)) is wanted


def test_ignored_keys_are_out_of_sight_of_every_override():
    assert args_agree({"q": "x", "ts": 1}, {"q": "x", "ts": 2}, ignore_keys=("ts",))
    assert args_agree({"ts": 1}, {}, ignore_keys=("ts",))
    hidden: dict[str, Any] = {"ignore_keys": ("ts", "*.ts")}
    assert args_agree({"a": {"ts": 1}}, {"a": {"ts": 2}}, **hidden)
    assert args_agree({"ts": 1}, {"ts": 2}, overrides={"f": ["ts"]}, **hidden)
    assert args_agree({"ts": 1}, {"ts": 2}, overrides={"f": {"ts": "exact"}}, **hidden)
    assert args_agree({"ts": 1}, {"ts": 2}, overrides={"f": lambda a, r: a == r}, **hidden)


@pytest.mark.parametrize(
    ("form", "got", "expected", "agrees"),
    [
        (None, "é", "e\u0301", False),
        ("NFC", "é", "e\u0301", True),
        ("NFC", "ﬁ", "fi", False),
        ("NFKC", "ﬁ", "fi", True),
        ("NFKC", "①", "1", True),
        ("NFKC", "ß", "ss", False),
        ("NFKC", "①", 1, False),
    ],
)
def test_text_is_normalised_only_when_a_form_is_given(form, got, expected, agrees):
    for p, r in [
        ({"q": got}, {"q": expected}),
        ({"q": [{"x": got}]}, {"q": [{"x": expected}]}),
    ]:
        assert args_agree(p, r, unicode=form) is agrees
    if isinstance(expected, str):
        assert args_agree({got: 1}, {expected: 1}, unicode=form) is agrees
        assert agree(ToolCall(got), ToolCall(expected), unicode=form) is agrees
        renamed = {"name_aliases": {got: "tool"}, "unicode": form}
        assert agree(ToolCall(expected), ToolCall("tool"), **renamed) is agrees
        renamed = {"name_aliases": {"tool": got}, "unicode": form}
        assert agree(ToolCall("tool"), ToolCall(expected), **renamed) is agrees


def test_an_alias_is_the_tool_that_it_stands_for_on_either_side():
    aliases: dict[str, Any] = {"name_aliases": {"mcp__web__search": "search", "Search": "search"}}
    for p, r in product(["mcp__web__search", "Search", "search"], repeat=2):
        assert agree(ToolCall(p), ToolCall(r), **aliases)
        assert not agree(ToolCall(p), ToolCall("find"), **aliases)
    assert not agree(ToolCall("Search"), ToolCall("search"))


@pytest.mark.parametrize("named", ["search", "Search"])
def test_an_override_may_be_given_under_any_name_of_the_tool(named):
    options: dict[str, Any] = {"name_aliases": {"Search": "search"}, "overrides": {named: "ignore"}}
    for p, r in product(["Search", "search"], repeat=2):
        assert agree(ToolCall(p, {"a": 1}), ToolCall(r, {"a": 2}), **options)


# ------------------------------------------------------------------------------ construction


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "exat"}, "exact"),
        ({"mode": "superSet"}, "superset"),
        ({"mode": None}, "exact"),
        ({"unicode": "NFD"}, "NFC"),
        ({"overrides": {"f": "exat"}}, "exact"),
        ({"overrides": {"f": {"a": "exakt"}}}, "exact"),
        ({"overrides": {"f": 3}}, "key paths"),
        ({"overrides": {"f": True}}, "key paths"),
        ({"overrides": {"f": ["a..b"]}}, "a..b"),
        ({"overrides": {"f": [3]}}, "3"),
        ({"overrides": {"f": [["a"]]}}, "a"),
        ({"overrides": {"f": {"a..b": "exact"}}}, "a..b"),
        ({"overrides": {"f": {3: "exact"}}}, "3"),
    ],
)
def test_what_does_not_exist_is_refused_at_construction(options, said):
    with pytest.raises(ConfigError) as caught:
        CompiledRule(ArgumentRule(**options))
    assert said in str(caught.value)


@pytest.mark.parametrize("mode", ["exact", "subset", "superset"])
def test_nan_agrees_with_nan(mode):
    assert args_agree({"a": [math.nan]}, {"a": [float("nan")]}, mode=mode)
    assert not args_agree({"a": math.nan}, {"a": None}, mode=mode)


# ------------------------------------------------------------------------------ disagreements


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
@pytest.mark.parametrize("number", [None, *range(len(OVERRIDES) - 2)])
@pytest.mark.parametrize("deep", [False, True])
def test_arguments_agree_exactly_where_nothing_keeps_them_from_it(number, mode, deep):
    overrides = {} if number is None else {"f": OVERRIDES[number]}
    compiled = CompiledRule(ArgumentRule(mode=mode, overrides=overrides, deep=deep))
    comparer = compiled.comparer("f")
    for got, expected in product((*ARGS[3::3], *PLAIN), repeat=2):
        places = list(comparer.disagreements(got, expected))
        agreed = comparer.agrees(got, expected)
        objects = isinstance(got, dict) and isinstance(expected, dict)
        if comparer.mode != "ignore" or objects:
            assert (not places) is agreed, (got, expected, places)
        for place in places:
            assert place.path or not objects
            assert not (place.got is MISSING and place.expected is MISSING)


@pytest.mark.parametrize(
    ("options", "got", "expected", "paths"),
    [
        ({}, {"a": 1, "b": {"c": 1, "d": [1]}}, {"a": 1, "b": {"c": 2, "d": [2]}}, ["b.c", "b.d[0]"]),
        ({"mode": "subset"}, {"a": 1}, {"b": 1, "a": 2}, ["a"]),
        ({"mode": "superset"}, {"b": 1, "a": 1}, {"a": 2, "c": 3}, ["a", "c"]),
        ({"mode": "superset"}, {"a": {"x": 1, "y": 1}}, {"a": {"x": 1}}, ["a.y"]),
        ({"mode": "superset", "deep": True}, {"a": {"x": 1, "y": 1}}, {"a": {"x": 2}}, ["a.x"]),
        ({"ignore_keys": ("ts",)}, {"ts": 1, "a": 1}, {"ts": 2, "a": 2}, ["a"]),
        ({"overrides": {"f": ["b", "a.x"]}}, {"a": {"x": 1}, "z": 1}, {"a": {"x": 2}, "b": 1}, ["b", "a.x"]),
        ({"overrides": {"f": {"a": {"number": {"abs": 1}}}}}, {"a": 1, "b": 1}, {"a": 2, "b": 2}, ["b"]),
        ({"overrides": {"f": {"a": {"number": {"abs": 1}}}}}, {"a": 1}, {"a": 3}, ["a"]),
        ({"unicode": "NFC"}, {"q": "é", "r": 1}, {"q": "e\u0301", "r": 2}, ["r"]),
        ({}, "text", {"a": 1}, [""]),
        ({}, {"a.b": 1}, {"a.b": 2}, [r"a\.b"]),
    ],
)  # fmt: skip
def test_what_the_rule_tolerates_is_no_disagreement(options, got, expected, paths):
    comparer = CompiledRule(ArgumentRule(**options)).comparer("f")
    assert [place.path for place in comparer.disagreements(got, expected)] == paths


@examples(300)
@given(st.data())
def test_what_comparators_leave_must_be_equal_where_calls_agree(data):
    values = st.sampled_from([0, 1, 1.0, "a", "A", None, [1], {"x": 1}])
    args = st.dictionaries(st.sampled_from("abc"), values, max_size=3) | values
    spec = data.draw(
        st.sampled_from(
            [{"a": "number"}, {"a": "casefold", "b.x": "ignore"}, {"c": "ignore"}, ["a"]]
        )
    )
    mode = data.draw(st.sampled_from(["exact", "ignore", "subset", "superset"]))
    comparer = CompiledRule(ArgumentRule(mode=mode, overrides={"t": spec})).comparer("t")
    got, expected = data.draw(args), data.draw(args)
    if comparer.agrees(got, expected):
        assert comparer.fixed(got) == comparer.fixed(expected)


@pytest.mark.parametrize(
    "options",
    [
        {"overrides": {"f": ["xs[0]"]}},
        {"overrides": {"f": {"xs[1]": "ignore"}}},
        {"overrides": {"f": {"xs": "unordered", "y": "ignore"}}},
        {"mode": "subset", "deep": True},
        {"ignore_keys": ("*.b",)},
        {"unicode": "NFC", "overrides": {"f": {"y": "ignore"}}},
    ],
)
def test_a_tuple_in_arguments_is_a_list(options):
    def arguments(kind: Any, *, y: bool) -> dict[str, Any]:
        one: dict[str, Any] = {"xs": kind([2, {"a": 1}, "e\u0301"])}
        return {**one, "y": 1} if y and options.get("mode") == "subset" else one

    for first, second in product([list, tuple], repeat=2):
        got, expected = arguments(first, y=False), arguments(second, y=True)
        assert args_agree(got, expected, **options)
        calls = [ToolCall("f", got), ToolCall("f", {"z": 1})]
        others = [ToolCall("f", {"z": 1, "q": 1}), ToolCall("f", expected)]
        rule = CompiledRule(ArgumentRule(**options))
        assert (1, 0) in Pairing(calls, others, rule).pairs or (0, 1) in Pairing(
            calls, others, rule
        ).pairs
