"""One request answered: a problem's content and some variants, a row of the plans' table for each.

`SolverProcess` does it in a process of its own: what crashes or hangs in it costs one row.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Protocol

from berth.evaluation import METRICS
from berth.files import document_from, plan_document, problem_from
from berth.files.document import mistakes_in
from berth.model import BadInput, Plan, Problem
from berth.policies import solve
from berth.processes import ForkedProcess

Row = dict[str, Any]

MOST_ERROR_TEXT = 10_000


@dataclass(frozen=True)
class Terms:
    """What holds for all problems of a run."""

    time_limit: float | None = None
    """Seconds for each problem; None: no limit."""
    objective: Mapping[str, float] = field(default_factory=dict)
    """Instead of the problem's own; empty: the problem's own."""

    @property
    def fingerprint(self) -> str:
        """The same text for the same terms, today and tomorrow."""
        return json.dumps([self.time_limit, dict(sorted(self.objective.items()))])

    @property
    def hard_limit(self) -> float | None:
        """Seconds after which a policy that ignores its time limit is ended by force."""
        return None if self.time_limit is None else 2 * self.time_limit + 30


def answer(request: Row, variant: Row, terms: Terms) -> Row:
    """The row of one variant of a request; whatever goes wrong is in it."""
    began = time.monotonic()
    try:
        problem = _problem(request)
        if terms.objective:
            problem = problem.for_goal(dict(terms.objective))
        plan = solve(
            problem,
            variant["policy"],
            time_limit=terms.time_limit,
            seed=variant["seed"],
            **dict(variant["parameters"]),
        )
        return solved(request, variant, terms, plan)
    except BaseException as error:  # a policy may even call exit(): it costs its row, nothing else
        return failed(request, variant, terms, error_text(error), time.monotonic() - began)


def failed(request: Row, variant: Row, terms: Terms, error: str, seconds: float) -> Row:
    """The row of a problem that gave no plan."""
    row = _row(request, variant, terms)
    return row | {"error": error[:MOST_ERROR_TEXT], "seconds": round(seconds, 6)}


def _problem(request: Row) -> Problem:
    if request["content"] is None:
        raise BadInput([request["mistake"]])
    return _parsed(request["content"], request["source"])


@lru_cache(maxsize=4)
def _parsed(content: bytes, source: str) -> Problem:
    """The last problems stay: the same one comes again with other seeds."""
    with mistakes_in(source, content):
        return problem_from(document_from(content, source))


def _row(request: Row, variant: Row, terms: Terms) -> Row:
    return {
        "problem": request["name"],
        "source": request["source"],
        "digest": request["digest"],
        "key": variant["key"],
        "policy": variant["policy"],
        "parameters": list(dict(variant["parameters"]).items()),
        "seed": variant["seed"],
        "time_limit": terms.time_limit,
    }


def solved(request: Row, variant: Row, terms: Terms, plan: Plan) -> Row:
    """The row of a plan."""
    row = _row(request, variant, terms) | {
        "problem": plan.problem,
        "status": plan.status,
        "reason": plan.reason,
        "objective": plan.objective,
        "bound": plan.bound,
        "gap": plan.gap,
        "seconds": plan.seconds,
        "violations": list(plan.violations),
        "assignment": list(plan.assignment.items()),
        "plan": json.dumps(plan_document(plan), allow_nan=False),
    }
    return row | {metric.key: plan.metrics.get(metric.key) for metric in METRICS}


def error_text(error: BaseException) -> str:
    """An error in words: the lines of bad input, or its kind and message."""
    if isinstance(error, BadInput):
        return "\n".join(error.mistakes)
    return f"{type(error).__name__}: {error}".rstrip(": ")


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
