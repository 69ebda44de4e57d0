"""Opening: an address in, a store out.

    runs.db, sqlite:///runs.db       one SQLite file
    runs/, jsonl:runs                a folder of JSON Lines files
    parquet:runs                     a folder of Parquet files beside manifests
    postgresql://user@host/name      a PostgreSQL database

Without an address, the one in `TRAJGRADE_STORE`; without that, `trajgrade.db` in the working
directory. Nothing is created before a run is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from trajgrade import registry
from trajgrade.contracts import Store
from trajgrade.errors import ConfigError, UnknownNameError, shorten

VARIABLE = "TRAJGRADE_STORE"
DEFAULT = "trajgrade.db"

_SCHEME = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_.-]+)(?:\+[\w.-]+)?:(?P<rest>.*)", re.DOTALL)
_PASSWORD = re.compile(r"(?<=:)[^:@/]*(?=@)|(?<=password=)[^&]*")
_FILES = (".csv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")


def open_store(url: str | os.PathLike[str] | None = None) -> Store:
    """Return the store at an address.

    Args:
        url: The address; None is the default.

    Raises:
        ConfigError: It is no address of a store.
        UnknownNameError: It begins with `name://`, and no store has that name.
        MissingExtraError: The store needs a package that is not installed.
        StoreError: The store is there and cannot be opened.
    """
    named = f"{VARIABLE}: " if url is None and os.environ.get(VARIABLE) else ""
    address = os.fspath(url) if url is not None else os.environ.get(VARIABLE) or DEFAULT
    try:
        name, where = _told_apart(address)
        store: Store = registry.stores.find(name)(where)
    except UnknownNameError as wrong:
        raise UnknownNameError(wrong.kind, wrong.name, registry.stores, named) from None
    except ConfigError as wrong:
        raise ConfigError(*(f"{named}{fault}" for fault in wrong.faults)) from None
    return store


def without_password(url: str) -> str:
    """Return an address as it may be shown."""
    return _PASSWORD.sub("***", url)


def _told_apart(address: str) -> tuple[str, str]:
    """Return the store's name, and the address as that store is to read it.

    Raises:
        ConfigError: It is no address.
    """
    if not isinstance(address, str) or not address.strip() or "\0" in address:
        raise ConfigError(f"{shorten(address)} is no address of a store: give a path or a URL")
    scheme = _SCHEME.fullmatch(address)
    if scheme is not None:
        name = scheme["name"].lower()
        if name in registry.stores.entries:
            return name, address
        if scheme["rest"].startswith("//"):
            raise UnknownNameError("store", name, registry.stores)
    if address.endswith(("/", os.sep)) or Path(address).is_dir():
        return "jsonl", f"jsonl:{address}"
    if address.lower().endswith(_FILES):
        raise ConfigError(
            f"{address!r} is no address of a store: name a SQLite file, such as {DEFAULT}, or for "
            "JSON Lines a folder, with / at its end"
        )
    return "sqlite", f"sqlite:///{address}"
