"""`trajgrade validate CONFIG`: all that is wrong with a config file, or what it would run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

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

    for line in _summary(config, load_config(config, dataset=dataset, look=True)):
        click.echo(line)


def _summary(path: str, config: Config) -> list[str]:
    from trajgrade.report.plain import count, printable

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
    return [printable(line) for line in lines]
