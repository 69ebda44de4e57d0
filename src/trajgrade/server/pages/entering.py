"""Entering: logging in and out with an API key; light or dark; the keys of the keyboard."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from trajgrade.server.cookies import set_cookie
from trajgrade.server.guard import checked_form, enter, leave
from trajgrade.server.keys import Keyring
from trajgrade.server.pages.asked import choice, local
from trajgrade.server.pages.layout import THEME, THEMES, render
from trajgrade.server.pages.refused import PageRoute

router = APIRouter(route_class=PageRoute)

Form = Annotated[dict[str, str], Depends(checked_form)]


@router.get("/login")
def login(request: Request) -> Response:
    """Ask for a key."""
    ring: Keyring = request.app.state.keys
    back = local(request.query_params.get("back", "/"))
    return render(request, "login.html", back=back, fault="", is_open=ring.is_open)


@router.post("/login")
def log_in(request: Request, form: Form) -> Response:
    """Begin a session, for whoever shows a key."""
    ring: Keyring = request.app.state.keys
    back = local(form.get("back", "/"))
    answer = RedirectResponse(back, 303)
    if enter(request, answer, form.get("key", "").strip()):
        return answer
    fault = "This key is not known here. It may be revoked."
    return render(request, "login.html", 401, back=back, fault=fault, is_open=ring.is_open)


@router.post("/logout", dependencies=[Depends(checked_form)])
def log_out(request: Request) -> Response:
    """End the session."""
    answer = RedirectResponse("/login", 303)
    leave(request, answer)
    return answer


@router.post("/theme")
def colours(request: Request, form: Form) -> Response:
    """Keep whether pages are light or dark."""
    answer = RedirectResponse(local(form.get("back", "/")), 303)
    theme = choice(form, "theme", THEMES, THEMES[0])
    set_cookie(answer.headers, request.scope, THEME, theme)
    return answer


@router.get("/keys")
def keys(request: Request) -> Response:
    """Show the keys of the keyboard."""
    return render(request, "keys.html")
