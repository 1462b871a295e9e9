"""Server-sent events from files that grow: for jobs and for runs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from berth.web.answers import answer
from berth.web.documents import json_bytes
from berth.web.runs import LINES, Runs, events_in

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15
LARGEST_STEP = 4 * 2**20
"""Of a file, at once."""


class Streams:
    """The connections that are open; they end with the service."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.open = 0

    def response(self, events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
        """A connection for events; 503 where too many are open."""
        return _Counted(
            self,
            _greeted(events),
            ping=HEARTBEAT_SECONDS,
            ping_message_factory=lambda: _comment("still here"),
        )


class _Counted(EventSourceResponse):
    """Events for one of the places that there are."""

    def __init__(self, streams: Streams, events: AsyncIterator[ServerSentEvent], **settings: Any) -> None:
        super().__init__(events, **settings)
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them; the place is taken before anything else can happen."""
        if self._streams.open >= self._streams.most:
            words = {"error": "too many connections for events are open", "mistakes": []}
            await answer(words, 503, {"Retry-After": "10"})(scope, receive, send)
            return
        self._streams.open += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.open -= 1


async def _greeted(events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    yield _comment("berth")
    async for event in events:
        yield event


def _comment(text: str) -> ServerSentEvent:
    """What clients pass over: it says that the connection is there."""
    return ServerSentEvent(comment=text, sep="\n")


def event_of(name: str, data: Any, number: int | None = None) -> ServerSentEvent:
    """An event; its number is what a client comes back with."""
    return _event_with(name, json_bytes(data), number)


def _event_with(name: str, data: bytes, number: int | None = None) -> ServerSentEvent:
    identity = None if number is None else str(number)
    return ServerSentEvent(data.decode(), event=name, id=identity, sep="\n")


def last_seen(request: Request, start: int) -> int:
    """The number of the last event that a client has."""
    given = request.headers.get("last-event-id", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else start


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


def _event(line: bytes) -> dict[str, Any] | None:
    """A line of a job's events; None for one that a full disk has cut off."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"event", "data"} <= found.keys() else None


async def job_events(file: Path, after: int, is_over: Callable[[], bool]) -> AsyncIterator[ServerSentEvent]:
    """The events of a job behind a number, until it is over."""
    lines = GrowingLines(file)
    while True:
        over = is_over()
        before = lines.number
        for number, line in enumerate(await asyncio.to_thread(lines.more), start=before + 1):
            event = _event(line) if number > after else None
            if event is not None:
                yield event_of(event["event"], event["data"], number)
        if over and lines.number == before:
            return
        if lines.number == before:
            await asyncio.sleep(POLL_SECONDS)


async def run_events(runs: Runs, identity: str, after: int) -> AsyncIterator[ServerSentEvent]:
    """The events of a run behind a number, how it is, and what it proposes, as these change.

    Files are read in threads: these streams must not keep each other waiting, nor anybody else.
    """
    place = runs.entry(identity).place
    lines = GrowingLines(place / LINES)
    known: dict[str, bytes] = {}

    def more() -> list[dict[str, Any]]:
        before = lines.number
        found = lines.more()
        return events_in(b"\n".join(found), before) if found else []

    while place.is_dir():
        for event in await asyncio.to_thread(more):
            if event["number"] > after:
                yield event_of("history", event, event["number"])
        for name, value in (await asyncio.to_thread(runs.told, identity)).items():
            if known.get(name) != value:
                known[name] = value
                yield _event_with(name, value)
        await asyncio.sleep(2 * POLL_SECONDS)
