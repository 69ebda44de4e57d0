"""Shown: traces, texts and results, made safe and short enough to be shown.

A trace is shown as trajgrade reads it. What it cannot read is shown as it came. What is cut says
how long it is; the whole of it is one click away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from trajgrade.errors import TraceError
from trajgrade.jsontext import dumps
from trajgrade.report.document import MOST_LETTERS, cut
from trajgrade.report.plain import number, printable, printable_lines
from trajgrade.telemetry import Telemetry
from trajgrade.trajectory import Step, ToolCall, Trajectory

MOST_STEPS = 200


class Call(NamedTuple):
    """A tool call."""

    name: str
    args: str
    result: str
    status: str
    tone: str
    note: str


class Turn(NamedTuple):
    """A step: who speaks, what is said, what is called."""

    role: str
    text: str
    calls: list[Call]


class Shown(NamedTuple):
    """A trace, or whatever stands in its place.

    Attributes:
        turns: Its steps; empty where it is no trace.
        text: What stands there in place of a trace.
        hidden: How many steps more there are.
        is_cut: Whether something is left out.
        note: What must be known to read it.
        facts: What it records of itself: models, tokens, cost, time.
    """

    turns: list[Turn]
    text: str = ""
    hidden: int = 0
    is_cut: bool = False
    note: str = ""
    facts: tuple[tuple[str, str], ...] = ()


def shown(value: Any) -> Shown | None:
    """Return a trace, a text or another value as it is shown; None where there is nothing."""
    if value is None:
        return None
    if isinstance(value, str):
        return _text(value)
    try:
        trajectory = Trajectory.from_any(value)
    except TraceError as broken:
        note = "" if isinstance(value, (int, float)) else printable(cut(str(broken)))
        return _text(pretty(value), note)
    turns = [*_turns(trajectory)]
    return Shown(
        turns[:MOST_STEPS],
        hidden=max(0, len(turns) - MOST_STEPS),
        is_cut=len(turns) > MOST_STEPS or any(map(_is_cut, turns)),
        note=printable("; ".join(trajectory.notes)),
        facts=(*facts(trajectory.telemetry),),
    )


def pretty(value: Any) -> str:
    """Return a value as a person reads it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value, indent=2).decode("utf-8", "replace")


def lines(text: str) -> str:
    """Return a text of several lines, printable and cut."""
    return "\n".join(printable_lines(cut(text)))


def facts(telemetry: Telemetry) -> Iterator[tuple[str, str]]:
    """Yield what a trace records of itself."""
    usage = telemetry.usage
    if telemetry.models:
        yield "model", printable(cut(", ".join(telemetry.models)))
    if telemetry.latency_in_seconds is not None:
        yield "latency", seconds(telemetry.latency_in_seconds)
    if usage is not None:
        for name, tokens in (("tokens in", usage.input_tokens), ("out", usage.output_tokens)):
            if tokens is not None:
                yield name, f"{tokens:,}"
        if usage.cost is not None:
            yield "cost", dollars(usage.cost)


def seconds(value: float | None) -> str:
    """Return a duration."""
    if value is None:
        return "-"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:,.1f} s"


def dollars(value: float | None) -> str:
    """Return a price."""
    return "-" if value is None else f"${number(value)}"


def _text(text: str, note: str = "") -> Shown:
    return Shown([], lines(text), is_cut=len(text) > MOST_LETTERS, note=note)


def _is_cut(turn: Turn) -> bool:
    texts = [turn.text, *(text for call in turn.calls for text in (call.args, call.result))]
    return any(len(text) > MOST_LETTERS for text in texts)


def _turns(trajectory: Trajectory) -> Iterator[Turn]:
    """Yield the steps; what a tool returned stands beside its call, and not once more."""
    steps = trajectory.steps
    if not any(step.tool_calls for step in steps) and trajectory.tool_calls:
        yield from map(_turn, steps)
        yield Turn("", "", [_call(call) for call in trajectory.tool_calls])
        return
    returned = {pretty(call.result) for step in steps for call in step.tool_calls}
    for step in steps:
        if step.role != "tool" or step.content not in returned:
            yield _turn(step)


def _turn(step: Step) -> Turn:
    calls = [_call(call) for call in step.tool_calls]
    return Turn(printable(step.role), lines(step.content), calls)


def _call(call: ToolCall) -> Call:
    took = None
    if call.started_at is not None and call.ended_at is not None:
        took = (call.ended_at - call.started_at).total_seconds()
    said = [
        f"by {call.agent}" if call.agent else "",
        "run by the provider" if call.hosted else "",
        "" if took is None else seconds(took),
        f"arguments {call.args_state}" if call.args_state != "ok" else "",
        f"{len(call.children)} calls inside" if call.children else "",
    ]
    return Call(
        printable(cut(call.name)),
        _args(call.args),
        "" if call.result is None else lines(pretty(call.result)),
        "" if call.status == "unknown" else call.status.replace("_", " "),
        "bad" if call.failed else "dim",
        printable(cut(", ".join(filter(None, said)))),
    )


def _args(args: Any) -> str:
    """Return arguments, one on a line where they are an object."""
    if isinstance(args, Mapping):
        told = (
            f"{name}: {dumps(value).decode('utf-8', 'replace')}" for name, value in args.items()
        )
        return lines("\n".join(told))
    return lines(pretty(args))


class Lined(NamedTuple):
    """A line of a text, with its end, and whether another text has it not."""

    text: str
    differs: bool


def differences(old: str, new: str) -> tuple[list[Lined], list[Lined]]:
    """Return the lines of two texts, each with whether the other has it not."""
    before, after = old.split("\n"), new.split("\n")
    sides: tuple[list[Lined], list[Lined]] = ([], [])
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, end, other, last in matcher.get_opcodes():
        sides[0].extend(Lined(f"{text}\n", what != "equal") for text in before[first:end])
        sides[1].extend(Lined(f"{text}\n", what != "equal") for text in after[other:last])
    return sides
