"""Runs and their rows."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, String, Table, Text


def upgrade(connection: Connection) -> None:
    """Make the tables of runs and rows."""
    made = MetaData()
    Table(
        "trajgrade_runs",
        made,
        Column("number", Integer, primary_key=True),
        Column("id", String(64), nullable=False, unique=True),
        Column("experiment", Text, nullable=False, index=True),
        Column("config_hash", Text, nullable=False, index=True),
        Column("state", String(16), nullable=False),
        Column("record", Text, nullable=False),
        Column("holder", Text),
    )
    Table(
        "trajgrade_rows",
        made,
        Column("run", Integer, primary_key=True, autoincrement=False),
        Column("place", Integer, primary_key=True, autoincrement=False),
        Column("trial", Integer, primary_key=True, autoincrement=False),
        Column("graded", LargeBinary, nullable=False),
        Column("example", LargeBinary),
        Column("explained", LargeBinary),
        Column("amended", LargeBinary),
    )
    made.create_all(connection)
