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

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.recorded import of_api
from trajgrade.formats.response_items import CALLS, HOSTED, SILENT, add_item, add_request
from trajgrade.formats.session_lines import is_older_codex
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_MARKS = (
    CALLS | HOSTED | SILENT | {f"{kind}_output" for kind in CALLS | HOSTED}
    | {"mcp_approval_request"}
)  # fmt: skip
_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


class OpenAIResponses:
    """OpenAI's Responses API; the module shows its shape."""

    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether an item bears a mark, or the object is a response."""
        data = seen.data
        if isinstance(data, dict) and isinstance(data.get("output"), list):
            marked = any(map(_is_marked, data["output"]))
            return marked or (data.get("object") == "response" and "choices" not in data)
        items = data if isinstance(data, list) else [data]
        if dict not in seen.kinds or not any(map(_is_marked, items)):
            return False
        return not any(map(is_older_codex, items))

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
                add_request(assembly, raw, f"item {at}", ran=raw.get("id") in approved)
            else:
                add_item(assembly, raw, f"item {at}")
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


FORMAT = OpenAIResponses()
