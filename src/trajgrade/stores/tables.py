"""Tables: what a database of runs has, as of the last migration.

A migration never uses this: it says by itself what it makes.
"""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

SCHEMA = Table(
    "trajgrade_schema",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("applied_at", Text, nullable=False),
)

# The record itself is JSON text; the columns beside it are what runs are looked up by.
RUNS = Table(
    "trajgrade_runs",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("experiment", Text, nullable=False, index=True),
    Column("config_hash", Text, nullable=False, index=True),
    Column("state", String(16), nullable=False),
    Column("record", Text, nullable=False),
    Column("holder", Text),
)

ROWS = Table(
    "trajgrade_rows",
    METADATA,
    Column("run", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("trial", Integer, primary_key=True, autoincrement=False),
    Column("graded", LargeBinary, nullable=False),
    Column("example", LargeBinary),
    Column("explained", LargeBinary),
    Column("amended", LargeBinary),
)
