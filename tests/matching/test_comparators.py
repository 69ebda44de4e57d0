"""Comparators (A1): each reads (agent, reference)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import examples, values
from trajgrade.errors import ConfigError
from trajgrade.matching import comparators
from trajgrade.matching.comparators import build

NAN = float("nan")
INF = float("inf")


@pytest.mark.parametrize(
    ("spec", "agent", "reference", "agree"),
    [
        ("exact", 1, 1.0, True),
        ("exact", 1, True, False),
        ("ignore", 1, "x", True),
        ("casefold", "Straße", "STRASSE", True),
        ("casefold", "a", "b", False),
        ("casefold", 1, 1.0, True),
        ("casefold", "1", 1, False),
        ("number", 1, 1.0, True),
        ("number", 1, 2, False),
        ("number", True, 1, False),
        ("number", "1", 1, False),
        ("number", None, None, True),
        ("number", "abc", "abc", True),
        ({"number": {"abs": 0.5}}, 1.5, 1, True),
        ({"number": {"abs": 0.5}}, 0.5, 1, True),
        ({"number": {"abs": 0.5}}, 1.500001, 1, False),
        ({"number": {"abs": 0.1}}, 1.1, 1.0, True),  # 0.1 is a tenth, as JSON has it
        ({"number": {"rel": 0.1}}, 110, 100, True),
        ({"number": {"rel": 0.1}}, 100, 110, True),
        ({"number": {"rel": 0.1}}, 111, 100, False),
        ({"number": {"rel": 0.1}}, 100, 90.9, False),  # relative to the reference, not the agent
        ({"number": {"rel": 0.1}}, -110, -100, True),
        ({"number": {"rel": 0.1}}, 0, 0, True),
        ({"number": {"abs": 1, "rel": 0.1}}, 1, 0, True),
        ({"number": {"abs": 0.5}}, 2**60 + 1, 2**60, False),
        ({"number": {"abs": 1}}, 10**400, 10**400 + 1, True),
        ({"number": {"abs": 1}}, 10**400, 1.5, False),
        ("number", 10**400, INF, False),
        ("number", NAN, NAN, True),
        ("number", NAN, 1, False),
        ({"number": {"rel": 1}}, 5, INF, False),
        ("number", INF, INF, True),
        ("number", INF, -INF, False),
        ({"regex": "A-[0-9]+"}, "A-17", "anything", True),
        ({"regex": "A-[0-9]+"}, "A-17 ", "A-17 ", False),
        ({"regex": "A-[0-9]+"}, 17, 17, False),
        ("regex", "A-17", r"A-\d+", True),
        ("regex", r"A-\d+", "A-17", False),  # the pattern is the reference's
        ("regex", "a\nb", "a.b", False),
        ({"one_of": ["a", 1]}, 1.0, "b", True),
        ({"one_of": ["a", 1]}, True, "a", False),
        ({"one_of": []}, "a", "a", False),
        ("one_of", "b", ["a", "b"], True),
        ("one_of", ["a", "b"], "b", False),
        ("one_of", ["a"], [["a"], "b"], True),
        ("one_of", "a", "a", False),
        ("unordered", ["b", "a"], ["a", "b"], True),
        ("unordered", ["a", "a", "b"], ["a", "b", "b"], False),
        ("unordered", [1, True, "1"], ["1", 1.0, True], True),
        ("unordered", ["a", 1], ["a", "b"], False),
        ("unordered", [{"x": [1, 2]}, {}], [{}, {"x": [2, 1]}], False),
        ("unordered", "ab", "ba", False),
        ("date", "2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", True),
        ("date", "2024-05-01T12:00:00", "2024-05-01T12:00:00Z", True),
        ("date", "2024-05-01 12:00", "2024-05-01T12:00:00.000Z", True),
        ("date", "2024-05-01", "2024-05-01", True),
        ("date", "2024-05-01", "2024-05-01T00:00:00Z", False),
        ("date", "2024-05-01", "2024-05-02", False),
        ("date", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", False),
        ("date", "soon", "soon", True),
        ("date", "soon", "2024-05-01", False),
        ("date", 1714521600, 1714521600.0, True),
        ("json", '{"a": 1}', {"a": 1.0}, True),
        ("json", {"a": 1}, '{"a": 1}', True),
        ("json", '{"a": 1, "b": [2]}', '{"b":[2],"a":1}', True),
        ("json", "1", 1, True),
        ("json", 1, "1", True),
        ("json", "true", 1, False),
        ("json", "{", "{", True),
        ("json", "{", {}, False),
        ("json", "nothing", "nothing", True),
    ],
)  # fmt: skip
def test_a_comparator_reads_the_agents_value_against_the_references(spec, agent, reference, agree):
    assert bool(build(spec, "here")(agent, reference)) is agree


BY_NAME = ["exact", "casefold", "number", "one_of", "unordered", "date", "json"]
TEXTS = [
    "",
    "a",
    "A",
    "[1]",
    "1",
    "true",
    "null",
    "2024-05-01",
    "2024-05-01T00:00:00",
    "2024-05-01T02:00:00+02:00",
]


@pytest.mark.parametrize(
    "name", [*BY_NAME, {"number": {"abs": 1}}, {"number": {"rel": 0.5}}], ids=str
)
def test_texts_and_numbers_compare_as_the_law_says(name):
    found: list[Any] = [
        *TEXTS,
        1,
        1.0,
        2,
        0,
        -1.5,
        True,
        None,
        NAN,
        INF,
        [],
        [1, 2],
        [2, 1.0],
        [1, 1, 2],
        {},
        10**400,
    ]
    for agent, reference in product(found, repeat=2):
        assert bool(build(name, "here")(agent, reference)) is oracle.compares(
            name, agent, reference
        ), (agent, reference)


@examples(200)
@given(st.sampled_from(BY_NAME), values, values)
def test_any_two_values_compare_as_the_law_says(name, agent, reference):
    assert bool(build(name, "here")(agent, reference)) is oracle.compares(name, agent, reference)


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("casefolt", "casefold"),
        ("Number", "number"),
        ({"numbr": {"abs": 1}}, "number"),
        ({"number": {"abz": 1}}, "abz"),
        ({"number": {"abs": -1}}, "abs"),
        ({"number": {"rel": NAN}}, "rel"),
        ({"number": {"abs": "1"}}, "abs"),
        ({"regex": "("}, "regex"),
        ({"regex": 3}, "regex"),
        ({"one_of": "abc"}, "one_of"),
        ({"number": {}, "regex": "a"}, "comparator"),
        (None, "comparator"),
        (3, "comparator"),
        ([], "comparator"),
    ],
)  # fmt: skip
def test_what_is_no_comparator_is_refused_at_construction(spec, named):
    with pytest.raises(ConfigError, match=named) as caught:
        build(spec, "tool_args_match_overrides['f']['a']")
    assert str(caught.value).startswith("tool_args_match_overrides['f']['a']: ")


def test_a_catastrophic_pattern_is_stopped(monkeypatch):
    monkeypatch.setattr(comparators, "REGEX_SECONDS", 0.05)
    with pytest.raises(TimeoutError):
        build({"regex": "(a|aa|a?)+$"}, "here")("a" * 5000 + "!", "")
