"""`trajgrade serve`: take traces, do what the rules say, show it all; `trajgrade serve keys`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import msgspec

from trajgrade.cli.keys import STORE, keys
from trajgrade.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from trajgrade.server.settings import ServerConfig


@click.group(invoke_without_command=True)
@click.option("--config", metavar="FILE", help="The rules, and the server's settings.")
@click.option("--host", metavar="ADDRESS", help="127.0.0.1 if not said; any other needs keys.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="8000 if not said.")
@STORE
@click.option("--workers", type=click.IntRange(0, 64), metavar="N", help="1 if not said; 0: none.")
@click.option("--certificate", metavar="FILE", help="For HTTPS, with --private-key.")
@click.option("--private-key", metavar="FILE", help="The certificate's private key.")
@click.option("-v", "--verbose", is_flag=True, help="Log each request to standard error.")
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Take traces by HTTP, do what the rules of a config say, and show it all as pages."""
    if context.invoked_subcommand is not None:
        return
    _needed()
    from trajgrade.automation.loading import Automation, load_automation
    from trajgrade.automation.processes import workers
    from trajgrade.automation.rules import Rules
    from trajgrade.server.serving import serve as run
    from trajgrade.stores import open_store

    path = given["config"]
    found = load_automation(path) if path else Automation(Rules(()))
    config = _settings(found.server, given)
    _log(is_verbose=given["verbose"])
    with open_store(given["store"] or found.store) as store:
        found.actions(store)  # what is wrong with them is told here, and not by each worker
        doing = workers(config.workers, path, given["store"]) if len(found.rules) else None
        run(
            config, store, rules=found.rules, workers=doing,
            told=partial(_told, backlog=None if len(found.rules) else config.backlog),
            certificate=_certificate(given),
        )  # fmt: skip


serve.add_command(keys)


def _log(*, is_verbose: bool) -> None:
    """Have warnings, and each request where that is wanted, go to standard error."""
    import logging

    logging.basicConfig(format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    if is_verbose:
        logging.getLogger("trajgrade").setLevel(logging.INFO)


def _told(address: str, *, backlog: int | None) -> None:
    """Say where the server is, and, where it has no rules, how much may wait for some."""
    click.echo(f"trajgrade serves {address}  (stop with Ctrl-C)", err=True)
    if backlog is not None:
        said = "no rules: what comes is kept, and waits for a `trajgrade work` that has some"
        click.echo(f"{said}; with {backlog:,} waiting, no more is taken", err=True)


def _needed() -> None:
    """Refuse, in a line, to serve without the packages for it.

    Raises:
        MissingExtraError: One is not installed.
    """
    for package in ("fastapi", "uvicorn", "jinja2"):
        try:
            __import__(package)
        except ImportError:
            raise MissingExtraError("trajgrade serve", package, "server") from None


def _settings(written: Mapping[str, Any], given: dict[str, Any]) -> ServerConfig:
    from trajgrade.server.settings import read_server

    try:
        config = read_server(written)
    except ConfigError as wrong:
        raise ConfigError(*wrong.faults, where=given["config"]) from None
    said = {key: given[key] for key in ("host", "port", "workers") if given[key] is not None}
    return msgspec.structs.replace(config, **said)


def _certificate(given: dict[str, Any]) -> tuple[str, str] | None:
    if (given["certificate"] is None) != (given["private_key"] is None):
        raise click.UsageError("--certificate and --private-key are given together")
    return (given["certificate"], given["private_key"]) if given["certificate"] else None
