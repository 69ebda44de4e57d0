"""A bare text: one message by the assistant.

    "Yes, at 09:14."

Text that holds a trace as JSON is read as that trace before it comes here; text that begins like
one and is none is refused.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Step, Trajectory


class Text:
    """A bare text; the module shows one."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data is a text."""
        return isinstance(seen.data, str)

    def read(self, data: Any) -> list[Trajectory]:
        """Return the one message."""
        if not isinstance(data, str):
            raise MalformedTraceError(f"expected a text, found {shorten(data)}")
        return [Trajectory([Step("assistant", data)], final_response=data, format="text")]


FORMAT = Text()
