"""The inbox: traces that came, what is to be done with them, what was done, and who may ask."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)


def upgrade(connection: Connection) -> None:
    """Make the tables of the inbox."""
    made = MetaData()
    Table(
        "trajgrade_traces",
        made,
        Column("number", Integer, primary_key=True),
        Column("id", String(256), nullable=False, unique=True),
        Column("first_at", Double, nullable=False),
        Column("last_at", Double, nullable=False),
        Column("pieces", Integer, nullable=False),
        Column("complete", Integer, nullable=False),
        Column("revision", Integer, nullable=False),
        Column("graded", Integer, nullable=False),
        Column("results", Text),
        Index("trajgrade_traces_open", "complete", "last_at"),
    )
    Table(
        "trajgrade_pieces",
        made,
        Column("number", Integer, primary_key=True),
        Column("trace_id", String(256), nullable=False),
        Column("key", String(64), nullable=False),
        Column("at", Double, nullable=False),
        Column("is_spans", Integer, nullable=False),
        Column("ends", Integer, nullable=False),
        Column("body", LargeBinary, nullable=False),
        UniqueConstraint("trace_id", "key"),
    )
    Table(
        "trajgrade_jobs",
        made,
        Column("number", Integer, primary_key=True),
        Column("kind", String(16), nullable=False),
        Column("trace_id", String(256), nullable=False),
        Column("revision", Integer, nullable=False),
        Column("rule", String(256), nullable=False),
        Column("place", Integer, nullable=False),
        Column("because", Text, nullable=False),
        Column("state", String(16), nullable=False),
        Column("due_at", Double, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("token", String(32), nullable=False),
        Column("error", Text, nullable=False),
        UniqueConstraint("trace_id", "revision", "kind", "rule", "place"),
        Index("trajgrade_jobs_due", "state", "due_at"),
    )
    Table(
        "trajgrade_outcomes",
        made,
        Column("number", Integer, primary_key=True),
        Column("trace_id", String(256), nullable=False, index=True),
        Column("revision", Integer, nullable=False),
        Column("rule", String(256), nullable=False, index=True),
        Column("place", Integer, nullable=False),
        Column("action", String(64), nullable=False),
        Column("state", String(16), nullable=False),
        Column("says", Text, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("at", Double, nullable=False),
    )
    Table(
        "trajgrade_counters",
        made,
        Column("rule", String(256), primary_key=True),
        Column("decided", String(32), primary_key=True),
        Column("n", Integer, nullable=False),
    )
    Table(
        "trajgrade_reviews",
        made,
        Column("number", Integer, primary_key=True),
        Column("trace_id", String(256), nullable=False),
        Column("queue", String(100), nullable=False),
        Column("rule", String(256), nullable=False),
        Column("priority", Double, nullable=False),
        Column("reason", Text, nullable=False),
        Column("added_at", Double, nullable=False),
        Column("state", String(16), nullable=False),
        Column("label", Text),
        Column("labelled_at", Double),
        Column("labelled_revision", Integer),
        UniqueConstraint("trace_id", "queue"),
        Index("trajgrade_reviews_order", "state", "priority"),
    )
    Table(
        "trajgrade_additions",
        made,
        Column("number", Integer, primary_key=True),
        Column("dataset", String(100), nullable=False),
        Column("id", String(256), nullable=False),
        Column("row", Text, nullable=False),
        UniqueConstraint("dataset", "id"),
    )
    Table(
        "trajgrade_keys",
        made,
        Column("name", String(100), primary_key=True),
        Column("record", Text, nullable=False),
    )
    made.create_all(connection)
