"""Server-sent events from files that grow: for jobs and for runs."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from berth.web.errors import Refused
from berth.web.plain import json_bytes
from berth.web.runs import LINES, Runs, events_in, now_of, proposal_of

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
LARGEST_STEP = 4 * 2**20
"""Of a file, at once."""


class Streams:
    """The connections that are open; they end with the service."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = 0
        self.ending = False

    def response(self, events: AsyncIterator[bytes]) -> StreamingResponse:
        """A connection for events.

        Raises:
            Refused: too many are open.
        """
        if self._open >= self._most:
            raise Refused(503, "too many connections for events are open", headers={"Retry-After": "10"})
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._counted(events), headers=headers, media_type="text/event-stream")

    async def _counted(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            quiet_since = time.monotonic()
            yield b": berth\n\n"
            async for part in events:
                if self.ending:
                    return
                if part:
                    quiet_since = time.monotonic()
                    yield part
                elif time.monotonic() - quiet_since > HEARTBEAT_SECONDS:
                    quiet_since = time.monotonic()
                    yield b": still here\n\n"
        finally:
            self._open -= 1


class GrowingLines:
    """The whole lines of a file that others append to, each once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._place = 0
        self._rest = b""
        self.number = 0
        """Of the line that was given last."""

    def more(self) -> list[bytes]:
        """What has come since."""
        try:
            with os.fdopen(os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
                stream.seek(self._place)
                content = stream.read(LARGEST_STEP)
        except OSError:
            return []
        self._place += len(content)
        *lines, self._rest = (self._rest + content).split(b"\n")
        self.number += len(lines)
        return lines


def written(event: str, data: Any, identity: str | int | None = None) -> bytes:
    """An event as it goes over the line."""
    head = b"" if identity is None else f"id: {identity}\n".encode()
    return head + f"event: {event}\n".encode() + b"data: " + json_bytes(data) + b"\n\n"


def last_seen(request: Request, start: int) -> int:
    """The number of the last event that a client has."""
    given = request.headers.get("last-event-id", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else start


async def job_events(file: Path, after: int, is_over: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The events of a job behind a number, until it is over; empty parts while nothing happens."""
    lines = GrowingLines(file)
    while True:
        over = is_over()
        before = lines.number
        for number, line in enumerate(lines.more(), start=before + 1):
            if number > after:
                event = json.loads(line)
                yield written(event["event"], event["data"], number)
        if over and lines.number == before:
            return
        if lines.number == before:
            yield b""
            await asyncio.sleep(POLL_SECONDS)


async def run_events(runs: Runs, identity: str, after: int) -> AsyncIterator[bytes]:
    """The events of a run behind a number, how it is, and what it proposes, as these change."""
    place = runs.entry(identity).place
    lines = GrowingLines(place / LINES)
    told: dict[str, Any] = {}
    while place.is_dir():
        quiet = True
        before = lines.number
        found = await asyncio.to_thread(lines.more)
        for event in events_in(b"\n".join(found), before) if found else []:
            if event["number"] > after:
                yield written("history", event, event["number"])
                quiet = False
        state = await asyncio.to_thread(runs.listed, identity)
        for name, value in (("now", now_of(place)), ("proposal", proposal_of(place)), ("state", state)):
            if name not in told or told[name] != value:
                told[name] = value
                yield written(name, value)
                quiet = False
        if quiet:
            yield b""
        await asyncio.sleep(2 * POLL_SECONDS)
