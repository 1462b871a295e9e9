"""Goals that are sums, from problem to plan: what is proved, how, and where others take over."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.exact.minimise import Solution, minimise
from berth.files import problem_from
from berth.model import Problem
from tests.exact.additive.quadratic import gqap_problem
from tests.exact.instances import document, paper_instance
from tests.oracle.enumerate import optimum
from tests.oracle.problems import solvable_problems

QUIET = settings(
    deadline=None, max_examples=12, suppress_health_check=list(HealthCheck), derandomize=True,
    phases=[Phase.generate],  # shrinking would enumerate for minutes
)  # fmt: skip
USAGE = Goal({"network_usage": 1.0})


def solved(problem: Problem, goal: Goal = USAGE, **more: Any) -> Solution:
    return minimise(Setting(problem), goal, Budget(60), **more)


@pytest.mark.parametrize("name", ["elastic_energy", "communication_cost"])
def test_whole_problems_against_enumeration(name: str) -> None:
    """Rules, processors, bandwidth, cards and requirements; the other sums are in `test_minimise.py`."""

    @QUIET
    @given(st.data())
    def check(data: st.DataObject) -> None:
        raw = {**data.draw(solvable_problems(name)), "sharing": False}
        if any(operator.get("reads") for a in raw["applications"] for operator in a["operators"]):
            return
        expected = optimum(raw, name)
        found = solved(problem_from(raw), Goal({name: 1.0}))
        if expected is None:
            assert found.status == "infeasible"
        else:
            assert found.status == "optimal"
            assert found.objective == pytest.approx(expected, rel=1e-7, abs=1e-12)
            assert found.bound == pytest.approx(expected, rel=1e-6, abs=1e-12)

    check()


def fat_network_usage(problem: Problem) -> float:
    """The optimum of a fat instance with 4 operators to a node: every two ends, the middle by its detours."""
    graph, delay = problem.instances, problem.network.table.delay_ms / 1000.0
    best, middle = np.inf, len(graph) - 2
    for source in range(len(delay)):
        for sink in range(len(delay)):
            room = np.full(len(delay), 4)
            room[source] -= 1
            room[sink] -= 1
            detours = np.sort(np.repeat(delay[source] + delay[:, sink], room))[:middle]
            best = min(best, float(detours.sum()))
    return best * float(graph.pair_rate[0])


@pytest.mark.parametrize(("operators", "nodes"), [(8, 6), (20, 20)])
def test_fans(operators: int, nodes: int) -> None:
    problem = paper_instance("fat", operators, nodes)
    found = solved(problem)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(fat_network_usage(problem), rel=1e-7)
    assert found.trace["method"] == "sums"


def test_rows_of_equal_streams_are_pipelines() -> None:
    found = solved(paper_instance("sequential", 20, 20))
    assert found.status == "optimal"
    assert found.trace["method"] == "sums by pipeline"


def tree(seed: int, operators: int, nodes: int) -> dict[str, Any]:
    """A random tree of operators with different needs of two resources and asymmetric delays."""
    generator = np.random.default_rng(seed)
    places = generator.uniform(0, 40, (nodes, 2))
    delays = np.linalg.norm(places[:, None] - places[None], axis=2) * generator.uniform(
        0.8, 1.2, (nodes, nodes)
    )
    capacity = [{"cpu": float(c), "memory": float(m)} for c, m in generator.integers(4, 9, (nodes, 2))]
    items = [
        {"name": f"o{k}", "demand": {"cpu": float(c), "memory": float(m)}}
        for k, (c, m) in enumerate(generator.integers(0, 4, (operators, 2)))
    ]
    streams = [
        {
            "from": f"o{generator.integers(k)}",
            "to": f"o{k}",
            "bytes_per_s": 100.0 * int(generator.integers(1, 20)),
        }
        for k in range(1, operators)
    ]
    machines = [{"name": f"n{k}", "capacity": there} for k, there in enumerate(capacity)]
    return document(machines, delays.tolist(), items, streams)


@pytest.mark.parametrize("seed", range(3))
def test_trees_against_the_general_model(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_from(tree(seed, 8, 6))
    found = solved(problem)
    assert found.trace["method"] == "sums"
    monkeypatch.setattr("berth.exact.minimise.solve_sums", lambda *_: None)
    other = solved(problem)
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-6)


def test_apart_by_label_is_held() -> None:
    raw = tree(1, 5, 4)
    for number, node in enumerate(raw["network"]["nodes"]):
        node["labels"] = {"zone": "east" if number < 2 else "west"}
    raw["applications"][0]["rules"] = [{"apart": ["o1", "o2"], "by": "zone"}]
    found = solved(problem_from(raw))
    assert found.trace["method"] == "sums"
    assert found.objective == pytest.approx(optimum(raw, "network_usage"))


def test_what_is_not_held_goes_on_with_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A requirement that the cheapest plan misses: the general model solves it, not below the bound."""
    raw = tree(2, 6, 4)
    free = solved(problem_from(raw))
    assert free.nodes is not None
    crossed = {(int(a), int(b)) for a in free.nodes for b in free.nodes if a != b}
    raw["network"]["bandwidth_bytes_per_s"] = [
        [1.0 if (a, b) in crossed else None for b in range(4)] for a in range(4)
    ]
    expected = optimum({**raw, "sharing": False}, "network_usage")
    found = solved(problem_from(raw))
    assert expected is not None
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected)
    assert found.trace["method"] == "general"
    assert found.trace["structure"]["bound"] == pytest.approx(free.objective)


