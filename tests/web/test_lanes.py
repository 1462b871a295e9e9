"""Answers that take long are in nobody's way."""

from __future__ import annotations

import asyncio
import threading

from berth.web.answers import Refused
from berth.web.lanes import Lane


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
