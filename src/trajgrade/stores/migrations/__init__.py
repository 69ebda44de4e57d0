"""Migrations: each takes the tables from one version to the next, in one transaction.

A file here is never changed once a release has it; what it makes, it spells out itself.
"""

STEPS: tuple[str, ...] = ("0001_runs", "0002_datasets", "0003_inbox")
