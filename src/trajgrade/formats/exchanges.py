"""Recorded requests and responses of an API → the messages of the run.

{"request": {"messages": […]}, "response": {"choices": [{"message": {…}}]}}     OpenAI's shape
{"request": {"messages": […]}, "response": {"type": "message", "content": […]}}  Anthropic's

One exchange on each line. Every request repeats what came before, so that the run is what stands in
the last request and the last response. What a response asked for and no later request holds was
dropped by the client: it is noted.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect


def are_exchanges(data: Any) -> bool:
    """Whether each line is a request with messages, and its response."""
    lines = data if isinstance(data, list) else [data]
    return bool(lines) and all(map(_is_exchange, lines))


def _is_exchange(line: Any) -> bool:
    if not isinstance(line, dict) or "response" not in line:
        return False
    request = line.get("request")
    return isinstance(request, dict) and isinstance(request.get("messages"), list)


def holds_exchanges(data: Any) -> bool:
    """Whether a line is an exchange; the others then have to be."""
    return any(map(_is_exchange, data if isinstance(data, list) else [data]))


def has_choices(data: Any) -> bool:
    """Whether they are exchanges, and a response has OpenAI's shape."""
    return are_exchanges(data) and any(
        isinstance(response, dict) and isinstance(response.get("choices"), list)
        for response in _responses(data)
    )


def has_blocks(data: Any) -> bool:
    """Whether they are exchanges, and a response has Anthropic's shape."""
    return are_exchanges(data) and any(
        isinstance(response, dict)
        and response.get("type") == "message"
        and isinstance(response.get("content"), list)
        for response in _responses(data)
    )


def _responses(data: Any) -> list[Any]:
    return [line["response"] for line in (data if isinstance(data, list) else [data])]


def models_in(data: Any) -> list[str]:
    """Return the names of the models that were asked and that answered."""
    lines = data if isinstance(data, list) else [data]
    sides = [line.get(side) for line in lines for side in ("request", "response")]
    names = [side.get("model") for side in sides if isinstance(side, dict)]
    return [name for name in names if isinstance(name, str)]


def messages_in(data: Any, notes: list[str]) -> list[Any]:
    """Return the messages of the last request and of the last response.

    Raises:
        MalformedTraceError: They hold none.
    """
    lines = data if isinstance(data, list) else [data]
    told: list[list[Any]] = []
    messages: list[Any] = []
    for at, line in enumerate(lines):
        raw = expect.record(line, f"line {at}")
        request = expect.record(raw.get("request"), f"line {at}, request")
        answers = _answers(raw.get("response"), f"line {at}, response")
        told.append(answers)
        if request.get("messages") is None:
            raise MalformedTraceError(f"line {at}, request: it holds no messages")
        messages = expect.array(request["messages"], f"line {at}, messages")
    if not told:
        raise MalformedTraceError("no line holds a request")
    messages = [*messages, *told[-1][:1]]
    kept = {key for message in messages for key in _ids(message)}
    dropped = [key for answers in told for one in answers for key in _ids(one) if key not in kept]
    if dropped:
        notes.append(
            f"{len(dropped)} calls that a response asks for stand in no later request "
            f"({shorten(dropped[:5])}); they are left out"
        )
    return messages


def _answers(response: Any, place: str) -> list[Any]:
    """Return the messages of a response, one for each choice; none where it is an error."""
    if not isinstance(response, dict):
        return []
    choices = expect.array(response.get("choices"), f"{place}, choices")
    found = [expect.record(choice, f"{place}, choices").get("message") for choice in choices]
    if isinstance(response.get("content"), list) and "role" in response:  # Anthropic's
        found.append({"role": response["role"], "content": response["content"]})
    return [message for message in found if message is not None]


def _ids(message: Any) -> list[str]:
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    held = calls if isinstance(calls, list) else []
    ids = [call.get("id") for call in held if isinstance(call, dict)]
    return [key for key in ids if isinstance(key, str)]
