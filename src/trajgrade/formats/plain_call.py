"""One call as plain people write it → ToolCall.

    {"name": "search", "args": {"q": "cats"}}

The arguments may be called `args`, `arguments`, `input` or `kwargs` (also `parameters`,
`tool_input`, `tool_args`), or be absent: then there are none. A bare name, `"search"`, is a call
whose arguments are unknown. A call of type `builtin` was run by the provider. All that trajgrade
itself writes of a call (`ToolCall.to_dict`) is read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError
from trajgrade.formats import expect
from trajgrade.formats.arguments import SPELLINGS, bounded, given, is_schema, parsed
from trajgrade.formats.assembly import status_of
from trajgrade.trajectory import Step, ToolCall, Trajectory

ARGUMENTS = SPELLINGS
HOSTED = frozenset({"builtin", "builtin_tool", "hosted"})
TYPES = frozenset({"function", "tool", "tool_call", "call"}) | HOSTED
RESULTS = ("result", "output")
IDS = ("id", "call_id", "tool_call_id")
OWN = frozenset(ToolCall.__struct_fields__)
KNOWN = OWN | ARGUMENTS | frozenset({"type", "index", *RESULTS, *IDS})

_MARKS = frozenset({"name", "tool_name", "function", "description"})


def is_call(item: Any) -> bool:
    """Whether the object is a plain call, with the keys of one and no others that could matter."""
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        return False
    kind = item.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in TYPES):
        return False
    if is_schema(item.get("parameters")):
        return False  # the definition of a tool
    others = item.keys() - KNOWN
    if not others:
        return True
    # A name alone beside other keys may be anything: a person, the definition of a tool.
    return bool(ARGUMENTS & item.keys()) and not any(
        key in _MARKS or isinstance(item[key], (dict, list)) for key in others
    )


def call_of(item: Any, place: str, notes: list[str]) -> ToolCall:
    """Read one call: an object, or a bare name.

    Raises:
        MalformedTraceError: It has no name, or its arguments are not those of one known key.
    """
    if isinstance(item, str):
        return ToolCall(expect.name(item, place), None, "unknown")
    raw = expect.record(item, place)
    name = expect.name(raw.get("name"), place)
    place = f"{place} ({name})"
    value = given(raw, "args", place, KNOWN - ARGUMENTS)
    own = {key: raw[key] for key in OWN - {"name", "args", "id", "result"} if key in raw}
    if "args_state" in own:
        bounded(value, place)
        own["args"] = value
    else:
        own["args"], own["args_state"] = parsed(value, place, notes)
    if raw.get("type") in HOSTED:
        own["hosted"] = True
    if "status" in own:
        own["status"] = status_of(own["status"])
    _set(own, "id", raw, IDS, expect.identifier, place)
    _set(own, "result", raw, RESULTS, _whole, place)
    own["children"] = tuple(
        call_of(child, f"{place}, child {at}", notes)
        for at, child in enumerate(expect.array(own.get("children"), place))
    )
    return _made(name, own, place)


def bare(
    calls: Sequence[ToolCall],
    format: str,  # noqa: A002 the field's word for it
    notes: Iterable[str] = (),
    final: str | None = None,
) -> Trajectory:
    """Return the trajectory of calls that stand in no message: each in a step of its own.

    No calls are no calls in every format, and so of none: they have the format of `[]`.
    """
    return Trajectory(
        partial(_steps, calls),
        tool_calls=[call for call in calls if not call.hosted],
        hosted_calls=[call for call in calls if call.hosted],
        final_response=final,
        format=format if calls else "chat",
        notes=notes,
    )


def _steps(calls: Iterable[ToolCall]) -> list[Step]:
    return [Step("assistant", "", [call]) for call in calls]


def _set(
    own: dict[str, Any],
    field: str,
    raw: dict[str, Any],
    keys: tuple[str, ...],
    check: Callable[[Any, str], Any],
    place: str,
) -> None:
    for key in keys:
        if raw.get(key) is not None:
            own[field] = check(raw[key], place)
            return


def _whole(value: Any, place: str) -> Any:
    bounded(value, place)
    return value


def _made(name: str, own: dict[str, Any], place: str) -> ToolCall:
    children = own.pop("children")
    free = {key: own.pop(key) for key in ("args", "result") if key in own}
    try:
        checked = msgspec.convert({"name": name, **own}, ToolCall, strict=False)
    except ValueError as broken:
        raise MalformedTraceError(f"{place}: {broken}") from None
    return msgspec.structs.replace(checked, children=children, **free)
