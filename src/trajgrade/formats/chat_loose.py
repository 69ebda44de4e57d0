"""Messages as people write them → the reader's `Loose` ones.

Any mixture of what is found under `role` and `content` in one conversation: texts, calls with a
`function` or plain, the older `function_call`, calls by bare name, content as blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import bounded, given, parsed
from trajgrade.formats.assembly import status_of
from trajgrade.formats.chat_wire import WIRE, Loose, read
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.plain_call import call_of
from trajgrade.trajectory import ToolCall, Trajectory

ROLES = {
    **{role: role for role in ("system", "developer", "user", "assistant", "tool", "function")},
    "human": "user", "ai": "assistant", "model": "assistant", "bot": "assistant",
}  # fmt: skip
_BESIDE = frozenset({"function"})
_TOLD = frozenset({"role", "content", "tool_calls"})


def messages_of(data: Any) -> list[Any]:
    """Return the messages: the list itself, the one under `messages`, or the only one.

    A list of calls alone, under `tool_calls` or bare, is one message by the assistant.
    """
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    if isinstance(data, list):
        bare = bool(data) and all(isinstance(i, dict) and "function" in i for i in data)
        return [{"role": "assistant", "tool_calls": data}] if bare else data
    return []


def choices_in(data: Any) -> list[dict[str, Any]]:
    """Return the choices of the API's response, each as a conversation; none where it is none.

    Raises:
        MalformedTraceError: A choice holds no message.
    """
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices:
        return []
    messages = [choice.get("message") if isinstance(choice, dict) else None for choice in choices]
    if not all(isinstance(message, dict) for message in messages):
        return []
    if not all(_TOLD & message.keys() for message in messages if message is not None):
        raise MalformedTraceError("a choice holds no message with role, content or tool_calls")
    return [{"messages": [message], "id": data.get("id")} for message in messages]


def conversation(
    data: Any,
    format: str,  # noqa: A002 the field's word for it
    before: Iterable[str] = (),
) -> Trajectory:
    """Read one conversation.

    Args:
        data: Its messages.
        format: The name of the format.
        before: What was unusual so far.

    Raises:
        MalformedTraceError: It breaks the rules.
    """
    items = messages_of(data)
    key = data.get("id") if isinstance(data, dict) else None
    id = key if isinstance(key, str) else None  # noqa: A001 the field's word for it
    try:
        return read(msgspec.convert(items, WIRE), format, list(before), id)
    except (ValueError, RecursionError):
        notes = list(before)
        return read(loosened(items, notes), format, notes, id)


def loosened(items: Iterable[Any], notes: list[str], place: str | None = None) -> list[Loose]:
    """Return the messages.

    Args:
        items: Messages; a text is one by the assistant.
        notes: Gets a sentence for each thing unusual.
        place: Where they stand, for a message; by default their number.

    Raises:
        MalformedTraceError: One of them breaks the rules.
    """
    return [_message(item, place or f"message {at}", notes) for at, item in enumerate(items)]


def _message(item: Any, place: str, notes: list[str]) -> Loose:
    if isinstance(item, str):
        return Loose("assistant", item)
    raw = expect.record(item, place)
    if raw and raw.keys().isdisjoint((*_TOLD, "function_call")):
        raise MalformedTraceError(f"{place}: no message: it has none of {', '.join(sorted(_TOLD))}")
    role = ROLES.get(raw.get("role", "assistant")) if _hashable(raw.get("role")) else None
    if role is None:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(raw.get('role'))}; known are {', '.join(ROLES)}"
        )
    content = raw.get("content")
    answers = role in ("tool", "function")
    content = result_of(content, place) if answers else text_of(content, place)
    return Loose(
        role,
        content,
        _calls(raw, place, notes),
        expect.identifier(raw.get("tool_call_id"), f"{place}, tool_call_id"),
        expect.text(raw.get("name"), f"{place}, name"),
        expect.text(raw.get("refusal"), f"{place}, refusal"),
        "error" if raw.get("is_error") is True else status_of(raw.get("status")),
    )


def _hashable(role: Any) -> bool:
    return role is None or isinstance(role, str)


def _calls(raw: dict[str, Any], place: str, notes: list[str]) -> list[ToolCall]:
    calls = [
        _call(call, f"{place}, call {at}", notes)
        for at, call in enumerate(expect.array(raw.get("tool_calls"), f"{place}, tool_calls"))
    ]
    legacy = raw.get("function_call")
    if legacy is not None:
        older = _function(legacy, f"{place}, function_call", notes)
        # A proxy fills both keys with the one call, for clients old and new.
        if [(call.name, call.args) for call in calls] != [(older.name, older.args)]:
            calls.append(older)
    return calls


def _call(call: Any, place: str, notes: list[str]) -> ToolCall:
    if isinstance(call, dict) and call.get("function") is not None:
        key = expect.identifier(call.get("id"), f"{place}, id")
        return _function(call["function"], place, notes, key, call)
    if isinstance(call, dict) and isinstance(call.get("custom"), dict):
        custom = call["custom"]
        name = expect.name(custom.get("name"), place)
        key = expect.identifier(call.get("id"), f"{place}, id")
        text = given(custom, "input", f"{place} ({name})")
        bounded(text, f"{place} ({name})")
        return ToolCall(name, text, "text", key)
    return call_of(call, place, notes)


def _function(
    raw: Any,
    place: str,
    notes: list[str],
    key: str | None = None,
    around: dict[str, Any] | None = None,
) -> ToolCall:
    function = expect.record(raw, place)
    name = expect.name(function.get("name"), place)
    # Arguments that stand beside the function, not in it, are the call's too.
    held = {**around, **function} if around else function
    place = f"{place} ({name})"
    args, state = parsed(given(held, "arguments", place, _BESIDE), place, notes)
    return ToolCall(name, args, state, key)
