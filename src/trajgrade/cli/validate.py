"""`trajgrade validate CONFIG`: all that is wrong with a config file, or what it would run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trajgrade.cli.streams import say

if TYPE_CHECKING:
    from trajgrade.config import Config


@click.command
@click.argument("config", required=False)
@click.option("--dataset", metavar="PATH", help="A dataset in place of the config's own.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of config files instead.")
def validate(config: str | None, dataset: str | None, *, schema: bool) -> None:
    """Say all that is wrong with the config file CONFIG, or what it would run."""
    if schema:
        from trajgrade.config import config_schema
        from trajgrade.jsontext import dumps

        sys.stdout.write(f"{dumps(config_schema(), indent=2).decode()}\n")
        return
    if config is None:
        raise click.UsageError("name a config file, or give --schema")
    from trajgrade.config import load_config

    _say(config, load_config(config, dataset=dataset, look=True))


def _say(path: str, config: Config) -> None:
    from trajgrade.report.plain import count, printable
    from trajgrade.view import lacks_of

    dataset = config.open()
    graders = config.graders()
    lines = [
        f"{path}: no faults",
        "",
        f"dataset     {dataset.name}, {count(dataset.count(), 'row')}",
    ]
    lines += [f"fields      {role}: {path}" for role, path in config.fields.items()]
    lines += [f"evaluator   {evaluator.key}" for evaluator in graders.evaluators]
    lines += [f"threshold   {name}: {bound}" for name, bound in config.thresholds.items()]
    for line in lines:
        click.echo(printable(line))
    for lack in lacks_of(dataset, graders.evaluators):
        say(lack, "warning: ")
