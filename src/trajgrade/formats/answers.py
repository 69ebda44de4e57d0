"""A model's text of the ReAct kind → the answer that it marks.

    Thought: I can answer without more tools.
    Answer: Yes, at 09:14.

`Final Answer:` is a mark wherever a line begins with it, `Answer:` only in a text that begins with
a thought.
"""

from __future__ import annotations

import re

_FINAL = re.compile(r"(?:^|\n)[ \t]*Final Answer:(.*)\Z", re.DOTALL)
_AFTER_THOUGHT = re.compile(r"\s*Thought:.*?\n[ \t]*Answer:(.*)\Z", re.DOTALL)


def marked_answer(text: str) -> str:
    """Return the answer, or the whole text where none is marked."""
    found = _FINAL.search(text) or _AFTER_THOUGHT.match(text)
    return found[1].strip() if found else text
