"""The conformance cases for solving."""

import json
import math
import os
from pathlib import Path

import pytest

import berth
from berth.files import problem_from

FOLDER = os.environ.get("BERTH_CONFORMANCE")


@pytest.mark.skipif(FOLDER is None, reason="BERTH_CONFORMANCE names no folder of conformance cases")
def test_all_optima() -> None:
    """Every case's optimum, by proof, or a proof that there is no plan."""
    assert FOLDER is not None
    for case in json.loads((Path(FOLDER) / "solve.json").read_text()):
        plan = berth.solve(problem_from(case["problem"]), time_limit=30)
        if case["optimum"] is None:
            assert plan.status == "infeasible", case["problem"]["name"]
        else:
            assert plan.status == "optimal", case["problem"]["name"]
            assert math.isclose(plan.metrics[case["metric"]], case["optimum"], rel_tol=1e-9)
            assert plan.objective == plan.metrics[case["metric"]]
