"""Answers that take long, some at once: however many ask for them, everything else is answered as before."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
from starlette.requests import Request

from berth.web.answers import Refused

Result = TypeVar("Result")


class Lane:
    """Threads for one kind of work, with so many places to wait for them."""

    def __init__(self, what: str, at_once: int, waiting: int) -> None:
        self._what = what
        self._most = at_once + waiting
        self._inside = 0
        self._threads = anyio.CapacityLimiter(at_once)

    async def run(self, request: Request, work: Callable[[threading.Event], Result]) -> Result:
        """Have some work done in a thread; it is handed an event that says that the client is gone.

        Raises:
            Refused: too many wait already, or nobody waits for it any more.
        """
        if self._inside >= self._most:
            words = f"too many {self._what} are under way; try again"
            raise Refused(503, words, headers={"Retry-After": "10"})
        gone = threading.Event()

        def unless_gone() -> Result:
            if gone.is_set():
                raise Refused(503, "nobody waits for it any more")
            return work(gone)

        self._inside += 1
        looking = asyncio.create_task(_look(request, gone))
        try:
            return await anyio.to_thread.run_sync(unless_gone, limiter=self._threads)
        finally:
            looking.cancel()
            self._inside -= 1


async def _look(request: Request, gone: threading.Event) -> None:
    """Behind the body, all that comes from a client is that it went."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()
