"""The flags that verbs share which grade: which rows, what is printed, what is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click
import msgspec

from trajgrade.run import Explain

Function = TypeVar("Function", bound=Callable[..., Any])


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """What the shared flags say."""

    saves: tuple[Path, ...] = ()
    json: bool = False
    matching: str | None = None
    limit: int | None = None
    ids: frozenset[str] = frozenset()
    fail_on: Literal["any", "none"] | None = None
    quiet: bool = False
    progress: bool = True
    explain: Explain | None = None


_OPTIONS = (
    click.option(
        "-o", "--output", "saves", multiple=True, metavar="FILE",
        help="Save the run; the suffix names the format: .json, .jsonl, .csv, .md. Repeatable.",
    ),
    click.option("--json", is_flag=True, help="Print the run as one JSON object, nothing else."),
    click.option(
        "-k", "--filter", "matching", metavar="TEXT",
        help="Grade only rows whose id holds the text, or matches it as a glob.",
    ),
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Grade N rows at most."),
    click.option(
        "--sample-id", "ids", multiple=True, metavar="ID",
        help="Grade only the example of that id. Repeatable.",
    ),
    click.option(
        "--fail-on", type=click.Choice(["any", "none"]),
        help="any: exit with 1 if any row is in error.",
    ),
    click.option(
        "-q", "--quiet", is_flag=True, help="Print only the thresholds that do not hold.",
    ),
    click.option("--no-progress", is_flag=True, help="Show no progress on standard error."),
    click.option(
        "--explain", type=click.Choice(get_args(Explain)),
        help="Which rows are explained by the alignment of their calls.",
    ),
)  # fmt: skip


def grading_flags(verb: Function) -> Function:
    """Add the shared flags to a verb."""
    for option in reversed(_OPTIONS):
        verb = option(verb)
    return verb


def flags_of(given: dict[str, Any]) -> Flags:
    """Return the shared flags as a record."""
    return Flags(
        saves=tuple(map(Path, given["saves"])),
        json=given["json"],
        matching=given["matching"],
        limit=given["limit"],
        ids=frozenset(given["ids"]),
        fail_on=given["fail_on"],
        quiet=given["quiet"],
        progress=not given["no_progress"],
        explain=given["explain"],
    )
