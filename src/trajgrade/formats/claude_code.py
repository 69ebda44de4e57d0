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

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from trajgrade.errors import MalformedTraceError
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.claude_messages import WINDOW, Speaker
from trajgrade.formats.content import text_of
from trajgrade.formats.logged import of_claude_code
from trajgrade.formats.session_lines import (
    Recent,
    done,
    lines_of,
    records,
    text_in,
    without_results,
)
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Step, ToolCall, Trajectory

_AGENTS = 32  # so many sub-agents speak at once
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
        main = Speaker(assembly, None if results else WINDOW)
        session = _Session()
        calls: list[ToolCall] = []
        side: list[_Line] = []
        started: dict[str, str] = {}
        for place, line in session.spoken(records(lines, assembly.notes), results=results):
            started.update(_started(line))
            if _side(line) is None:
                calls += main.take(place, line)
            else:
                side.append((place, line))
        alone = side and not session.main
        if alone:  # the log of a sub-agent alone
            assembly.agent = text_in(side[0][1], "agentId")
            for place, line in side:
                calls += main.take(place, line)
        calls += main.end()
        _sub_agents(assembly, [] if alone else side, started, calls)
        return [assembly.trajectory(id=session.id, final=session.final)]

    def read_steps(self, lines: Iterator[Any], tell: Callable[[str], None]) -> Iterator[Step]:
        """Yield the steps of the session as they are done; those of a sub-agent among the others.

        Args:
            lines: The lines.
            tell: Called with what was unusual, a sentence each.
        """
        main = Speaker(Assembly("claude_code"), WINDOW)
        chains = _Chains()
        agents: dict[str, Speaker] = {}
        session = _Session()
        for place, line in session.spoken(records(lines, main.assembly.notes), results=True):
            speaker = main
            if _side(line) is not None:
                key = chains.key(place, line)
                if key not in agents:
                    if len(agents) == _AGENTS:
                        yield from _last(agents.pop(next(iter(agents))), tell)
                    agents[key] = Speaker(Assembly("claude_code"), WINDOW)
                    agents[key].assembly.agent = text_in(line, "agentId") or "sub-agent"
                speaker = agents[key]
            speaker.take(place, line)
            yield from done(speaker.assembly, tell)
        for speaker in (*agents.values(), main):
            yield from _last(speaker, tell)


def _last(speaker: Speaker, tell: Callable[[str], None]) -> Iterator[Step]:
    speaker.end()
    yield from done(speaker.assembly, tell, last=True)


class _Session:
    """What all the lines of a session tell together.

    Attributes:
        id: Its id.
        final: What its last line gives as its answer.
        main: Whether the main agent spoke.
    """

    def __init__(self) -> None:
        self.id: str | None = None
        self.final: str | msgspec.UnsetType = msgspec.UNSET
        self.main = False

    def spoken(self, lines: Iterable[_Line], *, results: bool) -> Iterator[_Line]:
        """Yield the lines that are messages, each once: a resumed session repeats some.

        Raises:
            MalformedTraceError: There is none.
        """
        met = Recent()
        spoke = False
        for place, line in lines:
            key = line.get("uuid")
            if isinstance(key, str) and not met.is_new(key):
                continue
            if line.get("type") in ("user", "assistant") and "message" in line:
                spoke = True
                self.main = self.main or _side(line) is None
                self.id = self.id or text_in(line, "sessionId", "session_id")
                yield place, line if results else without_results(line)
            elif line.get("type") == "result" and self.final is msgspec.UNSET:
                self.final = text_in(line, "result") or msgspec.UNSET
        if not spoke:
            raise MalformedTraceError("no line is a message of a session")


def _is_message(line: Any) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("message"), dict):
        return False
    if line.get("type") not in ("user", "assistant"):
        return False
    if "sessionId" in line:
        return "uuid" in line or "parentUuid" in line
    return "session_id" in line and "parent_tool_use_id" in line


def _side(line: dict[str, Any]) -> str | None:
    """Return what the lines of one sub-agent have in common; None where the main agent speaks."""
    parent = text_in(line, "parent_tool_use_id")
    if parent is None and line.get("isSidechain") is not True:
        return None
    return parent or text_in(line, "agentId") or ""


def _sub_agents(
    assembly: Assembly, side: list[_Line], started: dict[str, str], calls: list[ToolCall]
) -> None:
    for key, lines in _chains(side).items():
        inner = Assembly(assembly.format)
        inner.results = assembly.results
        speaker = Speaker(inner)
        for place, line in lines:
            speaker.take(place, line)
        made = speaker.end()
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


def _started(line: dict[str, Any]) -> dict[str, str]:
    """Return which call started an agent, by the agent's id, where a result says so."""
    told, inner = line.get("toolUseResult"), line.get("message")
    agent = text_in(told, "agentId") if isinstance(told, dict) else None
    content = inner.get("content") if isinstance(inner, dict) else None
    if agent is None or not isinstance(content, list):
        return {}
    keys = [text_in(block, "tool_use_id") for block in content if isinstance(block, dict)]
    return next(({agent: key} for key in reversed(keys) if key is not None), {})


class _Chains:
    """The lines of each sub-agent: those that name it, else those that hang together."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}

    def key(self, place: str, line: dict[str, Any]) -> str:
        """Return which sub-agent speaks."""
        key = _side(line) or ""
        if not key:
            own, before = text_in(line, "uuid"), text_in(line, "parentUuid")
            key = self._roots.get(before or "", own or before or place)
            self._roots[own or ""] = key
            if len(self._roots) > Recent.MOST:
                del self._roots[next(iter(self._roots))]
        return key


def _chains(side: list[_Line]) -> dict[str, list[_Line]]:
    chains = _Chains()
    found: dict[str, list[_Line]] = {}
    for place, line in side:
        found.setdefault(chains.key(place, line), []).append((place, line))
    return found


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
