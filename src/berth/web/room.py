"""Memory for what is on its way: however many clients send or take large things slowly, it has an end."""

from __future__ import annotations

from starlette.types import Message, Send

from berth.web.documents import json_bytes

SMALL_BYTES = 64 * 1024
"""What nobody has to wait for room with."""
PIECE_BYTES = 64 * 1024
NO_ROOM = "too much is being sent at once; try again"
COME_BACK = {"Retry-After": "5"}


class Room:
    """Bytes of large bodies and answers. All of it is counted in the one thread of the event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def take(self, size: int, held: int = 0) -> bool:
        """Take room for so many bytes more, beside those held already; False where there is none."""
        if held + size > SMALL_BYTES and self.taken + size > self._most:
            return False
        self.taken += size
        return True

    def leave(self, size: int) -> None:
        """Give it back."""
        self.taken -= size


class LettingGo:
    """Sends an answer in pieces, so that the next one is handed over when the client has taken the last.

    A large one that there is no room for becomes a refusal, unless it tells of a change that is made.
    """

    def __init__(self, send: Send, room: Room, *, refusable: bool) -> None:
        self._send = send
        self._room = room
        self._refusable = refusable
        self._start: Message | None = None
        self._refused = False

    async def send(self, message: Message) -> None:
        """Pass a message on; the beginning waits for what comes with it."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self._start = message
            return
        body = message.get("body", b"")
        if len(body) <= SMALL_BYTES:
            await self._begin()
            await self._send(message)
            return
        fits = self._room.take(len(body))
        if not fits and self._refusable and self._start is not None:
            await self._refuse(self._start)
            return
        try:
            await self._begin()
            for place in range(0, len(body), PIECE_BYTES):
                more = place + PIECE_BYTES < len(body) or message.get("more_body", False)
                piece = body[place : place + PIECE_BYTES]
                await self._send({**message, "body": piece, "more_body": more})
        finally:
            if fits:
                self._room.leave(len(body))

    async def _begin(self) -> None:
        if self._start is not None:
            start, self._start = self._start, None
            await self._send(start)

    async def _refuse(self, start: Message) -> None:
        self._refused = True
        body = json_bytes({"error": NO_ROOM, "mistakes": []})
        kept = [pair for pair in start["headers"] if pair[0].lower() not in _OF_THE_BODY]
        more = {"Content-Type": "application/json", "Content-Length": str(len(body)), **COME_BACK}
        kept += [(name.lower().encode(), value.encode()) for name, value in more.items()]
        await self._send({"type": start["type"], "status": 503, "headers": kept})
        await self._send({"type": "http.response.body", "body": body})


_OF_THE_BODY = (b"content-type", b"content-length", b"etag", b"content-encoding", b"last-modified")
