"""Who may ask, from where, and how much."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.security import COOKIE, LONGEST_COOKIES, Settings, session_in
from tests.web.conftest import API, PROBLEM

TOKEN = "a-token-that-nobody-guesses"


def asked(settings: Settings, base: str = "http://127.0.0.1") -> TestClient:
    return TestClient(create_app(settings), base_url=base, raise_server_exceptions=False)


@pytest.fixture
def guarded(workspace: Path) -> Iterator[TestClient]:
    settings = Settings(workspace=workspace, host="0.0.0.0", token=TOKEN, workers=1)
    with TestClient(create_app(settings), base_url="http://10.0.0.7:8080", follow_redirects=False) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost:8080", 200),
        ("[::1]:8080", 200),
        ("127.0.0.2", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("10.0.0.7", 421),
        ("", 421),
        ("[", 421),
        ("allowed.example:80", 200),
    ],
)
def test_only_our_own_names(workspace: Path, host: str, status: int) -> None:
    """Another page's name that leads here (DNS rebinding) is refused."""
    settings = Settings(workspace=workspace, allowed_hosts=frozenset({"allowed.example"}), workers=1)
    with asked(settings) as client:
        assert client.get(f"{API}/health", headers={"Host": host}).status_code == status
        assert client.get("/", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Origin": "http://127.0.0.1"}, 201),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "http://127.0.0.1:9"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"}, 201),
    ],
)
def test_other_pages_change_nothing(
    client: TestClient, workspace: Path, headers: dict[str, str], status: int
) -> None:
    """Only our own page, or no page at all."""
    answer = client.post(f"{API}/problems", params={"name": "x.yaml"}, content=PROBLEM, headers=headers)
    assert answer.status_code == status
    assert (workspace / "x.yaml").exists() == (status == 201)


def test_nobody_gets_in_without_the_token(guarded: TestClient) -> None:
    """Neither to the page nor to REST; what is there can't be told from what isn't."""
    for path in (f"{API}/health", f"{API}/problems", f"{API}/openapi.json", "/static/index.html", "/nothing"):
        answer = guarded.get(path)
        assert (answer.status_code, answer.json()["error"]) == (401, "the token is missing or wrong")
    assert guarded.get("/").status_code == 401
    page = guarded.get("/", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (303, "/login")
    for wrong in ("Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer", f"Bearer {TOKEN}x", "Bearer ü"):
        headers = {"Authorization": wrong.encode()}
        assert guarded.get(f"{API}/health", headers=headers).status_code == 401
    for path in ("/login", "/static/styles/base.css", "/static/icon.svg"):
        assert guarded.get(path).status_code == 200
    for path in ("/static/styles/../main.js", "/static/styles/%2e%2e/main.js", "/static/main.js"):
        assert guarded.get(path).status_code == 401
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.get(f"{API}/health", headers=right).status_code == 200
    assert guarded.get("/", headers=right).status_code == 200


def test_the_form_for_the_token(guarded: TestClient) -> None:
    """A cookie that scripts can't read and other pages can't use; it is not the token."""
    assert "password" in guarded.get("/login").text
    assert guarded.post("/login", data={"token": "wrong"}).status_code == 401
    assert guarded.post("/login", content=b"\xff" * 100).status_code == 401
    other = guarded.post("/login", data={"token": TOKEN}, headers={"Origin": "http://evil.example"})
    assert other.status_code == 403
    entered = guarded.post("/login", data={"token": TOKEN})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/").status_code == 200
    assert guarded.get(f"{API}/problems").status_code == 200
    guarded.cookies.set("berth-session", "0" * 64)
    assert guarded.get(f"{API}/problems").status_code == 401


@pytest.mark.parametrize(
    ("cookies", "found"),
    [
        (f"{COOKIE}={'x' * 43}", "x" * 43),
        (f"a=b; {COOKIE}={'-_' * 21}A ;c", "-_" * 21 + "A"),
        (f"{COOKIE}={'y' * 43}; {COOKIE}={'x' * 43}", "x" * 43),
        (f"{COOKIE}={'x' * 43}; {COOKIE}=short", ""),
        (f"other-{COOKIE}={'x' * 43}", ""),
        (f'{COOKIE}="{"x" * 43}"', ""),
        (f"{COOKIE}={'ü' * 43}", ""),
        (f"{COOKIE}={'x' * 44}", ""),
        (COOKIE, ""),
        ("a=b;" * LONGEST_COOKIES + f"{COOKIE}={'x' * 43}", ""),
        ("", ""),
    ],
)
def test_the_session_among_cookies(cookies: str, found: str) -> None:
    """Only what we could have given out."""
    assert session_in(Headers({"cookie": cookies})) == found


SLOW = f'{COOKIE}="' + "\\" * 60_000 + '"'


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{API}/health", 401),
        ("GET", "/login", 200),
        ("POST", "/login", 401),
        ("POST", "/logout", 303),
    ],
)
def test_a_cookie_that_is_slow_to_read(guarded: TestClient, method: str, path: str, status: int) -> None:
    """Backslashes in quotes once kept everybody waiting, and nobody needs a token to send them."""
    began = time.perf_counter()
    assert guarded.request(method, path, headers={"Cookie": SLOW}).status_code == status
    assert time.perf_counter() - began < 2.0


