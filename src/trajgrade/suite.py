"""Suite: what the tests of one pytest session logged → a run.

Each test that uses the fixture is a row: its id is the test's, its trial the repeat's. What a test
logs under a key is a result; a score that is no number is none, and a key that was never logged has
no row with a score. A key that one test logs several times is their mean, and no score if one of
them is none. A test that ended before it logged what its other cases log has a result all the same:
the worst score where one is known, as when an agent fails in a run, else none (`not_run`). Nothing
here knows pytest.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

import msgspec

from trajgrade.contracts import EvaluatorLike
from trajgrade.dataset import Example
from trajgrade.errors import ConfigError, JudgeError, TraceError, unknown
from trajgrade.evaluators.evaluator import described
from trajgrade.evaluators.function import results_of
from trajgrade.evaluators.spelling import grader
from trajgrade.expecting import Expectation, alignment_of
from trajgrade.jsontext import dumps, read_back
from trajgrade.matching.values import is_number
from trajgrade.result import ErrorKind, EvaluationResult, ResultError, not_evaluated
from trajgrade.run import Row, Run
from trajgrade.scores import Direction
from trajgrade.summary import MetricSummary
from trajgrade.tally import Graded, Metric, Tally
from trajgrade.thresholds import Outcome, judge_all, parse_thresholds
from trajgrade.view import View

_NAMED = 5


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
        self.metrics: dict[str, dict[str, Any]] = {}
        self.evaluators: dict[str, str] = {}
        self.outcome = "failed"
        self._logged: dict[str, list[EvaluationResult]] = {}
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

    @property
    def results(self) -> dict[str, EvaluationResult]:
        """One result for each key that was logged."""
        return {key: _as_one(found) for key, found in self._logged.items()}

    def log_feedback(
        self,
        key: str,
        score: float | bool | None = None,
        *,
        value: Any = None,
        comment: str = "",
        direction: Direction | None = None,
    ) -> None:
        """Log a score under a key.

        Args:
            key: The metric's name.
            score: A number or a flag. None, NaN and infinity are no score, and are kept as that.
            value: The raw verdict: a label, a flag.
            comment: Why.
            direction: Which scores are better; without it a change of a number is neither better
                nor worse. Of flags True is.
        """
        if direction not in (None, *get_args(Direction)):
            raise ConfigError(f"direction: {unknown('direction', direction, get_args(Direction))}")
        if isinstance(score, bool):
            value = score if value is None else value
            self.metrics[key] = Metric(key, (0.0, 1.0), direction or "higher").to_dict()
        elif direction is not None:
            self.metrics[key] = Metric(key, None, direction).to_dict()
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
        self.evaluators[built.key] = described(built)
        found = self._graded(built, View(example))
        declared = Metric(
            built.key, getattr(built, "range", None), getattr(built, "direction", None)
        )
        aligned = alignment_of(built, found[0], example.outputs, example.reference_outputs)
        for result in found:
            self._log(result if aligned is None else _explained(result, aligned))
            self.metrics[result.key] = declared._replace(key=result.key).to_dict()
        return found[0]

    def _graded(self, built: EvaluatorLike, view: View) -> Sequence[EvaluationResult]:
        """Return what an evaluator says; what it raises is logged as no failure of the agent."""
        try:
            given = view.of(getattr(built, "reads", "raw"))
            return results_of(built.evaluate(**given), built.key)
        except (
            Exception
        ) as broken:  # the evaluator may be anyone's, and the test fails all the same
            kind: ErrorKind = "evaluator"
            if isinstance(broken, TraceError | JudgeError):
                kind = "trace" if isinstance(broken, TraceError) else "judge"
            told = f"{type(broken).__name__}: {broken}"
            self._log(EvaluationResult(built.key, comment=told, error=ResultError(kind, told)))
            raise

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
        self._logged.setdefault(result.key, []).append(result)

    def to_dict(self) -> dict[str, Any]:
        """Return what was logged as plain objects, which another process can be sent."""
        row = Row(self.name, self.results, self.trial)
        often = {key: len(found) for key, found in self._logged.items() if len(found) > 1}
        told = {
            "row": row, "metrics": self.metrics, "evaluators": self.evaluators, "often": often,
            "outcome": self.outcome,
        }  # fmt: skip
        plain: dict[str, Any] = read_back(dumps(told))
        return plain


def _explained(result: EvaluationResult, aligned: Any) -> EvaluationResult:
    metadata = {**result.metadata, "alignment": aligned}
    return msgspec.structs.replace(result, metadata=metadata)


def _as_one(found: Sequence[EvaluationResult]) -> EvaluationResult:
    """Return what one test logged under one key as one result: the mean, with the worst's why."""
    lacking = next((result for result in found if result.score is None), None)
    if len(found) == 1 or lacking is not None:
        return lacking or found[0]
    scores = [float(result.score or 0) for result in found]
    lowest = found[scores.index(min(scores))]
    told = ", ".join(f"{score:g}" for score in scores[:_NAMED])
    told += ", …" if len(scores) > _NAMED else ""
    values = [result.value for result in found]
    return EvaluationResult(
        lowest.key,
        math.fsum(scores) / len(scores),
        all(values) if all(isinstance(value, bool) for value in values) else None,
        f"the mean of {len(found)} that were logged: {told}. {lowest.comment}".rstrip(". "),
        lowest.metadata,
    )


