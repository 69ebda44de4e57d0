"""Messages that bear no origin's mark.

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content": "",
       "tool_calls": [{"name": "trains", "args": {"to": "Oslo"}}]},
      {"role": "tool", "content": "09:14"},
      {"role": "assistant", "content": [{"type": "text", "text": "Yes, at 09:14."}]}
    ]

Also as the list under `messages`, one message alone, and with texts among the messages, which the
assistant said. `tool_calls` holds plain calls; a bare name in it is a call whose arguments are
unknown. `[]` is zero calls.

What else a message holds must not hide a call: keys that are not known may have texts, numbers and
flags, but no lists or objects. A list of nothing but texts is no conversation. Around the messages
there may be what a row of a dataset has beside a trace: what was asked, what is expected. No
messages, `{"messages": []}`, are zero calls, unless other keys hold what was done.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats.chat_loose import ROLES, conversation, messages_of
from trajgrade.formats.chat_origins import origin_of
from trajgrade.formats.chat_wire import WIRE, read_wire
from trajgrade.formats.plain_call import is_call
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

_MESSAGE = frozenset({
    "role", "content", "tool_calls", "tool_call_id", "name", "id", "refusal", "annotations",
    "audio", "reasoning", "reasoning_content", "reasoning_details", "thinking", "metadata", "usage",
    "model", "response_metadata", "provider_specific_fields", "logprobs", "citations", "images",
    "tags", "attachments", "extra", "status", "is_error",
})  # fmt: skip
_AROUND = frozenset({
    "messages", "id", "metadata", "tools", "system", "tags", "usage", "stop", "extra",
    "tool_choice", "response_format", "logit_bias", "functions",
    "inputs", "input", "prompt", "question", "context", "reference", "reference_trajectory",
    "reference_outputs", "expected_output", "expected", "target", "answer",
})  # fmt: skip
_DONE = frozenset({
    "tool_calls", "calls", "actions", "steps", "events", "items", "history", "trajectory", "traj",
    "values", "output", "outputs", "result", "response", "choices", "intermediate_steps",
    "conversation", "conversations", "structured_turns", "predicted_trajectory", "chat_history",
    "spans", "observations", "contents",
})  # fmt: skip
_FOREIGN = frozenset({"type", "parts", "speaker", "tool_plan"})
_BLOCKS = frozenset({
    "text", "image_url", "input_audio", "file", "refusal", "image", "audio", "video", "video_url",
})  # fmt: skip


class Chat:
    """Messages that bear no origin's mark; the module shows one."""

    wire = WIRE
    read_wire = staticmethod(read_wire)
    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a message that holds no more than this format reads."""
        data = seen.data
        if origin_of(seen) is not None:
            return False
        if isinstance(data, dict):
            if "messages" in data:
                if not isinstance(data["messages"], list):
                    return False
                if not data["messages"]:
                    return _simple({key: data[key] for key in _DONE & data.keys()})
                if not _simple(data, _AROUND):
                    return False
            elif "role" not in data or not ("content" in data or data.get("tool_calls")):
                return False
        elif not isinstance(data, list):
            return False
        items = messages_of(data)
        texts = sum(isinstance(item, str) for item in items)
        return all(isinstance(item, str) or _is_message(item) for item in items) and (
            texts < len(items) or not items
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        return [conversation(data, "chat")]


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        return False
    if item["role"] not in ROLES or any(item.get(key) is not None for key in _FOREIGN):
        return False
    if not _simple(item, _MESSAGE) or item.get("function_call") is not None:
        return False
    calls = item.get("tool_calls")
    if calls is None or calls == []:
        return _is_content(item.get("content"), item["role"])
    return (
        isinstance(calls, list)
        and all(is_call(call) for call in calls if isinstance(call, dict))
        and _is_content(item.get("content"), item["role"])
    )


def _simple(record: dict[str, Any], known: frozenset[str] = frozenset()) -> bool:
    return not any(
        key not in known and value and isinstance(value, (dict, list))
        for key, value in record.items()
    )


def _is_content(content: Any, role: str) -> bool:
    if content is None or isinstance(content, str):
        return True
    if isinstance(content, dict):
        return role in ("tool", "function") and "parts" not in content
    return isinstance(content, list) and all(map(_is_block, content))


def _is_block(block: Any) -> bool:
    if isinstance(block, dict):
        kind = block.get("type", "text" if block.keys() == {"text"} else None)
        return isinstance(kind, str) and kind in _BLOCKS
    return isinstance(block, str)


FORMAT = Chat()
