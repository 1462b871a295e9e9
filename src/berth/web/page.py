"""The page itself, and the form for the token."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from berth.web.security import COOKIE, matches, session_of

STATIC = Path(__file__).parent / "static"
LOGIN = STATIC / "login.html"
SLOW_SECONDS = 0.5
"""What a wrong token costs whoever guesses."""
LARGEST_FORM = 10_000
router = APIRouter(include_in_schema=False)


@router.get("/")
def index() -> Response:
    """The page."""
    return FileResponse(STATIC / "index.html")


@router.get("/login")
def login_form() -> Response:
    """Where the token goes."""
    return HTMLResponse(LOGIN.read_text().replace("{{message}}", ""))


@router.post("/login")
async def login(request: Request) -> Response:
    """Set the cookie, if the token is right."""
    token: str | None = request.app.state.service.settings.token
    if token is None:
        return RedirectResponse("/", 303)
    given = parse_qs((await request.body())[:LARGEST_FORM].decode("utf-8", "replace")).get("token", [""])[0]
    if not matches(given, token):
        await asyncio.sleep(SLOW_SECONDS)
        return HTMLResponse(LOGIN.read_text().replace("{{message}}", "That is not the token."), 401)
    response = RedirectResponse("/", 303)
    response.set_cookie(COOKIE, session_of(token), httponly=True, samesite="strict", path="/")
    return response


def add_page(app: FastAPI) -> None:
    """Put the page under `/`, and its parts under `/static`."""
    app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
