"""View: one example as each kind of evaluator reads it, and what of each row that takes.

A trace is read once for all evaluators that want a trajectory. Evaluators of the response get the
text; all others get what the dataset holds, untouched.

Where the row has no `response` or `reference`, the text is what `outputs` or `reference_outputs`
say. A trace says its final response, also as JSON text in a field; any other text is itself. Calls
alone say nothing, nor do no calls where the dataset keeps its texts apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajgrade.contracts import EvaluatorLike
from trajgrade.dataset import NAMES, Dataset, Example, Needs, Role
from trajgrade.detection import parsed
from trajgrade.errors import TraceError, UnknownTraceError
from trajgrade.trajectory import Trajectory

CALLS_ALONE = frozenset({"calls", "vertex_trajectory"})  # formats of calls without messages
_EXPECTED: frozenset[Role] = frozenset({"reference", "reference_outputs"})
_TRAJECTORY: frozenset[Role] = frozenset({"outputs", "reference_outputs"})


class View:
    """One example as each kind of evaluator reads it, traces read once.

    Args:
        example: The example.
        apart: Whether the dataset keeps its texts apart from its trajectories, so that `[]` is no
            calls, and not a structure.
    """

    def __init__(self, example: Example, *, apart: bool = False) -> None:
        self.example = example
        self._apart = apart
        self._given: dict[str, dict[str, Any]] = {}

    def of(self, reads: str) -> dict[str, Any]:
        """Return the arguments for evaluators that read that."""
        given = self._given.get(reads)
        if given is None:
            given = self._given[reads] = getattr(self, f"_{reads}")()
        return given

    def _trajectory(self) -> dict[str, Any]:
        example = self.example
        return {
            "outputs": _readable(example.outputs),
            "reference_outputs": _readable(example.reference_outputs),
            "inputs": example.inputs,
        }

    def _response(self) -> dict[str, Any]:
        example = self.example
        response, reference = example.response, example.reference
        return {
            "outputs": self._spoken(example.outputs) if response is None else response,
            "reference_outputs": (
                self._spoken(example.reference_outputs) if reference is None else reference
            ),
            "inputs": example.inputs,
        }

    def _spoken(self, data: Any) -> Any:
        """Return what can be compared with a text; None where the data is calls only."""
        held = _opened(data)
        nothing = isinstance(held, list) and not held
        return None if nothing and self._apart else _said(data, held)

    def _raw(self) -> dict[str, Any]:
        example = self.example
        reference = example.reference_outputs
        return {
            "outputs": example.response if example.outputs is None else example.outputs,
            "reference_outputs": example.reference if reference is None else reference,
            "inputs": example.inputs,
            "response": example.response,
            "reference": example.reference,
            "context": example.context,
            "stored": example.stored,
            "row": example.fields,
        }


def _readable(data: Any) -> Any:
    """Return the trajectory that the data is, else the data: evaluators say what is wrong."""
    if data is None or type(data) is Trajectory:
        return data
    if isinstance(data, dict) and ("any_of" in data or "turns" in data):
        return data
    try:
        return Trajectory.from_any(data)
    except TraceError:
        return data


def _opened(data: Any) -> Any:
    """Return the list or object that a text holds as JSON; anything else as it is."""
    if type(data) is not str or data.lstrip("\ufeff \t\r\n")[:1] not in ("[", "{"):
        return data
    try:
        return parsed(data)
    except TraceError:
        return data


def _said(data: Any, held: Any) -> Any:
    """Return the data for a text evaluator, given what it holds; None where that is calls only."""
    if type(held) is Trajectory:
        return held if held.final_response is not None else None
    written = type(data) is str
    if not isinstance(held, list) and not (written and isinstance(held, dict)):
        return data
    try:
        found = Trajectory.from_any(held)
    except UnknownTraceError:
        return data
    except TraceError:
        return held  # a broken trace, which is for the evaluator to say
    if found.final_response is None and found.tool_calls:
        # One call written as an object is a structure, from which a text differs in spaces only.
        return data if isinstance(held, dict) and found.format in CALLS_ALONE else None
    return found if written and held else data


def needs_of(
    evaluators: Sequence[EvaluatorLike],
    *,
    raw: bool = True,
    given: frozenset[Role] | None = None,
) -> Needs:
    """Return what a run of the evaluators reads of each row.

    Args:
        evaluators: The evaluators.
        raw: Whether those count that are given all there is, whether or not they look at it.
        given: What an agent gives, which needs the inputs; None where none is called.
    """
    reads = {getattr(evaluator, "reads", "raw") for evaluator in evaluators}
    stored = tuple(
        path for evaluator in evaluators for path in getattr(evaluator, "stored_paths", ())
    )
    needs = Needs(frozenset(), frozenset(), stored)
    if "trajectory" in reads:
        needs |= Needs(_TRAJECTORY, _TRAJECTORY)
    if "response" in reads:
        needs |= Needs(frozenset({"response", "reference", *_TRAJECTORY}), _TRAJECTORY)
    if raw and any(_reads_everything(evaluator) for evaluator in evaluators):
        needs |= Needs(stored=())
    if any(getattr(evaluator, "reads_row", False) for evaluator in evaluators):
        needs |= Needs(frozenset(), row=True)
    if given is not None:
        inputs: frozenset[Role] = frozenset({"inputs"})
        kept = inputs | (needs.roles - given)
        return Needs(kept, needs.trajectories - given, needs.stored, needs.row)
    return needs


def lacks_of(
    dataset: Dataset,
    evaluators: Sequence[EvaluatorLike],
    *,
    given: frozenset[Role] | None = None,
) -> list[str]:
    """Return which metrics need a column that no row of the dataset has.

    Args:
        dataset: The dataset.
        evaluators: The evaluators.
        given: What an agent gives; None where none is called.
    """
    lacking: dict[str, list[str]] = {}
    for evaluator in evaluators:
        known = given
        if given is not None and getattr(evaluator, "reads", "raw") == "response":
            known = given | {"outputs"}  # a text that is given needs no trace
        needs = needs_of([evaluator], raw=False, given=known)
        if not getattr(evaluator, "needs_reference", True):
            needs = Needs(needs.roles - _EXPECTED, needs.trajectories, needs.stored, needs.row)
        missing = dataset.missing_columns(needs)
        for fault in missing.splitlines() if missing else []:
            lacking.setdefault(fault, []).append(evaluator.key)
    return [f"{', '.join(keys)}: {fault}" for fault, keys in lacking.items()]


def strangers_in(dataset: Dataset) -> str:
    """Say that the dataset's trials share no ids, and which field may name their examples."""
    names = [name for name in NAMES["id"] if name in dataset.columns]
    used = dataset.fields.get("id", names[0] if names else None)
    other = next((name for name in names if name != used), "…")
    return (
        "rows have different trials, and no two share an id, so none are repeats of one example "
        "and there is no pass@k: map id to the field that the trials of one example share, "
        f"fields: {{id: {other}}}"
    )


def _reads_everything(evaluator: EvaluatorLike) -> bool:
    return getattr(evaluator, "reads", "raw") == "raw" and not hasattr(evaluator, "stored_paths")
