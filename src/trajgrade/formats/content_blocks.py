"""A message of Anthropic's content blocks → steps, calls and results.

What Anthropic's formats share: `tool_use` and `mcp_tool_use` are calls, `server_tool_use` one that
Anthropic runs, blocks whose type ends in `tool_result` are results. `is_error` says whether a call
failed; that the user refused it, only the text of the result says. A user message that holds only
results is no turn of the user's.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.arguments import given
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, text_of
from trajgrade.trajectory import CallStatus, ToolCall

CALLS = frozenset({"tool_use", "mcp_tool_use", "server_tool_use"})
MARKS = CALLS | {"tool_result", "mcp_tool_result", "thinking", "redacted_thinking"}
# What Claude Code and its SDK answer in the place of a tool that was not allowed to run.
_NEVER_RAN = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission to use ",
    "Claude requested permissions to ",
)


def message(assembly: Assembly, role: str, content: Any, place: str) -> list[ToolCall]:
    """Read one message, and return the calls that it makes.

    Raises:
        MalformedTraceError: It breaks the rules.
    """
    if not isinstance(content, (list, tuple)):
        assembly.message(role, text_of(content, place))
        return []
    answers: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    others: list[Any] = []
    for at, block in enumerate(content):
        if isinstance(block, str):
            others.append(block)
            continue
        raw = _block(block, f"{place}, block {at}")
        kind = kind_of(raw)
        if kind.endswith("tool_result"):
            answers.append(raw)
            continue
        others.append(raw)
        if kind in CALLS:
            asked.append(raw)
    if role != "assistant":
        for raw in answers:
            _result(assembly, raw, place, step=True)
    if others or not answers:
        assembly.message(role, text_of(others, place))
    calls = [_call(assembly, raw, place) for raw in asked]
    if role == "assistant":
        # Results of tools that Anthropic runs stand between the calls of one message.
        for raw in answers:
            _result(assembly, raw, place, step=False)
    return calls


def _block(block: Any, place: str) -> dict[str, Any]:
    raw = expect.record(block, place)
    if not isinstance(raw.get("type", ""), str) and "name" in raw:
        raise MalformedTraceError(f"{place}: its type is {shorten(raw['type'])}; is it a call?")
    return raw


def kind_of(block: dict[str, Any]) -> str:
    """Return the type of a block, as text."""
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


def _call(assembly: Assembly, block: dict[str, Any], place: str) -> ToolCall:
    kind = kind_of(block)
    name = expect.name(block.get("name"), f"{place}, {kind}")
    key = expect.identifier(block.get("id"), f"{place}, id")
    args = given(block, "input", f"{place}, {kind} ({name})")
    return assembly.call(name, args, key, hosted=kind == "server_tool_use")


def _result(assembly: Assembly, block: dict[str, Any], place: str, *, step: bool) -> None:
    key = expect.identifier(block.get("tool_use_id"), f"{place}, tool_use_id")
    content = block.get("content")
    failed = block.get("is_error")
    status: CallStatus = "error" if failed is True else "ok" if failed is False else "unknown"
    if isinstance(content, dict) and str(content.get("type", "")).endswith("_error"):
        status = "error"
    value = result_of(content, place)
    if status == "error" and isinstance(value, str) and value.startswith(_NEVER_RAN):
        status = "not_run"
    assembly.result(value, key, status=status, step=step)
