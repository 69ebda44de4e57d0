"""One example as each kind of evaluator reads it, the same from every door."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trajgrade
from trajgrade.dataset import Dataset, Example
from trajgrade.evaluators.spelling import graders
from trajgrade.result import EvaluationResult
from trajgrade.view import View, lacks_of

CALLS = [{"tool_name": "f", "tool_input": {"a": 1}}]
SAID = [{"role": "assistant", "content": "Paris"}]
METRICS = ["exact_match", "edit_distance", "json_valid", "trajectory_exact_match"]


def doors(rows: list[dict[str, Any]], folder: Path) -> Iterator[tuple[str, Any]]:
    """Give the rows in each way: structures as they are and as JSON text."""
    as_text = [{k: written(v) for k, v in row.items()} for row in rows]
    for form, given in (("as data", rows), ("as JSON text", as_text)):
        yield f"Python rows, {form}", given
        (folder / "a.json").write_text(json.dumps(given))
        yield f"JSON, {form}", folder / "a.json"
        (folder / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in given))
        yield f"JSON Lines, {form}", folder / "a.jsonl"
    with (folder / "a.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(as_text)
    yield "CSV", folder / "a.csv"


def written(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def told(result: EvaluationResult) -> Any:
    return result.score if result.error is None else result.error.kind


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {"id": "a", "outputs": SAID, "reference": "Paris"},
            [1.0, 1.0, 0.0, "no_reference"],
        ),
        (
            {"id": "a", "outputs": "Paris", "reference_outputs": SAID},
            [1.0, 1.0, 0.0, 1.0],
        ),
        (
            {
                "response": "x", "reference": None,
                "predicted_trajectory": [], "reference_trajectory": [],
            },
            ["no_reference", "no_reference", 0.0, 1.0],
        ),
        (
            {"response": "x", "reference": None, "reference_trajectory": CALLS},
            ["no_reference", "no_reference", 0.0, "no_output"],
        ),
        (
            {"response": None, "reference": "x", "predicted_trajectory": CALLS},
            ["no_output", "no_output", "no_output", "no_reference"],
        ),
        (
            {"response": None, "reference": "x", "predicted_trajectory": []},
            ["no_output", "no_output", "no_output", "no_reference"],
        ),
        (
            {"id": "a", "outputs": [], "reference_outputs": []},
            [1.0, 1.0, 1.0, 1.0],
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*no row has:UserWarning")
def test_a_row_scores_the_same_from_every_door(tmp_path: Path, row: dict[str, Any], expected):
    for door, source in doors([row], tmp_path):
        run = trajgrade.evaluate(source, METRICS)
        assert [told(run.rows[0].results[metric]) for metric in METRICS] == expected, door


def response(**roles: Any) -> tuple[Any, Any]:
    given = View(Example(id="a", **roles)).of("response")
    return given["outputs"], given["reference_outputs"]


def test_json_text_that_is_no_trace_stays_text():
    for text in ('{"a": 1}', "[1, 2]", "[not JSON", '{"role": ', '["a"]', "{}", "[]", '{"f": 1} x'):
        assert response(outputs=text, reference_outputs=text) == (text, text)
        assert response(response=text, reference=text) == (text, text)


def test_json_text_of_a_trace_in_the_text_roles_stays_text():
    text = json.dumps(SAID)
    assert response(response=text, reference=text) == (text, text)


def test_json_text_of_one_call_stays_text_as_the_call_is_a_structure():
    text = json.dumps(CALLS[0])
    assert response(outputs=text, reference_outputs=CALLS[0]) == (text, CALLS[0])


def test_other_evaluators_get_the_text_untouched():
    text = json.dumps(SAID)
    assert View(Example(id="a", outputs=text)).of("raw")["outputs"] == text


def test_a_metric_that_needs_no_reference_does_not_ask_for_its_column():
    rows = [{"outputs": [{"name": "f", "args": {}}]}]
    match, use = graders(["trajectory_match", {"tool_use": {"expected_tool": "f"}}]).evaluators
    assert lacks_of(Dataset.load(rows), [use]) == []
    (said,) = lacks_of(Dataset.load(rows), [match])
    assert said.startswith("trajectory_match: ")
