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
response of the API, `{"choices": [{"message": {…}}]}`, one trajectory for each choice; and requests
with their responses, `{"request": {…}, "response": {…}}`, one on each line, of which the last hold
the whole run. Arguments are JSON text or an object. A custom tool's `input` is text and stays so.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import exchanges
from trajgrade.formats.chat_loose import choices_in, conversation, messages_of
from trajgrade.formats.chat_origins import origin_of
from trajgrade.formats.chat_wire import WIRE, read_wire
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class OpenAIChat:
    """OpenAI's chat API; the module shows its shape."""

    keys = frozenset({"choices", "response", "tool_calls", "function"})
    wire = WIRE
    read_wire = staticmethod(read_wire)
    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a message asks for a `function`, or the data is what the API sent or got."""
        if origin_of(seen) is not None:
            return False
        if _is_response(seen.data) or exchanges.has_choices(seen.data):
            return True
        return dict in seen.kinds and any(map(_asks, messages_of(seen.data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the conversation, or one for each choice of a response."""
        notes: list[str] = []
        if exchanges.holds_exchanges(data):
            messages = exchanges.messages_in(data, notes)
            return [conversation(messages, "openai_chat", notes)]
        return [conversation(one, "openai_chat") for one in choices_in(data) or [data]]


def _is_response(data: Any) -> bool:
    if not isinstance(data, dict) or not isinstance(data.get("choices"), list):
        return False
    choices = data["choices"]
    return bool(choices) and all(
        isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices
    )


def _asks(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("tool_calls"), list):
        return False
    if not isinstance(item.get("role", "assistant"), str) or "step_number" in item:
        return False  # a step of smolagents is no message
    return any(
        isinstance(call, dict)
        and (isinstance(call.get("function"), dict) or isinstance(call.get("custom"), dict))
        for call in item["tool_calls"]
    )


FORMAT = OpenAIChat()
