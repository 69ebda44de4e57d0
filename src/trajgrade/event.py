"""Event: a rule that fired for an item, as an action is given it, and what an action answers."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that fired for an item, as actions are given it.

    Attributes:
        id: The same for every attempt at this action, for this rule and this item.
        rule: The rule's name.
        item_id: What names the item.
        because: What made the rule fire.
        trace: The trace, as it came.
        scores: What evaluators have said of it, by key.
        results: The whole results of those evaluators, as plain objects, by key.
    """

    id: str
    rule: str
    item_id: str
    because: str = ""
    trace: Any = None
    scores: dict[str, float | None] = {}
    results: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain objects."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Scored(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Evaluators have graded the trace; what they said of it earlier is replaced.

    Attributes:
        results: By key, the result as plain objects (`EvaluationResult.to_dict`).
        scores: By key, the score; None where it was not evaluated.
    """

    results: dict[str, Any]
    scores: dict[str, float | None]


class Queued(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A person is to look at the trace; it is in a queue once.

    Attributes:
        queue: The queue's name.
        priority: The higher, the sooner.
        reason: Why.
    """

    queue: str
    priority: float
    reason: str


class Added(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The trace becomes a row of a dataset; one of the same id is there once.

    Attributes:
        dataset: The dataset's name.
        row: The row, as plain objects, with its `id`.
        split: The split that it goes to.
    """

    dataset: str
    row: dict[str, Any]
    split: str = ""


Effect = Scored | Queued | Added


class Told(msgspec.Struct, frozen=True):
    """What an action says that it did, and what is to be changed in the store with it.

    Attributes:
        says: What it did, in a line.
        effects: What is to be written, in the transaction that ends the action.
    """

    says: str
    effects: tuple[Effect, ...] = ()


class TryAgainError(Exception):
    """An action failed, and may succeed later.

    Args:
        message: What happened.
        after: How many seconds to wait at least, None where nobody said.
    """

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
