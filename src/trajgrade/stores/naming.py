"""Naming: which run a name means."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajgrade.errors import StoreError, UnknownNameError, shorten

LATEST = "latest"
_TOLD = 5
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def meant(name: str, ids: Sequence[str]) -> str:
    """Return the id that a name means: `latest`, the id itself, its beginning, or its end.

    Args:
        name: What was written.
        ids: The ids that there are, the newest first.

    Raises:
        UnknownNameError: It means none.
        StoreError: It means several.
    """
    if name in ids:
        return name
    if name == LATEST and ids:
        return ids[0]
    found = [one for one in ids if one.startswith(name) or one.endswith(f"-{name}")]
    if not name or not found:
        raise UnknownNameError("run", name, [LATEST, *ids[:_TOLD]] if ids else ["none yet"])
    if len(found) > 1:
        more = ", …" if len(found) > _TOLD else ""
        raise StoreError(
            f"{len(found)} runs have {name!r} in their id; give more of it: "
            f"{', '.join(found[:_TOLD])}{more}"
        )
    return found[0]


def check_id(run_id: str) -> None:
    """Refuse an id that could not be a file's name.

    Raises:
        StoreError: It has other than letters, digits, `-` and `_`, or is too long.
    """
    if not _ID.fullmatch(run_id):
        raise StoreError(
            f"{shorten(run_id)} is no id of a run: up to 64 letters, digits, - and _ are allowed"
        )
