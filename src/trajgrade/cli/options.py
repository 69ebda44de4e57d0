"""The flags that verbs share which grade: which rows, what is printed, what is saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click
import msgspec

from trajgrade.earlier import Retry
from trajgrade.record import EngineName
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
    engine: EngineName | None = None
    workers: int | None = None
    store: str | None = None
    experiment: str | None = None
    resume: bool = False
    retry: tuple[Retry, ...] = ()
    judge: str | None = None
    judge_alignment: str | None = None
    cache: bool = True
    baseline: str | None = None
    gates: tuple[str, ...] = ()
    on_undecided: Literal["pass", "fail", "undecided"] = "undecided"


_OPTIONS = (
    click.option(
        "-o", "--output", "saves", multiple=True, metavar="FILE",
        help="Save the run as .html, .md, .xml (JUnit), .json, .jsonl or .csv. Repeatable.",
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
        "--baseline", metavar="RUN",
        help="The run that this one is compared with: a file that -o wrote, or run:ID.",
    ),
    click.option(
        "--no-regression", "gates", multiple=True, metavar="METRIC[:MARGIN]",
        help="Exit with 1 if the metric is worse than in the baseline by MARGIN. Repeatable.",
    ),
    click.option(
        "--on-undecided", type=click.Choice(["pass", "fail", "undecided"]), default="undecided",
        help="What exit code 3, it cannot be said, becomes: 0, 1 or 3 (the default).",
    ),
    click.option(
        "-q", "--quiet", is_flag=True, help="Print only the thresholds that do not hold.",
    ),
    click.option("--no-progress", is_flag=True, help="Show no progress on standard error."),
    click.option(
        "--engine", type=click.Choice(get_args(EngineName)),
        help="Where the work runs; auto takes all cores for big files of recorded runs.",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), metavar="N",
        help="How many processes or tasks at once; one for each core if not said.",
    ),
    click.option(
        "--explain", type=click.Choice(get_args(Explain)),
        help="Which rows are explained by the alignment of their calls.",
    ),
    click.option(
        "--judge", metavar="PROVIDER:MODEL",
        help="The judge of evaluators that name none, such as openai:gpt-5-mini.",
    ),
    click.option(
        "--judge-alignment", metavar="FILE",
        help="What `judge align --save` measured of the judge, to be shown beside its scores.",
    ),
    click.option("--no-cache", is_flag=True, help="Ask the judge anew, and keep no reply."),
)  # fmt: skip


_KEEPING = (
    click.option(
        "--store", metavar="URL",
        help="Where the run is kept: runs.db, runs/ or postgresql://…; trajgrade.db if not said.",
    ),
    click.option("--no-store", is_flag=True, help="Keep the run nowhere."),
    click.option("--experiment", metavar="NAME", help="What the run is grouped by in the store."),
    click.option(
        "--resume", is_flag=True,
        help="Go on with the newest unfinished run of this config, if there is one.",
    ),
    click.option(
        "--retry-errors", is_flag=True,
        help="Of the newest run of this config, ask again for results in error; call no agent.",
    ),
    click.option(
        "--retry-failed", is_flag=True,
        help="Of the newest run of this config, begin rows anew on which the agent failed.",
    ),
)  # fmt: skip


def keeping_flags(verb: Function) -> Function:
    """Add the flags of a verb whose runs are kept."""
    for option in reversed(_KEEPING):
        verb = option(verb)
    return verb


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
        engine=given["engine"],
        workers=given["workers"],
        judge=given["judge"],
        judge_alignment=given["judge_alignment"],
        cache=not given["no_cache"],
        baseline=given["baseline"],
        gates=given["gates"],
        on_undecided=given["on_undecided"],
        **_kept(given),
    )


def _kept(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the flags of keeping say.

    Raises:
        UsageError: They contradict each other.
    """
    if "store" not in given:
        return {}
    again = [name for name in ("resume", "retry_errors", "retry_failed") if given[name]]
    if given["no_store"] and (given["store"] or given["experiment"] or again):
        raise click.UsageError("--no-store keeps nothing that the other flags could mean")
    variable = os.environ.get("TRAJGRADE_EXPERIMENT")
    return {
        "store": "" if given["no_store"] else given["store"],
        "experiment": given["experiment"] or variable,
        "resume": given["resume"],
        "retry": tuple(kind for kind in ("errors", "failed") if given[f"retry_{kind}"]),
    }
