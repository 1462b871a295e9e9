"""A channel between two processes: messages in JSON, and the news that the other process is gone."""

from __future__ import annotations

import json
import os
import socket
from typing import Any
from weakref import WeakSet

Message = dict[str, Any]


class Channel:
    """One end of a channel. Messages are JSON, a line each. When a process ends, the other end notices it."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._read = b""

    def fileno(self) -> int:
        """For a selector."""
        return self._end.fileno()

    def send(self, message: Message) -> bool:
        """Send a message; False if nobody is at the other end."""
        try:
            self._end.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def receive(self, seconds: float | None = None) -> Message | None:
        """The next message; None if the other end is gone.

        Raises:
            TimeoutError: no message came within so many seconds.
        """
        while b"\n" not in self._read:
            try:
                self._end.settimeout(seconds)
                more = self._end.recv(65536)
            except TimeoutError:
                raise
            except OSError:
                # the other end is gone, or this one was closed by another thread
                return None
            if not more:
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        message: Message = json.loads(line)
        return message

    def close(self) -> None:
        """Close this end; a thread that waits for a message gets None."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            # the other end is gone already
            pass
        finally:
            self._end.close()

    def drop(self) -> None:
        """Close this end in this process only: another process has it, too, and goes on using it."""
        self._end.close()


_OURS: WeakSet[Channel] = WeakSet()


def new_channel() -> tuple[Channel, socket.socket]:
    """A new channel: the end of this process, and the one for the other process.

    Processes that are forked from this one don't keep its end open. So the other end notices when this
    process ends, whatever else it has started.
    """
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    _OURS.add(channel)
    return channel, theirs


def _drop_in_child() -> None:
    for channel in _OURS:
        channel.drop()


os.register_at_fork(after_in_child=_drop_in_child)
