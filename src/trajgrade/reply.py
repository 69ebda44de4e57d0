"""Reply: what an agent returned, as its response and its trace.

    "Yes, at 09:14."                                             a response, no trace
    {"response": "Yes.", "predicted_trajectory": […]}            as Vertex AI's runnables return it
    {"output": "Yes.", "intermediate_steps": [[action, observation], …]}        LangChain's agents
    messages, a graph's state, a Trajectory, …                   any trace that trajgrade reads

The trajectory may be JSON text. Either part may be missing; an agent that returned neither, or
None, returned nothing. An object may also say what the answer took: `usage`, as a number of tokens
or as providers write it, and `cost`, a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trajgrade.detection import claimants
from trajgrade.errors import MalformedTraceError, TraceError, shorten
from trajgrade.glimpse import Glimpse
from trajgrade.jsontext import loads
from trajgrade.trajectory import Trajectory

RESPONSES = ("response", "output")
TRAJECTORY = "predicted_trajectory"
STEPS = "intermediate_steps"
_USAGE = ("usage", "usage_metadata", "usageMetadata")


def read_written(written: bytes) -> Any:
    """Return what a program or a server wrote as its answer: JSON, JSON Lines, or a text.

    It is JSON where it begins as an object, a list or a quoted text does, and can be read; a number
    or a word alone is a text. A blank answer is none.
    """
    text = written.decode("utf-8", errors="replace").strip()
    if not text:
        return None
    if text[0] not in '{["':
        return text
    try:
        return loads(text)
    except ValueError:
        return _lines(text) if text[0] == "{" else text


def _lines(text: str) -> Any:
    """Return the objects of JSON Lines; of any other text, the text."""
    try:
        return [loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return text


class Reply(NamedTuple):
    """What an agent returned.

    Attributes:
        response: Its answer, a text or a structure; None where it has none apart from the trace.
        outputs: Its trace as it was returned; None where it returned none.
        tokens: How many tokens it says it used; None where it says nothing.
        cost: What it says the answer cost; None where it says nothing.
    """

    response: Any = None
    outputs: Any = None
    tokens: int | None = None
    cost: float | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither."""
        return self.response is None and self.outputs is None


def read_reply(returned: Any) -> Reply:
    """Read what an agent returned.

    Raises:
        TraceError: The intermediate steps are none.
    """
    if isinstance(returned, str):
        held = _held(returned)
        return Reply(returned) if held is None else read_reply(held)
    if returned is None or isinstance(returned, (bool, int, float)):
        return Reply(returned)
    if isinstance(returned, Mapping):
        found = dict(returned)
        return _from_mapping(found)._replace(tokens=tokens_of(found), cost=_cost_of(found))
    return Reply(outputs=returned)


def _held(text: str) -> dict[str, Any] | None:
    """Return the reply that a JSON text holds; None where it is any other text."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        held = loads(text)
    except ValueError:
        return None
    marked = isinstance(held, dict) and (TRAJECTORY in held or STEPS in held)
    return held if marked else None


def _from_mapping(returned: dict[str, Any]) -> Reply:
    if TRAJECTORY in returned or STEPS in returned:
        response = next((returned[key] for key in RESPONSES if key in returned), None)
        trajectory = returned.get(TRAJECTORY)
        if trajectory is None and returned.get(STEPS) is not None:
            trajectory = calls_of_steps(returned[STEPS])
        return Reply(response, trajectory)
    spoken = next((returned[key] for key in RESPONSES if isinstance(returned.get(key), str)), None)
    if claimants(Glimpse(returned)):
        return Reply(spoken, returned)
    if spoken is not None or any(key in returned for key in RESPONSES):
        return Reply(next(returned[key] for key in RESPONSES if key in returned))
    return Reply(response=returned)


_TOTALS = ("total_tokens", "totalTokenCount", "total")
_PARTS = (
    ("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"),
    ("promptTokenCount", "candidatesTokenCount"),
)  # fmt: skip


def tokens_of(returned: Mapping[str, Any]) -> int | None:
    """Return how many tokens an answer says it took: a total, or what went in and came out."""
    usage = next((returned[key] for key in _USAGE if returned.get(key) is not None), None)
    if not isinstance(usage, Mapping):
        return _count(usage)
    totals = [found for key in _TOTALS if (found := _count(usage.get(key))) is not None]
    if totals:
        return totals[0]
    for keys in _PARTS:
        parts = [part for key in keys if (part := _count(usage.get(key))) is not None]
        if parts:
            return sum(parts)
    return None


def _count(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _cost_of(returned: Mapping[str, Any]) -> float | None:
    cost = returned.get("cost")
    if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < math.inf:
        return float(cost)
    return None


def calls_of_steps(steps: Any) -> list[Any] | Trajectory:
    """Return the calls of LangChain's intermediate steps, as Vertex AI writes them.

    Raises:
        TraceError: A step names no tool.
    """
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        return Trajectory.from_any(steps)
    calls = []
    for at, step in enumerate(steps):
        pair = isinstance(step, (list, tuple)) and len(step) in (1, 2)
        name, args = _action(step[0] if pair else step)
        if not isinstance(name, str):
            raise MalformedTraceError(f"{STEPS}[{at}] names no tool: {shorten(step)}")
        call = {"tool_name": name, "tool_input": args}
        if pair and len(step) == 2 and step[1] is not None:
            call["tool_output"] = step[1]
        calls.append(call)
    return calls


def _action(action: Any) -> tuple[Any, Any]:
    """Return the tool and its input of an action: an object, its fields, or its serialised form."""
    if isinstance(action, Mapping):
        inner = action.get("kwargs")
        fields = inner if isinstance(inner, Mapping) else action
        return fields.get("tool", fields.get("tool_name")), fields.get("tool_input")
    return getattr(action, "tool", None), getattr(action, "tool_input", None)


def calls_of(value: Any) -> Any:
    """Return a trajectory as Vertex AI writes it, a list of calls; what is none, as it is."""
    if value is None or _is_calls(value):
        return value
    try:
        made = Trajectory.from_any(value).tool_calls
    except TraceError:
        return value
    return [{"tool_name": call.name, "tool_input": call.args} for call in made]


def _is_calls(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(call, Mapping) and "tool_name" in call for call in value
    )


def said_in(value: Any) -> Any:
    """Return the final response of a trace; None where it has none, or is none."""
    try:
        return Trajectory.from_any(value).final_response if value is not None else None
    except TraceError:
        return None
