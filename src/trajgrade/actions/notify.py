"""`notify`: a line in the log of whoever runs the rules.

`{item_id}`, `{rule}`, `{because}` and `{scores.KEY}` in the message are filled in by replacement.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

from trajgrade.actions.filling import check, filled
from trajgrade.errors import ConfigError
from trajgrade.event import Event

_log = logging.getLogger("trajgrade.automation")


@dataclass(frozen=True)
class Notify:
    """Write a line to the log `trajgrade.automation`, as a warning.

    Attributes:
        message: What is written.

    Raises:
        ConfigError: The message is empty, or has a place that nothing is known for.
    """

    fast: ClassVar[bool] = True

    message: str = "{rule}: {item_id} ({because})"

    def __post_init__(self) -> None:
        """Check the message."""
        if not isinstance(self.message, str) or not self.message.strip():
            raise ConfigError("notify: message: a text is needed")
        check("message", self.message)

    def act(self, event: Event) -> str:
        """Write the line, and return it."""
        line = " ".join(
            filled(self.message, event).split()
        )  # what an agent wrote begins no line of its own
        _log.warning("%s", line)
        return line
