"""The relaxation: whatever the prices, its bound is one, and the candidates it leaves have a best plan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting
from berth.evaluation.goal import Goal
from berth.exact.costs import costs_of
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement
from berth.exact.relaxed.program import FirstOrder
from berth.exact.relaxed.relaxation import Relaxation
from berth.exact.relaxed.solve import solve_by_relaxation
from berth.exact.task import ExactTask
from berth.files import problem_from
from berth.model import Problem
from tests.exact.test_minimise import QUIET, braid
from tests.oracle.enumerate import optimum
from tests.oracle.problems import solvable_problems

OBJECTIVES = [
    "response_time",
    "response_time_sum",
    "loaded_response_time",
    "network_usage",
    "traffic",
    "cost_per_hour",
    "availability",
    "bandwidth_max",
    "utilisation_max",
]


def relaxation_of(problem: Problem, objective: str, unit: float = 1.0) -> tuple[Relaxation, Placement]:
    """The relaxation for one metric."""
    placement = Placement(Setting(problem))
    return Relaxation(placement, costs_of(Goal({objective: 1.0}), placement), unit), placement


def rounds(relaxation: Relaxation, most: int) -> list[float]:
    """The bounds after each of some rounds of solving and adding triangles."""
    method, found = FirstOrder(), []
    for _ in range(most):
        program = relaxation.program.arrays()
        method.go_on(program, 1e-5, 20_000, 60.0)
        found.append(relaxation.certificate(program, method.dual).value)
        if relaxation.add_triangles(method.primal) == 0:
            break
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_prices_are_above_the_optimum(objective: str) -> None:
    """Neither those of the method, with all triangles, nor any drawn at random."""

    @settings(QUIET, max_examples=8)
    @given(st.data(), st.integers(0, 1_000_000))
    def check(data: st.DataObject, seed: int) -> None:
        problem = data.draw(solvable_problems(objective))
        problem = {**problem, "sharing": False}
        if any("containers" in each for each in problem["applications"]):
            return
        metric = METRIC_BY_NAME[objective]
        best = optimum(problem, metric.key, metric.maximise)
        loaded = problem_from(problem)
        if any(len(nodes) == 0 for nodes in Placement(Setting(loaded)).candidates):
            assert best is None
            return
        relaxation, placement = relaxation_of(loaded, objective)
        least = np.inf if best is None else Goal({objective: 1.0}).costs({metric.key: best})
        above = least * (1 + 1e-7) + 1e-9
        assert max(rounds(relaxation, 3)) <= above
        program = relaxation.program.arrays()
        generator = np.random.default_rng(seed)
        for size in (0.01, 1.0, 100.0):
            prices = generator.normal(0, size, len(program.low))
            certificate = relaxation.certificate(program, prices)
            assert certificate.value <= above
            if best is not None:
                plan = berth.solve(loaded, "odp", time_limit=20)
                kept = certificate.within(least)
                for block, fits in enumerate(kept):
                    name = placement.graph.names[placement.blocks[block][0]]
                    node = loaded.network.index[plan.assignment[name]]
                    assert fits[np.searchsorted(placement.candidates[block], node)]

    check()


def test_triangles_see_that_a_node_cuts_the_graph() -> None:
    """A braid of which a node takes four operators: without triangles, hardly anything crosses a link."""
    problem = braid(4, 5)
    relaxation, _ = relaxation_of(problem, "response_time", unit=50.0)
    bounds = rounds(relaxation, 6)
    assert relaxation.triangles > 0
    assert bounds[-1] > 1.1 * bounds[0]
    best = berth.solve(problem, "odp", time_limit=60)
    assert best.status == "optimal"
    assert bounds[-1] <= best.objective


def test_the_bound_passes_on_and_candidates_go() -> None:
    """Of a braid with a known plan: the bound is proved, and the plan's own nodes stay candidates."""
    problem = braid(6, 12)
    goal = Goal({"response_time": 1.0})
    known = berth.solve(problem, "search", steps=200_000)
    placement = Placement(Setting(problem))
    start = placement.solution_of(known)
    task = ExactTask(placement, goal, Budget(), lambda nodes: dict(known.metrics), start=start)
    before = sum(map(len, placement.candidates))
    found = solve_by_relaxation(task)
    assert found is not None
    assert PathTimes(Placement(Setting(problem))).least([0]) * 1.2 < found.bound <= known.objective
    assert found.trace["relaxation"]["triangles"] > 0
    assert sum(map(len, placement.candidates)) < before
    assert all(node in nodes for node, nodes in zip(start, placement.candidates, strict=True))
