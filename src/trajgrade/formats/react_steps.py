"""ReAct text → thoughts, calls, observations, answers.

Thought: I look.                    Thought 1: I look.
Action: trains                      Action 1: trains[Oslo]
Action Input: {"to": "Oslo"}        Observation 1: 09:14
Observation: 09:14                  Action 2: Finish[09:14]
Final Answer: 09:14

A label stands at the beginning of a line, and counts only where it can: an input after an action,
an observation after a call, an answer after a thought. What a tool or a prompt says may hold the
same words. An action without an input in either place is none. An input that is an object or a
list is read as such, any other is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from trajgrade import jsontext
from trajgrade.formats.arguments import bounded, parsed
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.python_calls import literal_in
from trajgrade.trajectory import ArgsState

Kind = Literal["lead", "thought", "action", "input", "observation", "final", "answer", "question"]

_LABEL = re.compile(
    r"^(?:```)?[ \t]{0,8}\*{0,2}"
    r"(Thought|Action(?:[ \t]?\d{1,4})?[ \t]?Input|Action|Observation|Final Answer|Answer|"
    r"Question|Claim)[ \t]?(\d{0,4})[ \t]?\*{0,2}:\*{0,2}[ \t]?",
    re.MULTILINE,
)
_KINDS: dict[str, Kind] = {
    "Thought": "thought", "Action": "action", "Observation": "observation",
    "Final Answer": "final", "Answer": "answer", "Question": "question", "Claim": "question",
}  # fmt: skip
_BRACKETS = re.compile(r"([A-Za-z_][\w .:/-]{0,99})\[(.*)\]", re.DOTALL)
_TEMPLATES = ("the action to take", "the final answer to the original", "the result of the action")
_LONGEST_NAME = 200
_FENCE = re.compile(r"```[a-z]{0,10}\s*|\s*```")


class Part(NamedTuple):
    """What stands under a label."""

    kind: Kind
    number: str
    text: str


class Call(NamedTuple):
    """What an action asks for."""

    name: str
    args: Any
    state: ArgsState


def parts_of(text: str) -> list[Part]:
    """Return what stands under each label that counts, what stands before the first at first."""
    labels = list(_LABEL.finditer(text))
    kinds = [_KINDS.get(label.group(1), "input") for label in labels]
    starts: list[tuple[Kind, str, int, int]] = [("lead", "", 0, 0)]
    for at, label in enumerate(labels):
        end = labels[at + 1].start() if at + 1 < len(labels) else len(text)
        follows = kinds[at + 1] if at + 1 < len(labels) else None
        number = labels[at + 1].group(2) if follows else ""
        body = text[label.end() : end].strip()
        if _counts(kinds[at], starts[-1][0], follows, number, body):
            starts.append((kinds[at], label.group(2), label.start(), label.end()))
    ends = [start for _, _, start, _ in starts[1:]] + [len(text)]
    return [
        Part(kind, number, text[begin:end].strip())
        for (kind, number, _, begin), end in zip(starts, ends, strict=True)
    ]


def _counts(kind: Kind, before: Kind, follows: Kind | None, number: str, body: str) -> bool:
    if body.startswith(_TEMPLATES):
        return False
    match kind:
        case "input":
            return before == "action"
        case "action":
            return follows == "input" or _inline(body) is not None
        case "observation":
            return before in ("action", "input")
        case "answer":
            return before == "thought"
        case "question":
            return follows in ("thought", "action") and number in ("", "1")
    return True


def _inline(body: str) -> tuple[str, Any] | None:
    """Return name and input of an action that holds both: in brackets, or as a JSON object."""
    found = _BRACKETS.fullmatch(body) or _BRACKETS.fullmatch(body.partition("\n")[0].strip())
    if found is not None:
        return found.group(1).strip(), found.group(2)
    bare = _FENCE.sub("", body)
    if not bare.startswith("{"):
        return None
    try:
        held = jsontext.loads(bare)
    except ValueError:
        return None
    if isinstance(held, dict) and isinstance(held.get("action"), str) and held["action"]:
        return held["action"], held.get("action_input")
    return None


def calls_in(parts: list[Part], place: str, notes: list[str]) -> Iterator[Part | Call]:
    """Yield the parts in order, an action with its input as the call that it is.

    Raises:
        MalformedTraceError: An input is nested too deeply.
    """
    for at, part in enumerate(parts):
        if part.kind == "input":
            continue
        if part.kind != "action":
            yield part
            continue
        follows = parts[at + 1] if at + 1 < len(parts) else None
        if follows is not None and follows.kind == "input":
            called: tuple[str, Any] = part.text.strip("*` \n"), _input(follows.text)
        else:
            called = _inline(part.text) or ("", None)
        name, given = called
        if not name or len(name) > _LONGEST_NAME or "\n" in name:
            notes.append(f"{place}: an action that names no tool: {part.text[:80]!r}")
        elif name == "Final Answer":
            yield Part("final", "", given if isinstance(given, str) else str(given))
        else:
            yield _call(name, given, place, notes)


def _input(text: str) -> str:
    """Return an input without the fence or the quotes around it."""
    bare = text.strip()
    if bare.startswith("```"):
        return _FENCE.sub("", bare).strip()
    bare = bare.removesuffix("```").rstrip()
    quoted = len(bare) > 1 and bare[0] == bare[-1] == '"'
    return bare[1:-1] if quoted else bare


def _call(name: str, given: Any, place: str, notes: list[str]) -> Call:
    if not isinstance(given, str):
        args, state = parsed(given, f"{place} ({name})", notes)
        return Call(name, args, state)
    text = given.strip()
    if not text or text == "None":
        return Call(name, {}, "ok")
    if text[0] in "{[":
        remarks: list[str] = []
        args, state = parsed(text, f"{place} ({name})", remarks)
        if state == "unparseable":
            value = literal_in(text)
            if isinstance(value, (dict, list)):
                bounded(value, name)
                return Call(name, value, "ok")
            if text[0] == "[":
                return Call(name, text, "text")
        notes.extend(remarks)
        return Call(name, args, state)
    return Call(name, text, "text")


def add_text(assembly: Assembly, text: str, place: str) -> str | None:
    """Add the steps and calls of a text, and return the answer that it marks, if any.

    Raises:
        MalformedTraceError: An input is nested too deeply.
    """
    return add_parts(assembly, parts_of(text), place)


def add_parts(assembly: Assembly, parts: list[Part], place: str) -> str | None:
    """Add steps and calls, and return the answer that they mark, if any.

    Raises:
        MalformedTraceError: An input is nested too deeply.
    """
    answer = None
    thoughts: list[str] = []
    for part in calls_in(parts, place, assembly.notes):
        if isinstance(part, Call):
            assembly.message("assistant", "\n".join(thoughts))
            assembly.call(part.name, part.args, state=part.state)
            thoughts = []
            if part.name.lower() == "finish" and isinstance(part.args, str):
                answer = part.args
        elif part.kind == "observation":
            assembly.result(part.text, None)
        elif part.kind in ("final", "answer"):
            answer = _closed(part.text)
            assembly.message("assistant", answer)
            thoughts = []
        elif part.text.strip("` \n"):
            thoughts.append(part.text)
    if thoughts:
        assembly.message("assistant", "\n".join(thoughts))
    return answer


def _closed(text: str) -> str:
    """Return an answer without the fence that ends the text around it."""
    if text.endswith("```") and text.count("```") % 2:
        return text[:-3].rstrip()
    return text
