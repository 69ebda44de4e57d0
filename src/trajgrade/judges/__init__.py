"""Judges: prompt → reply. One file per way to reach one; `trajgrade.judging` is around them all."""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "scripted": Entry(
        "trajgrade.judges.scripted:from_settings",
        "Says what a script says: for tests, docs and dry runs",
    ),
}
