"""`trajgrade show TRACE…`: traces as trajgrade reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli.reading import Traces
from trajgrade.sources import find

if TYPE_CHECKING:
    from trajgrade.trajectory import Step, ToolCall, Trajectory

_CONTENT = 2000
_ARGUMENTS = 1000
_RESULT = 300

Line = tuple[str, str]


@click.command
@click.argument("files", nargs=-1, required=True, metavar="TRACE...")
@click.option("--format", "name", metavar="NAME", help="The format, where it is not detected.")
@click.option("--unwrap", is_flag=True, help="Replace a call that holds several by those.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of trajectories.")
def show(files: Sequence[str], name: str | None, *, unwrap: bool, as_json: bool) -> int:
    """Print the trajectories in TRACE (files, patterns or folders) as trajgrade reads them.

    One that cannot be read is told of in its place, and the exit code is 2.
    """
    from trajgrade.jsontext import dumps

    sources = find(files)
    traces = Traces(sources, name, unwrap=unwrap)
    if as_json:
        start = "[\n"
        for _, _, trajectory in traces:
            sys.stdout.write(start + dumps(trajectory.to_dict()).decode())
            start = ",\n"
        sys.stdout.write("\n]\n" if start != "[\n" else "[]\n")
    else:
        for source, _, trajectory in traces:
            _print(trajectory, str(source) if len(sources) > 1 else "")
    return 2 if traces.faults else 0


def _print(trajectory: Trajectory, place: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from trajgrade.report.console import Screen
    from trajgrade.report.plain import count, printable, printable_lines

    title = [
        *([place] if place else []),
        trajectory.format,
        *([f"id {trajectory.id}"] if trajectory.id else []),
        count(len(trajectory.steps), "step"),
        count(len(trajectory.tool_calls), "call"),
        *_measures(trajectory),
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for head, text in _lines(trajectory):
        style = "cyan" if head.startswith("call") else "bold"
        table.add_row(Text(printable(head), style), Text("\n".join(printable_lines(text))))
    Screen().block(Text(printable(", ".join(title)), "bold"), table)


def _measures(trajectory: Trajectory) -> Iterator[str]:
    """Say which models answered, with how many tokens, at what cost, in what time."""
    told = trajectory.telemetry
    if told.models:
        yield " and ".join(told.models)
    if told.usage is not None:
        usage = told.usage
        counts = (
            (usage.input_tokens, "in"), (usage.output_tokens, "out"),
            (usage.total_tokens, "tokens"),
        )  # fmt: skip
        said = " ".join(f"{number} {word}" for number, word in counts if number is not None)
        if said:
            yield said
        if usage.cost is not None:
            yield f"{usage.cost:.4g} USD"
    if told.latency_in_seconds is not None:
        yield f"{told.latency_in_seconds:.3g} s"


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
    within = {id(call) for step in trajectory.steps for call in step.tool_calls}
    for call in trajectory.hosted_calls:
        if id(call) not in within:
            yield "hosted", _call(call)
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
