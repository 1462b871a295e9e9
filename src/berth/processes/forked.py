"""A function in a forked process: it is there within milliseconds, with all that this process has loaded."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from berth.processes.child import why_ended
from berth.processes.system import be_killed_first, die_with_parent

EXIT_SECONDS = 5.0
"""For a process whose connection is closed to be gone."""


class ForkedProcess:
    """Runs `work(connection)` in a forked process until that returns, or until it is killed.

    It ends with this process, however this process ends.
    """

    def __init__(self, work: Callable[[Connection], None], name: str = "the process") -> None:
        context = multiprocessing.get_context("fork")
        self._name = name
        self.connection, theirs = context.Pipe()
        """To the other process."""
        self._process = context.Process(
            target=_serve,
            args=(work, theirs, self.connection, os.getpid()),
            daemon=True,
            name=f"berth {name}",
        )
        with warnings.catch_warnings():
            # the threads that this process has (Arrow's) hold no lock that the work needs
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    def receive(self, seconds: float | None) -> Any:
        """The next object that the process sends.

        Raises:
            TimeoutError: there was none within so many seconds.
            EOFError, OSError: the process is gone; `why_ended` says why.
        """
        if not self.connection.poll(seconds):
            raise TimeoutError
        return self.connection.recv()

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        self._process.kill()
        self._process.join()
        self.connection.close()

    def why_ended(self) -> str:
        """Why it ended, once its connection is closed."""
        self._process.join(EXIT_SECONDS)
        return why_ended(self._name, self._process.exitcode)


def begin_forked(parent: int) -> None:
    """What a forked process does first: it ends with its parent, and leaves Ctrl-C to that."""
    die_with_parent(parent)
    faulthandler.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _serve(
    work: Callable[[Connection], None], connection: Connection, other_end: Connection, parent: int
) -> None:
    other_end.close()
    begin_forked(parent)
    be_killed_first()
    work(connection)
    os._exit(0)
