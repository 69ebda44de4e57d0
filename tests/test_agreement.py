"""Agreement: closed forms against statsmodels, and simulated judges whose faults are found."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from trajgrade.agreement import (
    Estimate,
    accuracy,
    consistency,
    corrected,
    kappa,
    length_bias,
    position_bias,
    rates,
)

SIMULATIONS = 200
RECOVERED = 0.95 - 2.33 * (0.95 * 0.05 / SIMULATIONS) ** 0.5  # what chance leaves of 95 %


def holds(estimate: Estimate, truth: float) -> bool:
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high


def judged(rng, n, rate, sensitivity, specificity):
    label = rng.random(n) < rate
    verdict = np.where(label, rng.random(n) < sensitivity, rng.random(n) >= specificity)
    return [(bool(a), bool(b)) for a, b in zip(label, verdict, strict=True)]


@pytest.mark.parametrize("kinds", [2, 3, 5])
def test_kappa_and_its_interval_are_those_of_statsmodels(kinds):
    rng = np.random.default_rng(kinds)
    labels = rng.integers(0, kinds, 90)
    verdicts = np.where(rng.random(90) < 0.6, labels, rng.integers(0, kinds, 90))
    table = np.zeros((kinds, kinds))
    np.add.at(table, (labels, verdicts), 1)
    expected = cohens_kappa(table)
    found = kappa(list(zip(labels.tolist(), verdicts.tolist(), strict=True)))
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.kappa, expected.kappa_low, expected.kappa_upp), abs=1e-9
    )


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.9, 0.8), (0.7, 0.95), (0.99, 0.6)])
def test_a_judges_rates_and_the_true_pass_rate_are_found(sensitivity, specificity):
    found = {"sensitivity": 0, "specificity": 0, "corrected": 0, "accuracy": 0}
    for seed in range(SIMULATIONS):
        rng = np.random.default_rng(seed)
        pairs = judged(rng, 200, 0.5, sensitivity, specificity)
        run = judged(rng, 500, 0.7, sensitivity, specificity)
        both = rates(pairs)
        found["sensitivity"] += holds(both.sensitivity, sensitivity)
        found["specificity"] += holds(both.specificity, specificity)
        found["accuracy"] += holds(accuracy(pairs), (sensitivity + specificity) / 2)
        passes = sum(verdict for _, verdict in run)
        found["corrected"] += holds(corrected(passes, 500, pairs), 0.7)
    assert {name: n for name, n in found.items() if n / SIMULATIONS < RECOVERED} == {}


def test_the_judges_own_pass_rate_would_have_been_wrong():
    rng = np.random.default_rng(0)
    pairs = judged(rng, 400, 0.5, 0.95, 0.6)
    run = judged(rng, 2000, 0.3, 0.95, 0.6)
    passes = sum(verdict for _, verdict in run)
    assert passes / 2000 > 0.5
    assert corrected(passes, 2000, pairs).value == pytest.approx(0.3, abs=0.08)


@pytest.mark.parametrize("bias", [0.0, 0.15, 0.4])
def test_a_preference_for_the_first_place_is_found(bias):
    recovered = 0
    for seed in range(SIMULATIONS):
        rng = np.random.default_rng(seed)
        better = rng.random(150) < 0.5
        swayed, noise = rng.random(150) < bias, rng.random((2, 150)) < 0.1
        first = np.where(swayed, True, better ^ noise[0])
        second = np.where(swayed, False, better ^ noise[1])
        pairs = [(float(a), float(b)) for a, b in zip(first, second, strict=True)]
        recovered += holds(position_bias(pairs), bias)
    assert recovered / SIMULATIONS >= RECOVERED


@pytest.mark.parametrize("bias", [0.0, 0.2])
def test_a_preference_for_long_answers_is_found(bias):
    recovered = 0
    for seed in range(SIMULATIONS):
        rng = np.random.default_rng(seed)
        label = rng.random(300) < 0.5
        length = rng.lognormal(5, 1, 300)
        long = length > np.exp(5)
        verdict = label ^ (rng.random(300) < 0.1)
        forgiven = long & ~label & (rng.random(300) < 2 * bias / 0.9)  # half of all answers fail
        rows = list(
            zip(label.tolist(), (verdict | forgiven).tolist(), length.tolist(), strict=True)
        )
        recovered += holds(length_bias(rows), bias)
    assert recovered / SIMULATIONS >= RECOVERED


def test_repeats_that_agree_are_counted_in_pairs():
    assert consistency([[True, True], [True, False]]).value == 0.5
    assert consistency([["a", "a", "b"]] * 2).value == pytest.approx(1 / 3)


def test_a_judge_that_repeats_itself_nine_times_in_ten_is_found():
    recovered = 0
    for seed in range(SIMULATIONS):
        rng = np.random.default_rng(seed)
        truth = rng.random(120) < 0.5
        verdicts = [[bool(t ^ (rng.random() < 0.1)) for _ in range(3)] for t in truth]
        recovered += holds(consistency(verdicts), 0.9**2 + 0.1**2)
    assert recovered / SIMULATIONS >= RECOVERED


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([(True, True)] * 20, "no label is a fail"),
        ([(False, True)] * 20, "no label is a pass"),
        ([(True, False), (False, True)] * 10, "add to 1 or less"),
        ([(True, True), (True, False), (False, False), (False, True)] * 9, "add to 1 or less"),
    ],
)
def test_what_cannot_be_corrected_is_said(pairs, told):
    found = corrected(10, 20, pairs)
    assert found.value is None
    assert told in found.why


def test_labels_and_verdicts_of_one_class_have_no_kappa():
    assert kappa([(True, True)] * 5) == Estimate(
        None, n=5, why="all labels and verdicts are of one class"
    )


@pytest.mark.parametrize("estimate", [accuracy, kappa, consistency, position_bias, length_bias])
def test_of_nothing_nothing_is_estimated_and_why_is_said(estimate):
    found = estimate([])
    assert found.value is None
    assert found.why
