"""Webhook: what Potato's webhook takes → a piece.

    {"id": "run-1", "task_description": "Buy milk", "status": "error",
     "steps": [{"action_type": "click", "thought": "…", "observation": "…", "element": {}}]}

Steps that are no format of their own become Potato's structured turns, beside all that was sent, so
that evaluators read them and rules still find `status`, `feedback`, `score`, `tags`. LangSmith's
runs, under `runs`, are kept as runs, beside what the first of them says. Anything else that
trajgrade reads is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajgrade import detection
from trajgrade.errors import AmbiguousTraceError, TraceError, UnknownTraceError, shorten
from trajgrade.glimpse import Glimpse
from trajgrade.inbox import Piece
from trajgrade.server.incoming import whole
from trajgrade.server.refusal import RefusedError

_ACTION = ("action_type", "type", "action", "name")
_RESULT = ("observation", "output", "result")
_ARGUMENTS = ("element", "coordinates", "viewport", "url", "value", "text", "input", "args")


def piece_of(payload: Any, at: float) -> tuple[Piece, int]:
    """Return what is kept of a payload, and how many steps it has.

    Args:
        payload: The payload.
        at: When it came.

    Raises:
        RefusedError: It is no trace.
    """
    if not isinstance(payload, Mapping):
        raise RefusedError("unreadable", f"an object is needed, got {shorten(payload)}", "a trace")
    trace = _readable(dict(payload))
    try:
        found = detection.read(Glimpse(trace, parsed=True))
    except TraceError as broken:
        raise RefusedError("invalid", str(broken), "a trace with `steps`") from None
    if len(found) != 1:
        raise RefusedError(
            "invalid", f"the payload holds {len(found)} traces", "one; POST /api/traces takes more"
        )
    steps = payload.get("steps", payload.get("runs"))
    return whole(trace, found[0], at), len(steps) if isinstance(steps, list) else len(
        found[0].steps
    )


def _readable(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload as some format reads it.

    Raises:
        RefusedError: Its steps are no steps.
    """
    runs = payload.get("runs")
    if isinstance(runs, list) and runs and all(isinstance(run, dict) for run in runs):
        beside = {key: value for key, value in payload.items() if key != "runs"}
        return {**runs[0], **beside, "post": runs}
    if "steps" not in payload or _is_known(payload):
        return payload
    steps = payload["steps"]
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise RefusedError("invalid", f"steps: a list of objects is needed, got {shorten(steps)}")
    return {**payload, "structured_turns": [_turn(step) for step in steps] or [_NOTHING]}


_NOTHING = {"role": "assistant", "content": ""}


def _is_known(payload: dict[str, Any]) -> bool:
    """Whether some format recognises the payload, whatever it makes of it."""
    try:
        return bool(detection.read(Glimpse(payload, parsed=True)))
    except UnknownTraceError:
        return False
    except (AmbiguousTraceError, TraceError):
        return True


def _turn(step: dict[str, Any]) -> dict[str, Any]:
    thought = step.get("thought")
    turn: dict[str, Any] = {"role": "assistant", "content": str(thought or "")}
    name = next((step[key] for key in _ACTION if isinstance(step.get(key), str)), None)
    if name:
        given = {key: step[key] for key in _ARGUMENTS if step.get(key) is not None}
        call: dict[str, Any] = {"tool": name, "input": given}
        result = next((step[key] for key in _RESULT if step.get(key) is not None), None)
        if result is not None:
            call["output"] = result
        turn["tool_calls"] = [call]
    return turn
