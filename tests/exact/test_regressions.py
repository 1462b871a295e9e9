"""Cases that once went wrong."""

import dataclasses
import itertools
from typing import Any

import pytest

import berth
from berth.budget import Budget
from berth.files import problem_from
from tests.exact.instances import document, paper_instance


def test_one_port_over_routed_half_duplex_links() -> None:
    """The two directions of a logical link follow different paths: each has its own bandwidth."""
    raw = {
        "format": "berth/v1",
        "name": "f",
        "network": {
            "routing": "shortest_path",
            "duplex": "half",
            "one_port": True,
            "nodes": [{"name": "n0"}, {"name": "n2"}, {"name": "n3"}],
            "links": [
                {"from": "n0", "to": "n2", "delay_ms": 0},
                {"from": "n0", "to": "n3", "delay_ms": 10},
                {"from": "n3", "to": "n0", "delay_ms": 0},
                {"from": "n3", "to": "n2", "delay_ms": 1, "bandwidth_bytes_per_s": 800},
            ],
        },
        "applications": [
            {
                "name": "p",
                "operators": [
                    {"name": "s", "work_ms": 1, "pinned": "n3"},
                    {"name": "t", "pinned": "n0"},
                ],
                "streams": [{"from": "s", "to": "t", "bytes_per_s": 900}],
            }
        ],
    }
    plan = berth.solve(problem_from(raw), "odp")
    assert plan.status == "optimal"
    assert plan.objective == 1
    assert "contradiction" not in plan.trace


@pytest.mark.parametrize("limit", [0.001, 0.3])
def test_weighted_sum_out_of_time(limit: float) -> None:
    """A solve that ends without any solution has no bound, and makes none."""
    problem = dataclasses.replace(
        paper_instance("sequential", 30, 20),
        objective={"traffic": 1.0, "availability": 1.0, "response_time": 1.0},
    )
    plan = berth.solve(problem, "odp", time_limit=limit)
    assert plan.found
    assert not plan.violations
    assert "contradiction" not in plan.trace


def test_interrupt_while_normalising() -> None:
    """Stopped before the weighted sum itself is solved: a plan all the same."""
    budget = Budget(60)
    problem = dataclasses.replace(
        paper_instance("sequential", 30, 20), objective={"network_usage": 1.0, "response_time": 1.0}
    )

    def stop(progress: Any) -> None:
        budget.stop("interrupted")

    plan = berth.solve(problem, "odp", budget=budget, progress=stop)
    assert plan.found
    assert plan.reason == "interrupted"


def test_better_than_the_user_s_best() -> None:
    """Bounds of the user's own may be beaten: the sum is below 0 then, and still proved."""
    raw = document(
        [{"name": "a"}, {"name": "b"}],
        [[0, 5], [5, 0]],
        [{"name": "s", "pinned": "a"}, {"name": "t", "pinned": "b"}],
        [{"from": "s", "to": "t"}],
        objective={"response_time": 1, "nodes_used": 1},
        objective_bounds={"response_time": [10, 90]},
    )
    plan = berth.solve(problem_from(raw), "odp")
    assert plan.objective == pytest.approx(-0.0625)
    assert plan.status == "optimal"


def test_raw_sum_of_zero() -> None:
    """One node less one availability is 0: proved, not stuck at a relative gap of nothing."""
    raw = document(
        [{"name": "n0"}, {"name": "n1", "availability": 0.95}],
        [[0, None], [None, 0]],
        [{"name": "o"}],
        [],
        objective={"availability": 1, "nodes_used": 1},
        objective_scale="raw",
    )
    plan = berth.solve(problem_from(raw), "odp", time_limit=5)
    assert plan.objective == 0
    assert plan.status == "optimal"


def test_too_large_says_so_and_keeps_the_scale() -> None:
    """Without a model the plan names the reason, and worst values are true upper bounds."""
    problem = dataclasses.replace(
        paper_instance("sequential", 10, 600), objective={"network_usage": 1.0, "nodes_used": 1.0}
    )
    plan = berth.solve(problem, "odp", time_limit=10)
    assert plan.status == "feasible"
    assert plan.reason is not None
    assert "too large" in plan.reason
    best, worst = plan.trace["objective_bounds"]["network_usage"]
    assert 0 <= best <= plan.metrics["network_usage_bytes"] <= worst
    assert worst >= 9 * 100 * 0.02


def test_exact_policies_refuse_what_they_can_not_optimise() -> None:
    """An objective of what a policy leaves out is bad input, never ignored."""
    raw = document([{"name": "a"}], [[0]], [{"name": "o"}], [], objective={"containers_used": 1})
    raw["applications"][0]["containers"] = {"count": 1, "capacity": {}}
    with pytest.raises(berth.BadInput, match="can't be optimised"):
        berth.solve(problem_from(raw), "s-odp")


def test_a_deadline_far_beyond_all_paths_clashes_with_nothing() -> None:
    """Nothing takes any time, and a link is too thin: said, not lost in numbers that overflow."""
    raw = document(
        [{"name": "n0"}, {"name": "n1"}],
        [[0, 0], [0, 0]],
        [{"name": "s", "pinned": "n0", "emits_bytes_per_s": 100}, {"name": "t", "pinned": "n1"}],
        [{"from": "s", "to": "t"}],
        network={"bandwidth_bytes_per_s": [[None, 50], [50, None]]},
        application={"max_response_time_ms": 46},
    )
    plan = berth.solve(problem_from(raw), "odp")
    assert plan.status == "infeasible"
    assert plan.reason is not None
    assert "at most 50 B/s" in plan.reason


@pytest.mark.parametrize("rate", [1.0, 1e4, 1e8, 1e14])
def test_raw_sums_with_an_availability_end(rate: float) -> None:
    """However large the other parts: what costs more than a known plan must not make the units coarse."""
    nodes = [
        {"name": "a", "availability": 0.99, "cost_per_hour": 0.5},
        {"name": "b", "availability": 0.95, "cost_per_hour": 0.3},
        {"name": "c", "availability": 0.9, "cost_per_hour": 0.1},
    ]
    names = ["o0", "o1", "o2", "o3"]
    operators: list[dict[str, Any]] = [{"name": name} for name in names]
    operators[0]["emits_bytes_per_s"] = rate
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "small",
            "network": {"nodes": nodes, "delay_ms": [[0, 5, 9], [5, 0, 7], [9, 7, 0]]},
            "applications": [
                {
                    "name": "x",
                    "operators": operators,
                    "streams": [{"from": one, "to": two} for one, two in itertools.pairwise(names)],
                }
            ],
            "objective": {"availability": 1, "cost_per_hour": 1, "traffic": 1},
            "objective_scale": "raw",
        }
    )
    plan = berth.solve(problem, "odp", time_limit=60)
    together = [0.5 - 0.99**4, 0.3 - 0.95**4, 0.1 - 0.9**4]
    assert plan.status == "optimal"
    assert plan.objective == pytest.approx(min(together), rel=1e-9)
