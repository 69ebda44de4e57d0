"""A bare text: one message by the assistant.

    "Yes, at 09:14."

Text that holds a trace as JSON is read as that trace before it comes here; text that begins like
one and is none is refused. Text in which calls are written belongs to other formats.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats.chat_origins import origin_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Step, Trajectory


class Text:
    """A bare text; the module shows one."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data is a text in which no calls are written."""
        return isinstance(seen.data, str) and origin_of(seen) is None

    def read(self, data: Any) -> list[Trajectory]:
        """Return the one message."""
        if not isinstance(data, str):
            raise MalformedTraceError(f"expected a text, found {shorten(data)}")
        return [Trajectory([Step("assistant", data)], final_response=data, format="text")]


FORMAT = Text()
