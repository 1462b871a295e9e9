"""The OpenAPI document, and whatever can be made of it: no request makes the service fail."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.people import Role, add_token
from berth.web.security import Settings
from tests.web.conftest import API, ASSIGNMENT, PROBLEM

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("BERTH_OPENAPI_EXAMPLES", "3"))
"""Requests for each route: `make fuzz` sends more."""
FEW = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 3,
    suppress_health_check=list(HealthCheck),
    database=None,
)
NAMES = {"problem": "small.yaml", "plan": "p.json", "base": "p.json", "before": "p.json", "after": "p.json"}
KNOWN = {"problems": "small.yaml", "plans": "p.json", "runs": "app.run", "tables": "t.parquet"}


@pytest.fixture(scope="module", params=get_args(Role))
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The service, asked by somebody of each role."""
    folder = tmp_path_factory.mktemp("workspace")
    headers = {"Host": "localhost", "Authorization": f"Bearer {add_token(folder, 'somebody', request.param)}"}
    (folder / "small.yaml").write_text(PROBLEM)
    plan = {"format": "berth-plan/v1", "problem": "small", "assignment": ASSIGNMENT}
    (folder / "p.json").write_text(json.dumps(plan))
    (folder / "app.run").mkdir()
    (folder / "app.run" / "history.jsonl").write_text('{"event": "started"}\n')
    chosen = Settings(workspace=folder, workers=1, most_waiting=1, longest_solve_s=1.0)
    with TestClient(create_app(chosen), base_url="http://localhost", headers=headers) as client:
        yield client


def headers_of(client: TestClient) -> dict[str, str]:
    return {name: client.headers[name] for name in ("Host", "Authorization")}


@pytest.fixture(scope="module")
def document(served: TestClient) -> Any:
    return schemathesis.openapi.from_asgi(f"{API}/openapi.json", served.app, headers=headers_of(served))


def known(case: Any) -> None:
    """Turn a request to one about files that exist."""
    kind = case.path.split("/")[3]
    if kind in KNOWN and "id" in (case.path_parameters or {}):
        case.path_parameters["id"] = KNOWN[kind]
    if isinstance(case.body, dict):
        case.body = {key: NAMES.get(key, value) for key, value in case.body.items()}


def explored(
    document: Any,
    headers: dict[str, str],
    mode: GenerationMode,
    prepare: Callable[[Any], None],
    but: tuple[str, ...],
) -> int:
    """Ask every route some things; how many routes there were."""
    count = 0
    for found in document.get_all_operations():
        operation = found.ok()
        if any(part in operation.path for part in but):
            continue

        @FEW
        @given(case=operation.as_strategy(generation_mode=mode))
        def asked(case: Any) -> None:
            prepare(case)
            answer = case.call(headers=headers)
            assert answer.status_code < 500 or answer.status_code == 503, (
                case.as_curl_command(),
                answer.text,
            )
            if answer.status_code >= 400:
                assert {"error", "mistakes"} <= set(json.loads(answer.content)), answer.content

        try:
            asked()
        except Unsatisfiable:  # there is no wrong way to ask it
            continue
        count += 1
    return count


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_whatever_is_sent(document: Any, served: TestClient, mode: GenerationMode) -> None:
    """Right, wrong and absurd requests: an answer in the one shape of errors, never a failure."""
    assert explored(document, headers_of(served), mode, lambda case: None, ()) > 20


def test_about_what_is_there(document: Any, served: TestClient) -> None:
    """The same about files that exist; watching a run never ends, and explaining takes its time."""
    but = ("/events", "/explain")
    assert explored(document, headers_of(served), GenerationMode.POSITIVE, known, but) > 30


def test_every_route_is_in_the_reference(served: TestClient) -> None:
    """And the reference has no route that isn't there."""
    text = (ROOT / "docs" / "rest.md").read_text()
    routes = {
        (method.upper(), path.removeprefix(API))
        for path, methods in served.get(f"{API}/openapi.json").json()["paths"].items()
        for method in methods
    }
    missing = [
        (method, path)
        for method, path in sorted(routes)
        if not any(f"`{method} {path}{end}" in text for end in ("`", "?"))
    ]
    assert missing == []
