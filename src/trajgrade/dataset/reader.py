"""A row, however it came, becomes an `Example`.

JSON text is read by the first plan that fits it, and generically where none does; then the values
at the layout's slots are given to the roles, the same way for every carrier.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trajgrade.dataset import csvtext
from trajgrade.dataset.example import Example, Needs
from trajgrade.dataset.fields import Fields, values
from trajgrade.dataset.plan import Read, plans
from trajgrade.dataset.rows import Rows
from trajgrade.errors import DatasetError, shorten
from trajgrade.jsontext import loads
from trajgrade.sources import broken_line

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_PLAIN = (str, int, float, bool, type(None))


class Outline(NamedTuple):
    """What a dataset's headers and first rows show, for whoever reads its rows.

    It can be pickled, so that another process reads a part of the rows as this one would.

    Attributes:
        fields: Which fields hold which role.
        shown: The first rows, parsed.
        traces: Whether each row is a trace as a whole.
        texts_apart: Whether the final texts have fields of their own.
    """

    fields: Fields
    shown: Sequence[Any]
    traces: bool
    texts_apart: bool

    def reader(self, needs: Needs) -> RowReader:
        """Return what makes examples of rows, reading no more than is needed."""
        return RowReader(self.fields, needs, self.shown, traces=self.traces)


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
        self._layout = layout
        self._whole = traces and bool(layout.traces)
        self._id_field = fields.declared.get("id")
        strict = [slot for role in needs.trajectories & needs.roles for slot in layout.roles[role]]
        self._row = needs.row
        every = self._whole or self._row
        self._plans: list[Read] = [] if every else plans(layout, shown, strict)

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
        given: dict[str, Any] | None = None
        if type(row) is bytes or type(row) is msgspec.Raw:
            for read in self._plans:
                try:
                    given = read(row)
                    break
                except (ValueError, RecursionError):
                    continue
            else:
                notes: list[str] = []
                given = self._generic(parsed(row, place, notes), place, rows)
                given["notes"] = tuple(notes)
        elif type(row) is Example:
            stored = {path: row.stored.get(path) for path in self._layout.stored}
            return msgspec.structs.replace(row, row=number, source=place, stored=stored)
        if given is None:
            given = self._generic(row, place, rows)
            given["notes"] = rows.notes
        name = given.get("id")
        if type(name) is not str:
            given["id"] = self._id(name, place, index, rows)
        trial = given.get("trial")
        if trial is not None and type(trial) is not int:
            given["trial"] = _trial(trial, place)
        return Example(row=number, source=place, **given)

    def _generic(self, row: Any, place: str, rows: Rows) -> dict[str, Any]:
        """Return what a parsed row gives to the example."""
        check_row(row, place)
        layout = self._layout
        found = values(row, layout.slots, table=rows.table)
        given = layout.given(found)
        if layout.traces and given["outputs"] is None and self._is_trace(row, found):
            given["outputs"] = {k: _cell(v) for k, v in row.items()} if rows.table else row
        if self._row and isinstance(row, Mapping):
            given["fields"] = {k: _cell(v) if rows.table else v for k, v in row.items()}
        return given

    def _is_trace(self, row: Any, found: Sequence[Any]) -> bool:
        marked = any(found[slot] is not None for slot in self._layout.traces)
        return marked or self._whole or isinstance(row, list)

    def _id(self, name: Any, place: str, index: int, rows: Rows) -> str:
        if name is None:
            if self._id_field:
                raise DatasetError(f"{place}, field {self._id_field!r}: the row has no id")
            return f"{rows.name}#{index}"
        if type(name) is float and name.is_integer():
            return str(int(name))
        if type(name) in (int, float):
            return str(name)
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
