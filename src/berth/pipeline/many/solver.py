"""One request answered: a problem's content and some variants, a row of the plans' table for each."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from berth.evaluation import METRICS
from berth.files import document_from, plan_document, problem_from
from berth.model import BadInput, Plan, Problem
from berth.policies import solve

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
            problem = replace(problem, objective=dict(terms.objective))
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
