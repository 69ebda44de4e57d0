r"""CrewAI's agents that write their calls as text. The marks: CrewAI's prompt, `Action Input:`.

    [
      {"role": "system", "content": "You are a guide.\nYour personal goal is: to help"},
      {"role": "user", "content": "Any trains to Oslo?"},
      {"role": "assistant", "content":
       "Thought: I look.\nAction: trains\nAction Input: {\"to\": \"Oslo\"}\nObservation: 09:14"},
      {"role": "assistant", "content": "Thought: I know.\nFinal Answer: Yes, at 09:14."}
    ]

Also as the list under `messages`. The observation stands in the message that asked for it; what
CrewAI puts behind it once more, its rules, is none of it. The final response is what follows
`Final Answer:`.
"""

from __future__ import annotations

from typing import Any

from trajgrade.formats import text_dialects
from trajgrade.formats.chat_origins import origin_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class CrewAIReAct:
    """CrewAI's calls as text; the module shows them."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the prompt is CrewAI's and the assistant writes its calls as text."""
        return origin_of(seen) == "crewai_react"

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one conversation."""
        return [text_dialects.read(text_dialects.said_in(data), "crewai_react", data)]


FORMAT = CrewAIReAct()
