"""Claude Code's session log. The marks: lines with `sessionId`, `uuid` and a `message`.

    [{"type": "user", "sessionId": "s1", "uuid": "1", "parentUuid": null,
      "message": {"role": "user", "content": "Any trains to Oslo?"}},
     {"type": "assistant", "sessionId": "s1", "uuid": "2", "parentUuid": "1",
      "message": {"id": "m1", "role": "assistant", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "trains", "input": {"to": "Oslo"}}]}},
     {"type": "user", "sessionId": "s1", "uuid": "3", "parentUuid": "2",
      "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "09:14"}]}},
     {"type": "assistant", "sessionId": "s1", "uuid": "4", "parentUuid": "3",
      "message": {"id": "m2", "role": "assistant",
                  "content": [{"type": "text", "text": "Yes, at 09:14."}]}}]

One object on each line; a file is one trajectory, resumed sessions in it too. A message has a line
for each of its blocks, which stand in one step; a line of a `uuid` that came before is a copy. The
messages that Claude Code's SDK streams (`session_id`, `parent_tool_use_id`) are read alike. What a
sub-agent calls (`isSidechain`) stands in the call that started it. Lines of other types say
nothing of calls; text that Claude Code itself writes in the user's or model's name is no turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import text_of
from trajgrade.formats.content_blocks import CALLS, kind_of, message
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_claude_code
from trajgrade.formats.session_lines import lines_of, records, text_in, without_results
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import ToolCall, Trajectory

_NO_TURN = (
    "<command-name>", "<command-message>", "<local-command-", "<bash-", "<task-notification>",
    "<system-reminder>", "[Request interrupted by user", "Caveat: The messages below",
)  # fmt: skip
_Line = tuple[str, dict[str, Any]]


class ClaudeCode:
    """Claude Code's session log; the module shows its shape."""

    keys = frozenset({"message"})
    measure = staticmethod(of_claude_code)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a line is a message of a session."""
        return "message" in seen.names and any(map(_is_message, lines_of(seen.data)))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one session."""
        return self.read_lines(iter(lines_of(data)), results=True)

    def read_lines(self, lines: Iterator[Any], *, results: bool = False) -> list[Trajectory]:
        """Read the one session line by line, with or without what tools gave back."""
        assembly = Assembly("claude_code")
        assembly.results = results
        spoken: list[_Line] = []
        others: list[dict[str, Any]] = []
        for place, whole in _once(records(lines, assembly.notes)):
            line = whole if results else without_results(whole)
            if line.get("type") in ("user", "assistant") and "message" in line:
                spoken.append((place, line))
            else:
                others.append(line)
        if not spoken:
            raise MalformedTraceError("no line is a message of a session")
        side = [(place, line) for place, line in spoken if _side(line) is not None]
        if len(side) == len(spoken):  # the log of a sub-agent alone
            assembly.agent, side = text_in(side[0][1], "agentId"), []
            calls = _read(assembly, spoken)
        else:
            calls = _read(assembly, [entry for entry in spoken if _side(entry[1]) is None])
        _sub_agents(assembly, side, spoken, calls)
        told = (line.get("result") for line in others if line.get("type") == "result")
        final = next((text for text in told if isinstance(text, str) and text), msgspec.UNSET)
        ids = (text_in(line, "sessionId", "session_id") for _, line in spoken)
        return [assembly.trajectory(id=next(ids, None), final=final)]


def _is_message(line: Any) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("message"), dict):
        return False
    if line.get("type") not in ("user", "assistant"):
        return False
    if "sessionId" in line:
        return "uuid" in line or "parentUuid" in line
    return "session_id" in line and "parent_tool_use_id" in line


def _once(lines: Iterable[_Line]) -> Iterable[_Line]:
    """Leave out lines that stand there already, as a resumed session repeats them."""
    met: set[str] = set()
    for place, line in lines:
        key = line.get("uuid")
        if isinstance(key, str):
            if key in met:
                continue
            met.add(key)
        yield place, line


def _side(line: dict[str, Any]) -> str | None:
    """Return what the lines of one sub-agent have in common; None where the main agent speaks."""
    parent = text_in(line, "parent_tool_use_id")
    if parent is None and line.get("isSidechain") is not True:
        return None
    return parent or text_in(line, "agentId") or ""


