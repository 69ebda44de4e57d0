"""A row of JSON text, decoded no further than a layout looks.

A plan is a type made for the layout: nested records with the needed fields only, so that the
decoder steps over the rest without building it. A field needed as a trajectory only has the strict
type of a format that offers one (`wire`: what decodes to it is certainly of that format) and is
read from there (`read_wire`). A row that a plan does not fit is left to the next plan, at last to a
generic reading, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import Any

import msgspec

from trajgrade.dataset.fields import Layout, Path, Slot, values
from trajgrade.matching.paths import lookup
from trajgrade.matching.values import MISSING
from trajgrade.registry import formats

Text = bytes | msgspec.Raw
Read = Callable[[Text], Sequence[Any]]
Keys = tuple[str, ...]

WIRED = ("openai_chat",)


class MisfitError(ValueError):
    """The row has to be read in another way."""


def plans(layout: Layout, rows: Sequence[Any], trajectories: Collection[int]) -> list[Read]:
    """Return the ways to read a row of JSON text, the one that reads least first.

    Each returns what the row has at each slot, and raises ValueError or RecursionError where it
    does not fit the row.

    Args:
        layout: Where to look.
        rows: The first rows, parsed, which show what to expect.
        trajectories: The slots that are needed as a trajectory only.
    """
    heads = _heads(layout.slots)
    if not all(heads):
        return []
    wired = {
        slot: reader
        for slot in trajectories
        if heads[slot] == layout.slots[slot].path and heads.count(heads[slot]) == 1
        for reader in _wired(layout.slots[slot], rows)
    }
    plain = _plan(layout, heads, {})
    return [_plan(layout, heads, wired), plain] if wired else [plain]


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


def _plan(layout: Layout, heads: Sequence[Keys], wired: Mapping[int, Any]) -> Read:
    traced = {heads[slot] for slot in layout.traces} - {
        head for slot, head in enumerate(heads) if slot not in layout.traces
    }
    leaves: dict[Keys, Any] = dict.fromkeys(heads, Any)
    leaves |= dict.fromkeys(traced, msgspec.Raw | None)
    leaves |= {heads[slot]: reader.wire | None for slot, reader in wired.items()}
    names: dict[Keys, str] = {}
    decode = msgspec.json.Decoder(_record(leaves, names)).decode
    get = attrgetter(*(names[head] for head in heads))
    only = len(heads) == 1
    rests: list[tuple[int, Path]] = [
        (slot, layout.slots[slot].path[len(head) :])
        for slot, head in enumerate(heads)
        if head != layout.slots[slot].path
    ]
    readers = [(slot, reader.read_wire) for slot, reader in wired.items()]
    traces, outputs = layout.traces, layout.outputs

    def read(text: Text) -> Sequence[Any]:
        found = [get(decode(text))] if only else list(get(decode(text)))
        for slot, rest in rests:
            value = lookup(found[slot], rest)
            found[slot] = None if value is MISSING else value
        for slot, read_wire in readers:
            if found[slot] is not None:
                found[slot] = read_wire(found[slot])
        for slot in traces:
            if found[slot] is not None and all(found[output] is None for output in outputs):
                raise MisfitError("the row is a trace, to be read whole")
        return found

    return read


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
