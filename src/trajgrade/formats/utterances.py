"""What a model was told and said, as recorders of spans write it → utterances.

Recorders keep what the model's client took and gave, in whatever shape that had: messages of
OpenAI, Anthropic, Bedrock, Gemini, LangChain, LlamaIndex, the AI SDK; the parts of OpenTelemetry's
GenAI convention; whole responses; each as an object, as JSON text or as the repr of Python. All are
read alike and leniently here, since what a span holds beside its messages is nobody's business.
That an object is a call is known from its keys; one whose tool has no name is no call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from trajgrade import jsontext
from trajgrade.formats.message_pieces import (
    ANSWERED,
    Answer,
    Asked,
    answer_of,
    call_of,
    id_of,
    kind_of,
    name_of,
)
from trajgrade.formats.python_calls import literal_in

ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant",
    "model": "assistant", "bot": "assistant", "system": "system", "developer": "system",
    "tool": "tool", "function": "tool",
}  # fmt: skip
_LEVELS = 12
_TEXTUAL = frozenset({"text", "output_text", "input_text", None})
_WRAPPERS = (
    "messages", "message", "choices", "contents", "candidates", "generations", "update", "value",
    "input", "output", "outputs", "result", "response",
)  # fmt: skip
_TEXTS = {
    "assistant": (
        "raw",
        "text",
        "content",
        "output",
        "answer",
        "final_answer",
        "response",
        "result",
    ),
    "user": ("prompt", "input", "question", "query", "text"),
}  # fmt: skip


class Said(NamedTuple):
    """One message."""

    role: str
    text: str = ""
    calls: tuple[Asked, ...] = ()
    answers: tuple[Answer, ...] = ()


def utterances(value: Any, role: str = "assistant", levels: int = _LEVELS) -> list[Said]:
    """Return the messages that a value holds.

    Args:
        value: Whatever was recorded.
        role: Who speaks, where it does not say.
        levels: How deep to look.
    """
    if not levels:
        return []
    if isinstance(value, str):
        held = parsed(value)
        inner = utterances(held, role, levels - 1) if held is not value else []
        plain = value if role == "assistant" or held is value else ""
        return inner or ([Said(role, plain)] if plain else [])
    if isinstance(value, (list, tuple)):
        if value and all(_is_piece(item) for item in value):
            return [_of_blocks(role, value)]
        return [said for item in value for said in utterances(item, role, levels - 1)]
    if isinstance(value, dict):
        return _of_record(value, role, levels)
    return []


def last_text(value: Any) -> str | None:
    """Return the last text that the value holds as said by the assistant; None where none."""
    said = (one.text for one in reversed(utterances(value)) if one.role == "assistant")
    return next((text for text in said if text), None)


def parsed(text: str) -> Any:
    """Return what a text holds as JSON or as Python's repr, if that is an object or a list."""
    begin = text.lstrip()[:1]
    if begin not in ("{", "["):
        return text
    try:
        return jsontext.loads(text)
    except ValueError:
        held = literal_in(text)
        return held if isinstance(held, (dict, list)) else text


def _of_record(value: dict[str, Any], role: str, levels: int) -> list[Said]:
    value = _unpacked(value)
    if value.get("role") == "tool" and "output" in value:
        answer = Answer(id_of(value, ANSWERED), name_of(value), value["output"])
        return [Said("tool", answers=(answer,))]
    if _is_piece(value):
        return [_of_blocks(role, [value])]
    if _is_message(value):
        return [_of_message(value, role)]
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, (dict, list)) and inner:
            found = utterances(inner, role, levels - 1)
            if found:
                return found
    for key in _TEXTS.get(role, ()):
        if isinstance(value.get(key), str) and value[key]:
            return [Said(role, value[key])]
    return []


def _unpacked(value: dict[str, Any]) -> dict[str, Any]:
    """Return a message of LangChain's without what it is packed in."""
    inner, path = value.get("kwargs"), value.get("id")
    if "lc" in value and isinstance(inner, dict) and isinstance(path, list) and path:
        return {"type": path[-1], **inner}
    inner = value.get("data")
    if isinstance(inner, dict) and kind_of(value) in ROLES:
        return {**inner, "type": value["type"]}
    return value


def _is_message(value: dict[str, Any]) -> bool:
    if not any(key in value for key in ("content", "parts", "tool_calls", "blocks")):
        return False
    inner = value.get("content")
    spoken = isinstance(value.get("role"), str) or kind_of(value) in (*ROLES, "message")
    return spoken or isinstance(value.get("parts"), list) or isinstance(inner, (list, dict))


def _role(value: dict[str, Any], default: str) -> str:
    for word in (value.get("role"), kind_of(value)):
        if isinstance(word, str) and word.lower() in ROLES:
            return ROLES[word.lower()]
    # Recorders put the definitions of tools among what the model was told.
    return "other" if default == "user" and isinstance(value.get("role"), str) else default


def _of_message(value: dict[str, Any], default: str) -> Said:
    role = _role(value, default)
    content = value.get("content")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        inner = _of_message(content, role)
        return inner._replace(role=inner.role if isinstance(content.get("role"), str) else role)
    held = content if content is not None else value.get("parts", value.get("blocks"))
    blocks = held if isinstance(held, list) else [held]
    said = _of_blocks(role, blocks)
    if role == "tool":
        if said.answers:
            return said
        answer = Answer(id_of(value, ANSWERED[1:]), name_of(value), content)
        return Said(role, said.text, answers=(answer,))
    extra = value.get("additional_kwargs")
    for place in (value, extra if isinstance(extra, dict) else {}):
        for key in ("tool_calls", "function_call"):
            calls = _asked(place.get(key))
            if calls:  # the copies among the blocks do not count
                return said._replace(calls=calls)
    written = _asked(parsed(content)) if isinstance(content, str) and role == "assistant" else ()
    return said._replace(text="", calls=written) if written else said


def _of_blocks(role: str, blocks: Iterable[Any]) -> Said:
    texts: list[str] = []
    calls: list[Asked] = []
    answers: list[Answer] = []
    for block in blocks:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict):
            answer = answer_of(block)
            call = None if answer else call_of(block)
            if answer is not None:
                answers.append(answer)
            elif call is not None:
                calls.append(call)
            else:
                texts.append(_text(block))
    if answers and not calls and not any(texts):
        role = "tool"
    return Said(role, "".join(texts), tuple(calls), tuple(answers))


def _text(block: dict[str, Any]) -> str:
    if kind_of(block) not in _TEXTUAL or block.get("thought") is True:
        return ""
    text = block.get("text", block.get("content"))
    return text if isinstance(text, str) else ""


def _is_piece(item: Any) -> bool:
    """Whether it is a call, an answer or a text, and no whole message."""
    if not isinstance(item, dict) or isinstance(item.get("role"), str):
        return False
    if answer_of(item) is not None or call_of(item) is not None:
        return True
    return kind_of(item) in ("text", "output_text") and bool(_text(item))


def _asked(held: Any) -> tuple[Asked, ...]:
    items = held if isinstance(held, list) else [held]
    calls = [call_of(item, bare=True) for item in items if isinstance(item, dict)]
    if not isinstance(held, (list, dict)) or None in calls or len(calls) != len(items):
        return ()
    return tuple(call for call in calls if call is not None)
