"""Which fields of a row hold which role, and what a row has at them.

`Fields` chooses the field of each role once, from the columns that the first rows show: the one
that the caller declared, else the first known name that is a column and declared for no other role.
No row chooses for itself: an empty `expected` must not make the `answer` beside it the reference.
Only where no known name is a column yet, each later row is read under the first that it has.

A `Layout` is a flat
list of the places to look at for one set of needs, so that a row, however it is read, becomes a
flat list of values, and an example is made of those in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from trajgrade.dataset import csvtext
from trajgrade.dataset.example import NAMES, ROLES, TRACE_NAMES, Needs, Role
from trajgrade.errors import DatasetError, near, shorten, unknown
from trajgrade.matching.paths import Segment, lookup, parse
from trajgrade.matching.values import MISSING, escape

Path = tuple[Segment, ...]
Form = Literal["structure", "text", "scalar"]

# How the text in a table's cell is read: what stands in a JSON row has a type of its own.
_FORMS: dict[Role, Form] = {
    "id": "text", "trial": "text", "response": "text", "reference": "text",
    "inputs": "structure", "outputs": "structure", "reference_outputs": "structure",
    "context": "structure",
}  # fmt: skip
_CELL: dict[Form, Callable[[str], Any]] = {
    "structure": csvtext.structure, "text": str, "scalar": csvtext.scalar,
}  # fmt: skip
_PRODUCED: frozenset[str] = frozenset({"outputs", "response"})
_EXPECTED: frozenset[str] = frozenset({"reference_outputs", "reference"})
_GAPS = frozenset({"NAType", "NaTType"})
_DEPTH = 4


class Slot(NamedTuple):
    """One place to look at in a row."""

    path: Path
    form: Form


class Layout(NamedTuple):
    """The places to look at for one set of needs, and what they are to the example.

    Attributes:
        slots: The places.
        roles: For each role that is needed, its slots, of which the first with a value counts.
        stored: The stored paths as they were written, and their slots.
        traces: The slots that make a row without outputs a trace; empty where that is not asked.
    """

    slots: tuple[Slot, ...]
    roles: dict[Role, tuple[int, ...]]
    stored: dict[str, int]
    traces: tuple[int, ...]

    def given(self, found: Sequence[Any]) -> dict[str, Any]:
        """Return what the values at the slots are to the example, by the name of its attribute."""
        given: dict[str, Any] = {}
        for role, slots in self.roles.items():
            given[role] = next((found[slot] for slot in slots if found[slot] is not None), None)
        if self.stored:
            given["stored"] = {path: found[slot] for path, slot in self.stored.items()}
        return given


class Fields:
    """The names under which a dataset's rows hold the roles.

    Args:
        declared: Role to dotted path; None in place of a path turns the role's known names off.
        columns: The names of the fields, as far as the first rows show them. A path that is the
            whole name of a column is that column.

    Raises:
        DatasetError: There is no such role.
        ConfigError: A path is none.
    """

    def __init__(self, declared: Mapping[str, str | None], columns: Sequence[str]) -> None:
        for role, path in declared.items():
            if role not in ROLES:
                raise DatasetError(f"fields: {unknown('role', role, ROLES)}")
            if path is not None and not isinstance(path, str):
                raise DatasetError(f"fields: {role}: expected a dotted path, got {shorten(path)}")
        self.declared = dict(declared)
        self.columns = tuple(columns)
        self._known = frozenset(columns)
        self._names = {role: self._chosen(role) for role in ROLES}
        self._paths = {
            role: [self.path(name) if role in declared else (name,) for name in names]
            for role, names in self._names.items()
        }
        self._traces = tuple(n for n in TRACE_NAMES if n not in self._taken("outputs"))

    def _chosen(self, role: Role) -> tuple[str, ...]:
        if role in self.declared:
            path = self.declared[role]
            return () if path is None else (path,)
        taken = self._taken(role)
        names = tuple(name for name in NAMES[role] if name not in taken)
        return next(((name,) for name in names if name in self._known), names)

    def _taken(self, role: Role) -> set[Segment]:
        """Return the columns that are declared for other roles.

        What lies within a column takes the column from no role but the reference, which is never
        where the output is.
        """
        others = {
            other: self.path(path)
            for other, path in self.declared.items()
            if other != role and path is not None
        }
        return {
            path[0]
            for other, path in others.items()
            if len(path) == 1 or (other in _PRODUCED and role in _EXPECTED)
        }

    def path(self, text: str) -> Path:
        """Return the path that the text is in these rows."""
        return (text,) if text in self._known else parse(text)

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the fields that are looked at for a role, as the caller would write them."""
        return self._names[role]

    def layout(self, needs: Needs) -> Layout:
        """Return the places to look at for these needs."""
        slots: dict[Slot, int] = {}

        def at(path: Path, form: Form) -> int:
            return slots.setdefault(Slot(path, form), len(slots))

        wanted = needs.roles | {"id", "trial"}
        roles: dict[Role, tuple[int, ...]] = {
            role: tuple(at(path, _FORMS[role]) for path in self._paths[role])
            for role in ROLES
            if role in wanted
        }
        stored = {text: at(self.path(text), "scalar") for text in needs.stored}
        held = "outputs" in self.declared or not self._known.isdisjoint(self._names["outputs"])
        whole = "outputs" in wanted and not held
        traces = tuple(at((name,), "text") for name in self._traces) if whole else ()
        return Layout(tuple(slots), roles, stored, traces)


def values(row: Mapping[str, Any], slots: Iterable[Slot], *, table: bool) -> list[Any]:
    """Return what the row has at each slot, None where it has nothing.

    Args:
        row: The row, parsed.
        slots: Where to look.
        table: Whether the row is of a table, so that text in a cell may be a structure.
    """
    return [_cell(row, slot) if table else _value(row, slot.path) for slot in slots]


def _value(row: Mapping[str, Any], path: Path) -> Any:
    value = lookup(row, path)
    return None if value is MISSING or is_gap(value) else value


def _cell(row: Mapping[str, Any], slot: Slot) -> Any:
    cell = row.get(str(slot.path[0]))
    if isinstance(cell, str):
        cell = _CELL["structure" if len(slot.path) > 1 else slot.form](cell)
    value = lookup(cell, slot.path[1:])
    return None if value is MISSING or is_gap(value) else value


def is_gap(value: Any) -> bool:
    """Whether the value is what a data frame puts where there is none."""
    if type(value) is float:
        return value != value  # noqa: PLR0124 NaN alone differs from itself
    return type(value).__name__ in _GAPS


def dotted(rows: Iterable[Any], depth: int = _DEPTH) -> Iterator[str]:
    """Yield the paths of the objects within the rows, as the caller would write them."""
    seen: set[str] = set()
    for row in rows:
        for path in _keys(row, depth):
            if path not in seen:
                seen.add(path)
                yield path


def _keys(value: Any, depth: int) -> Iterator[str]:
    if not isinstance(value, dict) or not depth:
        return
    for key, inner in value.items():
        name = escape(str(key))
        yield name
        yield from (f"{name}.{rest}" for rest in _keys(inner, depth - 1))


def nearest(wanted: Iterable[str], found: Sequence[str]) -> str | None:
    """Return the first of the found names that one of the wanted ones may have meant."""
    return next(filter(None, (near(name, found) for name in wanted)), None)
