"""The flags of a verb that asks an agent: which one, how it is called, how often, for how much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec
from click.core import ParameterSource

from trajgrade.errors import ConfigError

_PACE = {"max_concurrency": "-j", "timeout": "--timeout"}

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--agent", metavar="AGENT",
        help="What answers each row: module:function, an address, or '{command: [...]}'.",
    ),
    click.option(
        "-j", "--max-concurrency", type=click.IntRange(min=1), metavar="N",
        envvar="TRAJGRADE_MAX_CONCURRENCY", show_envvar=True,
        help="How many calls of the agent are under way at once, at most.",
    ),
    click.option(
        "--timeout", type=float, metavar="SECONDS", help="How long a call of the agent may take.",
    ),
    click.option(
        "--trials", type=click.IntRange(min=1), metavar="N",
        help="How many times the agent answers each example.",
    ),
    click.option(
        "--seed", type=int, metavar="N", help="What an agent that asks for it gets for trial 0.",
    ),
    click.option(
        "--budget", "budgets", multiple=True, metavar="KIND=NUMBER",
        help="Begin no more rows after so many rows, seconds, tokens, money. Repeatable.",
    ),
)  # fmt: skip


def asking_flags(verb: Function) -> Function:
    """Add the flags to a verb."""
    for option in reversed(_OPTIONS):
        verb = option(verb)
    return verb


def overrides(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the flags put in place of the config's keys.

    Raises:
        ConfigError: A flag is not written as it has to be.
    """
    from trajgrade import yamltext

    found = {key: given[key] for key in ("trials", "seed") if given[key] is not None}
    agent = given["agent"]
    if agent is not None:
        written = agent.lstrip().startswith("{")
        found["agent"] = yamltext.loads(agent.encode(), []) if written else agent
    if given["budgets"]:
        found["budget"] = dict(_limit(text) for text in given["budgets"])
    pace = {key: given[key] for key in ("max_concurrency", "timeout") if given[key] is not None}
    return found | ({"pace": pace} if pace else {})


def _limit(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        found = float(number)
    except ValueError:
        raise ConfigError(f"--budget {text}: write KIND=NUMBER, such as rows=100") from None
    return name, int(found) if found.is_integer() else found


def of_flags(fault: str, given: dict[str, Any]) -> str:
    """Return a fault of the config as one of the flag that it comes from."""
    for key in ("agent", "trials", "seed", "budget"):
        written = given["budgets"] if key == "budget" else given[key]
        if written not in (None, ()) and fault.startswith((f"{key}:", f"{key}.")):
            return f"--{fault}".replace("--agent.function: ", "--agent: ", 1)
    return fault


def paced(agent: Any, pace: dict[str, Any]) -> Any:
    """Return an agent's config, called as the flags say.

    Raises:
        ConfigError: A flag is wrong, or says how an agent is called, and there is none.
    """
    written = [_PACE[key] for key in pace if not _from_environment(key)]
    if agent is None and written:
        raise ConfigError(
            f"{' and '.join(written)}: no agent is called, since the outputs are in the dataset; "
            "name one with --agent, or leave it out"
        )
    if "timeout" in pace and not pace["timeout"] > 0:
        raise ConfigError(f"--timeout: expected a number of seconds above 0, got {pace['timeout']}")
    return agent if agent is None else msgspec.structs.replace(agent, **pace)


def _from_environment(flag: str) -> bool:
    """Whether a flag's value is that of a variable, which is there for other runs, too."""
    context = click.get_current_context(silent=True)
    source = context.get_parameter_source(flag) if context is not None else None
    return source is ParameterSource.ENVIRONMENT
