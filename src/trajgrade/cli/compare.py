"""`trajgrade compare BASE NEW`: is the new run better, or was that chance?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli import shorthand
from trajgrade.cli.saving import check_saves, save_all, sum_up
from trajgrade.cli.streams import closed_quietly
from trajgrade.errors import ConfigError
from trajgrade.jsontext import dumps
from trajgrade.registry import comparisons

if TYPE_CHECKING:
    from trajgrade.comparison.compared import Comparison

ON_UNDECIDED = {"pass": 0, "fail": 1, "undecided": 3}


@click.command
@click.argument("base")
@click.argument("new")
@click.option(
    "--no-regression", "gates", multiple=True, metavar="METRIC[:MARGIN]",
    help="Exit with 1 if the metric is worse by more than MARGIN (0). Repeatable.",
)  # fmt: skip
@click.option(
    "--on-undecided", type=click.Choice([*ON_UNDECIDED]), default="undecided",
    help="What a gate that cannot be decided comes to: exit code 0, 1 or 3 (the default).",
)  # fmt: skip
@click.option("--store", metavar="ADDRESS", help="Where run:ID is looked up.")
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="The confidence of intervals."
)
@click.option(
    "--resamples", type=click.IntRange(100, 10**6), default=10_000, show_default=True,
    help="How many resamples the intervals are from.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, help="What the resamples depend on.")
@click.option(
    "--rows", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
    help="How many examples that are worse, and that are better, are shown.",
)  # fmt: skip
@click.option(
    "-o", "--output", "saves", multiple=True, metavar="FILE",
    help="Save it as .html, .md, .xml (JUnit), .json, .csv or .parquet. Repeatable.",
)  # fmt: skip
@click.option("--json", is_flag=True, help="Print one JSON object, nothing else.")
@click.pass_context
def compare(context: click.Context, /, base: str, new: str, **given: Any) -> None:
    """Compare the run NEW with the run BASE, example by example.

    Both are files that -o wrote (.json, .jsonl), or run:ID of the store.
    """
    saves = [Path(path) for path in given["saves"]]
    check_saves(saves, [Path(base), Path(new)], comparisons)
    gates = [shorthand.gate(text) for text in given["gates"]]
    from trajgrade.comparison.comparing import compare as compared

    found = compared(
        base,
        new,
        level=given["level"],
        resamples=given["resamples"],
        seed=given["seed"],
        no_regression=gates,
        store=given["store"],
    )
    unsaved = save_all(found, saves)
    _summed_up(found)
    with closed_quietly():
        if given["json"]:
            sys.stdout.write(f"{dumps(found.to_dict(), indent=2).decode()}\n")
        else:
            from trajgrade.report.versus import screen

            screen.show(found, rows=given["rows"])
    if unsaved:
        raise ConfigError(*unsaved)
    code = found.exit_code
    context.exit(ON_UNDECIDED[given["on_undecided"]] if code == 3 else code)


def _summed_up(found: Comparison) -> None:
    from trajgrade.report.versus import markdown

    sum_up(lambda path: markdown.append(found, path))
