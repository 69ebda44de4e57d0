"""Glimpse: what a raw trace looks like from outside, seen once and shown to every format.

A format recognises its traces by names that only its origin uses: keys, roles, types of blocks.
A glimpse collects those names in one pass, so that forty formats do not each walk the data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from trajgrade.errors import TraceError, shorten

_PLAIN = frozenset({type(None), str, bytes, bool, int, float, complex, set, frozenset, type})
_LEVELS = 6
# What an object that is no record of a known kind needs to be taken for one.
_DUCKS = (("conversation",), ("role", "content"), ("name", "args"), ("speaker", "text"))
_FEATHERS = (
    "id", "task_description", "conversation", "agent_name", "role", "content", "tool_calls",
    "tool_call_id", "name", "args", "result", "status", "speaker", "text", "structured_turns",
)  # fmt: skip
_CALLED = ("tool", "action", "function", "name", "tool_name", "function_name")
_LISTS = ("tool_calls", "calls")


class Glimpse:
    """The names that stand in a raw trace.

    Args:
        data: The raw data.
        parsed: Whether it is what JSON text holds, so that no object of another kind is in it.

    Attributes:
        data: The raw data; objects that can say what they hold (pydantic models, LangChain
            messages, dataclasses, arrays, …) are replaced by it, down to the parts of a message.
        memo: What formats found out about the data, for those that ask the same.
    """

    def __init__(self, data: Any, *, parsed: bool = False) -> None:
        self.data = data if parsed else plain(data)
        self.memo: dict[str, Any] = {}

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the outermost object; empty where it is none."""
        return frozenset(self.data) if isinstance(self.data, dict) else frozenset()

    @cached_property
    def names(self) -> frozenset[str]:
        """The keys of the outermost object and of the items."""
        return self.keys | self.item_keys

    @cached_property
    def items(self) -> list[Any]:
        """The members of the outermost list, or of the list under `messages`; else empty."""
        inner = self.data.get("messages") if isinstance(self.data, dict) else self.data
        return inner if isinstance(inner, list) else []

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The types of the items; of the outermost object itself where it is no list."""
        if isinstance(self.data, dict) and not self.items:
            return frozenset({dict})
        return frozenset(map(type, self.items))

    @cached_property
    def records(self) -> bool:
        """Whether there are items and each is an object."""
        return bool(self.items) and all(type(item) is dict for item in self.items)

    @cached_property
    def item_keys(self) -> frozenset[str]:
        """Every key that an item has."""
        return frozenset().union(*self._dicts)

    @cached_property
    def shared_keys(self) -> frozenset[str]:
        """The keys that every item has."""
        if not self.records:
            return frozenset()
        return frozenset(self.items[0]).intersection(*self.items)

    @cached_property
    def _dicts(self) -> list[dict[str, Any]]:
        return [item for item in self.items if isinstance(item, dict)]

    @cached_property
    def roles(self) -> frozenset[str]:
        """Every text under `role` of an item."""
        return texts(item.get("role") for item in self._dicts)

    @cached_property
    def types(self) -> frozenset[str]:
        """Every text under `type` of an item."""
        return texts(item.get("type") for item in self._dicts)

    @cached_property
    def blocks(self) -> list[dict[str, Any]]:
        """The objects in the `content` lists of the items."""
        return members(item.get("content") for item in self._dicts)

    @cached_property
    def block_types(self) -> frozenset[str]:
        """Every text under `type` of a block."""
        return texts(block.get("type") for block in self.blocks)

    @cached_property
    def block_keys(self) -> frozenset[str]:
        """Every key that a block has."""
        return frozenset().union(*self.blocks)

    @cached_property
    def parts(self) -> list[dict[str, Any]]:
        """The objects in the `parts` lists of the items."""
        return members(item.get("parts") for item in self._dicts)

    @cached_property
    def part_keys(self) -> frozenset[str]:
        """Every key that a part has."""
        return frozenset().union(*self.parts)

    @cached_property
    def call_keys(self) -> frozenset[str]:
        """Every key that a member of an item's `tool_calls` has."""
        return frozenset().union(*members(item.get("tool_calls") for item in self._dicts))

    @property
    def advice(self) -> str:
        """How a call is written, where an object seems to be one under other keys; else nothing."""
        around = [self.data] if isinstance(self.data, dict) else []
        records = [*around, *self._dicts]
        for record in [*records, *members(record.get(key) for record in records for key in _LISTS)]:
            named = any(isinstance(record.get(key), str) for key in _CALLED)
            if named and "role" not in record:
                keys = shorten(sorted(map(str, record))[:12], 200)
                return (
                    'A call is {"name": …, "args": {…}}, or has arguments, input, kwargs, '
                    f"parameters, tool_input or tool_args for args; found one with {keys}. "
                )
        return ""

    def __str__(self) -> str:
        """Describe what was seen, for a message."""
        if isinstance(self.data, dict):
            return f"an object with the keys {shorten(sorted(map(str, self.data))[:12], 200)}"
        if not isinstance(self.data, list):
            return f"{type(self.data).__name__} {shorten(self.data)}"
        if not self.data:
            return "an empty list"
        if not self.records:
            kinds = sorted({type(item).__name__ for item in self.data})
            hint = (
                ' (calls are {"name": …} objects, messages {"role": …, "content": …} objects)'
                if kinds == ["str"]
                else ""
            )
            return f"a list of {len(self.data)} items of type {', '.join(kinds)}{hint}"
        keys = shorten(sorted(map(str, self.item_keys))[:12], 200)
        named = "".join(
            f", {what} {', '.join(shorten(name, 40) for name in sorted(names)[:8])}"
            for what, names in (("roles", self.roles), ("types", self.types))
            if names
        )
        return f"a list of {len(self.data)} objects with the keys {keys}{named}"


