r"""ReAct as text. The marks: `Thought:`, `Action:` with a tool and its input, `Observation:`.

    "Claim: It is far.\nThought 1: Look.\nAction 1: Search[Oslo]\nObservation 1: 400 km"

    Question: Any trains to Oslo?
    Thought: I look. …
    Action: trains
    Action Input: {"to": "Oslo"}
    Observation: 09:14
    Final Answer: Yes, at 09:14.

Labels may be numbered. Each `Question:` or `Claim:` begins a trajectory; what stands before the
first is the prompt of all. The final response is what follows `Final Answer:` or `Answer:`, or is
in `Finish[…]`, which is a call like others. Also messages of a role and a text in which the
assistant writes so; observations then may come in the user's name.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from trajgrade.formats import text_dialects
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.chat_origins import origin_of
from trajgrade.formats.react_steps import Part, add_parts, parts_of
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory


class ReActText:
    """ReAct as text; the module shows it."""

    def recognises(self, seen: Glimpse) -> bool:
        """Whether the text, or what the assistant says, has actions in ReAct's form."""
        return origin_of(seen) == "react_text"

    def read(self, data: Any) -> list[Trajectory]:
        """Read the conversation, or the text: one trajectory for each question."""
        if isinstance(data, str):
            return _questions(parts_of(data))
        return [text_dialects.read(text_dialects.said_in(data), "react_text", data)]


def _questions(parts: list[Part]) -> list[Trajectory]:
    starts = [at for at, part in enumerate(parts) if part.kind == "question"]
    bounds = [*(starts or [1]), len(parts)]
    prompt = "\n".join(part.text for part in parts[: bounds[0]])
    found: list[Trajectory] = []
    for begin, end in pairwise(bounds):
        assembly = Assembly("react_text")
        if prompt:
            assembly.message("system", prompt)
        inner = parts[begin:end]
        if inner and inner[0].kind == "question":
            assembly.message("user", inner[0].text)
            inner = inner[1:]
        answer = add_parts(assembly, inner, f"trajectory {len(found)}")
        found.append(assembly.trajectory(final=answer))
    return found


FORMAT = ReActText()
