"""Connections that are bounded in number, and in the time for requests to arrive and answers to leave.

uvicorn has no time-outs for either. Whoever opens connections and says nothing needs no token for that.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""From the connection, or the first byte of a further request, to the end of its headers."""
BODY_SECONDS = 20.0
"""For a body of nothing; whoever sends one has to be so fast on average:"""
BODY_BYTES_PER_SECOND = 20_000
STALLED_SECONDS = 60.0
"""For a client that doesn't take what it has asked for."""
LINGER_SECONDS = 2.0
"""For the rest of a body after its answer."""
LARGEST_AHEAD = 64 * 1024
"""Of further requests that come before the answer to the first one; uvicorn would keep all that is sent."""
FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Connection(H11Protocol):
    """A connection that ends when its client takes too long.

    Where all places are taken, the one that has kept us waiting longest for a request goes.
    """

    most = 500
    waiting: dict[Connection, None]
    """Those without a whole request, the oldest first."""

    @classmethod
    def bounded(cls, most: int) -> type[Connection]:
        """The class for a server with so many places."""
        return type("Connection", (cls,), {"most": most, "waiting": {}})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, if there is a place."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._state: object = None
        self._began = self.loop.time()
        self._received = 0
        if len(self.connections) > self.most:
            oldest = next(iter(self.waiting), None)
            if oldest is None:
                self.connections.discard(self)
                transport.write(FULL)
                transport.close()
                return
            oldest.give_up()
        self._wait_for(h11.IDLE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._wait_for(None)
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what comes, and see what is still missing."""
        super().data_received(data)
        if self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) > LARGEST_AHEAD:
            self.give_up()
            return
        self._see_what_is_missing()
        self._received += len(data)

    def _see_what_is_missing(self) -> None:
        state = self.conn.their_state
        self._wait_for(state if state in (h11.IDLE, h11.SEND_BODY) else None)

    def on_response_complete(self) -> None:
        """Wait for the next request, as long as uvicorn keeps connections for it."""
        super().on_response_complete()
        if self.timeout_keep_alive_task is None:
            self._see_what_is_missing()  # the next one came with the last one
        elif self.conn.their_state is h11.SEND_BODY:
            self.loop.call_later(LINGER_SECONDS, self.give_up)
        else:
            self._wait_for(None)
            self.waiting[self] = None

    def pause_writing(self) -> None:
        """The client doesn't keep up."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self.give_up)

    def resume_writing(self) -> None:
        """It does again."""
        if self._stalled is not None:
            self._stalled.cancel()
        super().resume_writing()

    def give_up(self) -> None:
        """End it, whatever is still to be sent."""
        self.transport.abort()
        self._wait_for(None)
        self.connections.discard(self)

    def _wait_for(self, state: object) -> None:
        """Give the client time for its headers (`IDLE`), its body, or nothing more (None)."""
        if state is self._state is not None:
            return
        self._state = state
        if self._timer is not None:
            self._timer.cancel()
        self.waiting.pop(self, None)
        if state is not None:
            self.waiting[self] = None
            self._began, self._received = self.loop.time(), 0
            seconds = HEAD_SECONDS if state is h11.IDLE else BODY_SECONDS
            self._timer = self.loop.call_later(seconds, self._judge)

    def _judge(self) -> None:
        """Time is up; a body that comes fast enough gets more of it."""
        left = self._began + BODY_SECONDS + self._received / BODY_BYTES_PER_SECOND - self.loop.time()
        if self._state is h11.SEND_BODY and left > 0:
            self._timer = self.loop.call_later(left, self._judge)
        else:
            self.give_up()
