"""The state of a LangGraph graph. The mark: LangChain's messages, as objects, under `messages`.

    {"messages": [
      {"type": "human", "content": "Any trains to Oslo?"},
      {"type": "ai", "content": "", "tool_calls": [
        {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "type": "tool_call"}]},
      {"type": "tool", "content": "09:14", "tool_call_id": "call_1", "status": "success"},
      {"type": "ai", "content": "Yes, at 09:14."}
    ]}

Other channels of the state may stand beside them. Also the snapshot of a thread,
`{"values": {"messages": […]}, "next": […]}`, and the history of one, a list of such snapshots, of
which the latest tells the whole run. Calls are those of LangChain's messages; what an
interrupt stopped before its tool ran is a call without a result.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.instant import instant
from trajgrade.formats.langchain_shapes import add_messages, is_state
from trajgrade.formats.metering import measured
from trajgrade.formats.recorded import langchain_requests, of_langchain
from trajgrade.glimpse import Glimpse
from trajgrade.telemetry import Telemetry
from trajgrade.trajectory import Trajectory


class LangGraphState:
    """The state of a graph; the module shows its shape."""

    keys = frozenset({"messages", "values", "next"})

    @staticmethod
    def measure(data: Any) -> list[Telemetry]:
        """Read the usage of each message, and between which snapshots the run lies."""
        if not isinstance(data, list):
            return of_langchain(data)
        times = [one.get("created_at") for one in data if isinstance(one, dict)]
        return [measured(langchain_requests(_latest(data)), times)]

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the object, or the one under `values`, holds LangChain's messages."""
        data = seen.data
        if isinstance(data, list):
            return bool(data) and all(map(_is_snapshot, data)) and is_state(_state(_latest(data)))
        return isinstance(data, dict) and is_state(_state(data))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("langgraph_state")
        data = _latest(data) if isinstance(data, list) else data
        state = _state(expect.record(data, "the state"))
        add_messages(assembly, expect.array(state.get("messages"), "messages"))
        return [assembly.trajectory()]


def _is_snapshot(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("values"), dict) and "next" in item


def _latest(history: list[Any]) -> dict[str, Any]:
    """Return the snapshot that was made last; the first, as LangGraph lists them, if none says."""
    snapshots = [one for one in history if isinstance(one, dict)]
    times = [
        found.timestamp() if (found := instant(one.get("created_at"))) else 0.0 for one in snapshots
    ]
    return snapshots[times.index(max(times))] if snapshots else {}


def _state(data: dict[str, Any]) -> dict[str, Any]:
    values = data.get("values")
    return values if isinstance(values, dict) and "messages" not in data else data


FORMAT = LangGraphState()
