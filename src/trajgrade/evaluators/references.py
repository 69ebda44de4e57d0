"""References that are not one list (SEMANTICS A9): several acceptable ones, and turns.

{"any_of": [reference, …]}     the best one counts
{"turns": [[call, …], …]}      group i against the calls that follow the i-th user turn
{"constraints": {…}}           what must hold of the tools that are called, also inside the others
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.trajectory import ToolCall, Trajectory

ANY_OF = "any_of"
TURNS = "turns"
CONSTRAINTS = "constraints"


def alternatives(reference: Any) -> list[Any] | None:
    """Return the references of `any_of`; None where the reference is another shape."""
    if not isinstance(reference, Mapping) or ANY_OF not in reference:
        return None
    options = reference[ANY_OF]
    if set(reference) != {ANY_OF} or not isinstance(options, (list, tuple)) or not options:
        raise MalformedTraceError(
            'a reference with "any_of" holds nothing else, and at least one reference in a list'
        )
    return list(options)


def groups_of(reference: Any) -> list[Any] | None:
    """Return what is expected of each turn; None where the reference is another shape."""
    if not isinstance(reference, Mapping) or TURNS not in reference:
        return None
    groups = reference[TURNS]
    if set(reference) != {TURNS} or not isinstance(groups, (list, tuple)) or not groups:
        raise MalformedTraceError(
            'a reference with "turns" holds nothing else, and at least one group of calls in a list'
        )
    return list(groups)


def turns_of(reference: Any) -> list[Trajectory] | None:
    """Return the trajectories of `turns`; None where the reference is another shape."""
    groups = groups_of(reference)
    return None if groups is None else [Trajectory.from_any(group) for group in groups]


def constraints_in(reference: Any) -> Any:
    """Return what stands under `constraints`; None where the reference is another shape."""
    if not isinstance(reference, Mapping) or CONSTRAINTS not in reference:
        return None
    if set(reference) != {CONSTRAINTS}:
        raise MalformedTraceError('a reference with "constraints" holds nothing else')
    return reference[CONSTRAINTS]


def constrains(reference: Any) -> bool:
    """Whether the reference is constraints, alone, in alternatives or turn by turn."""
    if not isinstance(reference, Mapping):
        return False
    if CONSTRAINTS in reference:
        return True
    inner = [reference.get(name) for name in (ANY_OF, TURNS)]
    return any(constrains(one) for some in inner if isinstance(some, list) for one in some)


def messages_of(trajectory: Trajectory) -> list[Sequence[ToolCall]]:
    """Return the calls of each message, hosted ones included; a call of none stands alone."""
    messages: list[Sequence[ToolCall]] = [step.tool_calls for step in trajectory.steps]
    within = [call.hosted for message in messages for call in message]
    if within.count(False) != len(trajectory.tool_calls):
        messages = [[call] for call in (*trajectory.tool_calls, *trajectory.hosted_calls)]
    else:
        loose = len(trajectory.hosted_calls) - within.count(True)
        messages += [[call] for call in trajectory.hosted_calls[: max(loose, 0)]]
    return messages


def cut_at_users(
    trajectory: Trajectory, pick: Callable[[Sequence[ToolCall]], Sequence[ToolCall]]
) -> list[list[Sequence[ToolCall]]]:
    """Return the messages with calls that follow each user turn, each as the calls that count.

    User messages in a row are one turn.

    Args:
        trajectory: The trace.
        pick: Returns those of one message's calls that count.

    Raises:
        TraceError: There is no user turn, or a call comes before the first.
    """
    turns: list[list[Sequence[ToolCall]]] = []
    speaking = False
    for step in trajectory.steps:
        if step.role == "user":
            if not speaking:
                turns.append([])
            speaking = True
            continue
        speaking = False
        calls = pick(step.tool_calls)
        if not calls:
            continue
        if not turns:
            raise TraceError(
                "a call comes before the first user turn, so that the trace cannot be compared "
                "turn by turn"
            )
        turns[-1].append(calls)
    if not turns:
        raise TraceError("the trace has no user turn, so it cannot be compared turn by turn")
    return turns
