"""Lines of Claude Code's session log → messages, each with the blocks of all of its lines.

A message has a line for each of its blocks, with results and other messages between them. So a
message waits until the log ends or, where little memory is to be taken, until so many others have
come after it (`WINDOW`); blocks that come later still begin a message of their own.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from msgspec.structs import force_setattr

from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import text_of
from trajgrade.formats.content_blocks import CALLS, kind_of, message
from trajgrade.formats.instant import instant
from trajgrade.formats.session_lines import text_in
from trajgrade.trajectory import ToolCall

WINDOW = 100

_NO_TURN = (
    "<command-name>", "<command-message>", "<local-command-", "<bash-", "<task-notification>",
    "<system-reminder>", "[Request interrupted by user", "Caveat: The messages below",
)  # fmt: skip


class _Message(NamedTuple):
    """A message, as far as it has been read: its first line, its blocks, when each call began."""

    place: str
    line: dict[str, Any]
    content: Any
    times: list[Any]
    key: str | None


class Speaker:
    """Reads the messages of one agent into an assembly, line after line.

    Args:
        assembly: What they are read into.
        window: How many messages wait for more of their blocks; None for all.
    """

    def __init__(self, assembly: Assembly, window: int | None = None) -> None:
        self.assembly = assembly
        self._window = window
        self._waiting: deque[_Message] = deque()
        self._open: dict[str, _Message] = {}

    def take(self, place: str, line: dict[str, Any]) -> list[ToolCall]:
        """Take a line; return the calls of the messages that wait no longer."""
        inner = expect.record(line.get("message"), f"{place}, message")
        content = inner.get("content")
        key = text_in(inner, "id") if line["type"] == "assistant" else None
        began = instant(line.get("timestamp"))
        blocks = content if isinstance(content, list) else []
        times = [began for block in blocks if isinstance(block, dict) and kind_of(block) in CALLS]
        if key in self._open and isinstance(content, list):
            begun = self._open[key]
            begun.content.extend(content)
            begun.times.extend(times)
            return []
        if key is not None and isinstance(content, list):
            self._waiting.append(_Message(place, line, list(content), times, key))
            self._open[key] = self._waiting[-1]
        else:
            self._waiting.append(_Message(place, line, content, times, None))
        if self._window is None or len(self._waiting) <= self._window:
            return []
        return self._read(self._waiting.popleft())

    def end(self) -> list[ToolCall]:
        """Read the messages that still wait, and return their calls."""
        calls: list[ToolCall] = []
        while self._waiting:
            calls += self._read(self._waiting.popleft())
        self.assembly.now = None
        return calls

    def _read(self, told: _Message) -> list[ToolCall]:
        if told.key is not None:
            del self._open[told.key]
        own = expect.record(told.line.get("message"), f"{told.place}, message")
        if _by_claude_code(told.line, own, told.content):
            self.assembly.message("system", text_of(told.content, told.place))
            return []
        self.assembly.now = instant(told.line.get("timestamp"))
        made = message(self.assembly, told.line["type"], told.content, told.place)
        for call, time in zip(made, told.times, strict=False):
            force_setattr(call, "started_at", time)
        return made


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
