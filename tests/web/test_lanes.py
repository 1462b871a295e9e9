"""Answers that take long are in nobody's way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from berth.web.answers import Refused
from berth.web.app import create_app
from berth.web.lanes import Lane
from berth.web.security import Settings
from tests.web.conftest import API, ASSIGNMENT


class Asking:
    """A request whose client may go."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def test_some_at_once_some_wait_and_others_are_refused() -> None:
    """Those who were let in get their answer."""
    lane, go, running, most = Lane("answers", 2, 3), threading.Event(), threading.Semaphore(0), [0, 0]

    def work(_: threading.Event) -> str:
        most[0] += 1
        most[1] = max(most)
        running.release()
        go.wait()
        most[0] -= 1
        return "done"

    async def ask() -> list[str | BaseException]:
        asked = [asyncio.create_task(lane.run(Asking(), work)) for _ in range(8)]  # type: ignore[arg-type]
        await asyncio.to_thread(running.acquire)
        await asyncio.to_thread(running.acquire)
        go.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    answers = asyncio.run(ask())
    assert answers[:5] == ["done"] * 5
    for refused in answers[5:]:
        assert isinstance(refused, Refused)
        assert (refused.status, refused.headers) == (503, {"Retry-After": "10"})
    assert most[1] == 2


def test_who_is_gone_costs_nothing() -> None:
    """Work that is under way is told; what waits isn't begun."""
    lane, began, told = Lane("answers", 1, 5), threading.Event(), []

    def work(gone: threading.Event) -> None:
        began.set()
        gone.wait()
        told.append("gone")

    async def ask() -> list[BaseException | None]:
        clients = [Asking() for _ in range(4)]
        asked = [asyncio.create_task(lane.run(client, work)) for client in clients]  # type: ignore[arg-type]
        await asyncio.to_thread(began.wait)
        for client in reversed(clients):
            client.gone.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    first, *others = asyncio.run(ask())
    assert first is None
    assert told == ["gone"]
    assert all(isinstance(each, Refused) for each in others)


PLAN = json.dumps({"format": "berth-plan/v1", "assignment": ASSIGNMENT})
PLACED = {"problem": "small.yaml", "assignment": ASSIGNMENT}


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.post(f"{API}/evaluate", json=PLACED),
        lambda client: client.post(f"{API}/plans", json=PLACED),
        lambda client: client.post(f"{API}/plans/upload", content=PLAN),
        lambda client: client.put(f"{API}/plans/a.json", content=PLAN, headers={"If-Match": "x"}),
        lambda client: client.post(f"{API}/diff", json={"before": "a.json", "after": "a.json"}),
        lambda client: client.post(f"{API}/compare", json={"problem": "small.yaml", "plans": ["a.json"]}),
        lambda client: client.post(f"{API}/loss", json=PLACED | {"node": "paris"}),
    ],
)
def test_whoever_has_plans_judged_waits_in_the_lane(
    client: TestClient, ask: Callable[[TestClient], object]
) -> None:
    """Not in the threads that everything else needs."""
    service = client.app.state.service  # type: ignore[attr-defined]
    service.long_answers = Lane("long answers", at_once=1, waiting=-1)
    refused = ask(client)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")  # type: ignore[attr-defined]


def test_a_look_at_the_health_needs_no_common_thread(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them may be taken for minutes."""
    monkeypatch.setattr("berth.web.app.THREADS", 1)
    taken, go = threading.Event(), threading.Event()

    def listed(_: object) -> list[str]:
        taken.set()
        go.wait(60)
        return []

    monkeypatch.setattr("berth.web.problems.Problems.list", listed)
    with (
        TestClient(create_app(settings), base_url="http://127.0.0.1") as client,
        ThreadPoolExecutor(2) as pool,
    ):
        long = pool.submit(client.get, f"{API}/problems")
        assert taken.wait(30)
        try:
            assert pool.submit(client.get, f"{API}/health").result(10).status_code == 200
            assert not long.done()
        finally:
            go.set()
