"""Conformance of what came later: metrics, violations and warnings of given plans."""

from typing import Any

import pytest

from berth.evaluation import evaluate
from berth.files import plan_from, problem_from
from tests.oracle.test_additions import broken_scenarios, cases


@pytest.mark.parametrize("case", cases("additions-evaluate"))
def test_metrics_violations_and_warnings(case: dict[str, Any]) -> None:
    """Everything that a case names, and nothing of what it says is left out."""
    found = evaluate(problem_from(case["problem"]), plan_from(case["plan"]))
    lines = list(found.violations)
    own = [line for line in lines if not line.startswith("loss of ")]
    metrics = {key: found.metrics.get(key) for key in case["metrics"]}
    assert metrics == pytest.approx(case["metrics"], rel=1e-9, abs=0.0)
    assert found.metrics.keys().isdisjoint(case["left_out"])
    assert bool(lines) == case["breaks_constraints"], lines
    assert [node for node in case["nodes"] if not any(node in line for line in own)] == [], own
    overloads = [line for line in found.warnings if "processors needed" in line]
    assert len(overloads) == case["utilisation_warnings"], found.warnings
    assert broken_scenarios(lines) == set(case.get("scenarios", []))
    homeless = [line for line in lines if line.endswith("has no node")]
    assert sorted(homeless) == sorted(case.get("no_node", []))
