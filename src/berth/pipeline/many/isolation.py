"""A process of its own for solving: what crashes or hangs in it costs one row."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Protocol

from berth.pipeline.many.solver import Row, answer, failed
from berth.processes import ForkedProcess

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
"""From one message with rows to the next."""


class SolverProcess:
    """Answers requests in a forked process, which is replaced when it crashes or hangs.

    The process stays for the next requests, and answers come back some at a time: a problem of a few
    milliseconds pays for neither a fork nor a message.
    """

    def __init__(self, answer: Answer = answer, failed: Failed = failed, culprit: str = "the policy") -> None:
        self._answer, self._failed, self._culprit = answer, failed, culprit
        self._process: ForkedProcess | None = None
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
            self.warm = self._process is not None
        except BaseException:
            # whoever asked went away in the middle: what is on its way would answer the next one's questions
            self.close()
            raise

    def _answers(self, requests: Sequence[Row], terms: Limited) -> Iterator[Row]:
        waiting = [(number, variant) for number, item in enumerate(requests) for variant in item["variants"]]
        while waiting:
            answered, began, lost = 0, time.monotonic(), ""
            process = self.started()
            self._current.value = 0
            try:
                process.connection.send((requests, waiting, terms))
                while answered < len(waiting):
                    began = time.monotonic()
                    rows: list[Row] = process.receive(terms.hard_limit)
                    answered += len(rows)
                    yield from rows
            except TimeoutError:
                lost = f"TimeoutError: ended by force {terms.hard_limit:g} s after its start"
            except (EOFError, OSError):
                lost = process.why_ended()
            waiting = waiting[answered:]
            if waiting:
                self.close()
                # what was solved before the one that is lost, but not sent yet, is solved again
                number, variant = waiting.pop(self._current.value - answered)
                yield self._failed(requests[number], variant, terms, lost, time.monotonic() - began)

    def started(self) -> ForkedProcess:
        """The process, started if there is none."""
        if self._process is None:
            self._process = ForkedProcess(self._serve, self._culprit)
        return self._process

    def close(self) -> None:
        """End the process."""
        self.warm = False
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _serve(self, connection: Connection) -> None:
        """In the process: answer questions until the other side is gone."""
        while True:
            try:
                requests, questions, terms = connection.recv()
            except EOFError:
                return
            rows: list[Row] = []
            sent = time.monotonic()
            for position, (number, variant) in enumerate(questions):
                self._current.value = position
                rows.append(self._answer(requests[number], variant, terms))
                if time.monotonic() - sent > SEND_SECONDS or position + 1 == len(questions):
                    connection.send(rows)
                    rows, sent = [], time.monotonic()
