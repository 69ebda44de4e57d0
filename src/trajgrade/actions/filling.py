"""Filling: what is known of a firing, put into a text in place of `{rule}` and the like.

`{item_id}`, `{rule}`, `{because}`, and `{scores.KEY}`, which is `–` where there is no score. They
are replaced once, so that nothing in what an agent wrote is replaced in turn.
"""

from __future__ import annotations

import re

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.event import Event

_PLACE = re.compile(r"\{(item_id|rule|because|scores\.[^{}\s]{1,200})\}")
_ANY = re.compile(r"\{([A-Za-z_][\w.]{0,100})\}")
_KNOWN = ("item_id", "rule", "because", "scores.KEY")


def check(name: str, text: object) -> None:
    """Refuse a text with a place that nothing is known for.

    Args:
        name: What the parameter is called.
        text: The text.

    Raises:
        ConfigError: It is no text, or has such a place.
    """
    if not isinstance(text, str):
        raise ConfigError(f"{name}: a text is needed, got {shorten(text)}")
    faults = [
        f"{name}: {unknown('place', place, _KNOWN)}"
        for place in _ANY.findall(text)
        if not _PLACE.fullmatch(f"{{{place}}}")
    ]
    if faults:
        raise ConfigError(*faults)


def filled(text: str, event: Event) -> str:
    """Return a text with what is known of a firing in its places."""
    return _PLACE.sub(lambda place: _known(event, place[1]), text)


def _known(event: Event, name: str) -> str:
    if not name.startswith("scores."):
        return str(getattr(event, name))
    score = event.scores.get(name.removeprefix("scores."))
    return "–" if score is None else f"{score:.3g}"
