"""Judges: prompt → reply. One file per way to reach one; `trajgrade.judging` is around them all."""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "injected": Entry(
        "trajgrade.judges.injected:from_endpoint",
        "An object of yours: query(prompt, schema), a LangChain chat model, a function",
    ),
    "scripted": Entry(
        "trajgrade.judges.scripted:from_settings",
        "Says what a script says: for tests, docs and dry runs",
    ),
}
