"""`trajgrade serve keys`: make API keys, list them, revoke them."""

from __future__ import annotations

import click
import msgspec

from trajgrade.cli.streams import say
from trajgrade.errors import ConfigError

STORE = click.option(
    "--store",
    metavar="URL",
    help="The database: runs.db or postgresql://…; trajgrade.db if unsaid.",
)


@click.group
def keys() -> None:
    """Make API keys, list them, revoke them."""


@keys.command
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, required=True,
    type=click.Choice(["ingest", "read", "admin"]),
    help="What it is good for; admin is everything. Repeatable.",
)  # fmt: skip
@STORE
def add(name: str, scopes: tuple[str, ...], store: str | None) -> None:
    """Make the key NAME and print it, this once: only its hash is kept."""
    from time import time

    from trajgrade.server.keys import new_key
    from trajgrade.stores import open_store

    key, record = new_key(name, scopes, time())
    with open_store(store) as opened:
        opened.inbox.add_key(record)
    click.echo(key)
    say(f"the key {name!r} is shown this once; keep it", "")


@keys.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
@STORE
def list_(store: str | None, *, as_json: bool) -> None:
    """List the keys: names, what they are good for, since when."""
    from datetime import UTC, datetime

    from trajgrade.jsontext import dumps
    from trajgrade.stores import open_store

    with open_store(store) as opened:
        inbox = opened.inbox
        records = inbox.keys()
    if as_json:
        plain = [msgspec.to_builtins(record) for record in records]
        shown = [{k: value for k, value in one.items() if k != "digest"} for one in plain]
        click.echo(dumps(shown, indent=2))
        return
    for record in records:
        made = datetime.fromtimestamp(record.made_at, UTC)
        state = "" if record.revoked_at is None else "  revoked"
        click.echo(f"{record.name}  {', '.join(record.scopes)}  {made:%Y-%m-%d %H:%M} UTC{state}")


@keys.command
@click.argument("name")
@STORE
def revoke(name: str, store: str | None) -> None:
    """Make the key NAME good for nothing, within two seconds."""
    from time import time

    from trajgrade.errors import UnknownNameError
    from trajgrade.stores import open_store

    with open_store(store) as opened:
        inbox = opened.inbox
        known = {record.name: record for record in inbox.keys()}  # noqa: SIM118 it is no dict
        if name not in known:
            raise UnknownNameError("key", name, known)
        if known[name].revoked_at is not None:
            raise ConfigError(f"the key {name!r} is revoked already")
        inbox.revoke_key(name, time())
    say(f"the key {name!r} is revoked", "")
