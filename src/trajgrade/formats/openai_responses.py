r"""OpenAI's Responses API. The marks: item types like `function_call`, blocks like `output_text`.

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"type": "function_call", "call_id": "call_1", "name": "trains",
       "arguments": "{\"to\": \"Oslo\"}"},
      {"type": "function_call_output", "call_id": "call_1", "output": "09:14"},
      {"type": "message", "role": "assistant",
       "content": [{"type": "output_text", "text": "Yes, at 09:14."}]}
    ]

Also one item alone, and a whole response, `{"object": "response", "output": […]}`, with its `input`
where it is kept. `custom_tool_call` takes text. `mcp_call` is a call with its result beside it; one
that was never approved is a call that was not run. Other items whose type ends in `_call` are tools
that OpenAI provides (web search, shell, …): hosted calls, named by their type.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Trajectory

_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_HOSTED = frozenset({
    "web_search_call", "file_search_call", "code_interpreter_call", "computer_call",
    "image_generation_call", "local_shell_call", "shell_call", "apply_patch_call",
})  # fmt: skip
_SILENT = frozenset({
    "reasoning", "mcp_list_tools", "mcp_approval_response", "item_reference", "compaction",
})  # fmt: skip
_MARKS = (
    _CALLS | _HOSTED | _SILENT | {f"{kind}_output" for kind in _CALLS | _HOSTED}
    | {"mcp_approval_request"}
)  # fmt: skip
_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_RESULTS = ("output", "outputs", "results", "result")
_BESIDE = frozenset({"id", "type", "status", "call_id", *_RESULTS})


class OpenAIResponses:
    """OpenAI's Responses API; the module shows its shape."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether an item bears a mark, or the object is a response."""
        data = seen.data
        if isinstance(data, dict) and isinstance(data.get("output"), list):
            marked = any(map(_is_marked, data["output"]))
            return marked or (data.get("object") == "response" and "choices" not in data)
        items = data if isinstance(data, list) else [data]
        return dict in seen.kinds and any(map(_is_marked, items))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the items as one trajectory."""
        assembly = Assembly("openai_responses")
        items = _items(data)
        approved = {
            item["approval_request_id"]
            for item in items
            if isinstance(item, dict) and isinstance(item.get("approval_request_id"), str)
        }
        for at, item in enumerate(items):
            raw = expect.record(item, f"item {at}")
            if raw.get("type") == "mcp_approval_request":
                _ask(assembly, raw, f"item {at}", ran=raw.get("id") in approved)
            else:
                _item(assembly, raw, f"item {at}")
        key = data.get("id") if isinstance(data, dict) and "output" in data else None
        return [assembly.trajectory(id=key if isinstance(key, str) else None)]


def _is_marked(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if isinstance(kind, str):
        if kind == "message":
            return isinstance(item.get("role"), str) and "stop_reason" not in item
        return kind in _MARKS
    content = item.get("content")
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") in _BLOCKS
        for block in content
        if isinstance(block, dict) and isinstance(block.get("type"), str)
    )


def _items(data: Any) -> list[Any]:
    if isinstance(data, dict) and isinstance(data.get("output"), list):
        asked = data.get("input")
        if isinstance(asked, str):
            asked = [{"role": "user", "content": asked}]
        return [*(asked if isinstance(asked, list) else []), *data["output"]]
    return data if isinstance(data, list) else [data]


def _item(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    kind = raw.get("type", "message")
    if not isinstance(kind, str):
        raise MalformedTraceError(f"{place}: the type is {shorten(kind)}")
    if kind == "message":
        _message(assembly, raw, place)
    elif kind in _CALLS:
        _call(assembly, raw, place, kind)
    elif kind.endswith("_call_output"):
        name = expect.text(raw.get("name"), f"{place}, name")
        key = expect.identifier(raw.get("call_id"), f"{place}, call_id")
        assembly.result(result_of(raw.get("output"), place), key, name)
    elif kind.endswith("_call"):
        _hosted(assembly, raw, place, kind)
    elif kind not in _SILENT:
        assembly.notes.append(f"{place}: an item of type {shorten(kind)} is not read")


def _message(assembly: Assembly, raw: dict[str, Any], place: str) -> None:
    role = raw.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise MalformedTraceError(
            f"{place}: the role is {shorten(role)}; known are {', '.join(_ROLES)}"
        )
    assembly.message(_ROLES[role], text_of(raw.get("content"), place))


def _call(assembly: Assembly, raw: dict[str, Any], place: str, kind: str) -> None:
    name = expect.name(raw.get("name"), f"{place}, name")
    if kind == "mcp_call":
        key = expect.identifier(raw.get("id"), f"{place}, id")
        assembly.call(name, raw.get("arguments"), key)
        failed = raw.get("error") is not None
        if failed or raw.get("output") is not None:
            value = raw.get("error") if failed else raw.get("output")
            result = result_of(value, place)
            assembly.result(result, key, name, status="error" if failed else "ok")
        return
    key = expect.identifier(raw.get("call_id", raw.get("id")), f"{place}, call_id")
    if kind == "custom_tool_call":
        given = expect.text(raw.get("input"), f"{place}, input")
        assembly.call(name, given or {}, key, state="text" if given else "ok")
    else:
        assembly.call(name, raw.get("arguments"), key)


def _ask(assembly: Assembly, raw: dict[str, Any], place: str, *, ran: bool) -> None:
    if not ran:
        name = expect.name(raw.get("name"), f"{place}, name")
        key = expect.identifier(raw.get("id"), f"{place}, id")
        assembly.call(name, raw.get("arguments"), key, status="not_run")


def _hosted(assembly: Assembly, raw: dict[str, Any], place: str, kind: str) -> None:
    key = expect.identifier(raw.get("call_id", raw.get("id")), f"{place}, id")
    action = raw.get("action")
    args = (
        action
        if isinstance(action, dict)
        else {name: value for name, value in raw.items() if name not in _BESIDE}
    )
    status: CallStatus = "error" if raw.get("status") == "failed" else "unknown"
    assembly.call(kind, args, key, hosted=True, status=status)
    value = next((raw[name] for name in _RESULTS if raw.get(name) is not None), None)
    if value is not None:
        assembly.result(result_of(value, place), key, kind, step=False)


FORMAT = OpenAIResponses()
