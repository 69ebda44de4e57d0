"""LlamaIndex's chat messages. The mark: `blocks`, each with a `block_type`.

    [{"role": "user", "additional_kwargs": {},
      "blocks": [{"block_type": "text", "text": "Any trains to Oslo?"}]},
     {"role": "assistant", "additional_kwargs": {}, "blocks": [
       {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "trains",
        "tool_kwargs": {"to": "Oslo"}}]},
     {"role": "tool", "additional_kwargs": {"tool_call_id": "c1"},
      "blocks": [{"block_type": "text", "text": "09:14"}]},
     {"role": "assistant", "additional_kwargs": {},
      "blocks": [{"block_type": "text", "text": "Yes, at 09:14."}]}]

    {"additional_kwargs": {"tool_calls": [{"id": "c1", "function": {…}}]}, "blocks": []}    older

What `memory.get_all()` returns, each message by `model_dump(mode="json")`; also the list under
`messages`, and one message alone. A call that stands in a block and, as the provider gave it, in
`additional_kwargs` counts once. Whether a call failed is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_ROLES = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
    "chatbot": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
}  # fmt: skip
_CALLS = ("tool_calls", "function_call")


class LlamaIndexMessages:
    """LlamaIndex's chat messages; the module shows them."""

    keys = frozenset({"blocks"})

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a message with blocks, and one has a block of a type."""
        items = _items(seen.data)
        return all(map(_is_message, items)) and any(
            "block_type" in block for item in items for block in item["blocks"]
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("llama_index_messages")
        for at, item in enumerate(_items(data)):
            _message(assembly, expect.record(item, f"message {at}"), f"message {at}")
        return [assembly.trajectory()]


def _items(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    return data if isinstance(data, list) else []


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") not in tuple(_ROLES):
        return False
    blocks = item.get("blocks")
    return isinstance(blocks, list) and all(isinstance(block, dict) for block in blocks)


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    role = raw.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(role)}; known are {', '.join(sorted(_ROLES))}"
        )
    blocks = [
        expect.record(block, f"{place}, block {at}")
        for at, block in enumerate(expect.array(raw.get("blocks"), f"{place}, blocks"))
    ]
    told = raw.get("additional_kwargs")
    beside: dict[str, Any] = told if isinstance(told, dict) else {}
    if _ROLES[role] == "tool":
        key = expect.identifier(beside.get("tool_call_id"), f"{place}, tool_call_id")
        name = beside.get("name")
        assembly.result(
            result_of(_text(blocks), place), key, name if isinstance(name, str) else None
        )
        return
    assembly.message(_ROLES[role], _text(blocks))
    known = _called(assembly, blocks, place)
    for name, args, key in _kept_beside(beside, place):
        if (key, name) not in known:
            assembly.call(name, args, key)


def _text(blocks: list[dict[str, Any]]) -> str:
    texts = (block.get("text") for block in blocks if block.get("block_type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def _called(
    assembly: Assembly, blocks: list[dict[str, Any]], place: str
) -> set[tuple[str | None, str]]:
    """Add the calls of blocks; return their ids and names."""
    known = set()
    for at, block in enumerate(blocks):
        kind, where = block.get("block_type"), f"{place}, block {at}"
        if kind == "tool_call":
            name = expect.name(block.get("tool_name"), f"{where}, tool_name")
            key = expect.identifier(block.get("tool_call_id"), f"{where}, tool_call_id")
            args = block.get("tool_kwargs")
            assembly.call(name, args, key, state="unknown" if args is None else None)
            known.add((key, name))
        elif not isinstance(kind, str) or "tool" in kind:
            assembly.notes.append(f"{where}: of no known kind: {shorten(block)}")
    return known


def _kept_beside(beside: dict[str, Any], place: str) -> Iterator[tuple[str, Any, str | None]]:
    """Yield the calls as the provider gave them: name, arguments, id."""
    where = f"{place}, additional_kwargs"
    calls = expect.array(beside.get("tool_calls"), f"{where}, tool_calls")
    for at, item in enumerate(calls):
        call = expect.record(item, f"{where}, call {at}")
        function = expect.record(call.get("function"), f"{where}, call {at}, function")
        name = expect.name(function.get("name"), f"{where}, call {at}, name")
        key = expect.identifier(call.get("id"), f"{where}, call {at}, id")
        yield name, function.get("arguments"), key
    if beside.get("function_call") is not None and not calls:
        function = expect.record(beside["function_call"], f"{where}, function_call")
        yield expect.name(function.get("name"), f"{where}, name"), function.get("arguments"), None


FORMAT = LlamaIndexMessages()
