"""A LangGraph thread → its graph trajectory: of each run the input, the nodes, the result.

    {"inputs":  [{"__start__": {"messages": [{"role": "user", "content": "Book it"}]}}],
     "results": [{"messages": [{"type": "ai", "content": "Booked."}]}],
     "steps":   [["__start__", "agent", "__interrupt__", "tools", "agent"]]}

A thread is its checkpoints, and each says which nodes come next. They are followed from the newest
to its parent, and so on: what was abandoned by going back in time is not part of it. A *run* begins
with an input. What follows a human's answer to an interrupt belongs to the interrupted run; a node
that was interrupted stands before `__interrupt__`, once. Nodes of a subgraph stand after the node
that is the subgraph, as `subgraph:node`. A node counts when it began: one before which the run
stopped does not, and neither does one that a change of the state by hand stood in for.

A result is the last message where the state holds messages, else the state; of a run that still
waits for an answer, what it asks. All three lists have one entry for each run.

Nothing of LangGraph is imported: any object with its two methods will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from trajgrade.errors import TraceError
from trajgrade.glimpse import plain

START = "__start__"
INTERRUPT = "__interrupt__"

GraphTrajectory = dict[str, list[Any]]


class _Checkpoint(NamedTuple):
    """A checkpoint, and those of the subgraphs that ran from it, by the position of their task."""

    snapshot: Any
    inner: Mapping[int, list[_Checkpoint]]


def extract_langgraph_trajectory(
    graph: Any, config: Mapping[str, Any], *, last_run_only: bool = False
) -> GraphTrajectory:
    """Return the graph trajectory of a thread.

    Args:
        graph: A compiled graph with a checkpointer.
        config: Names the thread: `{"configurable": {"thread_id": "1"}}`.
        last_run_only: Whether only the last run is returned.

    Raises:
        TraceError: The thread has no checkpoint.
    """
    return _told(_history(graph, config), last_run_only)


async def aextract_langgraph_trajectory(
    graph: Any, config: Mapping[str, Any], *, last_run_only: bool = False
) -> GraphTrajectory:
    """Return the graph trajectory of a thread whose checkpointer is asynchronous.

    Args:
        graph: A compiled graph with a checkpointer.
        config: Names the thread: `{"configurable": {"thread_id": "1"}}`.
        last_run_only: Whether only the last run is returned.

    Raises:
        TraceError: The thread has no checkpoint.
    """
    return _told(await _ahistory(graph, config), last_run_only)


def _history(graph: Any, config: Any) -> list[_Checkpoint]:
    return [
        _Checkpoint(
            snapshot,
            {at: _history(graph, inner) for at, inner in _subgraphs(snapshot)},
        )
        for snapshot in _chain(list(graph.get_state_history(config)))
    ]


async def _ahistory(graph: Any, config: Any) -> list[_Checkpoint]:
    snapshots = [snapshot async for snapshot in graph.aget_state_history(config)]
    return [
        _Checkpoint(
            snapshot,
            {at: await _ahistory(graph, inner) for at, inner in _subgraphs(snapshot)},
        )
        for snapshot in _chain(snapshots)
    ]


def _chain(snapshots: Sequence[Any]) -> list[Any]:
    """Return the newest checkpoint and its ancestors, oldest first."""
    by_id = {_id_of(snapshot.config): snapshot for snapshot in snapshots}
    found: dict[Any, Any] = {}
    key = _id_of(snapshots[0].config) if snapshots else None
    while key in by_id and key not in found:
        found[key] = by_id[key]
        key = _id_of(getattr(by_id[key], "parent_config", None))
    return list(found.values())[::-1]


def _configurable(config: Any) -> Mapping[str, Any]:
    inner = config.get("configurable") if isinstance(config, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _id_of(config: Any) -> Any:
    return _configurable(config).get("checkpoint_id")


def _subgraphs(snapshot: Any) -> Iterable[tuple[int, Any]]:
    """Yield the position of each task that is a subgraph, and the config of its checkpoints."""
    for at, task in enumerate(_tasks(snapshot)):
        state = getattr(task, "state", None)
        config = state if isinstance(state, Mapping) else getattr(state, "config", None)
        if _configurable(config).get("checkpoint_ns"):
            # Without an id, so that the history begins with the newest and not with that one.
            inner = {k: v for k, v in _configurable(config).items() if k != "checkpoint_id"}
            yield at, {**(config or {}), "configurable": inner}


def _tasks(snapshot: Any) -> Sequence[Any]:
    return tuple(getattr(snapshot, "tasks", None) or ())


def _source(checkpoint: _Checkpoint) -> Any:
    """Return how a checkpoint came to be: `input`, `loop`, `update`, `fork`; None if not known."""
    metadata = getattr(checkpoint.snapshot, "metadata", None)
    source = metadata.get("source") if isinstance(metadata, Mapping) else None
    begins = any(task.name == START for task in _tasks(checkpoint.snapshot))
    return "input" if source is None and begins else source


def _told(history: list[_Checkpoint], last_run_only: bool) -> GraphTrajectory:
    if not history:
        raise TraceError(
            "the thread has no checkpoint: was the graph compiled with a checkpointer, and run "
            "under this thread_id?"
        )
    runs: list[list[_Checkpoint]] = []
    for checkpoint in history:
        if not runs or _source(checkpoint) == "input":
            runs.append([])
        runs[-1].append(checkpoint)
    after = [*history[1:], None]
    next_of = {id(one): follower for one, follower in zip(history, after, strict=True)}
    if last_run_only:
        runs = runs[-1:]
    return {
        "inputs": [_input(run) for run in runs],
        "results": [_result(run) for run in runs],
        "steps": [
            [node for one in run for node in _nodes(one, next_of[id(one)], "")] for run in runs
        ],
    }


def _nodes(checkpoint: _Checkpoint, follower: _Checkpoint | None, path: str) -> list[str]:
    """Return the nodes that ran from a checkpoint, each followed by those inside it."""
    after = "" if follower is None else _source(follower) or "loop"
    nodes: list[str] = []
    waits = False
    for at, task in enumerate(_tasks(checkpoint.snapshot)):
        # A fork begins what comes next anew; what is recorded here ran in what was abandoned.
        interrupted = bool(getattr(task, "interrupts", None)) and after != "fork"
        failed = getattr(task, "error", None) and after != "fork"
        # What a change by hand wrote is recorded as the result of the node that it stands in for.
        done = getattr(task, "result", None) is not None and after not in ("fork", "update")
        if not (after == "loop" or interrupted or failed or done or task.name == START):
            waits = True
            continue
        nodes.append(f"{path}{task.name}")
        inner = _within(checkpoint, at)
        below = [
            node
            for number, one in enumerate(inner, 1)
            for node in _nodes(
                one, inner[number] if number < len(inner) else None, f"{path}{task.name}:"
            )
        ]
        nodes += below
        if interrupted and INTERRUPT not in below:
            nodes.append(INTERRUPT)
    stopped = waits and follower is None
    return [*nodes, INTERRUPT] if stopped and INTERRUPT not in nodes else nodes


def _within(checkpoint: _Checkpoint, at: int) -> list[_Checkpoint]:
    """Return the checkpoints of a subgraph that belong to this run of it.

    A subgraph that keeps its own memory has those of earlier runs in its history too.
    """
    found = list(checkpoint.inner.get(at, ()))
    parent = _id_of(checkpoint.snapshot.config)
    namespace = _configurable(checkpoint.snapshot.config).get("checkpoint_ns") or ""
    mine = []
    for one in found:
        metadata = getattr(one.snapshot, "metadata", None)
        parents = metadata.get("parents") if isinstance(metadata, Mapping) else None
        said = parents.get(namespace) if isinstance(parents, Mapping) else None
        if said is None or said == parent:
            mine.append(one)
    return mine


def _input(run: Sequence[_Checkpoint]) -> dict[str, Any]:
    if _source(run[0]) != "input":
        return {}
    return {task.name: plain(getattr(task, "result", None)) for task in _tasks(run[0].snapshot)}


def _result(run: Sequence[_Checkpoint]) -> Any:
    last = run[-1].snapshot
    asked = [
        plain(getattr(one, "value", one))
        for task in _tasks(last)
        for one in getattr(task, "interrupts", None) or ()
    ]
    if asked:
        return {INTERRUPT: asked}
    values = plain(last.values)
    messages = values.get("messages") if isinstance(values, dict) else None
    return {"messages": plain(messages[-1:])} if isinstance(messages, list) and messages else values
