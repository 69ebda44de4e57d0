"""LangChain's messages. The mark: a `type` among `human`, `ai`, `system`, `tool`.

    [
      {"type": "human", "content": "Any trains to Oslo?"},
      {"type": "ai", "content": "", "tool_calls": [
        {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "type": "tool_call"}]},
      {"type": "tool", "content": "09:14", "tool_call_id": "call_1", "status": "success"},
      {"type": "ai", "content": "Yes, at 09:14."}
    ]

    {"type": "ai", "data": {"content": "", "tool_calls": […]}}                 messages_to_dict
    {"lc": 1, "type": "constructor", "id": [..., "AIMessage"], "kwargs": {…}}  dumps

All three are read; also as the list under `messages` (but a list of the first shape there is the
state of a graph, `langgraph_state`), one message alone, and the objects. Calls are
those of `tool_calls` and `invalid_tool_calls` (whose arguments are not JSON). The provider's own
copies of them, in `additional_kwargs` and among the content blocks, count only where those two are
empty.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats.assembly import Assembly
from trajgrade.formats.langchain_shapes import add_messages, is_message, is_state
from trajgrade.formats.recorded import of_langchain
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class LangChainMessages:
    """LangChain's messages; the module shows their shapes."""

    keys = frozenset({"type"})
    measure = staticmethod(of_langchain)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a message with LangChain's type; a graph's state is another's."""
        items = _items(seen.data)
        if isinstance(seen.data, dict) and is_state(seen.data):
            return False
        return bool(items) and all(map(is_message, items))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("langchain_messages")
        add_messages(assembly, _items(data))
        return [assembly.trajectory()]


def _items(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    return data if isinstance(data, list) else []


FORMAT = LangChainMessages()
