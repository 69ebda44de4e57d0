"""What a text evaluator reads of outputs and references (SEMANTICS A10).

A trace gives its final response. A text is itself, also inside one of the known containers
(`{"output": "Paris"}`). Any other object, list, number or boolean is a structure; so is a bare list
of calls, which answers nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from trajgrade.detection import claimants
from trajgrade.errors import shorten
from trajgrade.glimpse import Glimpse
from trajgrade.jsontext import loads
from trajgrade.trajectory import Trajectory

CONTAINERS = ("output", "text", "content", "answer", "final_answer", "response")
CALLS_ALONE = frozenset({"calls", "vertex_trajectory"})  # formats of calls without messages
CALL_NAMES = frozenset({"name", "tool_name"})


class Answer(NamedTuple):
    """What outputs or a reference say.

    Attributes:
        said: The text, or the structure; None where there is neither.
        held: The object that the text was found in; else the same as `said`.
    """

    said: Any
    held: Any

    @property
    def text(self) -> str:
        """What was said as text: a structure as its JSON text."""
        return self.said if isinstance(self.said, str) else written(self.said)

    @property
    def structure(self) -> Any:
        """What was said as a structure: the text's container, if it has one; else None."""
        return None if isinstance(self.held, str) else self.held


def response(data: Any) -> Any:
    """Return the text of the response that the data holds, a structure as it is, or None.

    Raises:
        TraceError: The data is a trace of a known format and broken.
    """
    return read(data).said


def read(data: Any) -> Answer:
    """Read what the data says.

    Raises:
        TraceError: The data is a trace of a known format and broken.
    """
    if data is None or isinstance(data, (str, bool, int, float)):
        return Answer(data, data)
    if isinstance(data, Trajectory):
        return Answer(data.final_response, data.final_response)
    seen = Glimpse(data)
    claims = claimants(seen)
    if claims and not _is_calls(seen, claims):
        said = Trajectory.from_any(seen.data).final_response
        return Answer(said, said)
    held = seen.data
    if isinstance(held, dict):
        for name in CONTAINERS:
            if isinstance(held.get(name), str):
                return Answer(held[name], held)
    return Answer(held, held)


def _is_calls(seen: Glimpse, claims: Iterable[str]) -> bool:
    """Whether the data is bare calls, one or a list: to a text evaluator a structure."""
    if not seen.data:
        return True
    alone = isinstance(seen.data, list) or not CALL_NAMES.isdisjoint(seen.keys)
    return alone and CALLS_ALONE.issuperset(claims)


def texts(ours: Answer, theirs: Answer) -> tuple[str, str]:
    """Return both as texts that can be compared.

    A text against a structure is parsed as JSON first, so that spaces and the order of keys do not
    count; a text that is not JSON stays as it is.
    """
    if isinstance(ours.said, str) == isinstance(theirs.said, str):
        return ours.text, theirs.text
    return _rewritten(ours.text), _rewritten(theirs.text)


def _rewritten(text: str) -> str:
    try:
        return written(loads(text))
    except ValueError:
        return text


def written(value: Any) -> str:
    """Return the JSON text of a structure, one for all that are equal (SEMANTICS A2).

    Keys are sorted and `1.0` is written as `1`. What has no place in JSON is written as its repr.
    """
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return int(value) if value.is_integer() else value
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return shorten(value, 200)
