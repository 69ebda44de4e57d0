"""Tables of the inbox, as of the last migration."""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, LargeBinary, String, Table, Text

from trajgrade.stores.tables import METADATA

TRACES = Table(
    "trajgrade_traces",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("id", String(256), nullable=False),
    Column("first_at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("pieces", Integer, nullable=False),
    Column("complete", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("graded", Integer, nullable=False),
    Column("results", Text),
)

PIECES = Table(
    "trajgrade_pieces",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("trace_id", String(256), nullable=False),
    Column("key", String(64), nullable=False),
    Column("at", Double, nullable=False),
    Column("is_spans", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

JOBS = Table(
    "trajgrade_jobs",
    METADATA,
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
)

OUTCOMES = Table(
    "trajgrade_outcomes",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("trace_id", String(256), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("rule", String(256), nullable=False),
    Column("place", Integer, nullable=False),
    Column("action", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("says", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("at", Double, nullable=False),
)

COUNTERS = Table(
    "trajgrade_counters",
    METADATA,
    Column("rule", String(256), primary_key=True),
    Column("decided", String(32), primary_key=True),
    Column("n", Integer, nullable=False),
)

REVIEWS = Table(
    "trajgrade_reviews",
    METADATA,
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
)

ADDITIONS = Table(
    "trajgrade_additions",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("dataset", String(100), nullable=False),
    Column("id", String(256), nullable=False),
    Column("row", Text, nullable=False),
)

KEYS = Table(
    "trajgrade_keys",
    METADATA,
    Column("name", String(100), primary_key=True),
    Column("record", Text, nullable=False),
)
