"""A row, however it came, becomes an `Example`.

JSON text is read by the first plan that fits it, and generically where none does; then the values
at the layout's slots are given to the roles, the same way for every carrier.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trajgrade.dataset import csvtext
from trajgrade.dataset.example import ROLES, Example, Needs, Role
from trajgrade.dataset.fields import Fields, values
from trajgrade.dataset.plan import Read, plans
from trajgrade.dataset.rows import Rows
from trajgrade.errors import DatasetError, shorten
from trajgrade.jsontext import loads
from trajgrade.sources import broken_line

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_PLAIN = (str, int, float, bool, type(None))


class RowReader:
    """Makes examples of rows, reading no more than one set of needs asks for.

    Args:
        fields: Which fields hold which role.
        needs: What is needed.
        shown: The first rows, parsed.
        traces: Whether each row is a trace as a whole.
    """

    def __init__(self, fields: Fields, needs: Needs, shown: Sequence[Any], *, traces: bool) -> None:
        layout = fields.layout(needs)
        by_role = dict(zip(ROLES, layout.roles, strict=True))
        self._slots = layout.slots
        self._stored = layout.stored
        self._trace_slots = layout.traces
        self._whole = traces and bool(layout.traces)
        self._ids = by_role.pop("id")
        self._trials = by_role.pop("trial")
        self._roles = tuple((role, slots) for role, slots in by_role.items() if slots)
        self._must_have_id = fields.declared.get("id")
        strict = [slot for role in needs.trajectories & needs.roles for slot in by_role[role]]
        self._plans: list[Read] = [] if self._whole else plans(layout, shown, strict)

    def example(self, row: Any, place: str, number: int, index: int, rows: Rows) -> Example:
        """Make the example of one row.

        Args:
            row: JSON text, or the row parsed.
            place: Where it stands, for messages.
            number: Its number in the dataset.
            index: Its number among `rows`.
            rows: The rows that it is one of.

        Raises:
            DatasetError: It cannot be read.
        """
        if type(row) is Example:
            return msgspec.structs.replace(row, row=number, source=place)
        found: Sequence[Any] | None = None
        notes: list[str] = []
        if type(row) is bytes or type(row) is msgspec.Raw:
            for read in self._plans:
                try:
                    found = read(row)
                    break
                except (ValueError, RecursionError):
                    continue
            else:
                row = parsed(row, place, notes)
        if found is None:
            check_row(row, place)
            found = values(row, self._slots, table=rows.table)

        given: dict[Role, Any] = {}
        for role, slots in self._roles:
            for slot in slots:
                if found[slot] is not None:
                    given[role] = found[slot]
                    break
        if self._trace_slots and "outputs" not in given and self._is_trace(row, found):
            given["outputs"] = {k: _cell(v) for k, v in row.items()} if rows.table else row
        name = next((found[slot] for slot in self._ids if found[slot] is not None), None)
        trial = next((found[slot] for slot in self._trials if found[slot] is not None), None)
        return Example(
            id=name if type(name) is str else self._id(name, place, index, rows),
            trial=trial if type(trial) is int or trial is None else _trial(trial, place),
            row=number,
            source=place,
            stored={path: found[slot] for path, slot in self._stored},
            notes=tuple(notes),
            **given,
        )

    def _is_trace(self, row: Any, found: Sequence[Any]) -> bool:
        if type(row) is bytes or type(row) is msgspec.Raw:
            return False  # a plan does not fit a row that is a trace
        listed = isinstance(row, list)
        return listed or self._whole or any(found[slot] is not None for slot in self._trace_slots)

    def _id(self, name: Any, place: str, index: int, rows: Rows) -> str:
        if name is None:
            if self._must_have_id:
                raise DatasetError(f"{place}, field {self._must_have_id!r}: the row has no id")
            return f"{rows.name}#{index}"
        if isinstance(name, (int, float)) and not isinstance(name, bool):
            return str(int(name) if float(name).is_integer() else name)
        raise DatasetError(f"{place}: the id must be a text or a number, not {shorten(name)}")


def parsed(row: bytes | msgspec.Raw, place: str, notes: list[str] | None = None) -> Any:
    """Parse one row.

    Raises:
        DatasetError: It is not JSON.
    """
    text = bytes(row)
    try:
        return loads(text, notes)
    except ValueError as broken:
        raise broken_line(place, text, broken) from None


def check_row(row: Any, place: str) -> None:
    """Refuse a row that is neither an object nor a list of objects.

    Raises:
        DatasetError: It is neither.
    """
    if isinstance(row, Mapping):
        return
    if not isinstance(row, list) or any(isinstance(item, (*_PLAIN, list)) for item in row):
        raise DatasetError(f"{place}: expected an object with fields, got {shorten(row)}")


def _cell(value: Any) -> Any:
    return csvtext.structure(value) if isinstance(value, str) else value


def _trial(trial: Any, place: str) -> int:
    if isinstance(trial, float) and trial.is_integer():
        return int(trial)
    if isinstance(trial, str) and _WHOLE.fullmatch(trial):
        return int(trial)
    raise DatasetError(f"{place}: the trial must be a whole number, not {shorten(trial)}")
