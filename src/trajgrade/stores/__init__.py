"""Stores: where runs are kept while they grow, and afterwards.

opening       an address in, a store out
sql           what the stores share that speak SQL
growing       a run in one of those, while this process writes it
tables        their tables, as they are now
schema        the version of the tables, and the steps from one to the next
migrations/   those steps, numbered
folder        runs as files of a folder
parts         rows in Parquet files
lines         one row as a line of JSON, and where each line lies
hold          one process at a time
naming        which run a name means
"""

from trajgrade.registry import Entry
from trajgrade.stores.opening import open_store

BUILTINS: dict[str, Entry] = {
    "jsonl": Entry(
        "trajgrade.stores.jsonlines:JsonLinesStore",
        "a folder with one JSON Lines file for each run, for diffs: folder/ or jsonl:folder",
    ),
    "parquet": Entry(
        "trajgrade.stores.parquet:ParquetStore",
        "a folder of Parquet files beside a manifest for each run: parquet:folder",
    ),
    "postgres": Entry(
        "trajgrade.stores.postgresql:PostgresqlStore",
        "the same as postgresql",
        alias_of="postgresql",
    ),
    "postgresql": Entry(
        "trajgrade.stores.postgresql:PostgresqlStore",
        "a PostgreSQL database: postgresql://user@host/database",
    ),
    "sqlite": Entry(
        "trajgrade.stores.sqlite:SqliteStore", "one SQLite file: runs.db or sqlite:///runs.db"
    ),
}

__all__ = ("BUILTINS", "open_store")
