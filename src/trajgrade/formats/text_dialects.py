"""Which protocol the texts of a conversation follow, where calls are written in text.

A message of the assistant with `Action:` and `Action Input:` follows ReAct; one with `<tool_call>`
that of Hermes. Where the prompt is CrewAI's, ReAct is CrewAI's dialect. A conversation that has
structured calls follows neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import exchanges
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.react_steps import add_parts, parts_of
from trajgrade.formats.tool_tags import CALL, RESPONSE, add_answered, add_said
from trajgrade.trajectory import Trajectory

Dialect = Literal["crewai_react", "react_text", "hermes_chatml"]
Said = tuple[str, str]

CREW = "Your personal goal is:"
# CrewAI puts the rules once more behind an observation.
_PASTED = "You ONLY have access to the following tools"
_CHATML = "<|im_start|>"
_ROLES = {"developer": "system", "function": "tool"}
_KEYS = frozenset({"role", "content"})


def of(data: Any) -> Dialect | None:
    """Return the protocol of a text, or of messages of texts."""
    if isinstance(data, str):
        return of_text(data)
    said = said_in(data)
    return None if said is None else of_said(said)


def of_text(text: str) -> Dialect | None:
    """Return the protocol of a text that stands alone."""
    if _CHATML in text or _is_tagged(text):
        return "hermes_chatml"
    return "react_text" if _is_react(text) else None


def of_said(said: Iterable[Said]) -> Dialect | None:
    """Return the protocol of messages, each a role and a text."""
    crew = False
    for role, text in said:
        if role != "assistant":
            crew = crew or CREW in text
        elif _is_tagged(text):
            return "hermes_chatml"
        elif _is_react(text):
            return "crewai_react" if crew else "react_text"
        elif crew and "Final Answer:" in text:
            return "crewai_react"
    return None


def said_in(data: Any) -> list[Said] | None:
    """Return roles and texts of messages that are nothing but that; None where they are more."""
    items = data.get("messages") if isinstance(data, dict) else data
    if exchanges.are_exchanges(data):
        try:
            items = exchanges.messages_in(data, [])
        except MalformedTraceError:
            return None
    if not isinstance(items, list) or not items:
        return None
    said = []
    for item in items:
        if not isinstance(item, dict) or not item.keys() >= _KEYS or item.get("tool_calls"):
            return None
        role, content = item["role"], item["content"]
        if isinstance(content, list):
            texts = [block.get("text") for block in content if isinstance(block, dict)]
            told = [text for text in texts if isinstance(text, str)]
            if len(told) != len(content):
                return None
            content = "".join(told)
        if not isinstance(role, str) or not isinstance(content, str):
            return None
        said.append((role, content))
    return said


def _is_tagged(text: str) -> bool:
    return CALL in text and "</tool_call>" in text


def _is_react(text: str) -> bool:
    if "Action" not in text:
        return False
    kinds = [part.kind for part in parts_of(text)]
    if "action" not in kinds:
        return False
    return "input" in kinds or "thought" in kinds or "observation" in kinds


def read(said: Iterable[Said] | None, dialect: Dialect, held: Any = None) -> Trajectory:
    """Read messages that follow a protocol.

    Args:
        said: The role and the text of each.
        dialect: The protocol.
        held: What they were taken from.

    Raises:
        MalformedTraceError: Arguments are nested too deeply.
    """
    if said is None:
        raise MalformedTraceError("expected a text, or messages of a role and a text")
    key = held.get("id") if isinstance(held, dict) else None
    id = key if isinstance(key, str) else None  # noqa: A001 the field's word for it
    assembly = Assembly(dialect)
    add = _hermes if dialect == "hermes_chatml" else _react
    answer: str | None = None
    for at, (spoken, text) in enumerate(said):
        role = _ROLES.get(spoken, spoken)
        told = add(assembly, role, text, f"message {at}")
        answer = told if told is not None else answer
    if dialect == "hermes_chatml":
        return assembly.trajectory(id=id)
    return assembly.trajectory(final=answer, id=id)


def _hermes(assembly: Assembly, role: str, text: str, place: str) -> None:
    if role == "assistant":
        add_said(assembly, text, place)
    elif role == "tool" or (role == "user" and text.lstrip().startswith(RESPONSE)):
        add_answered(assembly, text, place)
    else:
        assembly.message(role, text)


def _react(assembly: Assembly, role: str, text: str, place: str) -> str | None:
    if role == "assistant":
        parts = [
            part._replace(text=part.text.partition(_PASTED)[0].rstrip())
            if part.kind == "observation"
            else part
            for part in parts_of(text)
        ]
        return add_parts(assembly, parts, place)
    told = text.lstrip()
    if role == "tool" or (told.startswith("Observation") and assembly.waits):
        label, colon, value = told.partition(":")
        known = label.rstrip("0123456789 ") == "Observation" and colon
        assembly.result(value.strip() if known else text, None)
    else:
        assembly.message(role, text)
    return None
