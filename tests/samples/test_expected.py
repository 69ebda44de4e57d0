"""Every score of every bundled sample row, against values reasoned by hand (expected/*.json).

The expected values follow SEMANTICS A3, A4, A5, A7, A8 and A10 and were never produced by
trajgrade. A fraction is text ("2/3"), so that it is exact; null is "no score" (A4: no reference
calls). `vacuous` and `undefined` name the metrics that A5 flags on that row.
"""

import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from trajgrade.evaluators import build_evaluator

EXPECTED = Path(__file__).parent / "expected"
SAMPLES = ["on-device", "customer-support", "content-creation"]
FLAGS = ["vacuous", "undefined"]


def load(sample):
    rows = json.loads((files("trajgrade") / "samples" / f"{sample}.json").read_text("utf-8"))
    expected = json.loads((EXPECTED / f"{sample}.json").read_text("utf-8"))
    return rows, expected


def evaluator_named(metric):
    name, _, variant = metric.partition(":")
    if name == "trajectory_match":
        return build_evaluator(name, {"mode": variant})
    if name == "trajectory_single_tool_use":
        return build_evaluator(name, {"tool_name": variant})
    return build_evaluator(name, {})


CASES = [
    pytest.param(row, expected[row["id"]], id=f"{sample}-{row['id']}")
    for sample in SAMPLES
    for rows, expected in [load(sample)]
    for row in rows
    if row["id"] in expected
]


def evaluate(metric, row):
    text = metric == "exact_match"
    return evaluator_named(metric).evaluate(
        outputs=row["response" if text else "predicted_trajectory"],
        reference_outputs=row["reference" if text else "reference_trajectory"],
    )


@pytest.mark.parametrize(("row", "expected"), CASES)
def test_each_metric_gives_the_score_reasoned_by_hand(row, expected):
    got: dict = {}
    want: dict = {}
    for metric in expected.keys() - set(FLAGS):
        result = evaluate(metric, row)
        if expected[metric] is None:
            want[metric] = (None, "undefined")
            got[metric] = (result.score, result.error and result.error.kind)
        else:
            want[metric] = (pytest.approx(float(Fraction(expected[metric])), abs=1e-12), None)
            got[metric] = (result.score, result.error)
    assert got == want


@pytest.mark.parametrize(("row", "expected"), CASES)
@pytest.mark.parametrize("flag", FLAGS)
def test_exactly_the_metrics_named_in_a5_are_flagged(row, expected, flag):
    scored = [m for m in expected.keys() - set(FLAGS) if expected[m] is not None]
    flagged = {m for m in scored if (evaluate(m, row).metadata or {}).get(flag)}
    assert flagged == set(expected[flag])


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_row_has_its_expected_values_in_the_order_of_the_sample(sample):
    rows, expected = load(sample)
    assert [row["id"] for row in rows] == list(expected)


@pytest.mark.parametrize(("row", "expected"), CASES)
def test_the_hand_made_values_obey_the_laws_of_a13(row, expected):
    value = {
        metric: Fraction(x)
        for metric, x in expected.items()
        if metric not in FLAGS and x is not None
    }
    exact, in_order = value["trajectory_exact_match"], value["trajectory_in_order_match"]
    unordered, subset = value["trajectory_match:unordered"], value["trajectory_match:subset"]
    superset = value["trajectory_any_order_match"]
    precision, recall = value["trajectory_precision"], value["trajectory_recall"]
    f1, alignment = value["trajectory_f1"], value["trajectory_alignment"]
    assert exact <= in_order <= superset
    assert exact <= unordered == subset * superset
    assert (f1 == 1) == (alignment == 1) == (unordered == 1)
    assert alignment >= f1
    if row["predicted_trajectory"] and row["reference_trajectory"]:
        assert (recall == 1) == superset
        assert (precision == 1) == subset
        assert f1 == (2 * precision * recall / (precision + recall) if precision + recall else 0)
    assert value.get("tool_call_accuracy") == (recall if row["reference_trajectory"] else None)
