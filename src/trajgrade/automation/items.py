"""Items: a trace as rules see it.

All fields of the trace itself stand at the top, and once more under `trace`. What trajgrade reads
from it stands under `trajectory`, whatever its format, and the scores that it was given under
`scores`; these two names hide fields of the trace that are called so, which `trace.…` still finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajgrade.dataset.example import NAMES
from trajgrade.errors import TraceError
from trajgrade.trajectory import Trajectory

# What conditions can ask of a trajectory.
SEEN = ("format", "tools", "n_calls", "n_failed", "n_steps", "agents", "final_response")


def item_of(trace: Any, scores: Mapping[str, float | None] | None = None) -> dict[str, Any]:
    """Return a trace as rules see it.

    Args:
        trace: The trace, in any format; one that cannot be read has no `trajectory`, and
            `unreadable` says why.
        scores: What evaluators have said of it, by key.
    """
    own = dict(trace) if isinstance(trace, Mapping) else {}
    item = {**own, "trace": trace, "scores": dict(scores or {})}
    try:
        item["trajectory"] = seen_in(Trajectory.from_any(trace))
    except TraceError as broken:
        item.pop("trajectory", None)
        item["unreadable"] = str(broken)
    return item


def seen_in(trajectory: Trajectory) -> dict[str, Any]:
    """Return what conditions can ask of a trajectory, as plain objects."""
    calls = trajectory.tool_calls
    agents = dict.fromkeys(call.agent for call in calls if call.agent is not None)
    return {
        "format": trajectory.format,
        "tools": [call.name for call in calls],
        "n_calls": len(calls),
        "n_failed": sum(call.failed for call in calls),
        "n_steps": len(trajectory.steps),
        "agents": [*agents],
        "final_response": trajectory.final_response,
    }


def id_of(trace: Any, otherwise: str) -> str:
    """Return what names a trace: the first of its id fields, else what is given."""
    if isinstance(trace, Mapping):
        for name in ("trace_id", *NAMES["id"]):
            if isinstance(trace.get(name), (str, int)) and trace[name] != "":
                return str(trace[name])
    return otherwise
