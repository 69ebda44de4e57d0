r"""Codex's session log, the rollout. The marks: a `payload`, and types like `response_item`.

    [{"timestamp": "2025-09-19T09:02:12Z", "type": "session_meta", "payload": {"id": "s1"}},
     {"timestamp": "2025-09-19T09:02:13Z", "type": "response_item",
      "payload": {"type": "message", "role": "user",
                  "content": [{"type": "input_text", "text": "Any trains to Oslo?"}]}},
     {"timestamp": "2025-09-19T09:02:14Z", "type": "response_item",
      "payload": {"type": "function_call", "call_id": "call_1", "name": "trains",
                  "arguments": "{\"to\": \"Oslo\"}"}},
     {"timestamp": "2025-09-19T09:02:15Z", "type": "response_item",
      "payload": {"type": "function_call_output", "call_id": "call_1", "output": "09:14"}},
     {"timestamp": "2025-09-19T09:02:16Z", "type": "event_msg",
      "payload": {"type": "agent_message", "message": "Yes, at 09:14."}},
     {"timestamp": "2025-09-19T09:02:16Z", "type": "response_item",
      "payload": {"type": "message", "role": "assistant",
                  "content": [{"type": "output_text", "text": "Yes, at 09:14."}]}}]

One object on each line. `response_item` holds an item of the Responses API; the other lines tell
the same once more (`event_msg`, `compacted`) or nothing of calls. The output of a command is text
around which Codex puts its exit code: any but 0 is an error. What Codex says in the user's name
(`<environment_context>`, …) is no turn. The older log has the items themselves on its lines, behind
a header of `id`, `timestamp` and `instructions`, and `{"record_type": "state"}` between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.formats.instant import instant
from trajgrade.formats.logged import of_codex
from trajgrade.formats.response_items import add_item
from trajgrade.formats.session_lines import done, is_older_codex, lines_of, records, text_in
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Step, Trajectory

_TYPES = frozenset({
    "session_meta", "response_item", "event_msg", "turn_context", "compacted",
})  # fmt: skip
_NO_TURN = (
    "<environment_context>", "<user_instructions>", "<permissions instructions>",
    "<collaboration_mode>", "<turn_aborted>", "<skill>", "<subagent_notification>",
    "<user_shell_command>", "# AGENTS.md instructions",
)  # fmt: skip
_NAMES = frozenset({"payload", "record_type", "instructions", "git"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
_EXIT = re.compile(
    r"(?:(?:Chunk ID|Wall time): [^\n]{0,80}\n){0,3}"
    r"(?:Exit code: |Process exited with code )(-?\d{1,9})\b"
)
_REFUSED = ("exec command rejected", "patch rejected", "rejected by user", "aborted by user")


class CodexRollout:
    """Codex's session log; the module shows its shape."""

    keys = _NAMES
    measure = staticmethod(of_codex)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether a line has a payload and one of Codex's types."""
        if seen.names.isdisjoint(_NAMES):
            return False
        return any(_is_line(line) or is_older_codex(line) for line in lines_of(seen.data))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one session."""
        return self.read_lines(iter(lines_of(data)), results=True)

    def read_lines(self, lines: Iterator[Any], *, results: bool = False) -> list[Trajectory]:
        """Read the one session line by line, with or without what tools gave back."""
        session = _Session(results=results)
        for _ in session.follow(lines):
            pass
        return [session.assembly.trajectory(id=session.id)]

    def read_steps(self, lines: Iterator[Any], tell: Callable[[str], None]) -> Iterator[Step]:
        """Yield the steps of the session as they are done.

        Args:
            lines: The lines.
            tell: Called with what was unusual, a sentence each.
        """
        session = _Session(results=True)
        for _ in session.follow(lines):
            yield from done(session.assembly, tell)
        yield from done(session.assembly, tell, last=True)


class _Session:
    """One session, as its lines tell it.

    Args:
        results: Whether what tools gave back is kept.
    """

    def __init__(self, *, results: bool) -> None:
        self.assembly = Assembly("codex_rollout")
        self.assembly.results = results
        self.id: str | None = None

    def follow(self, lines: Iterator[Any]) -> Iterator[None]:
        """Read line after line into the assembly.

        Raises:
            MalformedTraceError: No line is one of Codex's.
        """
        known = False
        for place, line in records(lines, self.assembly.notes):
            if is_older_codex(line):
                known = True
                self.id = self.id or text_in(line, "id")
            elif _is_line(line):
                known = True
                payload = line["payload"]
                if line["type"] == "session_meta":
                    self.id = self.id or text_in(payload, "id")
                elif line["type"] == "response_item":
                    self.assembly.now = instant(line.get("timestamp"))
                    _item(self.assembly, payload, place)
            elif known and isinstance(line.get("type"), str) and "payload" not in line:
                _item(self.assembly, line, place)
            yield
        if not known:
            raise MalformedTraceError("no line has a payload and one of Codex's types")


def _is_line(line: Any) -> bool:
    return (
        isinstance(line, dict)
        and isinstance(line.get("payload"), dict)
        and isinstance(line.get("type"), str)
        and line["type"] in _TYPES
    )


def _item(assembly: Assembly, payload: dict[str, Any], place: str) -> None:
    kind = payload.get("type")
    if kind == "message" and payload.get("role") == "user":
        text = text_of(payload.get("content"), place)
        if text.startswith(_NO_TURN):
            assembly.message("system", text)
            return
    if isinstance(kind, str) and kind in _OUTPUTS:
        _output(assembly, payload, place)
    else:
        add_item(assembly, payload, place)


def _output(assembly: Assembly, payload: dict[str, Any], place: str) -> None:
    key = expect.identifier(payload.get("call_id"), f"{place}, call_id")
    value, status = _told(payload.get("output"), place)
    assembly.result(value, key, status=status)


def _told(output: Any, place: str) -> tuple[Any, CallStatus]:
    """Return what the tool gave back, and whether it succeeded, where Codex says so."""
    if isinstance(output, dict):
        done = output.get("success")
        value = output.get("content", output)
        return result_of(value, place), "ok" if done is True else "error" if done is False else (
            "unknown"
        )
    value = result_of(output, place)
    if not isinstance(value, str):
        return value, "unknown"
    if value.startswith(_REFUSED):
        return value, "not_run"
    code: Any = None
    if value.startswith("{"):
        wrapped = _wrapped(value)
        if wrapped is not None:
            value, code = wrapped
    else:
        found = _EXIT.match(value)
        code = int(found.group(1)) if found else None
    if isinstance(code, bool) or not isinstance(code, int):
        return value, "unknown"
    return value, "ok" if code == 0 else "error"


def _wrapped(text: str) -> tuple[str, Any] | None:
    try:
        held = jsontext.loads(text)
    except ValueError:
        return None
    if not isinstance(held, dict) or not isinstance(held.get("output"), str):
        return None
    metadata = held.get("metadata")
    if not isinstance(metadata, dict):
        return None
    return held["output"], metadata.get("exit_code")


FORMAT = CodexRollout()
