"""Constraints on the tools that are called, against an oracle that reads each rule by the letter."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.matching.constraints import Constraints, constraints_of, violations

NAMES = ["a", "ab", "b", "ba", "c"]
tools = st.sampled_from([*NAMES, "a*", "*b", "?", "*", "x"])
some = st.lists(tools, max_size=3)
counts = st.dictionaries(tools, st.integers(0, 3), max_size=3)
rules = st.builds(
    Constraints,
    required=some,
    forbidden=some,
    before=st.lists(st.tuples(tools, tools), max_size=3),
    one_of=st.lists(st.lists(tools, min_size=2, max_size=3), max_size=2),
    min_calls=counts,
    max_calls=counts,
    optional=st.none() | some,
)
runs = st.lists(st.sampled_from(NAMES), max_size=6)


def is_of(name: str, tool: str) -> bool:
    return fnmatch.fnmatchcase(name, tool)


def oracle(  # noqa: C901 one clause for each kind of constraint
    kept: Constraints, names: list[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every violated rule, decided by looking at each call, and at each pair of calls."""
    for tool in kept.required:
        if not any(is_of(name, tool) for name in names):
            yield "required", (tool,)
    for tool in kept.forbidden:
        if any(is_of(name, tool) for name in names):
            yield "forbidden", (tool,)
    for first, then in kept.before:
        for at, name in enumerate(names):
            if is_of(name, then) and not any(is_of(early, first) for early in names[:at]):
                yield "before", (first, then)
                break
    for group in kept.one_of:
        if len([tool for tool in group if any(is_of(name, tool) for name in names)]) != 1:
            yield "one_of", tuple(group)
    for tool, least in kept.min_calls.items():
        if len([name for name in names if is_of(name, tool)]) < least:
            yield "min_calls", (tool,)
    for tool, most in kept.max_calls.items():
        if len([name for name in names if is_of(name, tool)]) > most:
            yield "max_calls", (tool,)
    if kept.optional is not None:
        known = [*kept.required, *kept.optional]
        known += [tool for pair in kept.before for tool in pair]
        known += [tool for group in kept.one_of for tool in group]
        known += [tool for tool in (*kept.min_calls, *kept.max_calls) if tool != "*"]
        others = [n for n in names if not any(is_of(n, tool) for tool in known)]
        if others:
            yield "optional", tuple(dict.fromkeys(others))


@given(rules, runs)
def test_what_is_violated_is_the_oracle_s(kept: Constraints, names: list[str]):
    found = [(one.constraint, one.tools) for one in violations(kept, names)]
    assert found == list(oracle(kept, names))


@given(rules, runs)
def test_the_calls_at_fault_are_calls_of_the_tools_that_the_rule_names(
    kept: Constraints, names: list[str]
):
    for one in violations(kept, names):
        for at in one.calls:
            assert any(is_of(names[at], tool) for tool in one.tools)


@given(rules, runs, st.sampled_from(NAMES))
def test_another_call_at_the_end_mends_no_limit_and_breaks_no_requirement(
    kept: Constraints, names: list[str], last: str
):
    before = {(one.constraint, one.tools) for one in violations(kept, names)}
    after = {(one.constraint, one.tools) for one in violations(kept, [*names, last])}
    assert {v for v in before if v[0] in ("forbidden", "max_calls", "before")} <= after
    assert {v for v in after if v[0] in ("required", "min_calls")} <= before


@given(rules)
def test_what_is_written_is_what_is_read(kept: Constraints):
    given_: dict[str, Any] = {name: getattr(kept, name) for name in kept.__struct_fields__}
    clash = set(kept.required) & set(kept.forbidden) or any(
        kept.max_calls.get(tool, least) < least for tool, least in kept.min_calls.items()
    )
    if clash or not kept.count:
        with pytest.raises(ConfigError):
            constraints_of(given_)
    else:
        assert constraints_of(given_) == kept


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ({}, "there are none"),
        ({"required": []}, "there are none"),
        ({"requird": ["a"]}, "Did you mean 'required'?"),
        ({"required": "a"}, "required: a list of tools is needed, got 'a'"),
        ({"forbidden": [""]}, "forbidden: a list of tools"),
        ({"before": ["ab"]}, r"before\[0\]: a pair of tools"),
        ({"before": [["a", "b"], ["a"]]}, r"before\[1\]: a pair"),
        ({"one_of": ["a", "b"]}, r"one_of\[0\]: a list of two or more"),
        ({"one_of": [["a"]]}, r"one_of\[0\]"),
        ({"max_calls": 3}, "max_calls: a mapping"),
        ({"max_calls": {"a": True}}, r"max_calls\.a: a number of calls"),
        ({"min_calls": {"a": -1}}, r"min_calls\.a"),
        ({"optional": "a"}, "optional: a list"),
        ({"required": ["a"], "forbidden": ["a"]}, "forbidden: 'a' is required"),
        ({"min_calls": {"a": 2}, "max_calls": {"a": 1}}, "at least 2 calls"),
    ],
)
def test_what_is_no_constraint_is_refused_by_name(written: dict[str, Any], fault: str):
    with pytest.raises(ConfigError, match=fault):
        constraints_of(written)


def test_all_faults_are_told_at_once_with_their_place():
    with pytest.raises(ConfigError) as caught:
        constraints_of({"requird": [], "before": [1], "max_calls": {"a": "2"}}, "row.constraints")
    assert len(caught.value.faults) == 3
    assert all(fault.startswith("row.constraints.") for fault in caught.value.faults)


def test_a_count_of_all_calls_names_no_tool():
    kept = constraints_of({"max_calls": {"*": 5}, "optional": ["a"]})
    assert [one.tools for one in violations(kept, ["a", "b"])] == [("b",)]
