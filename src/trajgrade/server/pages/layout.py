"""Layout: how a page is laid out, and the files that it loads.

Whatever is put into a template is escaped. Pages load nothing but their own style and script; the
style begins with that of the report (`trajgrade.report`), so that both look alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from fastapi import Request
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from trajgrade import __version__
from trajgrade.report.beside import SIGNS
from trajgrade.report.document import cut
from trajgrade.report.plain import count, number, printable, printable_lines
from trajgrade.server.guard import csrf_token
from trajgrade.server.refusal import RefusedError

THEME = "trajgrade_theme"  # the cookie of who wants it light or dark
THEMES = ("system", "light", "dark")
_FOREVER = "private, max-age=31536000, immutable"


class Section(NamedTuple):
    """A place of the menu."""

    name: str
    href: str
    key: str


SECTIONS = (
    Section("Home", "/", "h"),
    Section("Runs", "/runs", "r"),
    Section("Compare", "/compare", "c"),
    Section("Datasets", "/datasets", "d"),
    Section("Traces", "/traces", "t"),
    Section("Queue", "/queue", "q"),
    Section("Rules", "/rules", "u"),
    Section("Outcomes", "/outcomes", "o"),
)
KEYS = (
    ("j, k", "the next and the previous line of a list, or item"),
    ("Enter", "open it"),
    ("/", "search"),
    ("n, p", "the next and the previous page"),
    ("1, 2, 3", "in the review queue: accept, reject, skip"),
    *((f"g {section.key}", section.name) for section in SECTIONS),
    ("?", "these keys"),
)


class Loaded(NamedTuple):
    """A file that pages load."""

    body: bytes
    kind: str


_FILES = {
    "run.css": ("trajgrade.report", "templates"),
    "versus.css": ("trajgrade.report", "templates"),
    "pages.css": ("trajgrade.server.pages", "static"),
    "pages.js": ("trajgrade.server.pages", "static"),
}
_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@cache
def loaded(name: str) -> Loaded:
    """Return a file that pages load.

    Raises:
        RefusedError: There is none of that name.
    """
    if name not in _FILES:
        raise RefusedError("not_found", f"there is no file {name[:80]!r}", [*_FILES])
    package, folder = _FILES[name]
    body = files(package).joinpath(folder, name).read_bytes()
    return Loaded(body, _KINDS[name.rpartition(".")[2]])


@cache
def address_of(name: str) -> str:
    """Return where a file is loaded from; another content has another address."""
    return f"/static/{name}?v={hashlib.sha256(loaded(name).body).hexdigest()[:12]}"


def static(name: str) -> Response:
    """Return a file that pages load."""
    found = loaded(name)
    return Response(found.body, media_type=found.kind, headers={"cache-control": _FOREVER})


@cache
def _environment() -> Environment:
    found = Environment(
        loader=ChoiceLoader(
            [
                PackageLoader("trajgrade.server.pages", "templates"),
                PrefixLoader({"report": PackageLoader("trajgrade.report", "templates")}),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Any] = {
        "text": lambda value: cut(printable(str(value))),
        "lines": lambda value: "\n".join(printable_lines(cut(str(value)))),
        "number": number,
        "segment": segment,
        "when": when,
    }
    found.filters |= filters
    found.globals |= {
        "count": count, "file": address_of, "keys": KEYS, "sections": SECTIONS,
        "signs": SIGNS, "themes": THEMES, "version": __version__,
    }  # fmt: skip
    return found


def render(request: Request, template: str, status: int = 200, /, **told: Any) -> Response:
    """Return a page.

    Args:
        request: What is asked for.
        template: The file of `templates/` that it is laid out by.
        status: The status code.
        told: What it says.
    """
    who = request.scope.get("trajgrade.who")
    theme = request.cookies.get(THEME, THEMES[0])
    page = _environment().get_template(template)
    text = page.render(
        theme=theme if theme in THEMES else THEMES[0],
        token=csrf_token(request),
        path=request.url.path,
        here=f"{request.url.path}{'?' if request.url.query else ''}{request.url.query}",
        who=who.name if who is not None else "",
        may_change=who is not None and who.may("admin"),
        **told,
    )
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def text_page(text: str) -> Response:
    """Return a text as it is, whole; nothing in it is a page."""
    return Response(
        text.encode("utf-8", "backslashreplace"),
        media_type="text/plain; charset=utf-8",
        headers={"content-disposition": "inline"},
    )


def segment(text: str) -> str:
    """Return a text as one part of an address's path."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """Return an address; what is empty or None is left out of its query."""
    told = {key: value for key, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(told, errors='replace')}" if told else path


def when(at: datetime | float | None) -> str:
    """Return a time, in UTC."""
    if at is None:
        return "-"
    moment = at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
