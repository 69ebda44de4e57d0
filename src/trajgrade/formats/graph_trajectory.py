"""Graph trajectories of LangGraph threads. The mark: `steps`, lists of names, beside `results`.

    {"inputs": [{"__start__": {"messages": [{"role": "user", "content": "Any trains to Oslo?"}]}}],
     "results": [{"messages": [{"role": "assistant", "content": "Yes, at 09:14."}]}],
     "steps": [["__start__", "agent", "tools", "agent"]]}

One entry for each run of the thread, as `extract_langgraph_trajectory` and LangChain's agentevals
write it; also as agentevals wraps it, `{"inputs": […], "outputs": {…}}`. Each run is a turn: its
input a user message, each node a call of that name without arguments, its result the answer. The
agent of a node `research:search` is the subgraph, `research`. Lists of different lengths are an
error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.arguments import bounded
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import text_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_KEYS = frozenset({"inputs", "results", "steps", "id"})


class GraphTrajectory:
    """Graph trajectories; the module shows their shape."""

    keys = frozenset({"steps", "outputs"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there are results, and steps that are lists of names."""
        graph = _graph(seen.data)
        return graph is not None and all(map(_is_run, graph["steps"]))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the runs of the thread, each as a turn."""
        graph = _graph(data)
        if graph is None:
            raise MalformedTraceError(
                'a graph trajectory is {"inputs": […], "results": […], "steps": [["node", …], …]}'
            )
        steps, results = graph["steps"], graph["results"]
        inputs = expect.array(graph.get("inputs"), "inputs") or [None] * len(steps)
        if not len(steps) == len(results) == len(inputs):
            raise MalformedTraceError(
                f"{len(inputs)} inputs, {len(results)} results and {len(steps)} lists of steps: "
                "there must be one of each for every run"
            )
        assembly = Assembly("graph_trajectory")
        final: str | None = None
        for at, (asked, nodes, result) in enumerate(zip(inputs, steps, results, strict=True)):
            assembly.message("user", _said(asked, f"input {at}"))
            for place, node in enumerate(expect.array(nodes, f"steps {at}")):
                name = expect.name(node, f"steps {at}, node {place}")
                owner, _, _ = name.rpartition(":")
                assembly.message("assistant")
                assembly.call(name, {}, state="ok", agent=owner or None)
            final = _said(result, f"result {at}") or None
            if final:
                assembly.message("assistant", final)
        key = graph.get("id")
        return [assembly.trajectory(final=final, id=key if isinstance(key, str) else None)]


def _graph(data: Any) -> dict[str, Any] | None:
    """Return the graph trajectory that the data is or wraps."""
    if not isinstance(data, dict):
        return None
    inner = data.get("outputs")
    if data.keys() == {"inputs", "outputs"} and isinstance(inner, dict):
        data = {**inner, "inputs": data["inputs"] or inner.get("inputs")}
    lists = all(isinstance(data.get(key), list) for key in ("steps", "results"))
    return data if lists and data.keys() <= _KEYS else None


def _is_run(nodes: Any) -> bool:
    return isinstance(nodes, list) and all(isinstance(node, str) for node in nodes)


def _said(value: Any, place: str) -> str:
    """Return what an input or a result says: its last message's text, or the whole as JSON text."""
    bounded(value, place)
    if isinstance(value, Mapping) and value.keys() == {"__start__"}:
        value = value["__start__"]
    messages = value.get("messages") if isinstance(value, Mapping) else None
    if isinstance(messages, list) and messages:
        value = messages[-1]
    if isinstance(value, Mapping) and isinstance(value.get("content"), (str, list)):
        return text_of(value["content"], place)
    if value in (None, {}, []):
        return ""
    return value if isinstance(value, str) else jsontext.dumps(value).decode()


FORMAT = GraphTrajectory()
