"""Grading: one example → its row, with every evaluator; the one place that catches.

What an evaluator raises becomes that row's error, with type, message and traceback, and touches
no other row and no other evaluator. Outputs are read into a trajectory once for all evaluators
that want one. Evaluators that wait for something (`aevaluate`) are asked together, after all others
have answered.

Where an agent was called and failed, no evaluator is called: a metric with a range has its worst
score there, any other is not evaluated (SEMANTICS A5).
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trajgrade.agent import Outcome
from trajgrade.contracts import EvaluatorLike
from trajgrade.dataset import Example
from trajgrade.errors import JudgeError, TooLargeError, TraceError
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.evaluators.function import results_of
from trajgrade.jsontext import dumps, read_back
from trajgrade.measured import OnFailure, failed
from trajgrade.result import AgentError, EvaluationResult, ResultError
from trajgrade.run import Explain, Row
from trajgrade.tally import Graded, Ranking
from trajgrade.trajectory import Trajectory
from trajgrade.view import View

ALIGNED_UP_TO = 200


def waits(evaluator: Any) -> bool:
    """Whether the evaluator waits for something, and is better awaited than called."""
    own = getattr(type(evaluator), "aevaluate", None)
    return own is not Evaluator.aevaluate and inspect.iscoroutinefunction(own)


class Begun(NamedTuple):
    """An example that the evaluators have graded which do not wait.

    Attributes:
        place: Its place in the run, from 0.
        view: The example as evaluators read it.
        outcome: What came of calling the agent.
        results: Those of each evaluator, by its place; None where it waits.
    """

    place: int
    view: View
    outcome: Outcome | None
    results: list[Sequence[EvaluationResult] | None]


class Grader:
    """Grades one example after another.

    Args:
        evaluators: What grades.
        apart: Whether the dataset keeps its texts apart from its trajectories.
        explain: Which rows are explained by the alignment of their calls.
        on_failure: Whether a row on which the agent failed counts as the worst score.
    """

    def __init__(
        self,
        evaluators: Sequence[EvaluatorLike],
        *,
        apart: bool = False,
        explain: Explain = "worst",
        on_failure: OnFailure | None = None,
    ) -> None:
        self.evaluators = evaluators
        self._apart = apart
        self._explain = explain
        self._counts = on_failure == "zero"
        self._reads = [(e, getattr(e, "reads", "raw"), waits(e)) for e in evaluators]
        self._rankings: dict[str, Ranking] = {}
        self.waits = any(waiting for *_, waiting in self._reads)

    def grade(self, place: int, example: Example, outcome: Outcome | None = None) -> Graded:
        """Grade an example with evaluators of which none waits."""
        return self.ended(self.begin(place, example, outcome))

    def begin(
        self,
        place: int,
        example: Example,
        outcome: Outcome | None = None,
        kept: Mapping[str, Sequence[EvaluationResult]] | None = None,
    ) -> Begun:
        """Grade an example with the evaluators that do not wait.

        Args:
            place: Its place in the run.
            example: The example, with what the agent answered.
            outcome: What came of calling the agent for it, None where none was called.
            kept: Results that stay as they are, by their evaluator's key.
        """
        view = View(example, apart=self._apart)
        error = outcome.error if outcome is not None else None
        results: list[Sequence[EvaluationResult] | None] = []
        for evaluator, reads, waiting in self._reads:
            if kept is not None and evaluator.key in kept:
                results.append(kept[evaluator.key])
            elif error is not None:
                results.append((self._failed(evaluator, view.of(reads), error),))
            else:
                results.append(None if waiting else _called(evaluator, view.of(reads)))
        return Begun(place, view, outcome, results)

    async def rest(self, begun: Begun) -> Begun:
        """Ask the evaluators that wait, all at once."""
        places = [place for place, found in enumerate(begun.results) if found is None]
        asked = [self._reads[place] for place in places]
        found = await asyncio.gather(
            *(_awaited(evaluator, begun.view.of(reads)) for evaluator, reads, _ in asked)
        )
        for place, results in zip(places, found, strict=True):
            begun.results[place] = results
        return begun

    def ended(self, begun: Begun) -> Graded:
        """Return the row, all evaluators having answered."""
        example, outcome = begun.view.example, begun.outcome
        results: dict[str, EvaluationResult] = {}
        origins: dict[str, str] = {}
        alignments: dict[str, Any] = {}
        beyond: list[str] = []
        for evaluator, found in zip(self.evaluators, begun.results, strict=True):
            for result in found or ():
                results[result.key] = result
                if result.key != evaluator.key:
                    origins[result.key] = evaluator.key
                aligned = self._explained(evaluator, begun, result)
                if aligned is not None:
                    alignments[result.key] = aligned
                    if self._explain == "all" and _is_large(begun.view):
                        beyond.append(result.key)
        row = Row(
            example.id, results, example.trial, example.row, example.source, example.notes,
            *((outcome.latency_in_seconds, outcome.failure, outcome.error) if outcome else ()),
        )  # fmt: skip
        if origins:
            row = msgspec.structs.replace(row, origins=origins)
        return Graded(row, alignments, beyond)

    def _failed(
        self, evaluator: EvaluatorLike, given: dict[str, Any], error: AgentError
    ) -> EvaluationResult:
        result = failed(evaluator, given, error, counts=self._counts)
        if result.score is None or not hasattr(evaluator, "corpus"):
            return result
        # To what all rows are together, this one gives its reference and an empty response.
        silent = _called(evaluator, {**given, "outputs": ""})[0].metadata
        counts = {name: silent[name] for name in ("counts",) if name in silent}
        return msgspec.structs.replace(result, metadata=counts)

    def _explained(self, evaluator: EvaluatorLike, begun: Begun, result: EvaluationResult) -> Any:
        """Return the alignment of the calls, if the row may be one that is explained."""
        if self._explain == "none" or result.score is None or not hasattr(evaluator, "alignment"):
            return None
        ranking = self._rankings.get(result.key)
        if ranking is None:
            ranking = self._rankings[result.key] = Ranking(evaluator)
        if not ranking.is_short_of_best(result.score):
            return None
        enters, _ = ranking.add(begun.place, result.score)
        if not enters and self._explain == "worst":
            return None
        return _aligned(evaluator, begun.view, bounded=not enters)


def _called(evaluator: EvaluatorLike, given: dict[str, Any]) -> Sequence[EvaluationResult]:
    """Return the evaluator's results; what it raises becomes one with an error."""
    try:
        return results_of(evaluator.evaluate(**given), evaluator.key)
    except (Exception, SystemExit) as broken:
        return [_broken(evaluator, broken)]


