"""Earlier: what a run has of a row already, and what of that is done once more.

A row that is kept is not graded again, unless it is to be retried:

    errors    results with an error or an unreadable verdict are asked for again, and no others;
              the agent is not called
    failed    rows on which the agent failed are begun anew
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from trajgrade.agent import Outcome
from trajgrade.dataset import Example
from trajgrade.errors import TraceError
from trajgrade.jsontext import dumps, read_back
from trajgrade.packing import pack, unpack
from trajgrade.record import Key, StoredRow
from trajgrade.result import ERRORS, EvaluationResult
from trajgrade.run import Row
from trajgrade.tally import Graded
from trajgrade.trajectory import Trajectory

Retry = Literal["errors", "failed"]

_BEYOND = ""  # no metric has that name
_AGAIN = ERRORS | {"unreadable_verdict", "not_run"}


class Earlier(NamedTuple):
    """What an earlier run has of a row.

    Attributes:
        graded: The row.
        example: The example as it was answered; None where the dataset holds all of it.
        kept: Results that stay as they are, by their evaluator's key; None: all of them do.
    """

    graded: Graded
    example: Example | None = None
    kept: Mapping[str, Sequence[EvaluationResult]] | None = None

    @property
    def outcome(self) -> Outcome | None:
        """What came of calling the agent."""
        row = self.graded.row
        if row.latency_in_seconds is None:
            return None
        return Outcome(row.latency_in_seconds, row.agent_error)


def earlier_of(stored: StoredRow, retry: Collection[Retry]) -> Earlier | None:
    """Return what there is of a row that a store kept; None where it is begun anew.

    Args:
        stored: The row as it was kept.
        retry: What is done once more.
    """
    row = unpack(stored.graded, Row)
    if row.agent_error is not None and "failed" in retry:
        return None
    alignments = unpack(stored.explained, dict[str, Any]) if stored.explained else {}
    beyond = alignments.pop(_BEYOND, ())
    graded = Graded(row, alignments, beyond)
    broken = {
        row.origins.get(key, key) for key, result in row.results.items() if _is_broken(result)
    }
    if not broken or "errors" not in retry:
        return Earlier(graded)
    kept: dict[str, list[EvaluationResult]] = {}
    for key, result in row.results.items():
        origin = row.origins.get(key, key)
        if origin not in broken:
            kept.setdefault(origin, []).append(result)
    example = None if stored.example is None else example_of(stored.example)
    return Earlier(graded, example, kept)


def explained(graded: Graded) -> bytes | None:
    """Return the alignments of a row, packed for a store; None where there are none."""
    if not graded.alignments:
        return None
    beyond = {_BEYOND: [*graded.beyond]} if graded.beyond else {}
    return pack({**graded.alignments, **beyond})


def _is_broken(result: EvaluationResult) -> bool:
    return result.error is not None and result.error.kind in _AGAIN


def key_of(row: int, trial: int | None) -> Key:
    """Return what a row of a run is known by."""
    return Key(row, trial or 0)


def plain_example(example: Example) -> dict[str, Any]:
    """Return an example as plain objects, for a store."""
    found = {
        name: value
        for name in example.__struct_fields__
        if name not in {"stored", "fields"} and (value := getattr(example, name)) is not None
    }
    outputs = found.get("outputs")
    if outputs is not None and not isinstance(outputs, (str, int, float, bool)):
        found["outputs"] = _plain_trace(outputs)
    for name in ("reference_outputs", "inputs"):
        if isinstance(found.get(name), Trajectory):
            found[name] = _plain_trace(found[name])
    found["notes"] = list(example.notes)
    return found


def _plain_trace(outputs: Any) -> Any:
    """Return a trace as plain objects: as it is, or as trajgrade reads it."""
    if not isinstance(outputs, Trajectory):
        try:
            return msgspec.json.decode(msgspec.json.encode(outputs))
        except (TypeError, ValueError, RecursionError):
            pass  # objects of an agent's own framework, or what JSON has no place for
    try:
        return read_back(dumps(Trajectory.from_any(outputs).to_dict()))
    except TraceError:
        return read_back(dumps(outputs))


def example_of(packed: bytes) -> Example:
    """Return an example that a store kept."""
    found = unpack(packed, dict[str, Any])
    return Example(**{**found, "notes": tuple(found.get("notes", ()))})
