"""A LangChain message, in any of its three written shapes → steps, calls and results."""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.content import result_of, text_of

_ROLES = {
    "human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool",
    "developer": "system",
}  # fmt: skip
_SPOKEN = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_CALLS = frozenset({"tool_call", "tool_use", "function_call"})
_HOSTED = frozenset({"server_tool_call", "server_tool_use"})


def add_messages(assembly: Assembly, items: list[Any]) -> None:
    """Add the messages in order.

    Raises:
        MalformedTraceError: One of them breaks the rules.
    """
    for at, item in enumerate(items):
        place = f"message {at}"
        flat = flattened(item)
        if flat is None:
            raise MalformedTraceError(f"{place}: no LangChain message: {shorten(item)}")
        if flat["type"] != "remove":
            _message(assembly, flat, place)


def is_state(data: dict[str, Any]) -> bool:
    """Whether the object is the state of a graph: messages with their type beside the content."""
    items = data.get("messages")
    return (
        isinstance(items, list)
        and bool(items)
        and all(is_message(item) for item in items)
        and all("lc" not in item and "data" not in item for item in items)
    )


def is_message(item: Any) -> bool:
    """Whether the object is one of LangChain's messages."""
    return _parts(item) is not None


def flattened(item: Any) -> dict[str, Any] | None:
    """Return the message with its type and its fields side by side; None where it is none."""
    found = _parts(item)
    return None if found is None else {**found[0], "type": found[1]}


def _parts(item: Any) -> tuple[dict[str, Any], str] | None:
    """Return the fields of a message and its type; None where it is none."""
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(kind, str):
        return None
    flat = item
    if kind == "constructor" and isinstance(item.get("kwargs"), dict):
        path = item.get("id")
        if not isinstance(path, list) or not path or not isinstance(path[-1], str):
            return None
        flat, kind = item["kwargs"], path[-1]
    elif isinstance(item.get("data"), dict) and "content" not in item:
        flat = item["data"]
    if kind not in _ROLES:
        kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    if "content" not in flat or (kind != "chat" and "role" in flat):
        return None
    return (flat, kind) if kind in _ROLES or kind in ("chat", "remove") else None


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
    asked, broken = flat.get("tool_calls"), flat.get("invalid_tool_calls")
    if asked or broken:
        own = [
            *((raw, False) for raw in expect.array(asked, f"{place}, tool_calls")),
            *((raw, True) for raw in expect.array(broken, place)),
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
    if not isinstance(copies, list):
        return own
    ids = _ids(copies)
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
    held = {**raw, **called}
    own = "arguments" if called is function else "args"
    args = given(held, own, f"{place} ({name})", ("function", "extras"))
    if not invalid:
        assembly.call(name, args, key, hosted=hosted)
        return
    text = expect.text(args, f"{place} ({name})")
    why = shorten(raw.get("error")) if raw.get("error") else "LangChain could not parse them"
    assembly.notes.append(f"{assembly.place(name)}: its arguments are not JSON ({why})")
    assembly.call(name, text, key, state="unknown" if text is None else "unparseable")
