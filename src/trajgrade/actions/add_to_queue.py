"""`add_to_queue`: have a person look at the item.

    - {type: add_to_queue, queue: refunds, priority: 100, reason: "{rule}: {because}"}

An item is in a queue once; where it comes again before anyone has looked, the newer priority and
reason count; one that was looked at waits again only for a newer revision of the trace.
`{item_id}`, `{rule}`, `{because}` and `{scores.KEY}` in the reason are filled in by replacement.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

from trajgrade.actions.filling import check, filled
from trajgrade.errors import ConfigError, shorten
from trajgrade.event import Event, Queued, Told

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONGEST = 1000


@dataclass(frozen=True)
class AddToQueue:
    """Put the item into a review queue.

    Attributes:
        queue: The queue's name.
        priority: The higher, the sooner.
        reason: Why it is there.

    Raises:
        ConfigError: The name is none, the priority no finite number, or the reason no text.
    """

    fast: ClassVar[bool] = True

    queue: str = "review"
    priority: float = 0.0
    reason: str = "{rule}: {because}"

    def __post_init__(self) -> None:
        """Check the parameters."""
        faults = []
        if not isinstance(self.queue, str) or not _NAME.fullmatch(self.queue):
            faults.append(
                "queue: up to 100 letters, digits, dots, dashes and underscores are needed, got "
                f"{shorten(self.queue)}"
            )
        number = isinstance(self.priority, int | float) and not isinstance(self.priority, bool)
        if not number or not math.isfinite(self.priority):
            faults.append(f"priority: a finite number is needed, got {shorten(self.priority)}")
        try:
            check("reason", self.reason)
        except ConfigError as wrong:
            faults += wrong.faults
        if faults:
            raise ConfigError(*faults)

    def act(self, event: Event) -> Told:
        """Put the item into the queue."""
        reason = filled(self.reason, event)[:_LONGEST]
        effect = Queued(queue=self.queue, priority=float(self.priority), reason=reason)
        return Told(f"in the queue {self.queue}", (effect,))
