"""Evaluators as they are written: three spellings, their keys, their success, their faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import trajgrade
from trajgrade.errors import ConfigError, ParameterError, UnknownNameError
from trajgrade.evaluators import ExactMatch, TrajectoryF1, TrajectoryMatchEvaluator
from trajgrade.evaluators.spelling import graders
from trajgrade.evaluators.written import parameters_of


def built(spec: Any) -> Any:
    (evaluator,) = graders([spec]).evaluators
    return evaluator


@pytest.mark.parametrize(
    "spec",
    [
        {"trajectory_match": {"mode": "unordered", "key": "m"}},
        {"name": "trajectory_match", "params": {"mode": "unordered"}, "key": "m"},
        TrajectoryMatchEvaluator("unordered", key="m"),
    ],
)
def test_the_spellings_make_one_evaluator(spec: Any):
    assert built(spec) == TrajectoryMatchEvaluator("unordered", key="m")


@pytest.mark.parametrize("spec", ["trajectory_f1", {"trajectory_f1": None}, {"trajectory_f1": {}}, {"name": "trajectory_f1", "params": None}])  # fmt: skip
def test_parameters_may_be_left_out(spec: Any):
    assert built(spec) == TrajectoryF1()


@pytest.mark.parametrize(
    "spec",
    [
        {"trajectory_f1": {"pass": 0.8, "key": "f"}},
        {"name": "trajectory_f1", "pass": 0.8, "key": "f"},
        {"name": "trajectory_f1", "params": {"pass": 0.8}, "key": "f"},
    ],
)
def test_the_least_success_may_stand_beside_or_among_the_parameters(spec: Any):
    assert graders([spec]).passes == {"f": 0.8}
    assert built(spec) == TrajectoryF1(key="f")


def test_the_least_success_makes_pass_rates_of_scores():
    """Without `pass` a score of 0.5 is neither success nor failure."""
    call, other = {"name": "a", "args": {}}, {"name": "b", "args": {}}
    rows = [
        {"id": "x", "trial": n, "outputs": calls, "reference_outputs": [call]}
        for n, calls in enumerate([[call], [call, other, other], [other]])
    ]
    loose = trajgrade.evaluate(rows, [{"trajectory_f1": {"pass": 0.5}}]).summary["trajectory_f1"]
    assert loose.pass_hat_k(1) == pytest.approx(2 / 3)
    assert (
        "pass^1"
        not in trajgrade.evaluate(rows, ["trajectory_f1"]).to_dict()["metrics"]["trajectory_f1"]
    )


def test_an_evaluator_with_a_parameter_of_that_name_keeps_it():
    stored = built({"field": {"path": "reward", "pass": 1}})
    assert (stored.path, stored.pass_) == ("reward", 1)


class Plain:
    """A user's plain class."""

    def __init__(self) -> None:
        self.key = "plain"

    def evaluate(self, *, outputs: Any = None, **_: Any) -> bool:
        return outputs is not None


def test_functions_and_plain_objects_stand_for_themselves():
    def length(outputs: Any) -> int:
        return len(outputs)

    def within(outputs: Any, most: int) -> bool:
        return len(outputs) <= most

    found = graders([length, Plain(), ExactMatch(), partial(within, most=3)])
    assert [e.key for e in found.evaluators] == ["length", "plain", "exact_match", "within"]
    assert found.keys is None
    assert graders([ExactMatch(), "trajectory_f1"]).keys == ["exact_match", "trajectory_f1"]


def test_a_plain_class_can_be_named_and_renamed(monkeypatch: pytest.MonkeyPatch):
    from trajgrade.registry import Entry, evaluators

    monkeypatch.setitem(evaluators.entries, "plain", Entry(Plain))
    monkeypatch.setattr(evaluators, "_found", {})
    found = graders(["plain", {"name": "plain", "key": "other"}])
    assert [evaluator.key for evaluator in found.evaluators] == ["plain", "other"]


@pytest.mark.parametrize(
    ("specs", "kind", "said"),
    [
        (["trajectry_f1"], UnknownNameError, r"evaluators\[0\]: unknown evaluator 'trajectry_f1'"),
        ([{"tool_use": {}}], ParameterError, r"evaluators\[0\]: .*'expected_tool' is required"),
        ([{"trajectory_f1": {"x": 1}}], ConfigError, r"evaluators\[0\].trajectory_f1.x: unknown"),
        ([Plain], ConfigError, r"evaluators\[0\]: Plain is a class; give an instance"),
        ([3], ConfigError, r"evaluators\[0\]: 3 is no evaluator: it needs `key` and `evaluate`"),
        (["trajectory_f1", "trajectory_f1"], ConfigError, "2 have the key 'trajectory_f1'"),
    ],
)
def test_one_fault_alone_keeps_its_type(specs: list[Any], kind: type[Exception], said: str):
    with pytest.raises(kind, match=said) as caught:
        graders(specs)
    assert type(caught.value) is kind


def test_several_faults_come_together():
    with pytest.raises(ConfigError) as caught:
        graders(["a", {"trajectory_match": {"mode": "b", "deep": 1}}, "exact_match", "exact_match"])
    assert [fault.partition(": ")[0] for fault in caught.value.faults] == [
        "evaluators[0]",
        "evaluators[1].trajectory_match.mode",
        "evaluators[1].trajectory_match.deep",
        "evaluators",
    ]


def test_two_tools_of_one_metric_are_told_apart_by_themselves():
    found = graders([{"trajectory_single_tool_use": {"tool_name": t}} for t in ("a", "b")])
    assert [e.key for e in found.evaluators] == [
        "trajectory_single_tool_use:a", "trajectory_single_tool_use:b",
    ]  # fmt: skip


# ------------------------------------------------------------------------------ parameters


def test_a_parameter_that_also_takes_a_function_can_be_written_otherwise():
    overrides = (parameters_of(TrajectoryMatchEvaluator) or {})["tool_args_match_overrides"]
    assert "Callable" not in repr(overrides.type)
    assert not overrides.required


def unannotated(key="k", *, pass_=None):
    return key, pass_


def any_name(**given: int) -> dict[str, int]:
    return given


def broken(value: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821, UP037
    del value


@pytest.mark.parametrize(
    ("factory", "names"),
    [(unannotated, ["key", "pass"]), (any_name, None), (broken, ["value"])],
)
def test_a_plugin_may_declare_less(factory: Callable[..., Any], names: list[str] | None):
    found = parameters_of(factory)
    assert (found if found is None else list(found)) == names