async def _awaited(evaluator: Any, given: dict[str, Any]) -> Sequence[EvaluationResult]:
    """As `_called`, for an evaluator that waits."""
    try:
        return results_of(await evaluator.aevaluate(**given), evaluator.key)
    except (Exception, SystemExit) as broken:
        return [_broken(evaluator, broken)]


def _broken(evaluator: EvaluatorLike, broken: BaseException) -> EvaluationResult:
    if isinstance(broken, TraceError):
        error = ResultError("trace", str(broken))
    elif isinstance(broken, JudgeError):
        error = ResultError("judge", str(broken))
    else:
        error = ResultError(
            "evaluator",
            f"{type(broken).__name__}: {broken}",
            "".join(traceback.format_exception(broken, limit=-8)),
        )
    return EvaluationResult(evaluator.key, comment=error.message, error=error)


def _aligned(evaluator: Any, view: View, *, bounded: bool) -> Any:
    """Return the alignment of the calls as plain objects; None where the metric compares none."""
    if bounded and _is_large(view):
        return None
    given = view.of("trajectory")
    try:
        found = evaluator.alignment(
            outputs=given["outputs"], reference_outputs=given["reference_outputs"]
        )
    except (TooLargeError, TraceError):
        return None
    return read_back(dumps(found if len(found) > 1 else found[0]))


def _is_large(view: View) -> bool:
    """Whether there are so many calls that only the alignment of the worst rows is kept."""
    ours = view.of("trajectory")["outputs"]
    return type(ours) is Trajectory and len(ours.tool_calls) > ALIGNED_UP_TO
