"""Bedrock's Converse API. The marks: blocks of one key, `toolUse` or `toolResult`.

    {"system": [{"text": "Be brief."}],
     "messages": [
       {"role": "user", "content": [{"text": "Any trains to Oslo?"}]},
       {"role": "assistant", "content": [
         {"text": "Let me look."},
         {"toolUse": {"toolUseId": "t1", "name": "trains", "input": {"to": "Oslo"}}}]},
       {"role": "user", "content": [
         {"toolResult": {"toolUseId": "t1", "content": [{"text": "09:14"}], "status": "success"}}]},
       {"role": "assistant", "content": [{"text": "Yes, at 09:14."}]}]}

Also the list alone (Strands keeps it so), one message, and the response of the API,
`{"output": {"message": {…}}, "stopReason": …}`. `server_tool_use` is a call that Amazon runs:
hosted. A user message that holds only results is no turn of the user's. `reasoningContent` is no
text.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_MARKS = ("toolUse", "toolResult", "reasoningContent")
_ROLES = frozenset({"user", "assistant", "system"})


class BedrockConverse:
    """Bedrock's Converse API; the module shows its shape."""

    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a block bears a mark, or the object is a response."""
        data = seen.data
        if isinstance(data, dict) and "stopReason" in data and _response(data) is not None:
            return True
        if seen.items and seen.block_keys.isdisjoint(_MARKS):
            return False
        return any(map(_is_marked, _messages(data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        assembly = Assembly("bedrock_converse")
        system = data.get("system") if isinstance(data, dict) else None
        if system is not None:
            assembly.message("system", text_of(system, "system"))
        if isinstance(data, dict):
            expect.array(data.get("messages"), "messages")
        for at, item in enumerate(_messages(data)):
            place = f"message {at}"
            raw = expect.record(item, place)
            role = raw.get("role", "assistant")
            if not isinstance(role, str) or role not in _ROLES:
                raise MalformedTraceError(
                    f"{place}: the role is {shorten(role)}; known are {', '.join(sorted(_ROLES))}"
                )
            _message(assembly, role, raw.get("content"), place)
        return [assembly.trajectory()]


def _response(data: dict[str, Any]) -> dict[str, Any] | None:
    output = data.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    return message if isinstance(message, dict) else None


def _messages(data: Any) -> list[Any]:
    if isinstance(data, dict):
        answer = _response(data)
        before = data.get("messages")
        if isinstance(before, list):
            return before if answer is None else [*before, answer]
        return [data if answer is None else answer]
    return data if isinstance(data, list) else []


def _is_marked(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant"):
        return False
    content = item.get("content")
    return isinstance(content, list) and any(
        isinstance(block, dict)
        and "type" not in block
        and any(isinstance(block.get(mark), dict) for mark in _MARKS)
        for block in content
    )


def _message(assembly: Assembly, role: str, content: Any, place: str) -> None:
    if isinstance(content, str) or content is None:
        assembly.message(role, content or "")
        return
    blocks = [
        expect.record(block, f"{place}, block {at}")
        for at, block in enumerate(expect.array(content, f"{place}, content"))
    ]
    results = [block for block in blocks if block.get("toolResult") is not None]
    others = [block for block in blocks if block.get("toolResult") is None]
    if role != "assistant":
        for block in results:
            _result(assembly, block, place, step=True)
    if others or not blocks:
        assembly.message(role, text_of(others, place))
    for block in others:
        if block.get("toolUse") is not None:
            _call(assembly, block, place)
    if role == "assistant":
        for block in results:
            _result(assembly, block, place, step=False)


def _call(assembly: Assembly, block: dict[str, Any], place: str) -> None:
    call = expect.record(block["toolUse"], f"{place}, toolUse")
    name = expect.name(call.get("name"), f"{place}, toolUse, name")
    key = expect.identifier(call.get("toolUseId"), f"{place}, toolUseId")
    args = given(call, "input", f"{place}, toolUse ({name})")
    assembly.call(name, args, key, hosted=call.get("type") == "server_tool_use")


def _result(assembly: Assembly, block: dict[str, Any], place: str, *, step: bool) -> None:
    raw = expect.record(block["toolResult"], f"{place}, toolResult")
    key = expect.identifier(raw.get("toolUseId"), f"{place}, toolUseId")
    content = raw.get("content")
    if isinstance(content, list) and len(content) == 1:
        only = content[0]
        if isinstance(only, dict) and only.keys() == {"json"}:
            content = only["json"]
    value = result_of(content, place)
    assembly.result(value, key, status=status_of(raw.get("status")), step=step)


FORMAT = BedrockConverse()
