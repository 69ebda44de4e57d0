r"""Mistral's chat API. The marks: its models, an assistant's `prefix`.

    {"model": "mistral-large-latest", "messages": [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content": [], "prefix": false, "tool_calls": [
        {"id": "KikbB849t", "index": 0,
         "function": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}}]},
      {"role": "tool", "tool_call_id": "KikbB849t", "content": "09:14"},
      {"role": "assistant", "content": "Yes, at 09:14.", "tool_calls": null}]}

Also the list alone, the response of the API (one trajectory for each choice), and requests with
their responses, one on each line, of which the last hold the whole run. Otherwise as OpenAI's.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import exchanges
from trajgrade.formats.chat_loose import choices_in, conversation
from trajgrade.formats.chat_origins import origin_of
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class MistralChat:
    """Mistral's chat API; the module shows its shape."""

    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the data bears Mistral's mark."""
        return origin_of(seen) == "mistral_chat"

    def read(self, data: Any) -> list[Trajectory]:
        """Read the conversation, or one for each choice of a response."""
        notes: list[str] = []
        if exchanges.holds_exchanges(data):
            messages = exchanges.messages_in(data, notes)
            return [conversation(messages, "mistral_chat", notes)]
        return [conversation(one, "mistral_chat") for one in choices_in(data) or [data]]


FORMAT = MistralChat()