def texts(values: Iterable[Any]) -> frozenset[str]:
    """Return the texts among the values."""
    return frozenset(value for value in values if isinstance(value, str))


def members(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the objects that stand in those of the values that are lists."""
    return [
        member
        for value in values
        if isinstance(value, list)
        for member in value
        if isinstance(member, dict)
    ]


def plain(data: Any) -> Any:
    """Return data with the objects of other libraries replaced by what they say they hold.

    The data itself is not changed; what holds no such object is returned as it is.

    Raises:
        TraceError: An object raises when it is asked.
    """
    return _plain(data, _LEVELS, {})


def _plain(data: Any, levels: int, met: dict[int, tuple[Any, Any]]) -> Any:
    kind = type(data)
    if kind in _PLAIN or levels == 0:
        return data
    if (kind is dict and _PLAIN.issuperset(map(type, data.values()))) or (
        kind is list and _PLAIN.issuperset(map(type, data))
    ):
        return data
    if id(data) in met:
        return met[id(data)][1]
    met[id(data)] = data, data  # kept alive, or another object could get its id
    found = data
    if kind is dict:
        changed = {}
        for key, value in data.items():
            if type(value) not in _PLAIN:
                said = _plain(value, levels - 1, met)
                if said is not value:
                    changed[key] = said
        if changed:
            found = {**data, **changed}
    elif isinstance(data, (list, tuple)) and not _is_snapshot(kind):
        members = [_plain(member, levels - 1, met) for member in data]
        if kind is not list or any(a is not b for a, b in zip(members, data, strict=True)):
            found = members
    else:
        said = _said(data)
        found = said if said is data else _plain(said, levels - 1, met)
    met[id(data)] = data, found
    return found


def _is_snapshot(kind: type) -> bool:
    """Whether it is LangGraph's snapshot of a state, a tuple whose parts are known by name."""
    return issubclass(kind, tuple) and {"values", "next", "config"} <= {
        *getattr(kind, "_fields", ())
    }


def _said(item: Any) -> Any:
    kind = type(item)
    try:
        if hasattr(kind, "model_dump"):
            return item.model_dump()
        if isinstance(item, Mapping):
            return dict(item)
        if hasattr(kind, "to_dict") and hasattr(kind, "tool_calls"):
            return item.to_dict()
        if _is_snapshot(kind):
            return item._asdict()
        if isinstance(item, msgspec.Struct):
            return {name: getattr(item, name) for name in item.__struct_fields__}
        if dataclasses.is_dataclass(item):
            return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
        if hasattr(kind, "tolist"):
            return item.tolist()
        if any(all(hasattr(item, name) for name in duck) for duck in _DUCKS):
            return {name: getattr(item, name) for name in _FEATHERS if hasattr(item, name)}
    except Exception as broken:
        raise TraceError(
            f"a {kind.__name__} cannot say what it holds: {type(broken).__name__}: {broken}"
        ) from broken
    return item
