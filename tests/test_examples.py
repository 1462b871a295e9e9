"""Every example solves to what its comments promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import berth
from berth.policies.sequence import solve_in_turn
from berth.simulate import Options, simulate

EXAMPLES = Path(__file__).parents[1] / "examples"
DATA = os.environ.get("BERTH_DATA")


@pytest.mark.parametrize(
    ("name", "metric", "value"),
    [
        ("tag-and-count", "response_time_ms", 31.836363636),
        ("edge-cameras", "cost_per_hour", 1.7324),
        ("two-source-join", "traffic_bytes_per_s", 1590000.0),
    ],
)
def test_optimum(name: str, metric: str, value: float) -> None:
    """The optimum was found by enumeration when the example was made."""
    plan = berth.solve(berth.load(EXAMPLES / f"{name}.yaml"), time_limit=30)
    assert plan.status == "optimal"
    assert not plan.violations
    assert plan.metrics[metric] == pytest.approx(value)


def test_most_available_plan() -> None:
    """Tag-and-Count keeps off the unreliable machines when asked for availability, and is slower."""
    problem = berth.load(EXAMPLES / "tag-and-count.yaml")
    fastest = berth.solve(problem)
    assert fastest.metrics["availability"] == pytest.approx(0.99**8)
    assert list(fastest.assignment.values()).count("frankfurt") == 8


@pytest.mark.parametrize(
    "name", ["edge-cameras", "edge-pipeline", "shared-sensors", "tag-and-count", "two-source-join"]
)
def test_processors_keep_up(name: str) -> None:
    """All loads are known, and nobody is warned; simulated, nothing is assumed, and no queue grows."""
    problem = berth.load(EXAMPLES / f"{name}.yaml")
    plan = berth.solve(problem, time_limit=30)
    assert plan.warnings == ()
    assert plan.metrics["utilisation_max_ratio"] <= 1.0
    if name != "edge-pipeline":  # its rates are measured first
        result = simulate(problem, plan, Options(duration_s=2.0))
        assert (result.assumed, result.unstable) == ((), ())


@pytest.mark.parametrize("policy", ["mips", "ffd", "r-heron", "t-heron"])
def test_the_cluster_that_fills_up(policy: str) -> None:
    """The last request has no room until another one has left."""
    problem = berth.load(EXAMPLES / "filling-cluster.yaml")
    full = solve_in_turn(problem, policy)
    assert [row["accepted"] for row in full.trace["requests"]] == [True, True, True, False]
    assert full.trace["requests"][-1]["in_use"] == pytest.approx({"cpu": 0.75, "memory": 0.5625})
    assert full.violations[0].startswith("application logs: refused: second stage")
    order = ["clicks", "orders", "sensors", "-orders", "logs"]
    plan = solve_in_turn(problem, policy, events=order)
    assert (plan.status, plan.violations) == ("feasible", ())
    assert 7 <= plan.metrics["containers_used"] <= (7 if policy == "mips" else 8)
    alone = solve_in_turn(problem, policy, events=["logs"])
    assert 3 <= alone.metrics["containers_used"] <= (3 if policy == "mips" else 4)


@pytest.mark.skipif(DATA is None, reason="BERTH_DATA names no folder of measurements")
def test_cloud_regions(tmp_path: Path) -> None:
    """69 measured cloud regions: proved optimal, and no plan is slower than its bound says."""
    assert DATA is not None
    if not (Path(DATA) / "skyplane_69").is_dir():
        pytest.skip("BERTH_DATA has no skyplane_69")
    out = tmp_path / "cloud-regions.json"
    subprocess.run([sys.executable, str(EXAMPLES / "make_cloud_regions.py"), str(out)], check=True)
    plan = berth.solve(berth.load(out), time_limit=60)
    assert plan.status == "optimal"
    assert plan.metrics["response_time_ms"] == pytest.approx(106.73, abs=0.01)
