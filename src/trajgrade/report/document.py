"""One HTML file, which needs no network and no server, and may be sent to anyone.

What came from traces is escaped wherever it stands, and the page's own policy lets nothing run or
load but its style and its script, each known by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from trajgrade.errors import MissingExtraError

MOST_LETTERS = 4000


def document(
    template: str, styles: tuple[str, ...], scripts: tuple[str, ...] = (), **told: Any
) -> str:
    """Return a page.

    Args:
        template: The file of `templates/` that it is laid out by; it is given `policy`, `style` and
            `script` beside what is told.
        styles: The files of its style.
        scripts: The files of its script.
        told: What it says; every text is escaped where it stands.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingExtraError("a report as HTML", "jinja2", "report") from None
    style, script = ("".join(map(_file, names)) for names in (styles, scripts))
    allowed = [
        f"style-src '{_hash(style)}'",
        *([f"script-src '{_hash(script)}'"] if script else []),
    ]
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_file(template)).render(
        policy=policy,
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        **told,
    )


def cut(text: str) -> str:
    """Return a text, or its beginning and how long it is."""
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}… ({len(text):,} letters)"


def _file(name: str) -> str:
    return files("trajgrade.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
