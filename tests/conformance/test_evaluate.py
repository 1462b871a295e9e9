"""Conformance: metrics of given plans, and whether they break a constraint."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from berth.evaluation import evaluate
from berth.files import plan_from, problem_from

FOLDER = os.environ.get("BERTH_CONFORMANCE")


def cases() -> list[Any]:
    """All cases of both files, each with the file's and the problem's name."""
    if FOLDER is None:
        skip = pytest.mark.skip(reason="BERTH_CONFORMANCE names no folder with conformance cases")
        return [pytest.param({}, marks=skip)]
    return [
        pytest.param(case, id=f"{name}-{number}-{case['problem']['name']}")
        for name in ("evaluate", "sharing-evaluate")
        for number, case in enumerate(json.loads((Path(FOLDER) / f"{name}.json").read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("case", cases())
def test_metrics_and_broken_constraints(case: dict[str, Any]) -> None:
    """Every metric of the case agrees to 1e-9, and so does whether a constraint is broken."""
    plan = case.get("plan") or {"assignment": case["assignment"]}
    found = evaluate(problem_from(case["problem"]), plan_from(plan))
    metrics = {key: found.metrics.get(key) for key in case["metrics"]}
    assert metrics == pytest.approx(case["metrics"], rel=1e-9, abs=0.0)
    assert bool(found.violations) == case["breaks_constraints"], found.violations
