"""Chat messages, as the API sends them and as people write them → Trajectory: the one reader.

Two kinds of message are read alike. A `Message` is strict: what decodes to it, from JSON text or
from parsed data, is a message of the chat API and nothing else, so that it is decoded and read
without being looked at before. A `Loose` one is made of a message that is more or less than that.

Only the calls and their results are read at once; steps and texts when they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import force_setattr

from trajgrade.formats import text_dialects
from trajgrade.formats.arguments import SHORT, decode, parsed
from trajgrade.formats.assembly import Waiting, stray
from trajgrade.formats.content import shown, text_of
from trajgrade.trajectory import ArgsState, CallStatus, Step, ToolCall, Trajectory


class Function(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What is called: a name, and arguments as JSON text or as an object."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    arguments: Any = None


class Call(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A member of `tool_calls`."""

    function: Function
    id: str | None = None
    type: Literal["function"] | None = None
    index: int | None = None


class Message(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A message with the keys of the chat API; the plain text of its content, if any."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    annotations: list[Any] | None = None
    function_call: None = None
    audio: None = None


class Loose(msgspec.Struct, gc=False):
    """A message whose calls are read already.

    Attributes:
        role: One of the roles of a `Message`.
        content: Its content, of any shape that has a text.
        tool_calls: Its calls.
        tool_call_id: The call that it answers.
        name: The tool that it answers for.
        refusal: Text in place of a content.
        status: Whether the call that it answers succeeded.
    """

    role: str
    content: Any = None
    tool_calls: list[ToolCall] = []
    tool_call_id: str | None = None
    name: str | None = None
    refusal: str | None = None
    status: CallStatus = "unknown"


WIRE = list[Message]
ROLES = {"developer": "system", "function": "tool"}


def read(  # noqa: C901 calls and results in one pass: the hot path of the whole package
    messages: Sequence[Message | Loose],
    format: str | None = None,  # noqa: A002 the field's word for it
    notes: Sequence[str] = (),
    id: str | None = None,  # noqa: A002 the field's word for it
) -> Trajectory:
    """Read a conversation.

    Args:
        messages: Its messages, in order.
        format: The name of the format; by default `openai_chat`, or `chat` where nothing is called.
        notes: What was unusual so far.
        id: The conversation's id.

    Raises:
        MalformedTraceError: The arguments of a call are nested too deeply.
    """
    remarks = list(notes)
    calls: list[ToolCall] = []
    turn: int | None = None
    hosted = told = False
    # Nearly always the next result is that of the next call; else the waiting ones are kept by id.
    answered = 0
    waiting: Waiting | None = None
    for message in messages:
        asked = message.tool_calls
        if asked:
            for call in asked:
                if type(call) is Call:
                    name, raw = call.function.name, call.function.arguments
                    args: Any = None
                    state: ArgsState = "ok"
                    if type(raw) is str and len(raw) <= SHORT:
                        # As `parsed` does it; most arguments are read here.
                        try:
                            args = decode(raw)
                        except ValueError:
                            args = None
                    if not args:
                        args, state = parsed(raw, name, remarks)
                    made = ToolCall(name, args, state, call.id, None, "unknown", False, None, turn)
                else:
                    made = _placed(call, turn)
                    hosted = hosted or made.hosted
                    if made.result is not None:
                        told = True
                        if waiting is None:
                            waiting = Waiting(calls[answered:])
                calls.append(made)
                if waiting is not None and made.result is None:
                    waiting.add(made)
        role = message.role
        if role == "tool" or role == "function":  # noqa: PLR1714 the hot path
            key = message.tool_call_id
            if waiting is None and key and answered < len(calls) and calls[answered].id == key:
                found: ToolCall | None = calls[answered]
                answered += 1
            else:
                if waiting is None:
                    waiting = Waiting(calls[answered:])
                found = waiting.take(key, message.name)
            if found is None:
                if key or not told:  # else it may be the text of a result that a call has already
                    remarks.append(stray(key, message.name))
                continue
            force_setattr(found, "result", message.content)
            if type(message) is Loose and message.status != "unknown":
                force_setattr(found, "status", message.status)
        elif role == "user":
            turn = 0 if turn is None else turn + 1
    return Trajectory(
        partial(_steps, messages, calls),
        tool_calls=[call for call in calls if not call.hosted] if hosted else calls,
        hosted_calls=[call for call in calls if call.hosted] if hosted else (),
        id=id,
        format=format or ("openai_chat" if calls else "chat"),
        notes=remarks,
    )


def read_wire(messages: list[Message]) -> Trajectory:
    """Read messages that were decoded from `WIRE`.

    Raises:
        MalformedTraceError: The arguments of a call are nested too deeply.
    """
    found = read(messages)
    if not found.tool_calls:
        said = [(message.role, message.content or "") for message in messages]
        dialect = text_dialects.of_said(said)
        if dialect is not None:  # the calls are written in the texts
            return text_dialects.read(said, dialect)
    return found


def _placed(call: Any, turn: int | None) -> ToolCall:
    made: ToolCall = call
    if made.turn is None and turn is not None:
        force_setattr(made, "turn", turn)
    return made


def _steps(messages: Sequence[Message | Loose], calls: Sequence[ToolCall]) -> list[Step]:
    steps = []
    at = 0
    for message in messages:
        content = message.content
        role = ROLES.get(message.role, message.role)
        if type(content) is str:
            text = content
        else:
            text = shown(content, "result") if role == "tool" else text_of(content)
        end = at + len(message.tool_calls or ())
        steps.append(Step(role, text or message.refusal or "", list(calls[at:end])))
        at = end
    return steps
