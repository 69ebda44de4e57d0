"""`trajgrade report RUN|BASE NEW -o FILE`: saved or kept runs, laid out anew."""

from __future__ import annotations

from pathlib import Path

import click

from trajgrade.cli.saving import Saved, check_saves, save_all
from trajgrade.errors import ConfigError
from trajgrade.registry import comparisons, reports

_MOST = 2


@click.command
@click.argument("runs", nargs=-1, required=True, metavar="RUN | BASE NEW")
@click.option(
    "-o", "--output", "saves", multiple=True, required=True, metavar="FILE",
    help="The suffix names the format: .html, .md, .xml, .json, .csv, .parquet. Repeatable.",
)  # fmt: skip
@click.option("--store", metavar="URL", help="Where run:ID is kept; trajgrade.db if not said.")
def report(runs: tuple[str, ...], saves: tuple[str, ...], store: str | None) -> None:
    """Lay out RUN, a saved .json or .jsonl file or run:ID, as a page or in another form.

    With two runs it is the comparison of NEW with BASE that is laid out.
    """
    if len(runs) > _MOST:
        raise click.UsageError("one run is laid out, or two that are compared; more are given")
    paths = [Path(path) for path in saves]
    check_saves(paths, [Path(run) for run in runs], reports if len(runs) == 1 else comparisons)
    unsaved = save_all(_read(runs, store), paths)
    if unsaved:
        raise ConfigError(*unsaved)


def _read(runs: tuple[str, ...], store: str | None) -> Saved:
    if len(runs) == 1:
        from trajgrade.run import Run

        return Run.load(runs[0], store=store)
    from trajgrade.comparison.comparing import compare

    return compare(*runs, store=store)
