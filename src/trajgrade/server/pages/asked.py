"""Asked: what an address asks for, read one way: pages of a list, choices, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from trajgrade.errors import unknown
from trajgrade.server.pages.layout import with_query
from trajgrade.server.refusal import RefusedError

PER_PAGE = 50
_MOST_DIGITS = 9


class Paged(NamedTuple):
    """One page of a list.

    Attributes:
        items: What is on it.
        number: Which page it is, from 1.
        total: How many items there are, None where that is not known.
        previous: The address of the page before; empty where there is none.
        following: The address of the page behind.
    """

    items: list[Any]
    number: int
    total: int | None
    previous: str
    following: str


def whole(query: Mapping[str, str], name: str, default: int | None) -> int | None:
    """Return a whole number that is asked for, 0 or more.

    Raises:
        RefusedError: It is none.
    """
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise RefusedError("not_found", f"{name}: a whole number is needed, got {text[:40]!r}")
    return int(text)


def choice(query: Mapping[str, str], name: str, known: Iterable[str], default: str = "") -> str:
    """Return which of several is asked for.

    Raises:
        RefusedError: It is none of them.
    """
    allowed = [*known]
    given = query.get(name, "") or default
    if given and given not in allowed:
        raise RefusedError("not_found", unknown(name, given[:80], allowed), allowed)
    return given


def paged(
    items: Sequence[Any], path: str, query: Mapping[str, str], *, per: int = PER_PAGE
) -> Paged:
    """Return the page of a list that is asked for; one behind the last is the last."""
    pages = max(1, -(-len(items) // per))
    number = min(max(1, whole(query, "page", 1) or 1), pages)
    rest = {key: value for key, value in query.items() if key != "page"}

    def address(page: int) -> str:
        return with_query(path, {**rest, "page": page}) if 1 <= page <= pages else ""

    shown = items[(number - 1) * per : number * per]
    return Paged([*shown], number, len(items), address(number - 1), address(number + 1))


def behind(
    items: Sequence[Any], path: str, query: Mapping[str, str], name: str, *, per: int = PER_PAGE
) -> Paged:
    """Return a page of what is read from a place on; one item too many says that there is more.

    Args:
        items: Up to one more than a page holds, each with its `number`.
        path: The page's path.
        query: What is asked for.
        name: What the place is called in an address.
        per: How many a page holds.
    """
    rest = {key: value for key, value in query.items() if key != name}
    more = len(items) > per
    following = with_query(path, {**rest, name: items[per - 1].number}) if more else ""
    first = with_query(path, rest) if query.get(name) else ""
    return Paged([*items[:per]], 1, None, first, following)


def local(path: str, otherwise: str = "/") -> str:
    """Return an address of this server to go back to; never one of another."""
    fits = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if fits and path.isprintable() and len(path) <= 2000 else otherwise
