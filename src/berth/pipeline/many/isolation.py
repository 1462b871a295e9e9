"""A process of its own for solving: what crashes or hangs in it costs one row."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from berth.pipeline.many.solver import Row, answer, failed

Question = tuple[int, Row]
"""The number of a request, and one of its variants."""


class Limited(Protocol):
    """What holds for all questions, the time that each may take among it."""

    @property
    def hard_limit(self) -> float | None:
        """Seconds after which the process is ended by force; None: never."""


Answer = Callable[[Row, Row, Any], Row]
"""From a request, one of its variants and the terms to a row; it raises nothing."""
Failed = Callable[[Row, Row, Any, str, float], Row]
"""From the same, what went wrong and the seconds it took to a row."""

SEND_SECONDS = 0.1
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of linux/prctl.h


class SolverProcess:
    """Answers requests in a forked process, which is replaced when it crashes or hangs.

    The process stays for the next requests, and answers come back some at a time: a problem of a few
    milliseconds pays for neither a fork nor a message. It ends with this process, however this one ends.
    """

    def __init__(self, answer: Answer = answer, failed: Failed = failed, culprit: str = "the policy") -> None:
        self._answer, self._failed, self._culprit = answer, failed, culprit
        self._process: multiprocessing.context.ForkProcess | None = None
        self._connection: Connection | None = None
        self._current = multiprocessing.get_context("fork").RawValue("q", 0)
        """The number of the question that the process is busy with."""
        self.warm = False
        """Whether the process has answered before: its first solve takes longer than others."""

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answers(self, requests: Sequence[Row], terms: Limited) -> Iterator[Row]:
        """A row for each variant of each request."""
        try:
            yield from self._answers(requests, terms)
            self.warm = self._connection is not None
        except BaseException:
            # whoever asked went away in the middle: what is on its way would answer the next one's questions
            self.close()
            raise

    def _answers(self, requests: Sequence[Row], terms: Limited) -> Iterator[Row]:
        waiting = [(number, variant) for number, item in enumerate(requests) for variant in item["variants"]]
        while waiting:
            answered, began, lost = 0, time.monotonic(), ""
            try:
                self._ask(requests, waiting, terms)
                while answered < len(waiting):
                    began = time.monotonic()
                    rows = self._receive(terms.hard_limit)
                    answered += len(rows)
                    yield from rows
            except TimeoutError:
                lost = f"TimeoutError: ended by force {terms.hard_limit:g} s after its start"
            except (EOFError, OSError):
                lost = self._death()
            waiting = waiting[answered:]
            if waiting:
                self.close()
                # what was solved before the one that is lost, but not sent yet, is solved again
                number, variant = waiting.pop(self._current.value - answered)
                yield self._failed(requests[number], variant, terms, lost, time.monotonic() - began)

    def close(self) -> None:
        """End the process."""
        self.warm = False
        if self._process is not None:
            self._kill()
            self._process = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, requests: Sequence[Row], questions: Sequence[Question], terms: Limited) -> None:
        if self._connection is None:
            self._connection = self._start()
        self._current.value = 0
        self._connection.send((requests, questions, terms))

    def _receive(self, limit: float | None) -> list[Row]:
        assert self._connection is not None
        if not self._connection.poll(limit):
            raise TimeoutError
        rows: list[Row] = self._connection.recv()
        return rows

    def _start(self) -> Connection:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(theirs, ours, self._current, os.getpid(), self._answer),
            daemon=True,
            name="berth solver",
        )
        with warnings.catch_warnings():
            # the threads that this process has (Arrow's) hold no lock that solving needs
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
        return ours

    def _kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.join()

    def _death(self) -> str:
        assert self._process is not None
        self._process.join(5)
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"{self._culprit} ended its process (exit code {code})"
        return f"{self._culprit} crashed: its process died of {signal.Signals(-code).name}"


def _serve(connection: Connection, other_end: Connection, current: Any, parent: int, answer: Answer) -> None:
    """Answer questions until the other side is gone."""
    other_end.close()
    die_with(parent)
    faulthandler.disable()
    # Ctrl-C is the driver's business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(OSError):
        # where memory runs out, this process goes, not Spark's
        Path("/proc/self/oom_score_adj").write_text("1000")
    while True:
        try:
            requests, questions, terms = connection.recv()
        except EOFError:
            os._exit(0)
        rows: list[Row] = []
        sent = time.monotonic()
        for position, (number, variant) in enumerate(questions):
            current.value = position
            rows.append(answer(requests[number], variant, terms))
            if time.monotonic() - sent > SEND_SECONDS or position + 1 == len(questions):
                connection.send(rows)
                rows, sent = [], time.monotonic()


def die_with(parent: int) -> None:
    """End this process when the one that started it ends, however that ends."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
