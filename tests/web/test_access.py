"""Who may do what: every route with every role."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import APIRouter
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from berth.web.access import ROLE_OF, GuardedRoute
from berth.web.app import create_app, page
from berth.web.people import ROLES, Role, add_token
from berth.web.routes import ROUTERS
from berth.web.security import Settings
from tests.web.conftest import API, ASSIGNMENT, PROBLEM

ROOT = Path(__file__).parents[2]
OTHERS = {f"{API}/openapi.json", "/static"}
"""Made by others than us: they need somebody who is known, as every path does that isn't open."""
NAMES = {"{name:path}": "x.svg", "{name}": "no-such", "{number}": "1", "{id}": "nothing.yaml"}
JOB = "20260101-000000-abcdef"
REST = [key for key in ROLE_OF if key.split()[1] not in ("/", "/login", "/logout")]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, dict[Role, str]]]:
    """A service, and a token for each role."""
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "small.yaml").write_text(PROBLEM)
    plan = {"format": "berth-plan/v1", "problem": "small", "assignment": ASSIGNMENT}
    (folder / "p.json").write_text(json.dumps(plan))
    tokens = {role: add_token(folder, f"the-{role}", role) for role in ROLES}
    with TestClient(create_app(Settings(workspace=folder, workers=1)), base_url="http://localhost") as client:
        yield client, tokens


def test_every_route_has_a_role(served: tuple[TestClient, dict[Role, str]]) -> None:
    """Each is of the kind that asks for its role, the table has no other, and there is no further way in."""
    routes = [route for router in (*ROUTERS, page) for route in router.routes]
    assert all(isinstance(route, GuardedRoute) for route in routes)
    keys = [f"{method} {route.path}" for route in routes for method in route.methods]  # type: ignore[attr-defined]
    assert sorted(keys) == sorted(ROLE_OF)
    plain = [
        route.path
        for route in served[0].app.routes
        if isinstance(route, Route | Mount)  # type: ignore[attr-defined]
    ]
    assert set(plain) == OTHERS


def test_a_route_without_a_role_cannot_be_made() -> None:
    """It fails when the service is built, not when somebody finds it."""
    router = APIRouter(route_class=GuardedRoute)
    with pytest.raises(RuntimeError, match=r"GET /secrets.*ROLE_OF"):
        router.get("/secrets")(lambda: None)


@pytest.mark.parametrize("role", [None, *ROLES])
@pytest.mark.parametrize("key", REST)
def test_every_route_with_every_role(
    served: tuple[TestClient, dict[Role, str]], key: str, role: Role | None
) -> None:
    """Refused by role before anything else is looked at; whoever is let in is told what else is wrong."""
    client, tokens = served
    method, path = key.split()
    for name, value in NAMES.items():
        path = path.replace(name, JOB if name == "{id}" and path.startswith(("/jobs", "/fronts")) else value)
    headers = {} if role is None else {"Authorization": f"Bearer {tokens[role]}"}
    # a body that no route takes: nothing is changed, whoever is let in
    body = b"[" if method in ("POST", "PUT") else None
    got = client.request(method, f"{API}{path}", headers=headers, content=body)
    needed = ROLE_OF[key]
    assert needed != "nobody"
    if role is None:
        assert got.status_code == 401
    elif ROLES.index(role) < ROLES.index(needed):
        assert got.status_code == 403
        assert got.json()["error"] == f"this needs the role {needed}; the-{role} is a {role}"
    else:
        assert got.status_code in (200, 404, 409, 422, 428)


def test_the_roles_are_in_the_documentation() -> None:
    """Every route that needs more than a viewer is in the table of serve.md, in the row of its role."""
    rows = (ROOT / "docs" / "serve.md").read_text().splitlines()
    for key, needed in ROLE_OF.items():
        if needed in ("planner", "admin"):
            (row,) = [line for line in rows if line.startswith(f"| `{needed}` |")]
            assert f"`{key}`" in row, key
