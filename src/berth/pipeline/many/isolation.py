"""A process of its own for solving: what crashes or hangs in it costs one row."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

from berth.pipeline.many.solver import Row, Terms, answers, failed

_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of linux/prctl.h


class SolverProcess:
    """Answers requests in a forked process, which is replaced when it crashes or hangs.

    The process stays for the next request, so that a problem of a few milliseconds pays for a message and not
    for a fork. It ends with this process, however this one ends.
    """

    def __init__(self) -> None:
        self._process: multiprocessing.context.ForkProcess | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answers(self, request: Row, terms: Terms) -> Iterator[Row]:
        """A row for each variant, in their order."""
        waiting = list(request["variants"])
        while waiting:
            connection = self._ready()
            began = time.monotonic()
            lost = "the process that solved it could not be reached"
            try:
                connection.send((request | {"variants": waiting}, terms))
                while waiting:
                    began = time.monotonic()
                    if not connection.poll(terms.hard_limit):
                        self._kill()
                        lost = f"TimeoutError: ended by force {terms.hard_limit:g} s after its start"
                        break
                    yield connection.recv()
                    waiting.pop(0)
            except (EOFError, OSError):
                lost = self._death()
            if waiting:
                self.close()
                yield failed(request, waiting.pop(0), terms, lost, time.monotonic() - began)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._kill()
            self._process = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ready(self) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("fork")
            ours, theirs = context.Pipe()
            self._process = context.Process(
                target=_serve, args=(theirs, ours, os.getpid()), daemon=True, name="berth solver"
            )
            with warnings.catch_warnings():
                # the threads that this process has (Arrow's) hold no lock that solving needs
                warnings.simplefilter("ignore", DeprecationWarning)
                self._process.start()
            theirs.close()
            self._connection = ours
        return self._connection

    def _kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.join()

    def _death(self) -> str:
        assert self._process is not None
        self._process.join(5)
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"the policy ended its process (exit code {code})"
        return f"the policy crashed: its process died of {signal.Signals(-code).name}"


def _serve(connection: Connection, other_end: Connection, parent: int) -> None:
    """Answer requests until the other side is gone."""
    other_end.close()
    _die_with(parent)
    # Ctrl-C is the driver's business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(OSError):
        # where memory runs out, this process goes, not Spark's
        Path("/proc/self/oom_score_adj").write_text("1000")
    while True:
        try:
            request, terms = connection.recv()
        except EOFError:
            os._exit(0)
        for row in answers(request, terms):
            connection.send(row)


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
