"""Connections that say nothing, or half of something: none of them is kept, and none is in the way."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.connections import Connection
from berth.web.security import Settings
from tests.web.conftest import API, ASSIGNMENT, PROBLEM

GET = f"GET {API}/version HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = f"POST {API}/problems/check HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@contextmanager
def served(workspace: Path, most: int) -> Iterator[int]:
    """The port of a service with so many places, in a thread of this process."""
    app = create_app(Settings(workspace=workspace, workers=1))
    config = uvicorn.Config(app, log_level="critical", http=Connection.bounded(most), lifespan="on")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client gets much time."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "STALLED_SECONDS", "LINGER_SECONDS"):
        monkeypatch.setattr(f"berth.web.connections.{name}", 0.5)


@contextmanager
def connected(port: int, *parts: str) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        for part in parts:
            client.sendall(part.encode())
        yield client


def rest_of(client: socket.socket) -> bytes:
    """All that comes until the other end closes the connection."""
    came = b""
    try:
        while more := client.recv(65536):
            came += more
    except ConnectionResetError:
        pass
    return came


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    "sent",
    [
        "",
        "GET / HT",
        GET,
        POST + "Content-Length: 100\r\n\r\n" + "x" * 99,
        POST + "Transfer-Encoding: chunked\r\n\r\n5\r\nxxxxx\r\n",
    ],
)
def test_half_a_request_is_not_waited_for(workspace: Path, sent: str) -> None:
    """Neither for its headers nor for its body; what is whole is answered."""
    with served(workspace, 10) as port:
        with connected(port, sent) as client:
            assert b"200 OK" not in rest_of(client)
        with connected(port, GET + "\r\n") as client:
            assert client.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_requests_that_nobody_waits_for_the_answers_of(workspace: Path) -> None:
    """A few may come at once; whoever sends ever more before the first is answered would fill our memory."""
    with served(workspace, 10) as port:
        with connected(port, (GET + "\r\n") * 9, GET + "Connection: close\r\n\r\n") as client:
            assert rest_of(client).count(b"200 OK") == 10
        with connected(port) as client:
            with suppress(ConnectionError):
                client.sendall((GET + "\r\n").encode() * 20_000)
            assert rest_of(client).count(b"200 OK") < 20_000


@pytest.mark.usefixtures("brief")
def test_a_trickle_does_not_help(workspace: Path) -> None:
    """A byte now and then is no reason to wait longer."""
    with served(workspace, 10) as port, connected(port, GET) as client:

        def is_closed() -> bool:
            try:
                client.sendall(b"x")
            except ConnectionError:
                return True
            return False

        until(is_closed)


def test_a_body_that_is_fast_enough_has_time(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came counts: each byte here is worth a minute."""
    monkeypatch.setattr("berth.web.connections.BODY_SECONDS", 0.2)
    monkeypatch.setattr("berth.web.connections.BODY_BYTES_PER_SECOND", 1 / 60)
    size = len(PROBLEM)
    with served(workspace, 10) as port, connected(port, f"{POST}Content-Length: {size}\r\n\r\n") as client:
        client.sendall(PROBLEM[:100].encode())
        time.sleep(0.6)
        client.sendall(PROBLEM[100:].encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK")


def test_where_all_places_are_taken(workspace: Path) -> None:
    """Who keeps us waiting longest for a request goes; who asks is answered."""
    with served(workspace, 4) as port:
        half = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(8)]
        with connected(port, GET + "\r\n") as client:
            assert client.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert rest_of(half[0]) == b""
        for each in half:
            each.close()


def test_where_all_places_are_at_work(workspace: Path) -> None:
    """Nobody who is answered has to go: whoever comes is told so."""
    (workspace / "run").mkdir()
    (workspace / "run" / "history.jsonl").write_text("")
    events = f"GET {API}/runs/run/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with served(workspace, 2) as port, connected(port, events) as one, connected(port, events) as two:
        assert one.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert two.recv(65536).startswith(b"HTTP/1.1 200 OK")
        with connected(port) as third:
            assert rest_of(third).startswith(b"HTTP/1.1 503 ")
        one.close()
        until(lambda: answered(port))


