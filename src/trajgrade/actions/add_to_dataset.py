"""`add_to_dataset`: keep the item as a row of a dataset of the store.

    - {type: add_to_dataset, dataset: failures, split: test, reference: {dataset: tasks.jsonl}}

The row has `id`, `inputs` (what was asked), `outputs` (the trace as it came), `scores`, and the
reference, where the trace or the dataset of references has one; `expected: actual` makes what the
agent did the reference. A dataset has each id once, and what is there already stays: people may
have corrected it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, get_args

from trajgrade.actions.graded import seen
from trajgrade.actions.references import References
from trajgrade.dataset import Example
from trajgrade.errors import ConfigError, TraceError, shorten, unknown
from trajgrade.event import Added, Event, Told
from trajgrade.jsontext import dumps, read_back
from trajgrade.trajectory import Trajectory
from trajgrade.versions import check_name, kept

Expected = Literal["reference", "actual"]


@dataclass
class AddToDataset:
    """Keep the item as a row of a dataset.

    Attributes:
        dataset: The dataset's name.
        split: The split that the row goes to, such as `test`.
        expected: What the row's reference is: the one that is looked up, or what the agent did.
        reference: Where what was expected is looked up: `{dataset, by, path}`.
        store: Where datasets of a store are.

    Raises:
        ConfigError: A parameter is wrong.
        DatasetError: The dataset's name is none, or that of references cannot be read.
    """

    fast: ClassVar[bool] = True
    context: ClassVar[tuple[str, ...]] = ("store",)

    dataset: str
    split: str = ""
    expected: Expected = "reference"
    reference: Mapping[str, Any] | None = None
    _: KW_ONLY
    store: Any = None
    _references: References | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.dataset, str):
            raise ConfigError(f"dataset: a name is needed, got {shorten(self.dataset)}")
        check_name(self.dataset)
        if not isinstance(self.split, str):
            raise ConfigError(f"split: a name is needed, got {shorten(self.split)}")
        if self.expected not in get_args(Expected):
            raise ConfigError(f"expected: {unknown('choice', self.expected, get_args(Expected))}")
        if self.reference is not None:
            self._references = References(self.reference, self.store)

    def act(self, event: Event) -> Told:
        """Keep the item.

        Raises:
            TraceError: What the agent did is to be the reference, and cannot be read.
            DatasetError: The row is too large.
        """
        example = seen(event.item_id, event.trace, self._references).example
        row: dict[str, Any] = {"id": event.item_id, "inputs": example.inputs}
        row["outputs"] = event.trace if example.outputs is None else example.outputs
        row |= self._expected(example)
        row["scores"] = dict(event.scores)
        row = read_back(dumps({k: v for k, v in row.items() if v not in (None, {})}))
        kept([row], self.dataset)
        effect = Added(dataset=self.dataset, row=row, split=self.split)
        said = f"for the dataset {self.dataset}, where a row of its id stays as it is"
        return Told(said, (effect,))

    def _expected(self, example: Example) -> dict[str, Any]:
        if self.expected == "reference":
            return {
                "reference_outputs": example.reference_outputs,
                "reference": example.reference,
                "context": example.context,
            }
        found = Trajectory.from_any(example.outputs)
        if not found.tool_calls and found.final_response is None:
            raise TraceError("expected: actual: the trace has neither calls nor a response")
        calls = [{"name": call.name, "args": call.args} for call in found.tool_calls]
        return {"reference_outputs": calls, "reference": found.final_response}
