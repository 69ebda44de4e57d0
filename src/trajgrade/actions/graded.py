"""Graded: a trace of production as an example, graded by what grades the rows of experiments."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trajgrade.actions.references import References
from trajgrade.calling import Caller, caller
from trajgrade.contracts import EvaluatorLike
from trajgrade.dataset import Dataset, Example, Needs
from trajgrade.errors import DatasetError, TraceError
from trajgrade.grading import Begun, Grader
from trajgrade.matching.paths import lookup, parse
from trajgrade.matching.values import MISSING
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory
from trajgrade.view import needs_of

_AT_ONCE = 64
_NOTHING: dict[str, Any] = {"reference_outputs": None, "reference": None}  # is expected
_last = threading.local()


class Seen(NamedTuple):
    """A trace as an example.

    Attributes:
        example: The example, with what the dataset of references has of it.
        texts_apart: Whether its texts stand apart from its trajectories.
        reference: The example of the dataset of references, None where there is none.
    """

    example: Example
    texts_apart: bool
    reference: Example | None


def seen(item_id: str, trace: Any, references: References | None) -> Seen:
    """Return a trace as an example, with its reference.

    A trace that is an object is read as a row of a dataset would be, so that one which carries its
    own reference, or what was asked, keeps it; anything else is what the agent did. Where
    references are looked up, only what is found there counts: no agent grades itself.
    """
    example, apart = _once(item_id, trace)
    asked = example.inputs
    found = None if references is None else references.of(item_id, trace, asked)
    if references is None:
        return Seen(example, apart, None)
    if found is None:
        return Seen(msgspec.structs.replace(example, **_NOTHING), apart, None)
    beside = {
        role: getattr(found, role)
        for role in ("inputs", "context")
        if getattr(found, role) is not None
    }
    expected = {role: getattr(found, role) for role in _NOTHING}
    fields = {**found.fields, **example.fields}
    example = msgspec.structs.replace(example, **beside, **expected, fields=fields)
    return Seen(example, apart or references.texts_apart, found)


def _once(item_id: str, trace: Any) -> tuple[Example, bool]:
    """Return a trace as an example, read once for all actions that follow each other on it."""
    last = getattr(_last, "read", None)
    if last is None or last[0] is not trace or last[1] != item_id:
        example, apart = _own(item_id, trace)
        if example.inputs is None:
            example = msgspec.structs.replace(example, inputs=_asked(example.outputs))
        _last.read = last = (trace, item_id, example, apart)
    return last[2], last[3]


def _own(item_id: str, trace: Any) -> tuple[Example, bool]:
    if isinstance(trace, Mapping):
        try:
            row = Dataset.load([dict(trace)], name=item_id)
            (example,) = row.examples(Needs(row=True))
        except (DatasetError, TraceError):
            pass
        else:  # what holds no outputs has none, as in an experiment
            return msgspec.structs.replace(example, id=item_id), row.texts_apart
    return Example(id=item_id, outputs=trace, source=item_id), False


def _asked(outputs: Any) -> str | None:
    """Return what the user said first."""
    try:
        steps = Trajectory.from_any(outputs).steps
    except TraceError:
        return None
    return next((step.content for step in steps if step.role == "user" and step.content), None)


class ItemGrader:
    """Grades traces, one after the other or several at once.

    Args:
        evaluators: What grades.
    """

    def __init__(self, evaluators: Sequence[EvaluatorLike]) -> None:
        self._graders = {
            apart: Grader(evaluators, apart=apart, explain="none") for apart in (False, True)
        }
        self.waits = self._graders[False].waits
        self._stored = {path: parse(path) for path in needs_of(evaluators).stored}
        self._caller: Caller | None = None

    def grade(self, found: Seen) -> dict[str, EvaluationResult]:
        """Return the results of a trace, by key."""
        grader = self._graders[found.texts_apart]
        begun = grader.begin(0, self._with_stored(found.example))
        if grader.waits:
            begun = self._awaited(grader, begun)
        return dict(grader.ended(begun).row.results)

    def close(self) -> None:
        """Let go of connections to judges."""
        if self._caller is not None:
            self._caller.close()
            self._caller = None

    def _with_stored(self, example: Example) -> Example:
        """Return the example with the values that evaluators take from the trace as they are."""
        if not self._stored:
            return example
        fields = example.fields
        values = {
            name: fields[name] if name in fields else lookup(fields, path)
            for name, path in self._stored.items()
        }
        there = {name: None if value is MISSING else value for name, value in values.items()}
        return msgspec.structs.replace(example, stored=there)

    def _awaited(self, grader: Grader, begun: Begun) -> Begun:
        if self._caller is None:
            self._caller = caller(_rest, _AT_ONCE)
        called = self._caller.submit((grader, begun)).result()
        if called.raised is not None:
            raise called.raised
        rested: Begun = called.returned
        return rested


async def _rest(asked: tuple[Grader, Begun]) -> Begun:
    grader, begun = asked
    return await grader.rest(begun)
