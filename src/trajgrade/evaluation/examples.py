"""Rows as the core is given them: what is under another name is under Vertex AI's, too."""

from __future__ import annotations

from collections.abc import Sequence

from trajgrade.dataset.fields import is_gap
from trajgrade.evaluation.columns import EXPECTED, PREDICTED, ROLES, Columns, Row
from trajgrade.reply import calls_of


def without_gaps(row: Row) -> Row:
    """Return the row with None where a frame has nothing."""
    return {name: None if is_gap(value) else value for name, value in row.items()}


def whole(row: Row, columns: Columns) -> Row:
    """Return the row with what it holds also under Vertex AI's names; trajectories as lists."""
    known = (*ROLES, *columns.mapping)
    held = {name: columns.value(row, name) for name in known if columns.of(name) is not None}
    for name in (PREDICTED, EXPECTED):
        if isinstance(held.get(name), str):
            held[name] = calls_of(held[name])
    return {**row, **held}


def fields_of(rows: Sequence[Row]) -> dict[str, str | None]:
    """Return which column of whole rows plays which role, as `Dataset.load` takes it."""
    names = {name for row in rows for name in row}
    fields: dict[str, str | None] = {
        role: name if name in names else None for name, role in ROLES.items()
    }
    fields["id"], fields["trial"] = _names(rows)
    return fields


def _names(rows: Sequence[Row]) -> tuple[str | None, str | None]:
    """Return the columns of id and trial, where they tell the rows apart; else numbers do."""
    own = [(row.get("id"), row.get("trial")) for row in rows]
    texts = {(str(name), trial) for name, trial in own if isinstance(name, (str, int))}
    trials = [trial for _, trial in own]
    if len(texts) < len(rows) or any(t is not None and type(t) is not int for t in trials):
        return None, None
    return "id", "trial" if any(trial is not None for trial in trials) else None
