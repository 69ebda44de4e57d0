"""LangChain's messages. The mark: a `type` among `human`, `ai`, `system`, `tool`.

    [
      {"type": "human", "content": "Any trains to Oslo?"},
      {"type": "ai", "content": "", "tool_calls": [
        {"name": "trains", "args": {"to": "Oslo"}, "id": "call_1", "type": "tool_call"}]},
      {"type": "tool", "content": "09:14", "tool_call_id": "call_1", "status": "success"},
      {"type": "ai", "content": "Yes, at 09:14."}
    ]

    {"type": "ai", "data": {"content": "", "tool_calls": […]}}                 messages_to_dict
    {"lc": 1, "type": "constructor", "id": [..., "AIMessage"], "kwargs": {…}}  dumps

All three are read; also as the list under `messages`, one message alone, and the objects. Calls are
those of `tool_calls` and `invalid_tool_calls` (whose arguments are not JSON). The provider's own
copies of them, in `additional_kwargs` and among the content blocks, count only where those two are
empty.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.content import result_of, text_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_ROLES = {
    "human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool",
    "developer": "system",
}  # fmt: skip
_SPOKEN = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_CALLS = frozenset({"tool_call", "tool_use", "function_call"})
_HOSTED = frozenset({"server_tool_call", "server_tool_use"})


class LangChainMessages:
    """LangChain's messages; the module shows their shapes."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a message with LangChain's type."""
        items = _items(seen.data)
        return bool(items) and all(_flat(item) is not None for item in items)

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("langchain_messages")
        for at, item in enumerate(_items(data)):
            place = f"message {at}"
            flat = _flat(item)
            if flat is None:
                raise MalformedTraceError(f"{place}: no LangChain message: {shorten(item)}")
            if flat["type"] != "remove":
                _message(assembly, flat, place)
        return [assembly.trajectory()]


def _items(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    return data if isinstance(data, list) else []


def _flat(item: Any) -> dict[str, Any] | None:
    """Return the message with its type and its fields side by side; None where it is none."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return None
    kind: str = item["type"]
    flat = item
    if kind == "constructor" and isinstance(item.get("kwargs"), dict):
        path = item.get("id")
        if not isinstance(path, list) or not path or not isinstance(path[-1], str):
            return None
        flat, kind = item["kwargs"], path[-1]
    elif isinstance(item.get("data"), dict) and "content" not in item:
        flat = item["data"]
    kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    if "content" not in flat or (kind != "chat" and "role" in flat):
        return None
    return {**flat, "type": kind} if kind in _ROLES or kind in ("chat", "remove") else None


def _message(assembly: Assembly, flat: dict[str, Any], place: str) -> None:
    content = flat["content"]
    role = _ROLES.get(flat["type"]) or _spoken(flat.get("role"), place)
    if role == "tool":
        assembly.result(
            result_of(content, place),
            expect.identifier(flat.get("tool_call_id"), f"{place}, tool_call_id"),
            expect.text(flat.get("name"), f"{place}, name"),
            status=status_of(flat.get("status")),
        )
        return
    assembly.message(role, text_of(content, place))
    _calls(assembly, flat, place)
    for block in content if isinstance(content, list) else ():
        if _kind(block) in _HOSTED:
            _add(assembly, block, f"{place}, content", hosted=True)


def _spoken(role: Any, place: str) -> str:
    if isinstance(role, str) and role in _SPOKEN:
        return _SPOKEN[role]
    raise MalformedTraceError(
        f"{place}: the role is {shorten(role)}; known are {', '.join(_SPOKEN)}"
    )


def _calls(assembly: Assembly, flat: dict[str, Any], place: str) -> None:
    extra = flat.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    own = [
        *((raw, False) for raw in expect.array(flat.get("tool_calls"), f"{place}, tool_calls")),
        *((raw, True) for raw in expect.array(flat.get("invalid_tool_calls"), place)),
    ]
    for raw, invalid in _in_order(own, extra):
        _add(assembly, raw, f"{place}, tool_calls", invalid=invalid)
    if own:
        return
    copies = extra.get("tool_calls") or extra.get("function_call")
    if copies:
        for raw in copies if isinstance(copies, list) else [copies]:
            _add(assembly, raw, f"{place}, additional_kwargs")
        return
    content = flat["content"]
    for block in content if isinstance(content, list) else ():
        if _kind(block) in _CALLS:
            _add(assembly, block, f"{place}, content")


def _in_order(own: list[tuple[Any, bool]], extra: dict[str, Any]) -> list[tuple[Any, bool]]:
    """Return the calls as the provider's copies, where they are complete, order them."""
    copies = extra.get("tool_calls")
    ids = _ids(copies) if isinstance(copies, list) else []
    keys = _ids([raw for raw, _ in own])
    if len(set(ids)) != len(own) or set(ids) != set(keys):
        return own
    return [own[keys.index(key)] for key in ids]


def _ids(calls: list[Any]) -> list[str]:
    keys = [call.get("id") for call in calls if isinstance(call, dict)]
    return [key for key in keys if isinstance(key, str)]


def _kind(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else ""


def _add(
    assembly: Assembly, item: Any, place: str, *, invalid: bool = False, hosted: bool = False
) -> None:
    raw = expect.record(item, place)
    function = raw.get("function")
    called = function if isinstance(function, dict) else raw
    name = expect.name(called.get("name"), place)
    key = expect.identifier(raw.get("id", raw.get("call_id")), f"{place}, id")
    args = next((called[k] for k in ("args", "arguments", "input") if k in called), None)
    if not invalid:
        assembly.call(name, args, key, hosted=hosted)
        return
    text = expect.text(args, f"{place} ({name})")
    why = shorten(raw.get("error")) if raw.get("error") else "LangChain could not parse them"
    assembly.notes.append(f"{assembly.place(name)}: its arguments are not JSON ({why})")
    assembly.call(name, text, key, state="unknown" if text is None else "unparseable")


FORMAT = LangChainMessages()
