"""Glimpse: what a raw trace looks like from outside, seen once and shown to every format.

A format recognises its traces by names that only its origin uses: keys, roles, types of blocks.
A glimpse collects those names in one pass, so that forty formats do not each walk the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from trajgrade.errors import TraceError, shorten

LISTS = ("messages", "conversation", "contents", "input", "output", "steps")


class Glimpse:
    """The names that stand in a raw trace.

    Attributes:
        data: The raw data; objects that can say what they hold (pydantic models, LangChain
            messages) are replaced by it.
    """

    def __init__(self, data: Any) -> None:
        self.data = plain(data)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the outermost object; empty where it is none."""
        return frozenset(self.data) if isinstance(self.data, dict) else frozenset()

    @cached_property
    def items(self) -> list[Any]:
        """The members of the outermost list, or of the list under `messages`; else empty."""
        inner = self.data.get("messages") if isinstance(self.data, dict) else self.data
        return inner if isinstance(inner, list) else []

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
            return f"a list of {len(self.data)} items of type {', '.join(kinds)}"
        keys = shorten(sorted(map(str, self.item_keys))[:12], 200)
        return f"a list of {len(self.data)} objects with the keys {keys}"


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
    """Return data with the objects of other libraries replaced by what they say they hold."""
    if isinstance(data, (str, bytes)) or data is None:
        return data
    if isinstance(data, dict):
        for name in LISTS:
            inner = data.get(name)
            if isinstance(inner, list) and any(_speaks(item) for item in inner):
                data = {**data, name: [plain(item) for item in inner]}
        return data
    if isinstance(data, (list, tuple)):
        if type(data) is list and not any(_speaks(item) for item in data):
            return data
        return [plain(item) if _speaks(item) else item for item in data]
    return _spoken(data) if _speaks(data) else data


def _speaks(item: Any) -> bool:
    return type(item) is not dict and hasattr(type(item), "model_dump")


def _spoken(item: Any) -> Any:
    try:
        return item.model_dump()
    except Exception as broken:
        raise TraceError(
            f"{type(item).__name__}.model_dump() raised {type(broken).__name__}: {broken}"
        ) from broken
