"""A trajectory → another shape: trajgrade's own, OpenAI's messages, Potato's conversation.

    own       all that trajgrade knows of the run, as `Trajectory.to_dict`
    openai    `{"id": …, "messages": […]}` of OpenAI's chat API
    potato    Potato's canonical trace: `conversation`, and `structured_turns` with the calls

No call is lost: what was written is read back, and where names, arguments, their order or what is
known of them differ, the conversion is refused. OpenAI's messages cannot say that arguments were
not recorded. What else a shape has no place for (calls that the provider ran, the calls inside a
call, who made it, when, and whether it failed) is left out, and said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from trajgrade import jsontext
from trajgrade.errors import ConfigError, TraceError, shorten, unknown
from trajgrade.matching.values import canonical
from trajgrade.trajectory import CanonicalTrace, Step, ToolCall, Trajectory

Record = dict[str, Any]


class Converted(NamedTuple):
    """A trajectory in another shape.

    Attributes:
        record: The shape, as plain objects.
        left_out: What it has no place for, in words, and how many of it there are.
    """

    record: Record
    left_out: Mapping[str, int]


def convert(run: Trajectory, to: str) -> Converted:
    """Return the trajectory in another shape.

    Args:
        run: The trajectory.
        to: `own`, `openai` or `potato`.

    Raises:
        ConfigError: There is no such shape.
        TraceError: The shape cannot hold the calls as they are.
    """
    if to not in TARGETS:
        raise ConfigError(f"to: {unknown('shape', to, sorted(TARGETS))}")
    converted = TARGETS[to](run)
    wanted = _calls(run)
    try:
        back = Trajectory.from_any(jsontext.read_back(jsontext.dumps(converted.record)))
    except TraceError as broken:
        raise TraceError(f"as {to} the trace could not be read again: {broken}") from broken
    found = _calls(back)
    if found == wanted:
        return converted
    at = next(
        (at for at, both in enumerate(zip(wanted, found, strict=False)) if both[0] != both[1]),
        min(len(wanted), len(found)),
    )
    one = shorten(run.tool_calls[at].name, 60) if at < len(wanted) else "no more"
    other = shorten(back.tool_calls[at].name, 60) if at < len(found) else "none"
    raise TraceError(
        f"as {to} the trace would not be read as the same calls: {len(found)} for {len(wanted)}, "
        f"call {at} being {other} for {one}; convert it to own"
    )


def _calls(run: Trajectory) -> list[Any]:
    return [
        (call.name, call.args_state, canonical(call.args if _given(call) else {}))
        for call in run.tool_calls
    ]


def _given(call: ToolCall) -> bool:
    """Whether there are arguments: null, "" and {} are none (SEMANTICS A2)."""
    return call.args_state != "unknown" and call.args not in (None, "", {})


def _own(run: Trajectory) -> Converted:
    return Converted(run.to_dict(), {})


def _openai(run: Trajectory) -> Converted:
    messages: list[Record] = []
    unheard = 0
    shown: set[str] = set()
    keys = _keys(run)
    for step in placed(run):
        calls = [call for call in step.tool_calls if not call.hosted]
        if step.role == "tool":
            unheard += step.content not in shown
            continue
        if calls or step.content or not step.tool_calls:
            message: Record = {"role": step.role, "content": step.content or None}
            if step.role != "assistant" or not calls:
                message["content"] = step.content
            if calls:
                message["tool_calls"] = [_asked(call, keys[id(call)]) for call in calls]
            messages.append(message)
        for call in calls:
            if call.result is not None:
                text = _written(call.result)
                shown |= _texts(call.result)
                messages.append({
                    "role": "tool", "tool_call_id": keys[id(call)], "content": text,
                })  # fmt: skip
    record = {"messages": messages} if run.id is None else {"id": run.id, "messages": messages}
    lost = {**_left_out(run, states=True), "results that belong to no call": unheard}
    return Converted(record, _some(lost))


def _keys(run: Trajectory) -> dict[int, str]:
    """Return an id for each call: its own, or one that no other call has."""
    taken = {call.id for call in run.tool_calls}
    fresh = (key for number in range(10**9) if (key := f"call_{number}") not in taken)
    return {id(call): call.id or next(fresh) for call in run.tool_calls}


def _asked(call: ToolCall, key: str) -> Record:
    if call.args_state == "unknown":
        raise TraceError(
            f"the arguments of {shorten(call.name)} were not recorded, and OpenAI's messages "
            "cannot say so; convert it to own or to potato"
        )
    if call.args_state == "text":
        return {"id": key, "type": "custom", "custom": {"name": call.name, "input": call.args}}
    raw = (
        call.args if call.args_state == "unparseable" else _json(call.args if _given(call) else {})
    )
    return {"id": key, "type": "function", "function": {"name": call.name, "arguments": raw}}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=shorten)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _texts(result: Any) -> set[str]:
    """Return how a result may be written in the step that shows it."""
    return {_written(result), "" if isinstance(result, str) else jsontext.dumps(result).decode()}


_SPEAKERS: Mapping[str, str] = {
    "user": "User", "assistant": "Agent", "system": "System", "tool": "Environment",
}  # fmt: skip


def _potato(run: Trajectory) -> Converted:
    said: list[Record] = []
    turns: list[Record] = []
    shown: set[str] = set()
    for step in placed(run):
        calls = [call for call in step.tool_calls if not call.hosted]
        if step.role == "tool" and step.content in shown:
            continue  # the call that it answers shows it
        if step.content or not step.tool_calls:
            said.append({"speaker": _SPEAKERS[step.role], "text": step.content})
        if step.role != "tool" and (calls or step.content or not step.tool_calls):
            turn: Record = {"role": step.role, "content": step.content}
            turns.append({**turn, "tool_calls": [_done(call) for call in calls]} if calls else turn)
        for call in calls:
            args = "?" if call.args_state == "unknown" else _written(call.args)
            said.append({"speaker": "Agent (Action)", "text": f"{call.name}({args})"})
            if call.result is not None:
                shown |= _texts(call.result)
                said.append({"speaker": "Environment", "text": _written(call.result)})
    first = next((step.content for step in run.steps if step.role == "user"), "")
    trace = CanonicalTrace(
        id=run.id or "",
        task_description=first,
        conversation=said,
        extra_fields={"structured_turns": turns} if turns else {},
    )
    return Converted(trace.to_dict(), _some(_left_out(run, states=False)))


def _done(call: ToolCall) -> Record:
    record: Record = {"tool": call.name, "input": call.args}
    if call.id is not None:
        record["id"] = call.id
    if call.result is not None:
        record["output"] = call.result
    if call.status != "unknown":
        record["status"] = call.status
    if call.args_state != "ok":
        record["args_state"] = call.args_state
    if call.agent is not None:
        record["agent"] = call.agent
    return record


TARGETS: Mapping[str, Callable[[Trajectory], Converted]] = {
    "own": _own, "openai": _openai, "potato": _potato,
}  # fmt: skip


def _left_out(run: Trajectory, *, states: bool) -> dict[str, int]:
    """Count what a shape of messages and calls has no place for; `states`: nor for who and how."""
    calls = run.tool_calls
    found = {
        "hosted calls": len(run.hosted_calls),
        "calls with others inside": sum(bool(call.children) for call in calls),
        "text actions": len(run.actions),
        "times of calls": sum(bool(call.started_at or call.ended_at) for call in calls),
    }
    if states:
        found["failures of calls"] = sum(call.failed for call in calls)
        found["agents of calls"] = sum(call.agent is not None for call in calls)
    return found


def _some(found: Mapping[str, int]) -> dict[str, int]:
    return {what: number for what, number in found.items() if number}


def placed(run: Trajectory) -> list[Step]:
    """Return the steps with every call in one of them.

    Calls that stand in no message go to the end of the turn that they follow, where each says so
    and in that order; else they stand before the last answer.
    """
    within = [call for step in run.steps for call in step.tool_calls if not call.hosted]
    if list(map(id, within)) == list(map(id, run.tool_calls)):
        return list(run.steps)
    steps = [
        msgspec.structs.replace(step, tool_calls=[call for call in step.tool_calls if call.hosted])
        for step in run.steps
    ]
    users = [at for at, step in enumerate(steps) if step.role == "user"]
    named = [call.turn for call in run.tool_calls]
    turns = [turn for turn in named if turn is not None and turn < len(users)]
    if len(turns) == len(named) and turns == sorted(turns):
        for turn in reversed(range(len(users))):
            mine = [call for call in run.tool_calls if call.turn == turn]
            end = users[turn + 1] if turn + 1 < len(users) else len(steps)
            at = _before_answer(steps[:end], users[turn] + 1)
            steps[at:at] = [Step("assistant", "", [call]) for call in mine]
        return steps
    at = _before_answer(steps, 0)
    steps[at:at] = [Step("assistant", "", [call]) for call in run.tool_calls]
    return steps


def _before_answer(steps: list[Step], start: int) -> int:
    """Return the place before the last step, where that is what the assistant says at the end."""
    last = len(steps) - 1
    says = last >= start and steps[last].role == "assistant" and steps[last].content
    return last if says else len(steps)
