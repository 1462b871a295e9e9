"""The application: routes, the page, the gate before them."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from berth import __version__
from berth.web.access import GuardedRoute
from berth.web.answers import Refused, add_handlers
from berth.web.readers import readers
from berth.web.requests import Service
from berth.web.routes import ROUTERS
from berth.web.routes.about import known_policies
from berth.web.security import COOKIE, Gate, Settings, address_of, is_encrypted, session_in

STATIC = Path(__file__).parent / "static"
LOGIN = STATIC / "login.html"
page = APIRouter(route_class=GuardedRoute, include_in_schema=False)


@page.get("/")
def index() -> Response:
    """The page."""
    return FileResponse(STATIC / "index.html")


@page.get("/login")
def login_form(request: Request) -> Response:
    """Where the token goes."""
    again = "again" in request.query_params
    words = "You are no longer signed in: your time is over, or your token was revoked." if again else ""
    return HTMLResponse(LOGIN.read_text().replace("{{message}}", words))


@page.post("/login")
async def login(request: Request) -> Response:
    """Set the cookie, if the token is right."""
    service: Service = request.app.state.service
    entrance, proxies = service.entrance, service.settings.proxies
    if entrance.people.everybody:
        return RedirectResponse("/", 303)
    given = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])[0]
    try:
        token = entrance.checked(given.strip(), address_of(request.scope, proxies))
    except Refused as refused:
        slow = refused.headers.get("Retry-After")
        words = (
            f"Too many wrong tokens. Try again in {slow} s."
            if slow
            else "That is not a token of this service."
        )
        text = LOGIN.read_text().replace("{{message}}", words)
        return HTMLResponse(text, refused.status, {"Retry-After": slow} if slow else None)
    request.scope["noted"].who = token.name
    secret, seconds = entrance.sessions.begin(token)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(seconds),
        httponly=True,
        samesite="strict",
        secure=is_encrypted(request.scope, proxies),
        path="/",
    )
    return response


@page.post("/logout")
def logout(request: Request) -> Response:
    """End the session, wherever its cookie may be."""
    service: Service = request.app.state.service
    session = session_in(request.headers)
    token = service.entrance.sessions.who(session)
    request.scope["noted"].who = None if token is None else token.name
    service.entrance.sessions.end(session)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


def add_page(app: FastAPI) -> None:
    """Put the page under `/`, and its parts under `/static`."""
    app.include_router(page)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")


PREFIX = "/api/v1"
THREADS = 100
"""Requests that are worked on at once."""
DESCRIPTION = "Where every stream operator runs: problems, plans, solves, runs. See docs/rest.md."


def create_app(settings: Settings) -> FastAPI:
    """A service for a workspace; its jobs begin with its lifespan and end with it."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        readers().start()
        service.jobs.start()
        # nobody should wait for these
        threading.Thread(target=known_policies, name="berth policies", daemon=True).start()
        threading.Thread(target=service.workspace.tidy, name="berth tidying", daemon=True).start()
        try:
            yield
        finally:
            service.explaining.end()
            service.jobs.end()
            readers().end()

    app = FastAPI(
        title="berth",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=f"{PREFIX}/openapi.json",
        # their pages would load scripts from other hosts
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    add_handlers(app)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    add_page(app)
    app.add_middleware(Gate, settings=settings, entrance=service.entrance, audit=service.audit)
    return app
