r"""Hermes' calls in ChatML. The marks: `<|im_start|>`, `<tool_call>` in what the assistant says.

    "<|im_start|>assistant\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call><|im_end|>"

    <|im_start|>user
    Any trains to Oslo?<|im_end|>
    <|im_start|>assistant
    <tool_call>
    {"name": "trains", "arguments": {"to": "Oslo"}} …
    </tool_call><|im_end|>
    <|im_start|>tool
    <tool_response>
    {"name": "trains", "content": "09:14"}
    </tool_response><|im_end|>
    <|im_start|>assistant
    Yes, at 09:14.<|im_end|>

Also messages of a role and a text in which the assistant writes so. What the prompt shows in tags
is no call. Calls have no ids: a response belongs to the first call of its name that has none yet.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import text_dialects
from trajgrade.formats.chat_origins import origin_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_START = "<|im_start|>"
_END = "<|im_end|>"
_ROLES = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
    "tool": "tool", "function": "tool", "observation": "tool", "ipython": "tool",
}  # fmt: skip


class HermesChatML:
    """Hermes' calls in ChatML; the module shows them."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the text is ChatML, or the assistant writes calls in tags."""
        return origin_of(seen) == "hermes_chatml"

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        said = _said(data) if isinstance(data, str) else text_dialects.said_in(data)
        return [text_dialects.read(said, "hermes_chatml", data)]


def _said(text: str) -> list[text_dialects.Said]:
    before, *pieces = text.split(_START)
    if not pieces:
        return [("assistant", before)]  # what the model wrote, without its prompt
    said = []
    for at, piece in enumerate(pieces):
        role, _, rest = piece.partition("\n")
        named = role.partition(_END)[0].strip()
        if named not in _ROLES:
            raise MalformedTraceError(
                f"message {at}: the role is {shorten(named)}; known are {', '.join(_ROLES)}"
            )
        content = rest.partition(_END)[0]
        if content.strip() or at + 1 < len(pieces):  # else the place for what comes next
            said.append((_ROLES[named], content))
    return said


FORMAT = HermesChatML()
