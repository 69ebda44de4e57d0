r"""OpenAI's chat API before it had `tool_calls`. The mark: a message's `function_call`.

    [
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content": null,
       "function_call": {"name": "trains", "arguments": "{\"to\": \"Oslo\"}"}},
      {"role": "function", "name": "trains", "content": "09:14"},
      {"role": "assistant", "content": "Yes, at 09:14."}
    ]

Calls have no ids: a result belongs to the first call of its name that has none yet. A message that
holds the same call under `tool_calls` too made it once.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats.chat_loose import conversation, messages_of
from trajgrade.formats.recorded import of_api
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class OpenAIFunctionCall:
    """OpenAI's chat API with `function_call`; the module shows its shape."""

    keys = frozenset({"function_call"})
    measure = staticmethod(of_api)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a message has a `function_call`."""
        return dict in seen.kinds and any(
            isinstance(item, dict)
            and isinstance(item.get("role", "assistant"), str)
            and isinstance(item.get("function_call"), dict)
            for item in messages_of(seen.data)
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        return [conversation(data, "openai_function_call")]


FORMAT = OpenAIFunctionCall()
