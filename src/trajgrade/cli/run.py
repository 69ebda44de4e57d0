"""`trajgrade run CONFIG`: grade a dataset as a config file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trajgrade.cli.options import flags_of, grading_flags, keeping_flags


@click.command
@click.argument("config")
@click.option("--dataset", metavar="PATH", help="A dataset in place of the config's own.")
@grading_flags
@keeping_flags
@click.pass_context
def run(context: click.Context, /, config: str, dataset: str | None, **given: Any) -> None:
    """Grade a dataset as the config file CONFIG says, and keep the run."""
    from trajgrade.cli.grading import grade
    from trajgrade.config import load_config

    flags = flags_of(given)
    loaded = load_config(config, dataset=dataset)
    context.exit(grade(loaded, flags, [Path(config)], keep=True))
