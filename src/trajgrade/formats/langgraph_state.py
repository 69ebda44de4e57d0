"""The state of a LangGraph graph. The mark: LangChain's messages, as objects, under `messages`.

    {"messages": [
      {"type": "human", "content": "Any trains to Oslo?"},
      {"type": "ai", "content": "", "tool_calls": [
        {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "type": "tool_call"}]},
      {"type": "tool", "content": "09:14", "tool_call_id": "call_1", "status": "success"},
      {"type": "ai", "content": "Yes, at 09:14."}
    ]}

Other channels of the state may stand beside them. Also the snapshot of a thread,
`{"values": {"messages": […]}, "next": […]}`. Calls are those of LangChain's messages; what an
interrupt stopped before its tool ran is a call without a result.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.langchain_shapes import add_messages, is_state
from trajgrade.formats.recorded import of_langchain
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class LangGraphState:
    """The state of a graph; the module shows its shape."""

    keys = frozenset({"messages", "values"})
    measure = staticmethod(of_langchain)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object, or the one under `values`, holds LangChain's messages."""
        return isinstance(seen.data, dict) and is_state(_state(seen.data))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("langgraph_state")
        state = _state(expect.record(data, "the state"))
        add_messages(assembly, expect.array(state.get("messages"), "messages"))
        return [assembly.trajectory()]


def _state(data: dict[str, Any]) -> dict[str, Any]:
    values = data.get("values")
    return values if isinstance(values, dict) and "messages" not in data else data


FORMAT = LangGraphState()
