"""Markdown's own marks, and how a text gets none by accident.

What came from traces stands in code spans, where it is neither markup, link, image nor mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trajgrade.report.plain import printable

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|<>~@&^$:-])")


def table(headings: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table whose columns of numbers are to the right."""
    lines = [headings, ["---", *("--:" if _is_number(h) else "---" for h in headings[1:])], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _is_number(heading: str) -> bool:
    return heading in (
        "old",
        "new",
        "change",
        "pairs",
        "p",
        "mean",
        "std",
        "scored",
        "value",
    ) or heading.startswith("k=")


def plain(text: str) -> str:
    """Return a text that shows as it stands."""
    return _MARKS.sub(r"\\\1", printable(text))


def cell(text: str) -> str:
    """Return a code span for a cell of a table, where even a code span ends at a bar."""
    return code(text.replace("|", "\\|"))


def code(text: str) -> str:
    """Return a code span that the text cannot leave."""
    text = printable(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if not text.strip("` ") or text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"