def run_of(
    cases: Sequence[Mapping[str, Any]], thresholds: Mapping[str, Any], *, name: str = "pytest"
) -> Run:
    """Return what several tests logged, as a run.

    Args:
        cases: What `Case.to_dict` returned for each; those of one `function`, if it is there, log
            the same keys.
        thresholds: What must hold.
        name: What reports call the run.
    """
    began, started_at = time.monotonic(), datetime.now(UTC)
    known: dict[str, Metric] = {}
    built: dict[str, str] = {}
    for case in cases:
        built |= case.get("evaluators", {})
        known |= {key: Metric.of(plain) for key, plain in case["metrics"].items()}
    rows = [*_completed(cases, known)]
    rows.sort(key=lambda row: (row.id, row.trial or 0))
    tally = _tallied(rows, known)
    summary = tally.summary()
    return Run(
        rows=tally.rows,
        summary=summary,
        name=name,
        dataset=name,
        evaluators={key: built.get(key, key) for key in summary},
        outcomes=tuple(_judged(rows, known, thresholds)),
        warnings=tuple(_repeated(cases)),
        worst=tally.worst(),
        started_at=started_at,
        seconds=time.monotonic() - began,
    )


def _completed(cases: Sequence[Mapping[str, Any]], known: Mapping[str, Metric]) -> Iterator[Row]:
    """Yield the row of each case, with a result for what it ended before it could log."""
    logged: dict[str, list[set[str]]] = {}
    passed: dict[str, list[set[str]]] = {}
    for case in cases:
        function, keys = case.get("function", ""), {*case["row"]["results"]}
        logged.setdefault(function, []).append(keys)
        if case["outcome"] == "passed":
            passed.setdefault(function, []).append(keys)
    for case in cases:
        row, function = msgspec.convert(case["row"], Row), case.get("function")
        if case["outcome"] not in _ENDED or function is None:
            yield row
            continue
        due = set.intersection(*passed[function]) if function in passed else set()
        due = due or set.union(*logged[function])
        lacking = sorted(due - {*row.results})
        added = {key: _ended(key, case["outcome"], known.get(key)) for key in lacking}
        yield msgspec.structs.replace(row, results={**row.results, **added})


_ENDED = {
    "failed": "the test failed before it logged {}",
    "not_run": "the test was not run: enough of its trials had failed",
}


def _ended(key: str, outcome: str, metric: Metric | None) -> EvaluationResult:
    told = _ENDED[outcome].format(key)
    if outcome == "failed" and metric is not None and metric.range is not None:
        worst = metric.range[metric.direction == "lower"]
        return EvaluationResult(key, worst, False if worst == 0 else None, told)
    return not_evaluated(key, "not_run", told)


def _repeated(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield which keys tests logged more than once."""
    tests: dict[str, list[str]] = {}
    for case in cases:
        for key in case.get("often", ()):
            tests.setdefault(key, []).append(case["row"]["id"])
    for key, names in tests.items():
        some = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        yield f"{key} was logged more than once by one test, and counts with its mean: {some}"


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
    there = sorted({key for row in rows for key in row.results})
    for bound in parse_thresholds(thresholds):
        keys = [key for key in there if bound.metric in ("", key)]
        if keys:
            found += judge_all([bound], {key: _logged(rows, known, key) for key in keys})
            continue
        lacks = f"logged {bound.metric!r}" if bound.metric else "logged a score"
        told = f"no test {lacks}; logged: {', '.join(there) or 'nothing'}"
        found.append(Outcome(str(bound), "failed", None, told, bound.bound))
    return found


def _logged(rows: Sequence[Row], known: Mapping[str, Metric], key: str) -> MetricSummary:
    """Return what the tests that logged a key come to."""
    logged = [
        msgspec.structs.replace(row, results={key: row.results[key]})
        for row in rows
        if key in row.results
    ]
    return _tallied(logged, known).summary()[key]