def test_weighted_sums_and_the_worst() -> None:
    """Normalised sums need the worst of each metric, which is a sum of negative costs."""
    problem = replace(
        problem_from(tree(3, 6, 4)),
        objective={"network_usage": 1.0, "traffic": 2.0},
    )
    bounds = {"network_usage": (0.0, 50.0), "traffic": (0.0, 4000.0)}
    goal = Goal({"network_usage": 1.0, "traffic": 2.0}, "normalised", bounds)
    found = solved(problem, goal)
    other = solved(problem, goal, ties="first")
    assert found.trace["method"] == "sums"
    assert other.trace["method"] == "general"
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-6)


def test_whole_speeds_and_costs_of_nothing() -> None:
    """Speeds that are whole numbers; a raw sum whose optimum is 0 is proved, rounding or not."""
    raw = tree(1, 3, 3)
    for node in raw["network"]["nodes"]:
        node.update(speed=1, capacity={"cpu": 9, "memory": 9})
    raw["applications"][0]["streams"] = [
        {"from": "o0", "to": "o1", "bytes_per_s": 1e9},
        {"from": "o1", "to": "o2", "bytes_per_s": 1e9},
    ]
    found = solved(problem_from(raw), Goal({"network_usage": 1.0, "placement_cost": 1.0}, "raw"))
    assert found.status == "optimal"
    assert found.objective == found.bound == 0.0


def test_stops_when_time_is_over() -> None:
    """With no time at all there is a plan of some kind and no false proof."""
    found = minimise(Setting(problem_from(tree(0, 12, 12))), USAGE, Budget(0))
    assert found.status in ("feasible", "unknown")


def test_tells_bounds_on_the_way() -> None:
    heard: list[tuple[float | None, float | None]] = []
    found = solved(paper_instance("fat", 8, 6), progress=lambda best, bound: heard.append((best, bound)))
    assert found.objective is not None
    assert any(bound is not None for _, bound in heard)
    assert all(bound is None or bound <= found.objective * (1 + 1e-9) for _, bound in heard)


@pytest.mark.parametrize("name", ["leema-10X5-E-H", "leema-12X3-E-G"])
def test_quadratic_assignment(name: str) -> None:
    """Public instances whose optimum is known."""
    folder = Path(os.environ.get("BERTH_DATA", "")) / "gqap"
    if not (folder / "values.csv").is_file():
        pytest.skip("BERTH_DATA has no gqap")
    values = dict(line.split(",")[0::3][:2] for line in (folder / "values.csv").read_text().splitlines())
    problem = gqap_problem(folder / f"{name}.txt")
    found = solved(problem, Goal(problem.objective, "raw"))
    assert found.status == "optimal"
    assert found.objective == float(values[name])
    assert "lifted" in found.trace["bound_by"]


def test_small_costs_beside_huge_ones_are_proved() -> None:
    """What a good plan costs is far below the rounding of what the dearest costs."""
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 2}} for k in range(4)]
    delays = [[0, 1e-4, 3e6, 2e-4], [1e-4, 0, 2e6, 3e-4], [3e6, 2e6, 0, 4e6], [5e-4, 2e-4, 1e6, 0]]
    items = [{"name": f"o{k}", "demand": {"cpu": 1}} for k in range(5)]
    streams = [{"from": f"o{(k - 1) // 2}", "to": f"o{k}", "bytes_per_s": 10.0 * k} for k in range(1, 5)]
    problem = problem_from({**document(nodes, delays, items, streams), "sharing": False})
    goal = Goal({"elastic_energy": 1.0})
    found = solved(problem, goal)
    assert found.trace["method"] == "sums"
    assert found.status == "optimal"
    raw = {**document(nodes, delays, items, streams), "sharing": False}
    assert found.objective == pytest.approx(optimum(raw, "elastic_energy"), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_equal_nodes_stand_for_each_other(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that differ in nothing: the same optimum, with far fewer branches."""
    generator = np.random.default_rng(seed)
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 5 if k < 4 else 3}} for k in range(6)]
    delays: list[list[float | None]] = [
        [0.0 if u == v else 5.0 + (u > 3) + 2 * (v > 3) for v in range(6)] for u in range(6)
    ]
    items = [{"name": f"o{k}", "demand": {"cpu": 1.0 + k % 3}} for k in range(9)]
    streams = [
        {"from": f"o{j}", "to": f"o{k}", "bytes_per_s": float(generator.integers(1, 9))}
        for k in range(1, 9)
        for j in generator.choice(k, min(k, 2), replace=False).tolist()
    ]
    problem = problem_from(document(nodes, delays, items, streams))
    found = solved(problem)
    monkeypatch.setattr("berth.exact.additive.branch_and_bound.Twins.firsts", lambda _, places, __: places)
    other = solved(problem)
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-7)
    assert found.trace["branches"] <= other.trace.get("branches", np.inf)
