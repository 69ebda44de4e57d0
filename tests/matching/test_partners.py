"""Which calls agree with some call of the other side, against asking every pair (A4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.strategies import PLAIN, sides
from trajgrade.evaluators import TrajectoryMatchEvaluator, TrajectoryPrecision
from trajgrade.matching.arguments import ArgumentRule, CompiledRule
from trajgrade.matching.pairing import Pairing
from trajgrade.matching.values import same
from trajgrade.trajectory import Step, ToolCall, Trajectory

RULES: dict[str, Any] = {
    "exact": {},
    "ignore": {"mode": "ignore"},
    "subset": {"mode": "subset"},
    "superset": {"mode": "superset"},
    "deep subset": {"mode": "subset", "deep": True},
    "deep superset": {"mode": "superset", "deep": True},
    "listed": {"overrides": {"f": ["a"]}},
    "comparator": {"overrides": {"f": {"a": "ignore"}}},
    "function": {"overrides": {"f": lambda got, wanted: got != wanted}},
    "aliases": {"name_aliases": {"g": "f"}},
    "ignored": {"ignore_keys": ("b",), "mode": "subset"},
}


@pytest.mark.parametrize("name", RULES)
@given(both=sides(unknown=True), generous=st.booleans())
def test_a_call_has_a_partner_exactly_if_some_pair_agrees(name: str, both: Any, generous: bool):
    ours, theirs = both
    pairing = Pairing(
        ours, theirs, CompiledRule(ArgumentRule(**RULES[name])), unknown_agrees=generous
    )
    edges = [
        (i, j)
        for i, call in enumerate(ours)
        for j, reference in enumerate(theirs)
        if pairing.agree(call, reference)
    ]
    assert pairing.partnered == ({i for i, _ in edges}, {j for _, j in edges})


def in_one_message(calls: list[ToolCall]) -> Trajectory:
    return Trajectory([Step("user", "Go."), Step("assistant", "", calls)])


@pytest.mark.parametrize("mode", ["exact", "subset"])
def test_five_thousand_calls_take_no_comparison_of_every_pair(
    mode: Any, monkeypatch: pytest.MonkeyPatch
):
    asked = 0
    real = same

    def counted(*given: Any) -> bool:
        nonlocal asked
        asked += 1
        return real(*given)

    monkeypatch.setattr("trajgrade.matching.arguments.same", counted)
    ours = in_one_message([ToolCall("f", {"n": n}) for n in range(5000)])
    theirs = in_one_message([ToolCall("f", {"n": n, **PLAIN[0]}) for n in reversed(range(5000))])
    membership = TrajectoryPrecision(duplicates="membership", tool_args_match_mode=mode)
    assert membership.evaluate(outputs=ours, reference_outputs=theirs).score == 1.0
    kinds: tuple[Any, ...] = ("strict", "in_order")
    for kind in kinds:
        match = TrajectoryMatchEvaluator(mode=kind, parallel="unordered", tool_args_match_mode=mode)
        assert match.evaluate(outputs=ours, reference_outputs=theirs).score == 1.0
    assert asked < 100_000
