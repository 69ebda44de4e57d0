"""Event: a rule that fired for an item, as an action is given it; and how an action fails."""

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
    """

    id: str
    rule: str
    item_id: str
    because: str = ""
    trace: Any = None
    scores: dict[str, float | None] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain objects."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class TryAgainError(Exception):
    """An action failed, and may succeed later.

    Args:
        message: What happened.
        after: How many seconds to wait at least, None where nobody said.
    """

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after
