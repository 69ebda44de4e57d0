"""The laws of A13, and every score against the brute force of `tests/oracle.py`."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import ARGS, PLAIN, calls_of, examples, run, sides
from trajgrade.evaluators import (
    EvaluationResult,
    Evaluator,
    ToolCall,
    ToolCallAccuracyEvaluator,
    TrajectoryAlignment,
    TrajectoryF1,
    TrajectoryMatchEvaluator,
    TrajectoryPrecision,
    TrajectoryRecall,
)

Sides = tuple[list[ToolCall], list[ToolCall]]


def metrics(**options: Any) -> dict[str, Evaluator]:
    """One evaluator for each score of A3, A4 and A8."""
    made: dict[str, Evaluator] = {
        mode: TrajectoryMatchEvaluator(mode, **options) for mode in oracle.MATCH_MODES
    }
    made["precision"] = TrajectoryPrecision(**options)
    made["recall"] = TrajectoryRecall(**options)
    made["f1"] = TrajectoryF1(**options)
    made["any"] = TrajectoryAlignment(**options)
    made["in_order alignment"] = TrajectoryAlignment(order="in_order", **options)
    return made


BY_ARGS = {mode: metrics(tool_args_match_mode=mode) for mode in oracle.ARGS_MODES}
COUNTED = (*oracle.MATCH_MODES, "precision", "recall", "f1")
ALIGNED = ("any", "in_order alignment")
ORDER_FREE = ("unordered", "subset", "superset", "precision", "recall", "f1", "any")


def some(mode: oracle.ArgsMode, *names: str) -> dict[str, Evaluator]:
    return {name: BY_ARGS[mode][name] for name in names}


def results(found: dict[str, Evaluator], case: Sides) -> dict[str, EvaluationResult]:
    agent, reference = run(case[0]), run(case[1])
    return {
        name: evaluator.evaluate(outputs=agent, reference_outputs=reference)
        for name, evaluator in found.items()
    }


def scores(found: dict[str, Evaluator], case: Sides) -> dict[str, float | None]:
    return {name: result.score for name, result in results(found, case).items()}


def oracle_scores(case: Sides, rules: oracle.Rules) -> dict[str, Any]:
    """Every score by brute force; the arguments must be known."""
    agent, reference = case
    n, m = len(agent), len(reference)
    edges = oracle.edges_of(agent, reference, rules)
    wanted: dict[str, Any] = {mode: oracle.match(mode, edges, n, m) for mode in oracle.MATCH_MODES}
    wanted["precision"] = oracle.precision(edges, n, m)
    wanted["recall"] = oracle.recall(edges, n, m)
    wanted["f1"] = oracle.f1(edges, n, m)
    return wanted


def oracle_alignments(case: Sides, rules: oracle.Rules) -> dict[str, Fraction]:
    agent, reference = case
    n, m = len(agent), len(reference)
    similar = [[oracle.similarity(p, r, rules) for r in reference] for p in agent]
    return {
        name: oracle.alignment_score(oracle.alignment(similar, m, in_order=in_order)[1], n, m)
        for name, in_order in [("any", False), ("in_order alignment", True)]
    }


def same_scores(got: dict[str, float | None], wanted: dict[str, Any]) -> bool:
    return all(got[name] == pytest.approx(float(value), abs=1e-9) for name, value in wanted.items())


# ------------------------------------------------------------------------------ the oracle


@examples(150)
@given(sides())
def test_every_score_is_the_oracles(case):
    for mode in oracle.ARGS_MODES:
        got = scores(some(mode, *COUNTED), case)
        assert same_scores(got, oracle_scores(case, oracle.Rules(mode)))


@examples(100)
@given(sides(most=4))
def test_every_alignment_is_the_oracles(case):
    for mode in ("exact", "subset", "superset", "ignore"):
        got = scores(some(mode, *ALIGNED), case)
        assert same_scores(got, oracle_alignments(case, oracle.Rules(mode)))


@examples(40)
@given(sides(most=6), st.sampled_from(oracle.ARGS_MODES))
def test_up_to_six_calls_a_side_are_the_oracles(case, mode):
    rules = oracle.Rules(mode)
    assume(max(map(len, case)) > 4)
    wanted = oracle_scores(case, rules) | oracle_alignments(case, rules)
    assert same_scores(scores(BY_ARGS[mode], case), wanted)


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
def test_every_case_of_up_to_three_calls_is_the_oracles(mode):
    """Arguments of which some are part of others: all lists of them, all pairs of lists."""
    kinds = calls_of({"a": 1}, {"a": 1, "b": 1}, {"b": 1.0})
    lists = [list(calls) for size in range(4) for calls in product(kinds, repeat=size)]
    rules = oracle.Rules(mode)
    found = some(mode, *COUNTED)
    for agent, reference in product(lists, repeat=2):
        case = (agent, reference)
        assert same_scores(scores(found, case), oracle_scores(case, rules)), case


OPTIONS: dict[str, dict[str, Any]] = {
    "deep": {"deep": True},
    "ignored keys": {"ignore_keys": ("b", "c")},
    "aliases": {"name_aliases": {"f": "g"}},
    "unicode": {"unicode": "NFKC"},
    "a path": {"overrides": {"f": ["a"]}},
    "paths": {"overrides": {"f": ["a.x", "b"]}},
    "no path": {"overrides": {"f": []}},
    "modes": {"overrides": {"f": "subset", "g": "ignore"}},
    "other modes": {"overrides": {"f": "superset", "g": "exact"}},
    "number": {"overrides": {"f": {"a": {"number": {"abs": 1}}}}},
    "ignore, one_of": {"overrides": {"f": {"a": "ignore", "b": {"one_of": [1, 2]}}}},
    "unordered, json": {"overrides": {"f": {"a": "unordered"}, "g": {"a": "json"}}},
    "one-sided function": {"overrides": {"f": lambda a, _: isinstance(a, dict) and len(a) == 1}},
    "function of types": {"overrides": {"f": lambda a, r: repr(a) <= repr(r)}},
}


@pytest.mark.parametrize("named", OPTIONS)
@examples(30)
@given(sides(most=4), st.sampled_from(oracle.ARGS_MODES))
def test_options_and_overrides_are_the_oracles_without_the_laws(named, case, mode):
    options = OPTIONS[named]
    params = {k: v for k, v in options.items() if k != "overrides"}
    overrides = options.get("overrides")
    found = metrics(tool_args_match_mode=mode, tool_args_match_overrides=overrides, **params)
    got, wanted = scores(found, case), oracle_scores(case, oracle.Rules(mode, **options))
    assert same_scores(got, wanted)
    assert all(0.0 <= score <= 1.0 for score in got.values() if score is not None)
    assert got["any"] >= got["f1"] - 1e-9  # type: ignore[operator]  # both have scores
    assert (got["any"] == 1) == (got["unordered"] == 1)
    assert (got["in_order alignment"] == 1) == (got["strict"] == 1)


@examples(100)
@given(sides())
def test_membership_is_the_share_that_agrees_with_some_call(case):
    agent, reference = case
    n, m = len(agent), len(reference)
    for mode in oracle.ARGS_MODES:
        edges = oracle.edges_of(agent, reference, oracle.Rules(mode))
        made = [
            kind(mode, duplicates="membership")
            for kind in (TrajectoryPrecision, TrajectoryRecall, TrajectoryF1)
        ]
        for evaluator, wanted in zip(made, oracle.membership(edges, n, m), strict=True):
            result = evaluator.evaluate(outputs=run(agent), reference_outputs=run(reference))
            assert result.score == pytest.approx(float(wanted))


# ------------------------------------------------------------------------------ A5: the table


def flags(name: str, n: int, m: int) -> set[str]:
    if n == 0 and m:
        return {"subset": {"vacuous"}, "precision": {"undefined"}}.get(name, set())
    if m == 0 and n:
        return {
            "superset": {"vacuous"}, "in_order": {"vacuous"}, "recall": {"undefined"},
        }.get(name, set())  # fmt: skip
    return set()


@examples(100)
@given(sides(), st.sampled_from(oracle.ARGS_MODES))
def test_a_result_says_where_it_is_vacuous_or_undefined_and_nowhere_else(case, mode):
    sizes = len(case[0]), len(case[1])
    for name, result in results(BY_ARGS[mode], case).items():
        found = {flag for flag in ("vacuous", "undefined") if result.metadata.get(flag)}
        assert found == flags(name, *sizes), name
        assert result.error is None
        assert result.score is not None
        if name in oracle.MATCH_MODES:
            assert result.value is (result.score == 1.0)
        assert all(f in result.comment for f in found), "a flag is said in the comment"


# ------------------------------------------------------------------------------ A13: the laws


@examples(100)
@given(sides(), st.sampled_from(oracle.ARGS_MODES))
def test_stronger_modes_imply_weaker_ones(case, mode):
    got = scores(BY_ARGS[mode], case)
    assert got["strict"] <= got["in_order"] <= got["superset"]  # type: ignore[operator]
    assert got["strict"] <= got["unordered"]  # type: ignore[operator]
    assert (got["unordered"] == 1) == (got["subset"] == got["superset"] == 1)
    assert (got["f1"] == 1) == (got["unordered"] == 1)
    if case[0] and case[1]:
        assert (got["recall"] == 1) == (got["superset"] == 1)
        assert (got["precision"] == 1) == (got["subset"] == 1)
    if got["strict"] == 1:
        assert set(got.values()) == {1.0}


@examples(60)
@given(sides(), st.sampled_from(oracle.ARGS_MODES))
def test_calls_match_themselves_in_every_mode(case, mode):
    assert set(scores(BY_ARGS[mode], (case[0], case[0])).values()) == {1.0}


@examples(100)
@given(sides())
def test_subset_with_subset_is_superset_with_superset_the_other_way_round(case):
    agent, reference = case
    there = TrajectoryMatchEvaluator("subset", "subset")
    back = TrajectoryMatchEvaluator("superset", "superset")
    assert (
        there.evaluate(outputs=run(agent), reference_outputs=run(reference)).score
        == back.evaluate(outputs=run(reference), reference_outputs=run(agent)).score
    )


@examples(100)
@given(sides(), st.sampled_from(oracle.ARGS_MODES), st.randoms(use_true_random=False))
def test_the_order_of_the_agents_calls_changes_no_order_free_score(case, mode, chance):
    agent, reference = case
    shuffled = chance.sample(agent, len(agent))
    found = some(mode, *ORDER_FREE)
    before, after = scores(found, case), scores(found, (shuffled, reference))
    assert same_scores(before, after)


@examples(100)
@given(sides(), st.sampled_from(oracle.ARGS_MODES), st.integers(0, 5))
def test_another_unmatched_call_never_raises_precision_and_leaves_recall(case, mode, place):
    agent, reference = case
    assume(agent and reference)
    more = [*agent[:place], ToolCall("no such tool"), *agent[place:]]
    found = some(mode, "precision", "recall")
    before, after = scores(found, case), scores(found, (more, reference))
    assert after["precision"] <= before["precision"]  # type: ignore[operator]
    assert after["recall"] == before["recall"]


@examples(100)
@given(sides())
def test_exact_is_the_strongest_argument_mode_and_ignore_the_weakest(case):
    got = {mode: scores(some(mode, *COUNTED), case) for mode in oracle.ARGS_MODES}
    for name in COUNTED:
        for between in ("subset", "superset"):
            low, middle, high = (got[mode][name] for mode in ("exact", between, "ignore"))
            assert low <= middle <= high  # type: ignore[operator]


@examples(60)
@given(sides(), st.sampled_from(oracle.ARGS_MODES))
def test_the_maximum_matching_is_never_smaller_than_a_greedy_one(case, mode):
    agent, reference = case
    assume(agent and reference)
    edges = oracle.edges_of(agent, reference, oracle.Rules(mode))
    greedy = oracle.greedy_matching(edges, len(reference))
    recall = scores(some(mode, "recall"), case)["recall"]
    assert recall is not None
    assert round(recall * len(reference)) >= greedy


@examples(100)
@given(sides(), st.sampled_from(oracle.ARGS_MODES))
def test_alignment_pairs_as_many_agreeing_calls_as_can_be_and_is_at_least_f1(case, mode):
    agent, reference = case
    got = scores(some(mode, "strict", "unordered", "f1", *ALIGNED), case)
    evaluator = BY_ARGS[mode]["any"]
    assert isinstance(evaluator, TrajectoryAlignment)
    (found,) = evaluator.alignment(outputs=run(agent), reference_outputs=run(reference))
    edges = oracle.edges_of(agent, reference, oracle.Rules(mode))
    agreeing = sum(pair.similarity == 1 for pair in found.matched)
    assert agreeing == oracle.maximum_matching(edges, len(reference))
    assert got["any"] >= got["f1"] - 1e-9  # type: ignore[operator]
    assert (got["any"] == 1) == (got["unordered"] == 1)
    assert (got["in_order alignment"] == 1) == (got["strict"] == 1)
    assert got["in_order alignment"] <= got["any"] + 1e-9  # type: ignore[operator]


@examples(60)
@given(sides(unknown=True), st.sampled_from(oracle.ARGS_MODES))
def test_every_result_is_the_same_after_a_journey_through_json(case, mode):
    for name, result in results(BY_ARGS[mode], case).items():
        assert EvaluationResult.from_json(result.to_json()) == result, name
        assert result.score is None or 0.0 <= result.score <= 1.0


# ------------------------------------------------------------------------------ unknown arguments


@examples(120)
@given(sides(most=3, unknown=True, args=PLAIN), st.sampled_from(oracle.ARGS_MODES))
def test_a_score_that_hangs_on_unknown_arguments_is_not_given(case, mode):
    agent, reference = case
    n, m = len(agent), len(reference)
    edges = oracle.edges_of(agent, reference, oracle.Rules(mode))
    got = results(some(mode, *COUNTED), case)
    by_membership = TrajectoryF1(mode, duplicates="membership").evaluate(
        outputs=run(agent), reference_outputs=run(reference)
    )
    wanted = oracle.decided(edges, lambda filled: oracle.membership(filled, n, m)[2])
    agrees_with(by_membership, wanted)
    each: dict[str, Callable[[oracle.Edges], Any]] = {
        **{k: partial(oracle.match, k, n=n, m=m) for k in oracle.MATCH_MODES},
        "precision": lambda e: oracle.precision(e, n, m),
        "recall": lambda e: oracle.recall(e, n, m),
        "f1": lambda e: oracle.f1(e, n, m),
    }
    for name, score in each.items():
        agrees_with(got[name], oracle.decided(edges, score))


def agrees_with(result: EvaluationResult, wanted: Any) -> None:
    if wanted == oracle.HANGS:
        assert result.score is None
        assert result.error is not None
        assert result.error.kind == "undefined"
        assert "not recorded" in result.comment
    else:
        assert result.score == pytest.approx(float(wanted), abs=1e-9)
        assert result.error is None


@examples(100)
@given(sides(most=3, unknown=True, args=PLAIN), st.sampled_from(["exact", "subset", "superset"]))
def test_an_alignment_that_hangs_on_unknown_arguments_is_not_given(case, mode):
    agent, reference = case
    n, m = len(agent), len(reference)
    rules = oracle.Rules(mode)
    hanging = [
        (i, j)
        for i, p in enumerate(agent)
        for j, r in enumerate(reference)
        if oracle.agrees(p, r, rules) is None
    ]
    assume(len(hanging) <= 4)
    similar = [
        [Fraction(0) if (i, j) in hanging else oracle.similarity(p, r, rules)
         for j, r in enumerate(reference)]
        for i, p in enumerate(agent)
    ]  # fmt: skip
    got = results(some(mode, *ALIGNED), case)
    for name, result in got.items():
        wanted = set()
        for filled in product(
            [Fraction(1, 2), Fraction(99, 100), Fraction(1)], repeat=len(hanging)
        ):
            for (i, j), value in zip(hanging, filled, strict=True):
                similar[i][j] = value
            total = oracle.alignment(similar, m, in_order=name != "any")[1]
            wanted.add(oracle.alignment_score(total, n, m))
        agrees_with(result, wanted.pop() if len(wanted) == 1 else oracle.HANGS)


# ------------------------------------------------------------------------------ larger cases


@pytest.mark.parametrize("mode", oracle.ARGS_MODES)
@pytest.mark.parametrize("size", [30, 60])
def test_larger_runs_have_the_matching_that_augmenting_paths_find(mode, size):
    chance = random.Random(size)  # noqa: S311 a made-up case needs no secrecy
    pool = [ToolCall(name, args) for name in ("f", "g") for args in (*ARGS, *PLAIN)]
    for few in (3, 8, len(pool)):
        kinds = chance.sample(pool, few)
        agent = chance.choices(kinds, k=size)
        reference = chance.choices(kinds, k=size - chance.randint(0, 20))
        n, m = len(agent), len(reference)
        edges = oracle.edges_of(agent, reference, oracle.Rules(mode))
        nu = oracle.by_augmenting_paths([[j for j in range(m) if row[j]] for row in edges], m)
        got = scores(BY_ARGS[mode], (agent, reference))
        assert same_scores(got, {"precision": nu / n, "recall": nu / m, "f1": 2 * nu / (n + m)})
        assert got["subset"] == (nu == n)
        assert got["superset"] == (nu == m)
        similar = [[oracle.similarity(p, r, oracle.Rules(mode)) for r in reference] for p in agent]
        scale = 10**6 * 2 * 3 * 4 * 5 * 6 * 7
        weights = [
            [int(value * scale) + (value == 1) * 100 * scale for value in row] for row in similar
        ]
        total = Fraction(oracle.greatest_assignment(weights) - nu * 100 * scale, scale)
        assert got["any"] == pytest.approx(float(2 * total / (n + m)), abs=1e-9)


def test_accuracy_is_recall_and_penalised_it_is_f1():
    for agent, reference in product(
        [calls_of(), calls_of({}), calls_of({}, {"a": 1}, {"a": 1})],
        [calls_of({}), calls_of({"a": 1}, {}), calls_of({"b": 2}, {"a": 1}, {"a": 1})],
    ):
        for mode, found in BY_ARGS.items():
            got = scores(found, (agent, reference))
            given_: dict[str, Any] = {
                "outputs": run(agent), "reference_outputs": run(reference),
            }  # fmt: skip
            plain = ToolCallAccuracyEvaluator(mode).evaluate(**given_)
            strict = ToolCallAccuracyEvaluator(
                mode,
                penalize_extra=True,
            ).evaluate(**given_)
            assert plain.score == got["recall"]
            assert strict.score == got["f1"]
            wanted = {k: got[k] for k in ("precision", "recall", "f1")}
            assert wanted.items() <= plain.metadata.items()
