"""The application: routes, page, gate."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI

from berth import __version__
from berth.web.errors import add_handlers
from berth.web.page import add_page
from berth.web.parts import Service
from berth.web.routes import about, jobs, plans, problems, results, runs
from berth.web.security import Gate
from berth.web.settings import Settings

PREFIX = "/api/v1"
THREADS = 40
"""Requests that are worked on at once."""
DESCRIPTION = "Where every stream operator runs: problems, plans, solves, runs. See docs/rest.md."


def create_app(settings: Settings) -> FastAPI:
    """A service for a workspace; its jobs begin with its lifespan and end with it."""
    service = Service.of(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        service.jobs.start()
        # nobody should wait for it later
        threading.Thread(target=about.known_policies, name="berth policies", daemon=True).start()
        try:
            yield
        finally:
            service.streams.ending = True
            service.explaining.end()
            service.jobs.end()

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
    for part in (about, problems, plans, jobs, runs, results):
        app.include_router(part.router, prefix=PREFIX)
    add_page(app)
    app.add_middleware(Gate, settings=settings)
    return app
