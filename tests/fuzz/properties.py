"""What holds for every file, however odd: it is taken, or refused in a few clear lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import berth
from berth.files import load, load_plan, plan_document, plan_from, problem_document, problem_from
from berth.model import BadInput, Plan, Problem
from berth.model.errors import LONGEST_LINE, MOST_LINES
from berth.runtime.application import describe
from berth.runtime.loading import load_application
from tests.files.documents import problem_document as full_document

SMALL = problem_from(full_document())


def refused(error: BadInput) -> None:
    """A refusal is short, also where signs are written as escapes, and has no traceback in it."""
    assert 1 <= len(error.mistakes) <= MOST_LINES + 1
    for line in error.mistakes:
        assert line.strip()
        assert len(line) <= 10 * LONGEST_LINE, f"a line of {len(line)} characters: {line[:200]}"
        assert "Traceback" not in line


def problem_file(file: Path) -> Problem | None:
    """Read it; what is read is judged, written, read again and solved."""
    try:
        problem = load(file)
    except BadInput as error:
        return refused(error)
    again = problem_from(json.loads(json.dumps(problem_document(problem))))
    assert again.fingerprint == problem.fingerprint
    names = problem.instances.names
    if 0 < len(names) <= 50 and len(problem.network.nodes) <= 50:
        _judged(problem, Plan(dict.fromkeys(names, problem.network.nodes[0].name)))
        _solved(problem)
    return problem


def _solved(problem: Problem) -> None:
    try:
        plan = berth.solve(problem, "auto", time_limit=0.2)
    except BadInput as error:
        return refused(error)
    if plan.status in ("optimal", "feasible"):
        verdict = berth.evaluate(problem, plan)
        assert not verdict.violations, verdict.violations
        json.dumps(plan_document(plan), allow_nan=False)
        if plan.bound is not None and plan.objective is not None:
            assert plan.bound <= plan.objective + 1e-6 * max(1.0, abs(plan.objective))
    else:
        assert plan.status in ("infeasible", "unknown")
        assert plan.reason
    return None


def _judged(problem: Problem, plan: Plan) -> None:
    try:
        berth.evaluate(problem, plan)
    except BadInput as error:
        refused(error)


def plan_file(file: Path) -> Plan | None:
    """Read it; what is read is written, read again and judged."""
    try:
        plan = load_plan(file)
    except BadInput as error:
        return refused(error)
    assert plan_from(json.loads(json.dumps(plan_document(plan)))) == plan
    _judged(SMALL, plan)
    return plan


def application_file(file: Path) -> Any:
    """Read a Python file with an application; what is read can be described."""
    try:
        return describe([load_application(str(file))])
    except BadInput as error:
        return refused(error)


PROPERTIES = {"problem": problem_file, "plan": plan_file, "application": application_file}
"""By the first part of a file's name in the corpus."""
