"""Calls and results in tags inside a text, as Hermes and the models after it write them.

<tool_call>{"name": "trains", "arguments": {"to": "Oslo"}}</tool_call>
<tool_call><function=trains><parameter=to>Oslo</parameter></function></tool_call>
<tool_response>{"name": "trains", "content": "09:14"}</tool_response>

JSON that lacks closing braces, and the literals of Python, are read as what they mean. Arguments
that are neither stay text; a tag in which no tool is named is no call, and is noted. Thoughts
(`<think>`, `<scratch_pad>`) are no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats.arguments import given, parsed
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, shown
from trajgrade.formats.python_calls import literal_in
from trajgrade.trajectory import ArgsState

CALL = "<tool_call>"
RESPONSE = "<tool_response>"
_THOUGHTS = ("<think>", "<scratch_pad>")
_NAME = re.compile(r"""["']name["']\s{0,9}:\s{0,9}["']([^"'\n]{1,200})["']""")
_AFTER = re.compile(r"""["'](?:arguments|parameters)["']\s{0,9}:\s{0,9}""")
_FUNCTION = re.compile(r"<function=([^>\n]{1,200})>")
_PARAMETER = re.compile(r"<parameter=([^>\n]{1,200})>")
_MISSING = 3

_Call = tuple[str, Any, ArgsState]


def tagged(text: str, opening: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a text in order, each with whether it stands in the tag.

    A tag that is not closed ends where the next one begins, or the text.
    """
    closing = opening.replace("<", "</")
    inside = False
    piece = ""
    for token in re.split(f"({re.escape(opening)}|{re.escape(closing)})", text):
        if token == opening or (token == closing and inside):
            yield inside, piece
            inside, piece = token == opening, ""
        elif token != closing:
            piece += token
    yield inside, piece


def thoughtless(text: str) -> str:
    """Return the text without the thoughts in it."""
    for opening in _THOUGHTS:
        if opening in text:
            text = "".join(piece for inside, piece in tagged(text, opening) if not inside)
    return text


def add_said(assembly: Assembly, text: str, place: str) -> None:
    """Add what the assistant said, with the calls in it.

    Raises:
        MalformedTraceError: Arguments are nested too deeply.
    """
    calls: list[_Call] = []
    spoken: list[str] = []
    for inside, piece in tagged(thoughtless(text), CALL):
        found = _calls(piece.strip(), place, assembly.notes) if inside else None
        if found is None:
            spoken.append(piece)
        else:
            calls += found
    assembly.message("assistant", "".join(spoken).strip())
    for name, args, state in calls:
        assembly.call(name, args, state=state)


def add_answered(assembly: Assembly, text: str, place: str) -> None:
    """Add what the tools gave back.

    Raises:
        MalformedTraceError: It is nested too deeply.
    """
    pieces = [piece.strip() for inside, piece in tagged(text, RESPONSE) if inside]
    for piece in pieces or [text.strip()]:
        value: Any = piece
        name = None
        held = _held(piece) if piece.startswith("{") else None
        if isinstance(held, dict) and "content" in held and isinstance(held.get("name"), str):
            value, name = result_of(held["content"], place), held["name"]
        assembly.result(value, None, name, step=False)
        assembly.message("tool", shown(value, place))


def _held(text: str) -> Any:
    """Return the value that a text writes as JSON or Python; None where it writes none."""
    try:
        return jsontext.loads(text)
    except ValueError:
        value = literal_in(text)
        return None if isinstance(value, str) else value


def _calls(text: str, place: str, notes: list[str]) -> list[_Call] | None:
    held = _held(text)
    if held is None and text.startswith("{"):
        for missing in range(1, _MISSING + 1):
            held = _held(text + "}" * missing)
            if held is not None:
                notes.append(f"{place}: a call that lacks {missing} closing braces")
                break
    if held is None:
        found = _written(text, place, notes)
        if found is None:
            notes.append(f"{place}: a tag that holds no call: {shorten(text)}")
        return None if found is None else [found]
    calls: list[_Call] = []
    for raw in held if isinstance(held, list) else [held]:
        function = raw.get("function") if isinstance(raw, dict) else None
        called = function if isinstance(function, dict) else raw
        name = called.get("name") if isinstance(called, dict) else None
        if not isinstance(name, str) or not name:
            notes.append(f"{place}: a tag that holds no call: {shorten(text)}")
            return None
        try:
            args = given({**raw, **called}, "arguments", f"{place} ({name})", ("function",))
        except MalformedTraceError as broken:  # the model's own fault, not the trace's
            notes.append(str(broken))
            calls.append((name, text, "unparseable"))
            continue
        calls.append((name, *parsed(args, f"{place} ({name})", notes)))
    return calls


def _written(text: str, place: str, notes: list[str]) -> _Call | None:
    """Read a call in tags of its own; or the name alone, the arguments being no JSON."""
    function = _FUNCTION.search(text)
    if function is not None:
        args: dict[str, Any] = {}
        found = list(_PARAMETER.finditer(text, function.end()))
        for at, parameter in enumerate(found):
            end = found[at + 1].start() if at + 1 < len(found) else len(text)
            args[parameter.group(1)] = _value(text[parameter.end() : end])
        return function.group(1), args, "ok"
    name, after = _NAME.search(text), _AFTER.search(text)
    if name is None:
        return None
    rest = text[after.end() :] if after is not None else text
    notes.append(f"{place} ({name.group(1)}): its arguments are not JSON: {shorten(rest)}")
    return name.group(1), rest, "unparseable"


def _value(text: str) -> Any:
    bare = text.partition("</parameter>")[0].strip("\n")
    if bare[:1] in ("{", "["):
        try:
            return jsontext.loads(bare)
        except ValueError:
            return bare
    return bare
