"""An object among recorded messages → the call that it asks for, or the answer that it gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from trajgrade.formats.arguments import is_schema, stray_key

_ARGUMENTS = (
    "arguments", "args", "input", "kwargs", "tool_kwargs", "parameters", "tool_input", "tool_args",
)  # fmt: skip
_NAMES = ("name", "toolName", "tool_name")
_IDS = ("id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_id")
_ANSWERS = ("response", "result", "output", "content")
ANSWERED = ("tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "call_id", "id")
_CALLS = frozenset({
    "tool_call", "tool_use", "function_call", "custom_tool_call", "mcp_call", "tool-call",
    "mcp_tool_use", "function", "server_tool_use", "server_tool_call", "toolUse",
})  # fmt: skip
_RESULTS = frozenset({
    "tool_call_response", "tool_result", "function_call_output", "custom_tool_call_output",
    "tool-result", "mcp_tool_result", "toolResult",
})  # fmt: skip
_PACKS = ("functionCall", "function_call", "toolUse", "tool_call")
_PACKED = frozenset(_PACKS)
_ANSWERS_IN = ("functionResponse", "function_response", "toolResult")
_ANSWERING = frozenset(_ANSWERS_IN)
_HOSTED = ("server_tool_use", "server_tool_call")


class Asked(NamedTuple):
    """A call that the model asked for. `raw` is UNSET where its arguments are not recorded."""

    name: str
    raw: Any = msgspec.UNSET
    key: str | None = None
    hosted: bool = False


class Answer(NamedTuple):
    """What a tool gave back."""

    key: str | None
    name: str | None
    value: Any


def kind_of(value: dict[str, Any]) -> Any:
    """Return the object's type, LangChain's classes by their short names; None where none."""
    kind = value.get("type", value.get("block_type"))
    if not isinstance(kind, str):
        return None
    return kind.removesuffix("Chunk").removesuffix("Message").lower() if "Message" in kind else kind


def call_of(item: dict[str, Any], *, bare: bool = False) -> Asked | None:
    """Return the call that an object is; None where it is none.

    Args:
        item: The object.
        bare: Whether it stands where only calls stand.
    """
    for key in () if _PACKED.isdisjoint(item) else _PACKS:
        inner = item.get(key)
        if isinstance(inner, dict) and "role" not in item:
            found = call_of(inner, bare=True)
            if found is None:
                return None
            # Gemini leaves out arguments that are empty.
            none = (
                found.raw is msgspec.UNSET
                and key in ("functionCall", "function_call")
                and stray_key(inner, _NAMES) is None
            )
            return found._replace(raw={} if none else found.raw, key=found.key or id_of(item, _IDS))
    function = item.get("function")
    if isinstance(function, dict):
        definition = "description" in function or is_schema(function.get("parameters"))
        if definition and "arguments" not in function:
            return None  # the definition of a tool
        called = name_of(function)
        raw = _first({**item, **function}, _ARGUMENTS)
        return Asked(called, raw, id_of(item, _IDS)) if called else None
    kind, named = kind_of(item), name_of(item)
    written = "call_id" in item and "arguments" in item
    certain = kind in _CALLS or "toolCallId" in item or "tool_kwargs" in item or written
    if named is None or kind in _RESULTS or not (certain or bare):
        return None
    if kind == "function" and "parameters" in item:
        return None  # the definition of a tool
    own = id_of(item, ("call_id", *_IDS))
    return Asked(named, _first(item, _ARGUMENTS), own, kind in _HOSTED)


def answer_of(item: dict[str, Any]) -> Answer | None:
    """Return the answer of a tool that an object is; None where it is none."""
    for key in () if _ANSWERING.isdisjoint(item) else _ANSWERS_IN:
        inner = item.get(key)
        if isinstance(inner, dict):
            value = _first(inner, _ANSWERS)
            return Answer(id_of(inner, ANSWERED), name_of(inner), _known(value))
    if kind_of(item) in _RESULTS:
        return Answer(id_of(item, ANSWERED), name_of(item), _known(_first(item, _ANSWERS)))
    return None


def _known(value: Any) -> Any:
    return None if value is msgspec.UNSET else value


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in record:
            return record[key]
    return msgspec.UNSET


def name_of(record: dict[str, Any]) -> str | None:
    """Return the name of a tool; None where there is none."""
    for key in _NAMES:
        name = record.get(key)
        if isinstance(name, str) and name:
            return name
    return None


def id_of(record: dict[str, Any], keys: Iterable[str]) -> str | None:
    """Return the first id under the keys; None where there is none."""
    for key in keys:
        found = record.get(key)
        if isinstance(found, str) and found:
            return found
    return None
