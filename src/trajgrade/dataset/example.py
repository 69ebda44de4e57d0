"""Example: one row of a dataset, as evaluators are given it; and what a run needs of it.

An example has roles. Each is read from one field, the same in all rows of a dataset: the one that
`fields` name for it, or else the first of its known names, in the order of `NAMES`, that is a
column, whether or not a row has a value there (`trajgrade.dataset.fields`). A missing field, null,
and a frame's NaN are all None: not there.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

Role = Literal[
    "id", "trial", "inputs", "outputs", "reference_outputs", "response", "reference", "context"
]
ROLES: tuple[Role, ...] = get_args(Role)

# The first that is a column counts, for all rows. Vertex's trajectories come before names that may
# as well hold the text beside them.
NAMES: dict[Role, tuple[str, ...]] = {
    "id": ("id", "example_id", "task_id"),
    "trial": ("trial",),
    "inputs": ("inputs", "input", "prompt", "question"),
    "outputs": ("predicted_trajectory", "outputs", "output", "actual_output"),
    "reference_outputs": (
        "reference_trajectory", "reference_outputs", "expected_output", "expected", "target",
        "answer",
    ),
    "response": ("response",),
    "reference": ("reference",),
    "context": ("context",),
}  # fmt: skip

# A row that has one of these is itself the trace, where no column holds outputs.
TRACE_NAMES = ("messages", "conversation")

# A text evaluator reads the first of each pair, and where that is None the second.
TEXT_BEFORE: dict[Role, Role] = {"response": "outputs", "reference": "reference_outputs"}


class Needs(msgspec.Struct, frozen=True):
    """What is read of each row; the rest is skipped. `id` and `trial` always are read.

    Attributes:
        roles: The roles that are needed.
        trajectories: Those of them that are needed as a trajectory only, never as they stand; they
            may come as a `Trajectory` already.
        stored: Dotted paths whose values become `Example.stored`.
        row: Whether all of the row's fields become `Example.fields`.
    """

    roles: frozenset[Role] = frozenset(ROLES)
    trajectories: frozenset[Role] = frozenset()
    stored: tuple[str, ...] = ()
    row: bool = False

    def __or__(self, other: Needs) -> Needs:
        """Return what both need together."""
        as_they_stand = (self.roles - self.trajectories) | (other.roles - other.trajectories)
        roles = self.roles | other.roles
        stored = dict.fromkeys(self.stored + other.stored)
        return Needs(roles, roles - as_they_stand, tuple(stored), self.row or other.row)


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a dataset.

    Trajectory evaluators read `outputs` and `reference_outputs`. Text evaluators read `response`
    and `reference` where those are not None, else the same.

    Attributes:
        id: What names the example; rows that share it are its trials.
        trial: Which repeat it is, None where there is one only.
        inputs: What the agent was asked.
        outputs: What it produced: a trace in any shape, a text, a structure, a `Trajectory`.
        reference_outputs: What was expected.
        response: Its final text, where the row has it apart.
        reference: The expected final text, where the row has it apart.
        context: What else it was given.
        row: The row's place in the dataset, from 0.
        source: Where the row stands, for messages: `eval.jsonl line 17`.
        stored: The values at the stored paths asked for, None where there is none.
        notes: What was unusual in the row's text.
        fields: All of the row's fields, where they were asked for.
    """

    id: str
    trial: int | None = None
    inputs: Any = None
    outputs: Any = None
    reference_outputs: Any = None
    response: Any = None
    reference: Any = None
    context: Any = None
    row: int = 0
    source: str = ""
    stored: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    fields: dict[str, Any] = {}
