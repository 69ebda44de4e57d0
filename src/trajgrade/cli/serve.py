"""`trajgrade serve`: take traces, do what the rules say, show it all; `trajgrade serve keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from trajgrade.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from trajgrade.server.settings import ServerConfig

_STORE = click.option(
    "--store",
    metavar="URL",
    help="The database: runs.db or postgresql://…; trajgrade.db if unsaid.",
)


@click.group(invoke_without_command=True)
@click.option("--config", metavar="FILE", help="The rules, and the server's settings.")
@click.option("--host", metavar="ADDRESS", help="127.0.0.1 if not said; any other needs keys.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="8000 if not said.")
@_STORE
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
    from trajgrade.server.serving import serve as run
    from trajgrade.stores import open_store

    document = _document(given["config"])
    config = _settings(document, given)
    with open_store(given["store"] or document.get("store")) as store:
        run(config, store, told=_told, certificate=_certificate(given))


def _told(address: str) -> None:
    click.echo(f"trajgrade serves {address}  (stop with Ctrl-C)", err=True)


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


def _document(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    from pathlib import Path

    from trajgrade import yamltext

    faults: list[str] = []
    found = yamltext.loads(Path(path).read_bytes(), faults)
    if faults:
        raise ConfigError(*faults, where=path)
    return dict(found or {})


def _settings(document: dict[str, Any], given: dict[str, Any]) -> ServerConfig:
    from trajgrade.server.settings import read_server

    config = read_server(document.get("server", {}))
    said = {key: given[key] for key in ("host", "port", "workers") if given[key] is not None}
    return msgspec.structs.replace(config, **said)


def _certificate(given: dict[str, Any]) -> tuple[str, str] | None:
    if (given["certificate"] is None) != (given["private_key"] is None):
        raise click.UsageError("--certificate and --private-key are given together")
    return (given["certificate"], given["private_key"]) if given["certificate"] else None
