"""Parts of a run: what followed each user turn, and what each agent did.

A *turn* begins with a user message; user messages in a row are one turn. What comes before the
first belongs to it, as long as it holds no call: a call before any user message follows none, and
the run cannot be cut. An agent's part holds the outermost of its calls, wherever they are nested:
the calls of a sub-agent stand inside the call that ran it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from trajgrade.errors import TraceError, shorten

if TYPE_CHECKING:
    from trajgrade.trajectory import Step, ToolCall, Trajectory


def by_turn(run: Trajectory) -> list[Trajectory]:
    """Return the run cut at its user turns, each part a run of its own; at least one.

    Raises:
        TraceError: There is no user turn, a call comes before the first, or a call stands in no
            message and does not say which turn it follows.
    """
    groups, places = _cut(run.steps)
    apart: list[list[ToolCall]] = [[] for _ in groups]
    for call in _outside(run):
        if call.turn is None or call.turn >= len(places):
            raise TraceError(
                f"the call of {shorten(call.name)} stands in no message and does not say which "
                "turn it follows, so that the trace cannot be cut into turns"
            )
        apart[places[call.turn]].append(call)
    counted = {id(call) for call in (*run.tool_calls, *run.hosted_calls)}
    finals: list[str | msgspec.UnsetType | None] = [msgspec.UNSET] * len(groups)
    if run.final_response != _last_said(run.steps):
        finals[-1] = run.final_response  # the trace itself names its answer
    parts = []
    for steps, more, final in zip(groups, apart, finals, strict=True):
        within = (call for step in steps for call in step.tool_calls if id(call) in counted)
        parts.append(_part(run, steps, [*within, *more], final))
    return parts


def _cut(steps: Iterable[Step]) -> tuple[list[list[Step]], list[int]]:
    """Return the steps of each turn, and for each user message the turn that it is in."""
    early: list[Step] = []
    groups: list[list[Step]] = []
    places: list[int] = []
    speaking = False
    for step in steps:
        if step.role == "user":
            if not speaking:
                groups.append([] if groups else early)
            places.append(len(groups) - 1)
        elif not groups and step.tool_calls:
            raise TraceError(
                "a call comes before the first user turn, so that the trace cannot be compared "
                "turn by turn"
            )
        speaking = step.role == "user"
        (groups[-1] if groups else early).append(step)
    if not groups:
        raise TraceError("the trace has no user turn, so it cannot be compared turn by turn")
    return groups, places


def _outside(run: Trajectory) -> list[ToolCall]:
    """Return the calls that stand in no message."""
    held = {id(call) for step in run.steps for call in step.tool_calls}
    return [call for call in (*run.tool_calls, *run.hosted_calls) if id(call) not in held]


def _part(
    run: Trajectory,
    steps: Sequence[Step],
    calls: Iterable[ToolCall],
    final: str | msgspec.UnsetType | None = msgspec.UNSET,
    notes: Sequence[str] = (),
) -> Trajectory:
    calls = list(calls)
    return type(run)(
        steps,
        tool_calls=[call for call in calls if not call.hosted],
        hosted_calls=[call for call in calls if call.hosted],
        final_response=final,
        id=run.id,
        format=run.format,
        notes=(*run.notes, *notes),
    )


def _last_said(steps: Sequence[Step]) -> str | None:
    said = (step.content for step in reversed(steps) if step.role == "assistant" and step.content)
    return next(said, None)


def agents_of(run: Trajectory) -> list[str]:
    """Return the agents that made calls, in the order in which each made its first."""
    calls = _every([*run.tool_calls, *run.hosted_calls])
    return list(dict.fromkeys(call.agent for call in calls if call.agent is not None))


def _every(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    waiting = list(calls)[::-1]
    while waiting:
        call = waiting.pop()
        yield call
        waiting.extend(reversed(call.children))


def by_agent(run: Trajectory, name: str) -> Trajectory:
    """Return what one agent did: the outermost of its calls, and all that was said.

    An agent that made no call has none: its part says so in a note, with the agents there are.

    Raises:
        TraceError: The trace has calls and does not tell of any which agent made it.
    """
    known = agents_of(run)
    if not known and (run.tool_calls or run.hosted_calls):
        raise TraceError(
            f"the trace does not say which agent made its calls, so that those of {shorten(name)} "
            "cannot be told"
        )
    missed = f"the agent {shorten(name)} made no call; agents that did: {', '.join(known[:20])}"
    counted = {id(call) for call in (*run.tool_calls, *run.hosted_calls)}
    steps: list[Step] = []
    calls: list[ToolCall] = []
    for step in run.steps:
        made = _outermost((call for call in step.tool_calls if id(call) in counted), name)
        calls += made
        if made or step.content or not step.tool_calls:
            steps.append(msgspec.structs.replace(step, tool_calls=made))
    calls += _outermost(_outside(run), name)
    notes = () if name in known else (missed,)
    return _part(run, steps, calls, run.final_response, notes)


def _outermost(calls: Iterable[ToolCall], name: str) -> list[ToolCall]:
    found: list[ToolCall] = []
    waiting = list(calls)[::-1]
    while waiting:
        call = waiting.pop()
        if call.agent == name:
            found.append(call)
        else:
            waiting.extend(reversed(call.children))
    return found
