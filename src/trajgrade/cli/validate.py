"""`trajgrade validate CONFIG`: all that is wrong with a config file, or what it would run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli.streams import say

if TYPE_CHECKING:
    from trajgrade.automation.loading import Automation
    from trajgrade.config import Config

_OF_PRODUCTION = ("automation", "server")


@click.command
@click.argument("config", required=False)
@click.option("--dataset", metavar="PATH", help="A dataset in place of the config's own.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of config files instead.")
def validate(config: str | None, dataset: str | None, *, schema: bool) -> None:
    """Say all that is wrong with the config file CONFIG, or what it would run."""
    if schema:
        from trajgrade.jsontext import dumps

        sys.stdout.write(f"{dumps(_schema(), indent=2).decode()}\n")
        return
    if config is None:
        raise click.UsageError("name a config file, or give --schema")
    _checked(config, dataset)


def _checked(path: str, dataset: str | None) -> None:
    """Check what is graded, and what is done in production, as far as a file says either.

    Raises:
        ConfigError: Anything is wrong; holds all faults.
    """
    from pathlib import Path

    from trajgrade.automation.loading import load_automation
    from trajgrade.config import load_config, read_document
    from trajgrade.errors import ConfigError
    from trajgrade.server.settings import read_server

    document = read_document(Path(path), [])
    produces = any(document.get(key) is not None for key in _OF_PRODUCTION)
    grades = not produces or dataset is not None or bool({"dataset", "evaluators"} & {*document})
    graded: Config | None = None
    produced: Automation | None = None
    faults: list[str] = []
    try:
        graded = load_config(path, dataset=dataset, look=True) if grades else None
        faults += _faults_of_agent(graded) if graded is not None else []
    except ConfigError as wrong:
        faults += wrong.faults
    try:
        produced = load_automation(path, makes=True) if produces else None
    except ConfigError as wrong:
        faults += wrong.faults
    try:
        read_server(document.get("server") or {})
    except ConfigError as wrong:
        faults += wrong.faults
    if faults:
        raise ConfigError(*dict.fromkeys(faults), where=path)
    click.echo(f"{path}: no faults\n")
    if graded is not None:
        _say_graded(graded)
    if produced is not None:
        _say_produced(produced)


def _faults_of_agent(config: Config) -> list[str]:
    """Return why the agent cannot be called; it is built as a run builds it, and not called."""
    from trajgrade.agent_spelling import AgentConfig
    from trajgrade.errors import TrajgradeError
    from trajgrade.evaluators.spelling import faults_of

    if not isinstance(config.agent, AgentConfig):
        return []
    try:
        config.agent.build(seed=config.seed)
    except TrajgradeError as wrong:
        return [*faults_of(wrong)]
    return []


def _say_graded(config: Config) -> None:
    from trajgrade.report.plain import count, printable
    from trajgrade.view import lacks_of

    dataset = config.open()
    graders = config.graders()
    lines = [f"dataset     {dataset.name}, {count(dataset.count(), 'row')}"]
    lines += [f"fields      {role}: {path}" for role, path in config.fields.items()]
    lines += [f"evaluator   {evaluator.key}" for evaluator in graders.evaluators]
    lines += [f"threshold   {name}: {bound}" for name, bound in config.thresholds.items()]
    for line in lines:
        click.echo(printable(line))
    for lack in lacks_of(dataset, graders.evaluators):
        say(lack, "warning: ")


def _say_produced(found: Automation) -> None:
    from trajgrade.cli.rules import told
    from trajgrade.report.plain import printable

    for rule in found.rules:
        click.echo(printable(f"rule        {rule.name}: {told(rule)}"))


def _schema() -> dict[str, Any]:
    """Return the JSON Schema of config files, with rules and the server's settings."""
    import msgspec

    from trajgrade.automation.schema import automation_schema
    from trajgrade.config import config_schema
    from trajgrade.evaluators.schema import described
    from trajgrade.server.settings import ServerConfig

    root = config_schema()
    known = root["properties"]
    block, parts = automation_schema(known["evaluators"]["items"])
    settings = msgspec.json.schema_components([ServerConfig])[1]["ServerConfig"]
    described(settings["properties"], ServerConfig)
    known["automation"] = block | {"description": known["automation"]["description"]}
    known["server"] = settings | {"description": known["server"]["description"]}
    needed = root.pop("required")
    root["anyOf"] = [{"required": needed}, *({"required": [key]} for key in _OF_PRODUCTION)]
    root["$defs"] |= parts
    return root
