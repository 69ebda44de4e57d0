r"""OpenAI's chat API. The mark: `tool_calls` whose members hold a `function`.

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function",
         "function": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}}]},
      {"role": "tool", "tool_call_id": "call_1", "content": "09:14"},
      {"role": "assistant", "content": "Yes, at 09:14."}
    ]

Also as the list under `messages`, one message alone, the list of `tool_calls` alone, and the
response of the API, `{"choices": [{"message": {…}}]}`, one trajectory for each choice. Arguments
are JSON text or an object. A custom tool's `input` is text and stays so.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError
from trajgrade.formats.chat_loose import conversation, messages_of
from trajgrade.formats.chat_wire import WIRE, read_wire
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class OpenAIChat:
    """OpenAI's chat API; the module shows its shape."""

    wire = WIRE
    read_wire = staticmethod(read_wire)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a message asks for a `function`, or the data is the API's response."""
        if _is_response(seen.data):
            return True
        return dict in seen.kinds and any(map(_asks, messages_of(seen.data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the conversation, or one for each choice of a response."""
        if not _is_response(data):
            return [conversation(data, "openai_chat")]
        return [
            conversation({"messages": [_message(choice)], "id": data.get("id")}, "openai_chat")
            for choice in data["choices"]
        ]


def _is_response(data: Any) -> bool:
    if not isinstance(data, dict) or not isinstance(data.get("choices"), list):
        return False
    choices = data["choices"]
    return bool(choices) and all(
        isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices
    )


def _message(choice: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = choice["message"]
    if "role" not in message and "content" not in message and "tool_calls" not in message:
        raise MalformedTraceError("a choice holds no message with role, content or tool_calls")
    return message


def _asks(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("tool_calls"), list):
        return False
    if not isinstance(item.get("role", "assistant"), str):
        return False
    return any(
        isinstance(call, dict)
        and (isinstance(call.get("function"), dict) or isinstance(call.get("custom"), dict))
        for call in item["tool_calls"]
    )


FORMAT = OpenAIChat()
