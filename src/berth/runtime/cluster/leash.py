"""The line between a keeper and the process that started it: messages, and the news that one is gone."""

from __future__ import annotations

import json
import os
import socket
from typing import Any
from weakref import WeakSet


class Leash:
    """One end of the line. Messages are JSON, a line each; when a process ends, the other end feels it."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._read = b""

    def fileno(self) -> int:
        """For those who wait for several things at once."""
        return self._end.fileno()

    def send(self, message: dict[str, Any]) -> bool:
        """Send a message; False if nobody is at the other end."""
        try:
            self._end.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def receive(self, seconds: float | None = None) -> dict[str, Any] | None:
        """The next message; None if the other end is gone.

        Raises:
            TimeoutError: no message came within so many seconds.
        """
        self._end.settimeout(seconds)
        while b"\n" not in self._read:
            try:
                more = self._end.recv(65536)
            except ConnectionError:
                return None
            if not more:
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Let go."""
        self._end.close()


_OURS: WeakSet[Leash] = WeakSet()


def leashes() -> tuple[Leash, socket.socket]:
    """A new line: the end of this process, and the one for the keeper.

    Processes that are forked from this one don't hold it: it is this process that the cluster lives with.
    """
    ours, theirs = socket.socketpair()
    leash = Leash(ours)
    _OURS.add(leash)
    return leash, theirs


def _let_go() -> None:
    for leash in _OURS:
        leash.close()


os.register_at_fork(after_in_child=_let_go)
