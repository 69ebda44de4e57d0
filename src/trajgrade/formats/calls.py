"""Calls and nothing else.

    [{"name": "trains", "args": {"to": "Oslo"}}, {"name": "now"}, "ping"]

The arguments may be called `args`, `arguments`, `input` or `kwargs`, also `parameters`,
`tool_input` or `tool_args`; a call without them has none.
A bare name among calls is a call whose arguments are unknown; a list of nothing but texts is no
list of calls. Also one call alone (with its arguments), and the list under `tool_calls` or `calls`.

Not one list is an error: several acceptable references are `{"any_of": [[…], […]]}`, the calls of
several turns `{"turns": [[…], […]]}`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from trajgrade.errors import MalformedTraceError
from trajgrade.formats.arguments import given, parsed
from trajgrade.formats.plain_call import ARGUMENTS, bare, call_of, is_call
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import ToolCall, Trajectory

_AROUND = ("tool_calls", "calls")
_BESIDE = frozenset({*_AROUND, "id", "content", "response", "output", "text"})
_NAMES = ("name", "tool_name", "function")


class PlainCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A call with its arguments under one of four keys; as strict as a call alone can be."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    args: Any = None
    arguments: Any = None
    input: Any = None
    kwargs: Any = None
    id: str | None = None


class Calls:
    """Calls and nothing else; the module shows them."""

    wire = list[PlainCall]

    def recognises(self, seen: Glimpse) -> bool:
        """Whether each item is a plain call, or a list of calls."""
        data = seen.data
        if isinstance(data, dict):
            if _wraps(data):
                return all(is_call(call) for call in _items(data) if isinstance(call, dict))
            return is_call(data) and bool(ARGUMENTS & data.keys())
        if not isinstance(data, list):
            return False
        return _nested(data) or (
            dict in seen.kinds
            and any(map(is_call, data))
            and all(isinstance(item, str) or is_call(item) for item in data)
        )

    def read(self, data: Any) -> list[Trajectory]:
        """Read the calls, each in a step of its own."""
        if _nested(data):
            raise MalformedTraceError(
                'a list of lists of calls: write {"any_of": [[…], […]]} for several acceptable '
                'references, {"turns": [[…], […]]} for the calls of several turns'
            )
        notes: list[str] = []
        calls = [call_of(item, f"call {at}", notes) for at, item in enumerate(_items(data))]
        spoken = data if isinstance(data, dict) and _wraps(data) else {}
        texts = (spoken.get(key) for key in ("response", "output", "content", "text"))
        final = next((text for text in texts if isinstance(text, str)), None)
        return [bare(calls, "calls", notes, final)]

    def read_wire(self, items: list[PlainCall]) -> Trajectory:
        """Read calls that were decoded from `wire`.

        Raises:
            MalformedTraceError: Arguments differ under two keys, or are nested too deeply.
        """
        notes: list[str] = []
        calls = []
        for at, item in enumerate(items):
            place = f"call {at} ({item.name})"
            held = (item.args, item.arguments, item.input, item.kwargs)
            some = [value for value in held if value is not None]
            raw = some[0] if some else None
            if len(some) > 1:
                raw = given(msgspec.structs.asdict(item), "args", place)
            args, state = parsed(raw, place, notes)
            calls.append(ToolCall(item.name, args, state, item.id))
        return bare(calls, "calls", notes)


def _wraps(data: dict[str, Any]) -> bool:
    return data.keys() <= _BESIDE and sum(isinstance(data.get(key), list) for key in _AROUND) == 1


def _items(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return next((data[key] for key in _AROUND if isinstance(data.get(key), list)), [data])
    return data if isinstance(data, list) else [data]


def _nested(data: Any) -> bool:
    return (
        isinstance(data, list)
        and any(data)
        and all(isinstance(group, list) for group in data)
        and all(_names_a_tool(call) for group in data for call in group)
    )


def _names_a_tool(item: Any) -> bool:
    return isinstance(item, dict) and "role" not in item and any(key in item for key in _NAMES)


FORMAT = Calls()