def _read(assembly: Assembly, lines: list[_Line]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for place, raw, content, times in _messages(lines):
        own = expect.record(raw.get("message"), f"{place}, message")
        if _by_claude_code(raw, own, content):
            assembly.message("system", text_of(content, place))
            continue
        assembly.now = instant(raw.get("timestamp"))
        made = message(assembly, raw["type"], content, place)
        for call, time in zip(made, times, strict=False):
            force_setattr(call, "started_at", time)
        calls += made
    assembly.now = None
    return calls


def _messages(lines: list[_Line]) -> list[tuple[str, dict[str, Any], Any, list[Any]]]:
    """Return each message with its content, the blocks of all its lines, and the calls' times."""
    found: list[tuple[str, dict[str, Any], Any, list[Any]]] = []
    open_ones: dict[str, int] = {}
    for place, line in lines:
        inner = expect.record(line.get("message"), f"{place}, message")
        content = inner.get("content")
        key = text_in(inner, "id") if line["type"] == "assistant" else None
        began = instant(line.get("timestamp"))
        blocks = content if isinstance(content, list) else []
        times = [began for block in blocks if isinstance(block, dict) and kind_of(block) in CALLS]
        if key in open_ones and isinstance(content, list):
            at = open_ones[key]
            found[at][2].extend(content)
            found[at][3].extend(times)
            continue
        if key is not None and isinstance(content, list):
            open_ones[key] = len(found)
            content = list(content)
        found.append((place, line, content, times))
    return found


def _by_claude_code(line: dict[str, Any], own: dict[str, Any], content: Any) -> bool:
    """Whether Claude Code wrote it itself: an error of the API, a caveat, a summary, a command."""
    if line["type"] == "assistant":
        return line.get("isApiErrorMessage") is True or own.get("model") == "<synthetic>"
    if isinstance(content, list):
        only = content[0] if len(content) == 1 else None
        if not isinstance(only, dict) or only.get("type") != "text":
            return False
        content = only.get("text")
    if not isinstance(content, str):
        return False
    meta = line.get("isMeta") is True or line.get("isCompactSummary") is True
    return meta or content.startswith(_NO_TURN)


def _sub_agents(
    assembly: Assembly, side: list[_Line], every: list[_Line], calls: list[ToolCall]
) -> None:
    started = _started(every)
    for key, lines in _chains(side).items():
        inner = Assembly(assembly.format)
        inner.results = assembly.results
        made = _read(inner, lines)
        assembly.notes += inner.notes
        parent = _parent(lines, started.get(key, key), calls)
        calls += made
        name = text_in(lines[0][1], "agentId")
        if parent is not None and isinstance(parent.args, dict):
            name = text_in(parent.args, "subagent_type") or name
        for call in made:
            force_setattr(call, "agent", name or "sub-agent")
        if parent is not None:
            force_setattr(parent, "children", (*parent.children, *made))
        elif made:
            assembly.notes.append(f"{lines[0][0]}: a sub-agent that no call started; read at last")
            assembly.message("assistant")
            for call in made:
                assembly.add(call, waits=False)


def _started(lines: list[_Line]) -> dict[str, str]:
    """Return which call started an agent, by the agent's id, where a result says so."""
    found = {}
    for _, line in lines:
        told, inner = line.get("toolUseResult"), line.get("message")
        agent = text_in(told, "agentId") if isinstance(told, dict) else None
        content = inner.get("content") if isinstance(inner, dict) else None
        if agent is None or not isinstance(content, list):
            continue
        for block in content:
            key = text_in(block, "tool_use_id") if isinstance(block, dict) else None
            if key is not None:
                found[agent] = key
    return found


def _chains(side: list[_Line]) -> dict[str, list[_Line]]:
    """Return the lines of each sub-agent: those that name it, else those that hang together."""
    chains: dict[str, list[_Line]] = {}
    roots: dict[str, str] = {}
    for place, line in side:
        key = _side(line) or ""
        if not key:
            own, before = text_in(line, "uuid"), text_in(line, "parentUuid")
            key = roots.get(before or "", own or before or place)
            roots[own or ""] = key
        chains.setdefault(key, []).append((place, line))
    return chains


def _parent(lines: list[_Line], key: str, calls: list[ToolCall]) -> ToolCall | None:
    found = next((call for call in calls if call.id == key), None)
    if found is not None:
        return found
    inner = lines[0][1].get("message")
    prompt = text_of(inner.get("content")) if isinstance(inner, dict) else ""
    return next(
        (
            call
            for call in calls
            if prompt
            and not call.children
            and isinstance(call.args, dict)
            and call.args.get("prompt") == prompt
        ),
        None,
    )


FORMAT = ClaudeCode()
