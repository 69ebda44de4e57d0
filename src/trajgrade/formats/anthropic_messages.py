"""Anthropic's Messages API. The marks: content blocks `tool_use`, `tool_result`, `thinking`, ….

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content": [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "trains", "input": {"to": "Oslo"}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14", "is_error": false}]},
      {"role": "assistant", "content": [{"type": "text", "text": "Yes, at 09:14."}]}
    ]

Also as the list under `messages`, one message alone, the response of the API
(`{"type": "message", "stop_reason": …, "content": […]}`), and the list of blocks alone. A call is
`tool_use` or `mcp_tool_use`; `server_tool_use` is one that Anthropic runs: hosted. A user message
that holds only results is no turn of the user's.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Trajectory

_CALLS = frozenset({"tool_use", "mcp_tool_use", "server_tool_use"})
_MARKS = _CALLS | {"tool_result", "mcp_tool_result", "thinking", "redacted_thinking"}
_ROLES = frozenset({"system", "user", "assistant"})


class AnthropicMessages:
    """Anthropic's Messages API; the module shows its shape."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a block bears a mark, or the object is a response."""
        data = seen.data
        if isinstance(data, dict) and data.get("type") == "message" and "stop_reason" in data:
            return isinstance(data.get("content"), list)
        return dict in seen.kinds and any(map(_is_marked, _messages(data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("anthropic_messages")
        for at, item in enumerate(_messages(data)):
            place = f"message {at}"
            raw = expect.record(item, place)
            role = raw.get("role", "assistant")
            if not isinstance(role, str) or role not in _ROLES:
                raise MalformedTraceError(
                    f"{place}: the role is {shorten(role)}; known are {', '.join(sorted(_ROLES))}"
                )
            _message(assembly, role, raw.get("content"), place)
        key = data.get("id") if isinstance(data, dict) else None
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _messages(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return data["messages"] if isinstance(data.get("messages"), list) else [data]
    if not isinstance(data, list):
        return []
    bare = all(isinstance(block, dict) and "role" not in block for block in data)
    if bare and any(_kind(block) in _CALLS for block in data):
        return [{"role": "assistant", "content": data}]
    return data


def _is_marked(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("content"), list):
        return False
    # LangChain's messages have a type, and copies of these blocks.
    if item.get("role") not in ("user", "assistant", "system"):
        return False
    return any(
        isinstance(block, dict)
        and isinstance(block.get("type"), str)
        and (block["type"] in _MARKS or block["type"].endswith("_tool_result"))
        for block in item["content"]
    )


def _message(assembly: Assembly, role: str, content: Any, place: str) -> None:
    if not isinstance(content, (list, tuple)):
        assembly.message(role, text_of(content, place))
        return
    blocks = [
        block if isinstance(block, str) else expect.record(block, f"{place}, block {at}")
        for at, block in enumerate(content)
    ]
    answers = [block for block in blocks if isinstance(block, dict) and _answers(block)]
    others = [block for block in blocks if isinstance(block, str) or not _answers(block)]
    if role != "assistant":
        for block in answers:
            _result(assembly, block, place, step=True)
        answers = []
    if others or not blocks:
        assembly.message(role, text_of(others, place))
    # Results of tools that Anthropic runs stand between the calls of one message.
    for other in others:
        if isinstance(other, dict) and _kind(other) in _CALLS:
            _call(assembly, other, place)
    for block in answers:
        _result(assembly, block, place, step=False)


def _kind(block: dict[str, Any]) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


def _answers(block: dict[str, Any]) -> bool:
    return _kind(block).endswith("tool_result")


def _call(assembly: Assembly, block: dict[str, Any], place: str) -> None:
    kind = _kind(block)
    name = expect.name(block.get("name"), f"{place}, {kind}")
    key = expect.identifier(block.get("id"), f"{place}, id")
    assembly.call(name, block.get("input"), key, hosted=kind == "server_tool_use")


def _result(assembly: Assembly, block: dict[str, Any], place: str, *, step: bool) -> None:
    key = expect.identifier(block.get("tool_use_id"), f"{place}, tool_use_id")
    content = block.get("content")
    failed = block.get("is_error")
    status: CallStatus = "error" if failed is True else "ok" if failed is False else "unknown"
    if isinstance(content, dict) and str(content.get("type", "")).endswith("_error"):
        status = "error"
    assembly.result(result_of(content, place), key, status=status, step=step)


FORMAT = AnthropicMessages()
