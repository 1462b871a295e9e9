"""What every route needs of who asks: the one table of it, and the one place where it is enforced."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import HTTPException, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from berth.web.answers import Refused
from berth.web.audit import things
from berth.web.people import Caller, Role


@dataclass
class Noted:
    """What the audit log will say of a request: in `scope["noted"]`, for routes to add to."""

    action: str
    who: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        """Whether it is more than looking."""
        return ROLE_OF.get(self.action, "viewer") != "viewer" and not self.action.startswith("GET ")

    def file(self, name: str | None) -> None:
        """Take note of the name that somebody wants for a file, whether or not there will be one."""
        if name is not None:
            self.facts["file"] = name


Needed = Role | Literal["nobody"]

ROLE_OF: dict[str, Needed] = {
    "GET /": "viewer",
    "GET /login": "nobody",
    "POST /login": "nobody",
    "POST /logout": "nobody",
    # looking, and judging what is there: nothing is stored, nothing is started
    "GET /health": "viewer",
    "GET /version": "viewer",
    "GET /me": "viewer",
    "GET /policies": "viewer",
    "GET /metrics": "viewer",
    "GET /schema": "viewer",
    "GET /tables": "viewer",
    "GET /tables/{id}": "viewer",
    "GET /experiments": "viewer",
    "GET /experiments/{id}": "viewer",
    "GET /experiments/{id}/report": "viewer",
    "GET /experiments/{id}/files/{name:path}": "viewer",
    "GET /problems": "viewer",
    "GET /problems/{id}": "viewer",
    "GET /problems/{id}/file": "viewer",
    "GET /problems/{id}/view": "viewer",
    "GET /examples": "viewer",
    "GET /plans": "viewer",
    "GET /plans/{id}": "viewer",
    "GET /plans/{id}/file": "viewer",
    "GET /jobs": "viewer",
    "GET /jobs/{id}": "viewer",
    "GET /jobs/{id}/events": "viewer",
    "GET /fronts/{id}": "viewer",
    "GET /runs": "viewer",
    "GET /runs/{id}": "viewer",
    "GET /runs/{id}/history": "viewer",
    "GET /runs/{id}/figures": "viewer",
    "GET /runs/{id}/plans/{number}": "viewer",
    "GET /runs/{id}/timeline.svg": "viewer",
    "GET /runs/{id}/events": "viewer",
    "POST /problems/check": "viewer",
    "POST /evaluate": "viewer",
    "POST /loss": "viewer",
    "POST /diff": "viewer",
    "POST /compare": "viewer",
    # files of the workspace, and solving; explaining may mean solving again
    "POST /problems": "planner",
    "PUT /problems/{id}": "planner",
    "DELETE /problems/{id}": "planner",
    "POST /examples/{name}": "planner",
    "POST /plans": "planner",
    "POST /plans/upload": "planner",
    "PUT /plans/{id}": "planner",
    "DELETE /plans/{id}": "planner",
    "POST /explain": "planner",
    "POST /jobs": "planner",
    "POST /fronts": "planner",
    # one's own; those of others need an admin, see `refuse_others`
    "POST /jobs/{id}/cancel": "planner",
    "DELETE /jobs/{id}": "planner",
    # what runs is moved
    "POST /runs/{id}/decision": "admin",
}
"""By method and path, below `/api/v1` for REST. A route that is not in it can't be made."""


class GuardedRoute(APIRoute):
    """A route that knows which role it needs, and asks for it before it looks at the body."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        methods = more.get("methods") or ["GET"]
        (self.action,) = (f"{method} {path}" for method in methods)
        if self.action not in ROLE_OF:
            raise RuntimeError(f"{self.action}: say in ROLE_OF (web/access.py) which role it needs")
        super().__init__(path, endpoint, **more)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request that the caller may make."""
        handle = super().get_route_handler()
        action, needed = self.action, ROLE_OF[self.action]

        async def guarded(request: Request) -> Response:
            noted: Noted = request.scope["noted"]
            noted.action = action
            noted.facts |= things(action, request.path_params.get("id"))
            if needed != "nobody":
                caller: Caller = request.scope["caller"]
                if not caller.may(needed):
                    raise Refused(403, f"this needs the role {needed}; {caller.name} is a {caller.role}")
            return await handle(_Bounded(request.scope, request.receive))

        return guarded


MOST_ENTRIES = 200_000
"""In a body of JSON; files have other limits. An assignment has up to 100,000."""


class _Bounded(Request):
    """A request whose JSON is read only if it is bounded: every entry may be a mistake, with a message."""

    async def json(self) -> Any:
        """The data of the body."""
        if (await self.body()).count(b",") > MOST_ENTRIES:
            raise HTTPException(413)
        return await super().json()


def refuse_others(caller: Caller, author: str) -> None:
    """Somebody else's job is an admin's to end.

    Raises:
        Refused: it is somebody else's, and the caller is no admin.
    """
    if caller.name != author and not caller.may("admin"):
        raise Refused(403, f"this is a job of {author}; ending it needs the role admin")
