"""Suite: what the tests of one pytest session logged → a run.

Each test that uses the fixture is a row: its id is the test's, its trial the repeat's. What a test
logs under a key is a result; a score that is no number is none, and a key that was never logged has
no row with a score. Nothing here knows pytest.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from trajgrade.dataset import Example
from trajgrade.evaluators.function import results_of
from trajgrade.evaluators.spelling import grader
from trajgrade.expecting import Expectation
from trajgrade.jsontext import dumps, read_back
from trajgrade.matching.values import is_number
from trajgrade.result import EvaluationResult, ResultError
from trajgrade.run import Row, Run
from trajgrade.tally import Graded, Metric, Tally
from trajgrade.thresholds import Outcome, judge, parse_thresholds
from trajgrade.view import View


class Case:
    """What one test logs: the fixture `trajgrade`.

    Args:
        name: The test's id.
        trial: Which repeat it is, None where there is one only.
        example: The row of the dataset that the test is parametrised with, if it is.
    """

    def __init__(self, name: str, trial: int | None = None, example: Example | None = None) -> None:
        self.name = name
        self.trial = trial
        self.example = example
        self.results: dict[str, EvaluationResult] = {}
        self.metrics: dict[str, dict[str, Any]] = {}
        self.outcome = "failed"
        self._given: dict[str, Any] = {}
        if example is not None:
            self._given = {
                "inputs": example.inputs,
                "reference_outputs": example.reference_outputs,
                "reference": example.reference,
                "context": example.context,
            }

    def log_inputs(self, inputs: Any) -> None:
        """Say what the agent is asked."""
        self._given["inputs"] = inputs

    def log_outputs(self, outputs: Any) -> None:
        """Say what the agent did: a trace in any shape, or a text."""
        self._given["outputs"] = outputs

    def log_reference_outputs(self, reference_outputs: Any) -> None:
        """Say what was expected."""
        self._given["reference_outputs"] = reference_outputs

    def log_feedback(
        self, key: str, score: float | bool | None = None, *, value: Any = None, comment: str = ""
    ) -> None:
        """Log a score under a key.

        Args:
            key: The metric's name.
            score: A number or a flag. None, NaN and infinity are no score, and are kept as that.
            value: The raw verdict: a label, a flag.
            comment: Why.
        """
        if isinstance(score, bool):
            value = score if value is None else value
            self.metrics[key] = Metric(key, (0.0, 1.0), "higher").to_dict()
        if score is None or not (isinstance(score, bool) or is_number(score)):
            error = ResultError("undefined", comment or f"no score was logged: {score!r}")
            self._log(EvaluationResult(key, None, value, error.message, error=error))
        elif not math.isfinite(score):
            error = ResultError("evaluator", f"the score {score} is no number")
            self._log(EvaluationResult(key, None, value, error.message, error=error))
        else:
            self._log(EvaluationResult(key, float(score), value, comment))

    def evaluate(self, evaluator: Any, **given: Any) -> EvaluationResult:
        """Grade what was logged by an evaluator, and log the result.

        Args:
            evaluator: An evaluator, a function, a name, or any spelling of the config file.
            given: `outputs`, `reference_outputs`, `inputs`, … in place of what was logged.
        """
        built, _ = grader(evaluator)
        example = Example(id=self.name, **{**self._given, **given})
        view = View(example)
        found = results_of(built.evaluate(**view.of(getattr(built, "reads", "raw"))), built.key)
        declared = Metric(
            built.key, getattr(built, "range", None), getattr(built, "direction", None)
        )
        for result in found:
            self._log(result)
            self.metrics[result.key] = declared._replace(key=result.key).to_dict()
        return found[0]

    def expect(self, value: Any) -> Expectation:
        """Return what can be asserted of a value: `expect(outputs).trajectory_match(reference)`."""
        return Expectation(
            value,
            lambda evaluator, outputs, reference: self.evaluate(
                evaluator,
                outputs=outputs,
                **({} if reference is None else {"reference_outputs": reference}),
            ),
        )

    def _log(self, result: EvaluationResult) -> None:
        self.results[result.key] = result

    def to_dict(self) -> dict[str, Any]:
        """Return what was logged as plain objects, which another process can be sent."""
        row = Row(self.name, self.results, self.trial)
        plain: dict[str, Any] = read_back(dumps({"row": row, "metrics": self.metrics}))
        return plain


def run_of(
    cases: Sequence[Mapping[str, Any]], thresholds: Mapping[str, Any], *, name: str = "pytest"
) -> Run:
    """Return what several tests logged, as a run.

    Args:
        cases: What `Case.to_dict` returned for each.
        thresholds: What must hold.
        name: What reports call the run.
    """
    began, started_at = time.monotonic(), datetime.now(UTC)
    known: dict[str, Metric] = {}
    rows = [msgspec.convert(case["row"], Row) for case in cases]
    rows.sort(key=lambda row: (row.id, row.trial or 0))
    for case in cases:
        known |= {key: Metric.of(plain) for key, plain in case["metrics"].items()}
    tally = _tallied(rows, known)
    summary = tally.summary()
    return Run(
        rows=tally.rows,
        summary=summary,
        name=name,
        dataset=name,
        evaluators={key: key for key in summary},
        outcomes=tuple(_judged(rows, known, thresholds)),
        worst=tally.worst(),
        started_at=started_at,
        seconds=time.monotonic() - began,
    )


def _tallied(rows: Sequence[Row], known: Mapping[str, Metric]) -> Tally:
    tally = Tally(known, explain="none")
    for place, row in enumerate(rows):
        tally.add(Graded(msgspec.structs.replace(row, row=place), {}))
    return tally


def _judged(
    rows: Sequence[Row], known: Mapping[str, Metric], thresholds: Mapping[str, Any]
) -> list[Outcome]:
    """Judge each threshold over the tests that logged its key; one that none logged has failed."""
    found: list[Outcome] = []
    for bound in parse_thresholds(thresholds):
        key = bound.metric
        logged = [
            msgspec.structs.replace(row, results={key: row.results[key]})
            for row in rows
            if key in row.results
        ]
        if logged:
            found.append(judge(bound, _tallied(logged, known).summary()[key]))
            continue
        there = ", ".join(sorted({key for row in rows for key in row.results})) or "nothing"
        told = f"no test logged {key!r}; logged: {there}"
        found.append(Outcome(str(bound), "failed", None, told, bound.bound))
    return found