def test_a_slow_cookie_of_somebody_who_may_ask(client: TestClient, guarded: TestClient) -> None:
    """The framework reads cookies, too."""
    began = time.perf_counter()
    assert client.get(f"{API}/version", headers={"Cookie": SLOW}).status_code == 200
    known = {"Authorization": f"Bearer {TOKEN}", "Cookie": SLOW}
    assert guarded.get(f"{API}/version", headers=known).status_code == 200
    assert time.perf_counter() - began < 2.0


def test_bodies_that_are_too_large(workspace: Path) -> None:
    """By their own word, or only once they come."""
    settings = Settings(workspace=workspace, upload_bytes=2000, workers=1)
    with asked(settings) as client:
        assert client.post(f"{API}/problems/check", content=b"x" * 2001).status_code == 413

        def parts() -> Iterator[bytes]:
            for _ in range(5):
                yield b"x" * 1000

        late = client.post(f"{API}/problems/check", content=parts())
        assert (late.status_code, late.json()["error"]) == (413, "the body is too large")
        late = client.post(f"{API}/evaluate", content=parts(), headers={"Content-Type": "application/json"})
        assert late.status_code == 413
        assert client.post(f"{API}/problems/check", content=b"x" * 2000).status_code == 200


@pytest.mark.parametrize("path", ["/", f"{API}/health", "/nothing", f"{API}/problems/.."])
def test_browsers_are_told_to_be_careful(client: TestClient, path: str) -> None:
    """On every answer, errors included."""
    headers = client.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        f"{API}/problems/%2e%2e%2fsecret.yaml",
        f"{API}/problems/..~secret.yaml",
        f"{API}/problems/small.yaml%00",
        f"{API}/tables/~etc",
        "/docs",
        "/redoc",
    ],
)
def test_ways_out(client: TestClient, workspace: Path, path: str) -> None:
    """There are none."""
    (workspace.parent / "secret.yaml").write_text(PROBLEM)
    answer = client.get(path)
    assert answer.status_code in (404, 422)
    assert set(answer.json()) == {"error", "mistakes"}


def test_errors_tell_nothing_of_the_inside(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistake of ours is a plain answer; the log has the rest."""

    def broken() -> None:
        raise RuntimeError("inside")

    monkeypatch.setattr(client.app.state.service.problems, "list", broken)  # type: ignore[attr-defined]
    answer = client.get(f"{API}/problems")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the service made a mistake; its log says more", "mistakes": []}
    assert "inside" in caplog.text


@pytest.mark.parametrize("part", ['"skipped": [%s1]', '"downloads": [%s1]', '"reuse": {"a": [%s1]}'])
def test_bodies_with_very_many_entries(client: TestClient, part: str) -> None:
    """Each could be a mistake: they are counted before anybody looks at them."""
    json = {"Content-Type": "application/json"}
    for count, status in ((200_001, 413), (1000, 422)):
        body = '{"problem": "small.yaml", "assignment": {}, ' + part % ("1," * count) + "}"
        assert client.post(f"{API}/plans", content=body, headers=json).status_code == status
