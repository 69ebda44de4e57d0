"""A row of JSON text, decoded no further than a layout looks.

A plan is a type made for the layout: nested records with the needed fields only, so that the
decoder steps over the rest without building it. The lean plan expects each role under the name that
the first rows have it under, and its other names empty; a field needed as a trajectory only has the
strict type of a format that offers one (`wire`: what decodes to it is certainly of that format) and
is read from there (`read_wire`). The full plan looks at every name. A row that a plan does not fit
is left to the next, at last to a generic reading, with the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, takewhile
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from trajgrade.dataset.fields import Layout, Path, Slot, values
from trajgrade.matching.paths import lookup
from trajgrade.matching.values import MISSING
from trajgrade.registry import formats

Text = bytes | msgspec.Raw
Read = Callable[[Text], dict[str, Any]]
Keys = tuple[str, ...]

WIRED = ("openai_chat",)
_TRIED = 5


class MisfitError(ValueError):
    """The row has to be read in another way."""


def plans(layout: Layout, rows: Sequence[Any], trajectories: Collection[int]) -> list[Read]:
    """Return the ways to read a row of JSON text, the one that reads least first.

    Each returns what the row gives to the example, by the name of its attribute, and raises
    ValueError or RecursionError where it does not fit the row.

    Args:
        layout: Where to look.
        rows: The first rows, parsed, which show what to expect.
        trajectories: The slots that are needed as a trajectory only.
    """
    heads = _heads(layout.slots)
    if not all(heads):
        return []
    users = [*chain.from_iterable(layout.roles.values()), *layout.stored.values()]
    wired = {
        slot: reader
        for slot in trajectories
        if heads[slot] == layout.slots[slot].path
        if users.count(slot) == heads.count(heads[slot]) == 1
        for reader in _wired(layout.slots[slot], rows[:_TRIED])
    }
    return [_lean(layout, heads, _expected(layout, rows), wired), _full(layout, heads)]


def _heads(slots: Iterable[Slot]) -> list[Keys]:
    """Return for each slot the part of its path that the type follows, to a leaf.

    It ends before an index into a list, and where another slot wants the whole value.
    """
    keys: list[Keys] = [
        tuple(map(str, takewhile(lambda step: isinstance(step, str), slot.path))) for slot in slots
    ]
    ends = set(keys)
    return [
        next((path[:n] for n in range(1, len(path)) if path[:n] in ends), path) for path in keys
    ]


def _wired(slot: Slot, rows: Sequence[Any]) -> list[Any]:
    """Return the format, at most one, whose strict type fits at least half of the values shown."""
    objects = [row for row in rows if isinstance(row, dict)]
    shown = [value for row in objects for value in values(row, [slot], table=False)]
    shown = [value for value in shown if value is not None]
    readers = [formats.find(name) for name in WIRED] if shown else []
    fitting = (r for r in readers if 2 * sum(_fits(v, r.wire) for v in shown) >= len(shown))
    return [*fitting][:1]


def _fits(value: Any, wire: Any) -> bool:
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=wire)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


class _Expected(NamedTuple):
    """Which slots of the roles have a value, and which have none.

    Attributes:
        held: The slot of each role that the first rows have it under.
        before: Slots that would count before those, or whose role the first rows do not have.
        after: Slots that count where the held one has no value.
    """

    held: dict[str, int]
    before: list[int]
    after: list[int]


def _expected(layout: Layout, rows: Sequence[Any]) -> _Expected:
    held: dict[str, int] = {}
    before: list[int] = []
    after: list[int] = []
    objects = [row for row in rows if isinstance(row, dict)]
    found = [values(row, layout.slots, table=False) for row in objects]
    for role, slots in layout.roles.items():
        counting = (next((s for s in slots if row[s] is not None), None) for row in found)
        usual = Counter(slot for slot in counting if slot is not None).most_common(1)
        chosen = slots[0] if len(slots) == 1 else usual[0][0] if usual else None
        at = slots.index(chosen) if chosen is not None else len(slots)
        before += slots[:at]
        after += slots[at + 1 :]
        if chosen is not None:
            held[role] = chosen
        if role == "outputs":
            (before if chosen is None else after).extend(layout.traces)
    return _Expected(held, before, after)


def _lean(
    layout: Layout, heads: Sequence[Keys], expected: _Expected, wired: Mapping[int, Any]
) -> Read:
    held, before, after = expected
    kept = [*held.values(), *layout.stored.values()]
    leaves: dict[Keys, Any] = {heads[slot]: msgspec.Raw for slot in after}
    leaves |= {heads[slot]: Any for slot in (*kept, *before)}
    leaves |= {heads[s]: reader.wire | None for s, reader in wired.items() if s in held.values()}
    names: dict[Keys, str] = {}
    decode = msgspec.json.Decoder(_record(leaves, names)).decode
    get = _getter([names[heads[slot]] for slot in kept])
    get_before = _getter([names[heads[slot]] for slot in before])
    get_after = _getter([names[heads[slot]] for slot in after])
    none_before, none_after = (None,) * len(before), (None,) * len(after)
    rests = _rests(layout, heads, kept)
    readers = [(kept.index(s), r.read_wire) for s, r in wired.items() if s in held.values()]
    roles, stored, of_roles = tuple(held), tuple(layout.stored), len(held)

    def read(text: Text) -> dict[str, Any]:
        row = decode(text)
        found: Sequence[Any] = get(row)
        if get_before(row) != none_before or (None in found and get_after(row) != none_after):
            raise MisfitError("a role has a value under a name that the first rows have not")
        if rests or readers:
            found = _followed(found, rests)
            for at, read_wire in readers:
                if found[at]:  # an empty list may be a trace without steps, or a structure
                    found[at] = read_wire(found[at])
        given = dict(zip(roles, found))  # noqa: B905 what is stored follows the roles
        if stored:
            given["stored"] = dict(zip(stored, found[of_roles:], strict=True))
        return given

    return read


def _full(layout: Layout, heads: Sequence[Keys]) -> Read:
    slots = range(len(layout.slots))
    names: dict[Keys, str] = {}
    decode = msgspec.json.Decoder(_record(dict.fromkeys(heads, Any), names)).decode
    get = _getter([names[head] for head in heads])
    rests = _rests(layout, heads, slots)

    def read(text: Text) -> dict[str, Any]:
        found = _followed(get(decode(text)), rests)
        given = layout.given(found)
        if layout.traces and given["outputs"] is None:
            for slot in layout.traces:
                if found[slot] is not None:
                    raise MisfitError("the row is a trace, to be read whole")
        return given

    return read


def _getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives the values of the attributes named, always as a tuple."""
    if not names:
        return lambda _: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda row: (get(row),)