def answered(port: int) -> bool:
    with connected(port, GET + "\r\n") as client:
        return client.recv(65536).startswith(b"HTTP/1.1 200 OK")


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.05)


def test_a_connection_is_used_again(workspace: Path) -> None:
    """One request after the other, and two at once."""
    with served(workspace, 1) as port, connected(port) as client:
        for sent, wanted in ((GET + "\r\n", 1), (GET + "\r\n" + GET + "\r\n", 2), (GET + "\r\n", 1)):
            client.sendall(sent.encode())
            came = b""
            while came.count(b"HTTP/1.1 200 OK") < wanted or not came.endswith(b"}"):
                came += client.recv(65536)


def test_what_nobody_waits_for_is_given_up(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that asks for an explanation and goes: its work is told."""
    began, told = threading.Event(), threading.Event()

    def explain(*given: Any) -> dict[str, Any]:
        began.set()
        given[-1].wait()
        told.set()
        return {}

    monkeypatch.setattr("berth.web.queue.Explaining.explain", explain)
    body = json.dumps({"problem": "small.yaml", "assignment": ASSIGNMENT})
    head = f"POST {API}/explain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with served(workspace, 10) as port:
        with connected(port, f"{head}Content-Length: {len(body)}\r\n\r\n{body}"):
            assert began.wait(60)
        assert told.wait(60)


def test_places_for_events(workspace: Path) -> None:
    """Taken when a connection is let in, and given back when it ends."""
    (workspace / "run").mkdir()
    (workspace / "run" / "history.jsonl").write_text("")
    settings = Settings(workspace=workspace, workers=1, most_streams=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        refused = client.get(f"{API}/runs/run/events")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
        assert refused.json() == {"error": "too many connections for events are open", "mistakes": []}
        assert client.app.state.service.streams.open == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://["},
        {"Origin": "http://[::1"},
        {"Origin": "\xff"},
        {"Host": "["},
        {"Host": "127.0.0.1:x"},
        {"Host": "\xff"},
        {"Content-Length": "\xb2"},
        {"Content-Length": "9" * 5000},
        {"Content-Length": "-1"},
        {"If-Match": "x" * 5000},
        {"If-Match": '"\xff'},
        {"Cookie": "berth-session=\xff; ;;=;\x01"},
        {"Cookie": 'berth-session="\\400"'},
        {"Authorization": "Bearer \xff"},
        {"X-Berth-Author": "%ff%00%zz"},
        {"X-Forwarded-For": ",,,\xff"},
        {"Last-Event-ID": "\xb2"},
        {"Accept": "\xff"},
        {"Content-Type": "multipart/form-data; boundary="},
        {"Content-Encoding": "gzip"},
        {"Sec-Fetch-Site": "\xff"},
    ],
)
def test_odd_headers(client: TestClient, headers: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    """They are refused, or mean nothing; never an error of ours."""
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    for method, path in (("POST", "/problems/check"), ("PUT", "/problems/small.yaml"), ("GET", "/problems")):
        answer = client.request(method, f"{API}{path}", content=PROBLEM, headers=raw)
        assert answer.status_code < 500
        if "Origin" in headers and method != "GET":
            assert answer.status_code == 403
    assert not [each for each in caplog.records if each.exc_info]


def test_a_form_has_ten_thousand_bytes(workspace: Path) -> None:
    """Nobody has to be known to send one."""
    settings = Settings(workspace=workspace, workers=1, token="a-token-that-nobody-guesses")
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        assert client.post("/login", content=b"token=" + b"x" * 10_000).status_code == 413

        def parts() -> Iterator[bytes]:
            for _ in range(11):
                yield b"x" * 1000

        assert client.post("/login", content=parts()).status_code == 413
        assert client.post("/login", content=b"token=" + b"x" * 9_000).status_code == 401
