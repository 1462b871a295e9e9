"""What a keeper waits for: signals, the other end of its channel, and requests."""

from __future__ import annotations

import selectors
import signal
import socket
from types import FrameType

from berth.processes import ENDING, Channel


class Events:
    """Waits for several things at once. Signals are only noted, so nothing is ever left half done."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._signals, written = socket.socketpair()
        self._signals.setblocking(False)
        written.setblocking(False)
        self._written = written
        signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
        for number in (*ENDING, signal.SIGCHLD):
            signal.signal(number, _note)
        self._selector.register(self._signals, selectors.EVENT_READ)

    def add(self, source: socket.socket | Channel) -> None:
        """Wait for this, too."""
        self._selector.register(source, selectors.EVENT_READ)

    def drop(self, source: socket.socket | Channel) -> None:
        """Don't wait for this any more."""
        self._selector.unregister(source)

    def wait(self, seconds: float | None) -> tuple[set[int], list[socket.socket | Channel]]:
        """Wait until something happens, or for so long: the signals that came, and what can be read."""
        ready = [key.fileobj for key, _ in self._selector.select(seconds)]
        numbers: set[int] = set()
        if self._signals in ready:
            numbers = set(self._signals.recv(4096))
        return numbers, [one for one in ready if one is not self._signals]  # type: ignore[misc]


def _note(_number: int, _frame: FrameType | None) -> None:
    """The number is written to the socket that is waited for; there is nothing else to do."""
