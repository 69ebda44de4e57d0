"""Paging: a list that is given in parts; `next` says where the next part begins, if one does."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Generic, TypeVar

import msgspec
from fastapi import Query

MOST = 1000
LARGEST = 2**53 - 1  # that every reader of JSON knows

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Offset = Annotated[int, Query(ge=0, le=LARGEST, description="How many are passed over.")]
Before = Annotated[
    int | None, Query(ge=0, le=LARGEST, description="Only those of a lower number: `next`.")
]
After = Annotated[
    int | None, Query(ge=0, le=LARGEST, description="Only those behind that number: `next`.")
]
Number = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """A part of a list.

    Attributes:
        items: The part.
        next: Where the next part begins; null where there is none.
    """

    items: tuple[Item, ...]
    next: int | None


def cut(items: Iterable[Item], offset: int, limit: int) -> Page[Item]:
    """Return the part of a list behind so many items."""
    found = tuple(islice(items, offset, offset + limit + 1))
    return Page(found[:limit], offset + limit if len(found) > limit else None)


def numbered(items: list[Item], limit: int) -> Page[Item]:
    """Return a part of a list of items with a `number`, of which one more than asked is given."""
    shown = tuple(items[:limit])
    last: int | None = getattr(shown[-1], "number", None) if len(items) > limit else None
    return Page(shown, last)
