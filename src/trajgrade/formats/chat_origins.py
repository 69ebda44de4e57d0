"""Whose messages they are, where many speak the language of OpenAI's chat.

An origin is told by a mark that only it has: a key, a model, a protocol that the texts follow. What
bears none is OpenAI's own, or nobody's.
"""

from __future__ import annotations

from typing import Any, Literal

from trajgrade.formats import exchanges, text_dialects
from trajgrade.glimpse import Glimpse

Origin = Literal["cohere_chat", "mistral_chat", "mini_swe_agent", "stream"] | text_dialects.Dialect

_EVENTS = ("data:", "event:", "id:", "retry:", ":")
_MISTRAL = (
    "mistral-", "ministral-", "codestral-", "magistral-", "devstral-", "pixtral-", "voxtral-",
    "open-mistral-", "open-mixtral-",
)  # fmt: skip


def origin_of(seen: Glimpse) -> Origin | None:
    """Return the origin whose mark the data bears."""
    if "origin" not in seen.memo:
        seen.memo["origin"] = _origin_of(seen)
    found: Origin | None = seen.memo["origin"]
    return found


def _origin_of(seen: Glimpse) -> Origin | None:
    data = seen.data
    if isinstance(data, str) and is_stream(data):
        return "stream"
    dialect = text_dialects.of(data)
    if isinstance(data, dict):
        named = data.get("trajectory_format")
        if isinstance(named, str) and named.startswith("mini-swe-agent"):
            return "mini_swe_agent"
    if dialect is not None:
        return dialect
    if isinstance(data, dict):
        if _is_mistral(data.get("model")) and ("messages" in data or "choices" in data):
            return "mistral_chat"
        if _is_cohere(data.get("message")) and "finish_reason" in data:
            return "cohere_chat"
    if exchanges.are_exchanges(data):
        return "mistral_chat" if any(map(_is_mistral, exchanges.models_in(data))) else None
    keys = seen.item_keys
    if ("tool_plan" in keys or "citations" in keys) and any(map(_is_cohere, seen.items)):
        return "cohere_chat"
    if "prefix" in keys and any(map(_is_prefixed, seen.items)):
        return "mistral_chat"
    return None


def is_stream(text: str) -> bool:
    """Whether the text is server-sent events that hold chunks of the chat API."""
    begin = text.lstrip("\ufeff \r\n\t")
    return begin.startswith(_EVENTS) and '"delta"' in text and '"choices"' in text


def _is_mistral(model: Any) -> bool:
    return isinstance(model, str) and model.startswith(_MISTRAL)


def _is_prefixed(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") == "assistant"
        and isinstance(message.get("prefix"), bool)
    )


def _is_cohere(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    if isinstance(message.get("tool_plan"), str):
        return True
    citations = message.get("citations")
    return isinstance(citations, list) and any(
        isinstance(citation, dict) and isinstance(citation.get("sources"), list)
        for citation in citations
    )
