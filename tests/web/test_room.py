"""What is on its way takes so much memory and no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.room import SMALL_BYTES, Room
from berth.web.security import Settings
from tests.web.conftest import API, PROBLEM

LARGE = PROBLEM + "#" * (4 * SMALL_BYTES)


def test_small_things_always_have_room() -> None:
    """Those who send or take large ones are not in their way."""
    room = Room(2 * SMALL_BYTES)
    assert room.take(2 * SMALL_BYTES)
    assert not room.take(SMALL_BYTES + 1)
    assert room.take(SMALL_BYTES)
    assert not room.take(1, SMALL_BYTES)
    room.leave(3 * SMALL_BYTES)
    assert room.taken == 0


@pytest.fixture
def narrow(settings: Settings, workspace: Path) -> Iterator[TestClient]:
    (workspace / "large.yaml").write_text(LARGE)
    app = create_app(replace(settings, under_way_bytes=SMALL_BYTES))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


def test_no_room(narrow: TestClient) -> None:
    """Large bodies and answers are refused, what is stored is told, and small ones are as ever."""
    for _ in range(3):
        sent = narrow.post(f"{API}/problems/check", content=LARGE)
        asked = narrow.get(f"{API}/problems/large.yaml/file")
        for refused in (sent, asked):
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.json()["error"] == "too much is being sent at once; try again"
        assert "etag" not in asked.headers
        assert narrow.post(f"{API}/problems/check", content=PROBLEM).json()["ok"]
        assert narrow.get(f"{API}/problems/small.yaml").status_code == 200


def test_room_comes_back(settings: Settings, workspace: Path) -> None:
    """One after the other, any number fit; they arrive whole."""
    (workspace / "large.yaml").write_text(LARGE)
    app = create_app(replace(settings, under_way_bytes=2 * len(LARGE)))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for _ in range(5):
            assert client.post(f"{API}/problems/check", content=LARGE).json()["ok"]
            assert client.get(f"{API}/problems/large.yaml/file").text == LARGE
