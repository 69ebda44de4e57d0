"""`trajgrade show TRACE`: a trace as trajgrade reads it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli.streams import say

if TYPE_CHECKING:
    from trajgrade.trajectory import Step, ToolCall, Trajectory

_CONTENT = 2000
_ARGUMENTS = 1000
_RESULT = 300

Line = tuple[str, str]


@click.command
@click.argument("trace")
@click.option("--format", "name", metavar="NAME", help="The format, where it is not detected.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of trajectories.")
def show(trace: str, name: str | None, *, as_json: bool) -> int:
    """Print the trajectories in TRACE (a file, pattern or folder) as trajgrade reads them.

    One that cannot be read is told of in its place, and the exit code is 2.
    """
    from trajgrade.jsontext import dumps
    from trajgrade.traces import read_traces

    code = 0

    def tell(broken: Exception) -> None:
        nonlocal code
        code = 2
        sys.stdout.flush()
        say(str(broken))

    found = read_traces(_existing(trace), name, on_error=tell)
    if as_json:
        start = "[\n"
        for trajectory in found:
            sys.stdout.write(start + dumps(trajectory.to_dict()).decode())
            start = ",\n"
        sys.stdout.write("\n]\n" if start != "[\n" else "[]\n")
        return code
    for trajectory in found:
        _print(trajectory)
    return code


def _existing(trace: str) -> str:
    """Return the path; a text that is none is not taken for a trace of its own.

    Raises:
        DatasetError: Nothing is there.
    """
    from trajgrade.sources import find

    find(trace)
    return trace


def _print(trajectory: Trajectory) -> None:
    from rich.table import Table
    from rich.text import Text

    from trajgrade.report.console import Screen
    from trajgrade.report.plain import count, printable, printable_lines

    title = [
        trajectory.format,
        *([f"id {trajectory.id}"] if trajectory.id else []),
        count(len(trajectory.steps), "step"),
        count(len(trajectory.tool_calls), "call"),
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for head, text in _lines(trajectory):
        style = "cyan" if head.startswith("call") else "bold"
        table.add_row(Text(printable(head), style), Text("\n".join(printable_lines(text))))
    Screen().block(Text(printable(", ".join(title)), "bold"), table)


def _lines(trajectory: Trajectory) -> Iterator[Line]:
    number = 0
    told: set[str] = set()
    for step in trajectory.steps:
        if step.role == "tool" and step.content in told:
            continue  # the call that it answers shows it
        if step.content or not step.tool_calls:
            yield step.role, _cut(step.content, _CONTENT)
        for call in step.tool_calls:
            told.add(_text(call.result))
            if call.hosted:
                yield "hosted", _call(call)
            else:
                yield f"call {number}", _call(call)
                number += 1
    if not _in_steps(trajectory.steps, trajectory.tool_calls):
        for number, call in enumerate(trajectory.tool_calls):
            yield f"call {number}", _call(call)
    final = trajectory.final_response
    said = next((s.content for s in reversed(trajectory.steps) if s.role == "assistant"), None)
    if final is not None and final == said:
        yield "response", "the last message of the assistant"
    else:
        yield "response", "none" if final is None else _cut(final, _CONTENT)
    for note in trajectory.notes:
        yield "note", note


def _in_steps(steps: tuple[Step, ...], calls: tuple[ToolCall, ...]) -> bool:
    return not calls or any(step.tool_calls for step in steps)


def _call(call: ToolCall) -> str:
    args = "?" if call.args_state == "unknown" else _cut(_text(call.args), _ARGUMENTS)
    marks = [
        *([f"id {call.id}"] if call.id else []),
        *([call.status] if call.status != "unknown" else []),
        *([f"by {call.agent}"] if call.agent else []),
        *([f"arguments {call.args_state}"] if call.args_state not in ("ok", "unknown") else []),
    ]
    lines = [f"{call.name}({args})" + (f"  [{', '.join(marks)}]" if marks else "")]
    if call.result is not None:
        lines.append(f"= {_cut(_text(call.result), _RESULT)}")
    lines += [f"  {line}" for child in call.children for line in _call(child).split("\n")]
    return "\n".join(lines)


def _text(value: Any) -> str:
    from trajgrade.jsontext import dumps

    return value if isinstance(value, str) else dumps(value).decode()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
