"""Pipelines that are fastest after their worst loss, against enumeration of all plans and failovers."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import berth
from berth.files import problem_document, problem_from
from tests.exact.instances import document, paper_instance
from tests.oracle.enumerate import optimum


def pipeline(seed: int) -> dict[str, Any]:
    """Four operators in a row on four or five nodes, with what may make a difference."""
    random = np.random.default_rng(seed)
    count = int(random.integers(4, 6))
    nodes: list[dict[str, Any]] = [
        {
            "name": f"n{k}",
            "capacity": {"cpu": int(random.integers(1, 4))},
            "speed": float(random.choice([1, 2])),
        }
        for k in range(count)
    ]
    for number, node in enumerate(nodes):
        if random.random() < 0.8:
            node["labels"] = {"zone": f"z{number % 3}"}
    operators: list[dict[str, Any]] = [
        {
            "name": f"o{k}",
            "demand": {"cpu": int(random.integers(0, 2))},
            "work_ms": int(random.integers(0, 5)),
        }
        for k in range(4)
    ]
    if random.random() < 0.5:
        operators[0]["pinned"] = "n0"
    if random.random() < 0.3:
        operators[2]["candidates"] = ["n1", "n2"]
    if random.random() < 0.2:
        operators[1]["pinned"] = "n3"
    delays: list[list[float | None]] = random.integers(1, 30, (count, count)).astype(float).tolist()
    network: dict[str, Any] = {}
    if random.random() < 0.3:
        network["routing"] = "shortest_path"
        for here in range(count):
            for there in range(count):
                if here != there and random.random() < 0.3:
                    delays[here][there] = None
    application = {"max_response_time_ms": int(random.integers(20, 60))} if random.random() < 0.3 else {}
    streams = [{"from": f"o{k}", "to": f"o{k + 1}"} for k in range(3)]
    survive = "node" if random.random() < 0.6 else {"label": "zone"}
    return document(
        nodes,
        delays,
        operators,
        streams,
        network=network,
        application=application,
        survive=survive,
        objective={"failover_response_time": 1},
    )


def test_against_enumeration() -> None:
    """Pins, candidates, zones, routes that change, requirements: the optimum, or that there is none."""
    methods: Counter[str] = Counter()
    for seed in range(120):
        problem = pipeline(seed)
        expected = optimum(problem, "failover_response_time_ms")
        plan = berth.solve(problem_from(problem), "odp", time_limit=30)
        if expected is None:
            assert plan.status == "infeasible", seed
            continue
        assert plan.status == "optimal", (seed, plan.reason)
        assert not plan.violations
        assert plan.objective is not None
        assert math.isclose(plan.objective, expected, rel_tol=1e-9), seed
        methods[plan.trace["method"]] += 1
    # the general model is for those that lose something by every loss
    assert methods["pipeline after losses"] > 40


@pytest.mark.parametrize("capacity", [2, 4, 10])
def test_figure_nine(capacity: int) -> None:
    """Twenty operators on twenty nodes are proved, and no plan's best failovers are faster."""
    problem = problem_from(
        {
            **problem_document(paper_instance("sequential", 20, 20, 1, capacity)),
            "survive": "node",
            "objective": {"failover_response_time": 1},
        }
    )
    plan = berth.solve(problem, "odp", time_limit=60)
    assert plan.status == "optimal"
    assert plan.trace["method"] == "pipeline after losses"
    assert plan.objective == plan.metrics["failover_response_time_ms"]
    plain = {**problem_document(problem), "objective": {"response_time": 1}}
    fastest = berth.solve(problem_from(plain), "odp").metrics
    assert fastest["response_time_ms"] <= plan.objective <= fastest["failover_response_time_ms"]