def _rests(layout: Layout, heads: Sequence[Keys], slots: Iterable[int]) -> list[tuple[int, Path]]:
    """Return the positions among `slots` whose path goes on below its leaf, and how."""
    paths = [layout.slots[slot].path[len(heads[slot]) :] for slot in slots]
    return [(at, rest) for at, rest in enumerate(paths) if rest]


def _followed(found: Sequence[Any], rests: Iterable[tuple[int, Path]]) -> list[Any]:
    followed = list(found)
    for at, rest in rests:
        value = lookup(followed[at], rest)
        followed[at] = None if value is MISSING else value
    return followed


def _record(
    leaves: Mapping[Keys, Any], names: dict[Keys, str], at: Keys = (), dot: str = ""
) -> Any:
    """Make the record for the leaves under `at`, and note each leaf's attribute."""
    fields: list[tuple[str, Any, Any]] = []
    rename: dict[str, str] = {}
    for key in dict.fromkeys(path[len(at)] for path in leaves if path[: len(at)] == at):
        attribute, here = f"f{len(fields)}", (*at, key)
        rename[attribute] = key
        if here in leaves:
            names[here] = f"{dot}{attribute}"
            fields.append((attribute, leaves[here], None))
        else:
            inner = _record(leaves, names, here, f"{dot}{attribute}.")
            fields.append((attribute, inner, inner()))
    return msgspec.defstruct("Row", fields, rename=rename, frozen=True, gc=False)
