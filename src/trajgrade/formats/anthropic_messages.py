"""Anthropic's Messages API. The marks: content blocks `tool_use`, `tool_result`, `thinking`, ….

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content": [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "trains", "input": {"to": "Oslo"}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14", "is_error": false}]},
      {"role": "assistant", "content": [{"type": "text", "text": "Yes, at 09:14."}]}
    ]

Also as the list under `messages`, one message alone, the response of the API
(`{"type": "message", "stop_reason": …, "content": […]}`), the list of blocks alone, and requests
with their responses, `{"request": {…}, "response": {…}}`, one on each line, of which the last hold
the whole run. A call is
`tool_use` or `mcp_tool_use`; `server_tool_use` is one that Anthropic runs: hosted. A user message
that holds only results is no turn of the user's.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import exchanges, expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content_blocks import CALLS, MARKS, kind_of, message
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_ROLES = frozenset({"system", "user", "assistant"})


class AnthropicMessages:
    """Anthropic's Messages API; the module shows its shape."""

    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a block bears a mark, or the object is a response."""
        data = seen.data
        if isinstance(data, dict) and data.get("type") == "message" and "stop_reason" in data:
            return isinstance(data.get("content"), list)
        if exchanges.has_blocks(data):
            return True
        return dict in seen.kinds and any(map(_is_marked, _messages(data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("anthropic_messages")
        recorded = exchanges.holds_exchanges(data)
        messages = exchanges.messages_in(data, assembly.notes) if recorded else _messages(data)
        for at, item in enumerate(messages):
            place = f"message {at}"
            raw = expect.record(item, place)
            if "role" not in raw and "content" not in raw:
                raise MalformedTraceError(
                    f"{place}: no message: it has neither role nor content: {shorten(raw)}"
                )
            role = raw.get("role", "assistant")
            if not isinstance(role, str) or role not in _ROLES:
                raise MalformedTraceError(
                    f"{place}: the role is {shorten(role)}; known are {', '.join(sorted(_ROLES))}"
                )
            message(assembly, role, raw.get("content"), place)
        key = data.get("id") if isinstance(data, dict) else None
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _messages(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    if not isinstance(data, list):
        return []
    bare = all(isinstance(block, dict) and "role" not in block for block in data)
    if bare and any(kind_of(block) in CALLS for block in data):
        return [{"role": "assistant", "content": data}]
    return data


def _is_marked(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("content"), list):
        return False
    # LangChain's messages have a type, and copies of these blocks.
    if item.get("role") not in ("user", "assistant", "system"):
        return False
    return any(
        isinstance(block, dict)
        and isinstance(block.get("type"), str)
        and (block["type"] in MARKS or block["type"].endswith("_tool_result"))
        for block in item["content"]
    )


FORMAT = AnthropicMessages()
