"""`trajgrade run CONFIG`: grade a dataset as a config file says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from trajgrade.cli import asking
from trajgrade.cli.options import flags_of, grading_flags, keeping_flags
from trajgrade.errors import ConfigError

if TYPE_CHECKING:
    from trajgrade.config import Config


@click.command
@click.argument("config")
@click.option("--dataset", metavar="PATH", help="A dataset in place of the config's own.")
@asking.asking_flags
@grading_flags
@keeping_flags
@click.pass_context
def run(context: click.Context, /, config: str, dataset: str | None, **given: Any) -> None:
    """Grade a dataset as the config file CONFIG says, and keep the run."""
    from trajgrade.cli.grading import grade

    flags = flags_of(given)
    loaded = _loaded(config, dataset, given)
    context.exit(grade(loaded, flags, [Path(config)], keep=True))


def _loaded(config: str, dataset: str | None, given: dict[str, Any]) -> Config:
    """Return the config, with what the flags put in its place.

    Raises:
        ConfigError: Anything is wrong with either; faults of flags name them.
    """
    from trajgrade.config import load_config

    replaced = asking.overrides(given)
    pace = replaced.pop("pace", {})
    if given.get("store"):
        replaced["store"] = given["store"]  # where `--dataset store:NAME` is looked up, too
    try:
        loaded = load_config(config, dataset=dataset, replaced=replaced)
    except ConfigError as wrong:
        faults = [asking.of_flags(fault, given) for fault in wrong.faults]
        raise ConfigError(*faults, where=wrong.where) from None
    return msgspec.structs.replace(loaded, agent=asking.paced(loaded.agent, pace))
