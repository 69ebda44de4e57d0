"""Tables of datasets, as of the last migration. A row's content is kept once, by its hash."""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, String, Table, Text

from trajgrade.stores.tables import METADATA

VERSIONS = Table(
    "trajgrade_dataset_versions",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("dataset", String(100), nullable=False),
    Column("version", Integer, nullable=False),
    Column("record", Text, nullable=False),
)

ITEMS = Table(
    "trajgrade_dataset_rows",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("split", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)

CONTENTS = Table(
    "trajgrade_contents",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("text", LargeBinary, nullable=False),
)

TAGS = Table(
    "trajgrade_tags",
    METADATA,
    Column("dataset", String(100), primary_key=True),
    Column("tag", String(100), primary_key=True),
    Column("version", Integer, nullable=False),
)
