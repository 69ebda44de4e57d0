"""Schema: the version of a database's tables, and the steps that bring it to the present one."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, func, insert, inspect, select

from trajgrade.errors import StoreError
from trajgrade.stores.migrations import STEPS
from trajgrade.stores.tables import SCHEMA

LATEST = len(STEPS)


def version_of(connection: Connection) -> int:
    """Return the version of a database's tables, 0 where it has none of ours.

    Raises:
        StoreError: It is newer than what this program knows.
    """
    if not inspect(connection).has_table(SCHEMA.name):
        return 0
    found = connection.execute(select(func.max(SCHEMA.c.version))).scalar() or 0
    if found > LATEST:
        raise StoreError(
            f"its tables are of version {found}, made by a newer trajgrade; this one knows them up "
            f"to version {LATEST}: update trajgrade"
        )
    return int(found)


def upgrade(connection: Connection) -> None:
    """Take the steps that a database lacks, in the transaction that the connection is in.

    Raises:
        StoreError: It is newer than what this program knows.
    """
    version = version_of(connection)
    SCHEMA.create(connection, checkfirst=True)
    for number in range(version + 1, LATEST + 1):
        name = STEPS[number - 1]
        step: Any = import_module(f"trajgrade.stores.migrations.{name}")
        step.upgrade(connection)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute(insert(SCHEMA).values(version=number, name=name, applied_at=at))
