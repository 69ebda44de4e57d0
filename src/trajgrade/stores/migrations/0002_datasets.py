"""Datasets: versions, their rows, and tags."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)


def upgrade(connection: Connection) -> None:
    """Make the tables of datasets."""
    made = MetaData()
    Table(
        "trajgrade_dataset_versions",
        made,
        Column("number", Integer, primary_key=True),
        Column("dataset", String(100), nullable=False),
        Column("version", Integer, nullable=False),
        Column("record", Text, nullable=False),
        UniqueConstraint("dataset", "version"),
    )
    Table(
        "trajgrade_dataset_rows",
        made,
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("place", Integer, primary_key=True, autoincrement=False),
        Column("id", Text, nullable=False),
        Column("split", Text, nullable=False),
        Column("hash", String(64), nullable=False),
    )
    Table(
        "trajgrade_contents",
        made,
        Column("hash", String(64), primary_key=True),
        Column("text", LargeBinary, nullable=False),
    )
    Table(
        "trajgrade_tags",
        made,
        Column("dataset", String(100), primary_key=True),
        Column("tag", String(100), primary_key=True),
        Column("version", Integer, nullable=False),
    )
    made.create_all(connection)
