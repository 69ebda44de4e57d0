"""Conditions: what fits, what does not, and what is refused (known faults B181, B182, B185, B195)."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.automation.conditions import OPERATORS, read, values_at
from trajgrade.errors import ConfigError
from trajgrade.matching.paths import parse


def fits(when, item) -> bool:
    return read(when).fit(item).holds


@pytest.mark.parametrize(("value", "right"), [(3, False), (7, True), (12, False)])
def test_every_operator_of_a_condition_must_hold(value, right):
    """B182: with two bounds, the first alone does not decide."""
    assert fits({"field": "latency", "gt": 5, "lt": 10}, {"latency": value}) is right


def test_equals_and_in_together():
    assert not fits({"field": "x", "equals": "a", "in": ["b"]}, {"x": "a"})


@given(
    st.one_of(st.integers(-5, 5), st.booleans(), st.text(max_size=2), st.none()),
    st.sampled_from(["lt", "lte", "gt", "gte"]),
    st.integers(-5, 5),
)
def test_only_numbers_are_compared(found, name, wanted):
    compare = {
        "lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge
    }[name]  # fmt: skip
    right = isinstance(found, int) and not isinstance(found, bool) and compare(found, wanted)
    assert fits({"field": "x", name: wanted}, {"x": found}) is right


def test_numbers_in_texts_count_only_when_asked():
    """B195."""
    item = {"usage": {"total_tokens": "1200"}}
    assert not fits({"field": "usage.total_tokens", "gt": 1000}, item)
    assert fits({"field": "usage.total_tokens", "gt": 1000, "numbers": "text"}, item)
    assert not fits({"field": "x", "gt": 1000, "numbers": "text"}, {"x": "many"})


def test_a_part_of_the_traffic_by_tag_number_and_duration():
    """B195."""
    when = {"all": [
        {"field": "tags", "contains": "vip"},
        {"field": "usage.total_tokens", "gt": 1000},
        {"field": "duration_ms", "gte": 500},
    ]}  # fmt: skip
    item = {"tags": ["new", "vip"], "usage": {"total_tokens": 1001}, "duration_ms": 500}
    assert fits(when, item)
    assert not fits(when, {**item, "duration_ms": 499})
    assert not fits(when, {**item, "tags": ["vips"]})


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("spans.status", ["ok", "error"]),
        ("spans[1].status", ["error"]),
        ("spans[-1].status", ["error"]),
        ("spans[7].status", []),
        ("spans.nothing", []),
        ("spans.tags", [["a"], ["b", "c"]]),
    ],
)
def test_a_list_on_the_way_is_any_of_its_items_or_the_one_named(path, values):
    item = {"spans": [{"status": "ok", "tags": ["a"]}, {"status": "error", "tags": ["b", "c"]}]}
    assert [*values_at(item, parse(path))] == values


def test_one_and_the_same_value_must_fit_all_operators():
    item = {"spans": [{"ms": 1}, {"ms": 20}]}
    assert not fits({"field": "spans.ms", "gt": 5, "lt": 10}, item)


@pytest.mark.parametrize(
    ("when", "item", "right"),
    [
        ({"field": "a", "equals": 1}, {"a": 1.0}, True),
        ({"field": "a", "equals": 1}, {"a": True}, False),
        ({"field": "a", "equals": "1"}, {"a": 1}, False),
        ({"field": "a", "equals": None}, {"a": None}, True),
        ({"field": "a", "equals": None}, {}, False),
        ({"field": "a", "exists": True}, {"a": None}, True),
        ({"field": "a", "exists": False}, {}, True),
        ({"field": "a", "exists": False}, {"a": None}, False),
        ({"field": "a", "contains": "b"}, {"a": "abc"}, True),
        ({"field": "a", "contains": "B"}, {"a": "abc"}, False),
        ({"field": "a", "contains": 1}, {"a": "1"}, False),
        ({"field": "a", "contains": "k"}, {"a": {"k": 0}}, True),
        ({"field": "a", "matches": "^b+$"}, {"a": "bb"}, True),
        ({"field": "a", "matches": "b"}, {"a": 1}, False),
        ({"not": {"field": "a", "equals": 1}}, {}, True),
        ({"any": [{"field": "a", "equals": 1}, {"field": "b", "equals": 2}]}, {"b": 2}, True),
        ([{"field": "a", "equals": 1}, {"field": "b", "equals": 2}], {"b": 2}, False),
        ({"any": [{"field": "a", "equals": 1}], "not": {"field": "b", "exists": True}},
         {"a": 1, "b": 0}, False),
        ("always", None, True),
    ],
)  # fmt: skip
def test_what_fits(when, item, right):
    assert fits(when, item) is right


CONDITIONS = st.recursive(
    st.builds(lambda f, v: {"field": f, "equals": v}, st.sampled_from("ab"), st.integers(0, 2)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.builds(lambda c: {"not": c}, inner),
        st.builds(lambda c: {"any": c}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda c: {"all": c}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


def oracle(when, item) -> bool:
    if isinstance(when, list):
        return all(oracle(one, item) for one in when)
    if "field" in when:
        return when["field"] in item and item[when["field"]] == when["equals"]
    if "not" in when:
        return not oracle(when["not"], item)
    if "any" in when:
        return any(oracle(one, item) for one in when["any"])
    return all(oracle(one, item) for one in when["all"])


@given(CONDITIONS, st.dictionaries(st.sampled_from("ab"), st.integers(0, 2)))
def test_conditions_combine_as_logic_does(when, item):
    assert fits(when, item) is oracle(when, item)


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ({}, "`always` for every item"),
        ([], "a condition is needed"),
        (None, "a condition is needed"),
        ({"field": "x", "neq": 1}, "unknown operator 'neq'"),
        ({"field": "x", "equal": 1}, "Did you mean 'equals'?"),
        ({"field": "x"}, "an operator is needed"),
        ({"field": "error_info", "op": "is_empty"}, "unknown operator 'op'"),
        ({"field": "", "equals": 1}, "is no path"),
        ({"field": 3, "equals": 1}, "is no path"),
        ({"field": "x", "in": "ab"}, "a list of values is needed"),
        ({"field": "x", "gt": "5"}, "a number is needed"),
        ({"field": "x", "gt": True}, "a number is needed"),
        ({"field": "x", "exists": "false"}, "true or false is needed"),
        ({"field": "x", "matches": "("}, "is no pattern"),
        ({"field": "x", "contains": ""}, "an empty text is in every text"),
        ({"any": {"field": "x", "equals": 1}}, "a list of conditions is needed"),
        ({"feild": "x", "equals": 1}, "Did you mean 'field'?"),
        ({"field": "x", "exists": False, "equals": 1}, "never hold together"),
        ({"field": "x", "equals": 1, "any": []}, "combined by a list"),
    ],
)
def test_what_is_no_condition_is_refused_with_what_is_allowed(when, said):
    """B181, B185: nothing is skipped, nothing is filled in."""
    with pytest.raises(ConfigError, match=r"^when") as caught:
        read(when)
    assert said in str(caught.value)


def test_all_faults_are_told_at_once_each_with_its_place():
    with pytest.raises(ConfigError) as caught:
        read([{"field": "x", "neq": 1}, {"any": [{"field": "y", "gt": "a"}]}])
    assert [fault.partition(":")[0] for fault in caught.value.faults] == [
        "when[0]",
        "when[1].any[0].gt",
    ]


def test_a_condition_that_is_nested_without_end_is_refused():
    when: dict = {"field": "x", "equals": 1}
    for _ in range(50):
        when = {"not": when}
    with pytest.raises(ConfigError, match="nested more than"):
        read(when)


def test_why_an_item_does_not_fit_names_the_field_and_what_was_found():
    fit = read({"field": "status", "in": ["error"]}).fit({"status": "ok"})
    assert fit.because == "status: in ['error'], found 'ok'"
    assert read({"field": "status", "in": ["error"]}).fit({}).because == "status: is not there"


def test_every_operator_is_in_the_law_of_the_issue():
    assert set(OPERATORS) == {
        "equals", "in", "contains", "exists", "lt", "lte", "gt", "gte", "matches"
    }  # fmt: skip


# ------------------------------------------------------------------------------ unknown scores

KEYS = ("a", "b")
part = st.builds(lambda key: {"field": f"scores.{key}", "lt": 0.5}, st.sampled_from(KEYS))
logic = st.recursive(
    part,
    lambda inner: st.one_of(
        inner.map(lambda one: {"not": one}),
        st.lists(inner, min_size=1, max_size=3).map(lambda many: {"all": many}),
        st.lists(inner, min_size=1, max_size=3).map(lambda many: {"any": many}),
    ),
    max_leaves=6,
)
scores = st.dictionaries(st.sampled_from(KEYS), st.sampled_from([0.0, 1.0, None]))


def truth(when, given_scores) -> float:
    """1 true, 0 false, 1/2 unknown, by Kleene's strong logic: not is 1 - x, all min, any max."""
    if "field" in when:
        score = given_scores.get(when["field"].removeprefix("scores."))
        return 0.5 if score is None else float(score < 0.5)
    if "not" in when:
        return 1 - truth(when["not"], given_scores)
    join = min if "all" in when else max
    return join(truth(one, given_scores) for one in when.get("all", when.get("any")))


@given(logic, scores)
def test_a_score_that_is_not_there_is_unknown_and_so_is_its_opposite(when, given_scores):
    fit = read(when).fit({"scores": given_scores})
    assert (fit.holds, fit.is_unknown) == (
        truth(when, given_scores) == 1,
        truth(when, given_scores) == 0.5,
    )


@pytest.mark.parametrize("given_scores", [{}, {"a": None}])
def test_a_score_that_was_not_evaluated_does_not_exist(given_scores):
    item = {"scores": given_scores}
    assert not fits({"field": "scores.a", "exists": True}, item)
    assert fits({"field": "scores.a", "exists": False}, item)
    assert fits({"field": "scores.a", "exists": True}, {"scores": {"a": 0.0}})
