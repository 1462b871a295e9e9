"""Reading in processes with limits: no file that anybody sends can take the service's memory or time."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from multiprocessing.connection import Connection
from typing import Literal

from berth.files.mistakes import Mistake
from berth.processes import ChildProcess, Limits
from berth.processes.system import ticks_of
from berth.web.answers import Refused
from berth.web.reading import MEMORY_BYTES, Read

Kind = Literal["problem", "plan"]

SMALL_BYTES = 2**20
SECONDS = 2
"""Of the processor, for any file; and as much for every further MiB. YAML takes 0.5 s a MiB."""
SLOWEST = 5
"""A machine that has others' work to do takes so many times longer."""
START_SECONDS = 30
LOOK_SECONDS = 0.5
STUCK_SECONDS = 10.0
"""A process that has no processor time for so long hangs: libraries may, where memory ends."""
PATIENCE_SECONDS = 15.0
"""To wait for others' files."""


class Readers:
    """Two processes for small files, one for large ones: who sends large ones is in nobody's way."""

    def __init__(self) -> None:
        self._small = _Lane(2, most_inside=40)
        self._large = _Lane(1, most_inside=8)

    def read(self, kind: Kind, data: bytes, file: str) -> Read:
        """What the content of a file says.

        Raises:
            Refused: too many files are being read.
        """
        lane = self._small if len(data) <= SMALL_BYTES else self._large
        return lane.read(kind, data, file, SECONDS * max(1, math.ceil(len(data) / 2**20)))

    def start(self) -> None:
        """Have processes ready before anybody waits for them."""
        self._small.start()

    def end(self) -> None:
        """End all processes; whoever asks again gets new ones."""
        self._small.end()
        self._large.end()


@cache
def readers() -> Readers:
    """The readers of this process, for all services in it: they know nothing of what they read before."""
    return Readers()


class _Lane:
    """Some threads with a process each: a process ends with the thread that has started it."""

    def __init__(self, count: int, most_inside: int) -> None:
        self._threads = ThreadPoolExecutor(count, "berth reading")
        self._count = count
        self._places = threading.BoundedSemaphore(most_inside)
        self._own = threading.local()
        self._running: set[_Reader] = set()

    def start(self) -> None:
        for _ in range(self._count):
            self._threads.submit(self._reader)

    def end(self) -> None:
        for reader in list(self._running):
            reader.kill()

    def read(self, kind: Kind, data: bytes, file: str, seconds: int) -> Read:
        if not self._places.acquire(blocking=False):
            raise _busy()
        try:
            asked: Future[Read] = self._threads.submit(self._read, kind, data, file, seconds)
            wait([asked], PATIENCE_SECONDS)
            if asked.cancel():
                raise _busy()
            return asked.result()
        finally:
            self._places.release()

    def _read(self, kind: Kind, data: bytes, file: str, seconds: int) -> Read:
        reader = self._reader()
        try:
            read, stays = reader.read(kind, data, file, seconds)
        except _Killed:
            # perhaps before it had this file
            reader = self._reader()
            try:
                read, stays = reader.read(kind, data, file, seconds)
            except _Killed:
                raise Refused(503, "the machine is short of memory", headers={"Retry-After": "10"}) from None
        if not stays:
            reader.kill()
            self._reader()  # the next one shouldn't have to wait for it
        return read

    def _reader(self) -> _Reader:
        """This thread's process; a new one where the last one is gone."""
        reader: _Reader | None = getattr(self._own, "reader", None)
        if reader is None or not reader.is_there():
            if reader is not None:
                self._running.discard(reader)
                reader.close()
            reader = self._own.reader = _Reader()
            self._running.add(reader)
        return reader


_OUT_OF_MEMORY = (0, -signal.SIGABRT)
"""How such a process ends: by itself, or by a library."""


class _Killed(Exception):  # noqa: N818
    """A process is gone for reasons of its own."""


class _Reader:
    """One process that reads."""

    def __init__(self) -> None:
        self._ended = False
        self._child = ChildProcess.running(
            "berth.web.reading", name="the reader", limits=Limits(memory_bytes=MEMORY_BYTES), channel=True
        )
        assert self._child.channel is not None
        self._connection = Connection(os.dup(self._child.channel.fileno()))

    def is_there(self) -> bool:
        return not self._ended and not self._child.wait(0)

    def read(self, kind: Kind, data: bytes, file: str, seconds: int) -> tuple[Read, bool]:
        """What a content says, and whether this process can go on."""
        try:
            self._connection.send((kind, data, file, seconds))
            code = self._missing(START_SECONDS + SLOWEST * seconds)
            if code is None:
                answer: tuple[Read, bool] = self._connection.recv()
                return answer
        except (EOFError, OSError):
            self._child.wait(None)
            code = self._child.exit_code or 0
            if self._ended:
                raise Refused(503, "the service ends") from None
            if code == -signal.SIGKILL:
                raise _Killed from None
        if code == -signal.SIGXCPU:
            words = f"reading it takes more than {seconds} s; use the commands"
        elif code in _OUT_OF_MEMORY:
            words = f"reading it takes more than {MEMORY_BYTES // 2**20} MiB of memory; use the commands"
        else:
            words = f"it can't be read: {self._child.why_ended()}"
        mistake = Mistake("", words)
        return Read(b"", None, (mistake,), 1, beyond_limits=True), False

    def _missing(self, seconds: float) -> int | None:
        """Wait for an answer: None once it is there, or else as what the process might as well have ended."""
        began = moved = time.monotonic()
        ticks = 0
        while not self._connection.poll(LOOK_SECONDS):
            now = time.monotonic()
            if now - began > seconds:
                return -signal.SIGXCPU
            if (had := ticks_of(self._child.pid)) != ticks:
                ticks, moved = had, now
            elif now - moved > STUCK_SECONDS:
                return _OUT_OF_MEMORY[0]
        return None

    def kill(self) -> None:
        self._ended = True
        self._child.kill()

    def close(self) -> None:
        self._connection.close()
        assert self._child.channel is not None
        self._child.channel.close()


def _busy() -> Refused:
    return Refused(503, "too many files are being read; try again", headers={"Retry-After": "5"})
