"""The least usage: equal to all placements tried, to odp, and to the oracle's enumeration."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.evaluation import Occupied
from berth.exact.placement import unmodelled
from berth.experiments.mopa.graphs import operator_graph
from berth.files import problem_from
from berth.model import Network, Node, Operator, Problem, Stream
from berth.policies.latency_space import least_usage
from tests.oracle.problems import solvable_problems
from tests.policies.latency_space.operator_graphs import (
    measured_network,
    noisy_network,
    planetlab,
    problem_of,
)

QUIET = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],
)
RNG = np.random.default_rng(0)
NETWORK = noisy_network(226, RNG)
SMALL = noisy_network(7, RNG)


def tried(problem: Problem) -> tuple[float, dict[str, str]]:
    """The least usage of a graph with two free operators: all 226 x 226 placements at once."""
    graph, delays = problem.instances, problem.network.table.delay_ms
    size = len(problem.network.nodes)
    free = [k for k in range(len(graph)) if len(graph.allowed_nodes[graph.operator_of[k]]) > 1]
    assert len(free) == 2
    nodes: list[np.ndarray] = []
    for k in range(len(graph)):
        shape = [1, 1]
        if k in free:
            shape[free.index(k)] = size
        nodes.append(graph.allowed_nodes[graph.operator_of[k]].reshape(shape))
    total = np.zeros((size, size))
    pairs = zip(graph.pair_sender, graph.pair_receiver, graph.pair_rate, strict=True)
    for sender, receiver, rate in pairs:
        total = total + rate * delays[nodes[sender], nodes[receiver]]
    best = np.unravel_index(int(np.argmin(total)), total.shape)
    names = {graph.names[k]: problem.network.nodes[best[n]].name for n, k in enumerate(free)}
    return float(total.min()) / 1000.0, names


@pytest.mark.parametrize("seed", range(3))
def test_against_all_placements_of_two_operators(seed: int) -> None:
    problem = operator_graph(NETWORK, 6, np.random.default_rng(seed))
    plan = berth.solve(problem, "mop-exhaustive")
    least, nodes = tried(problem)
    assert plan.status == "optimal"
    assert plan.objective == pytest.approx(least, rel=1e-12)
    assert {name: plan.assignment[name] for name in nodes} == nodes


def test_against_all_placements_on_planetlab() -> None:
    delays = planetlab(1)
    if delays is None:
        pytest.skip("BERTH_DATA has no planetlab_490")
    rng = np.random.default_rng(1)
    problem = operator_graph(measured_network(delays, 226, rng), 6, rng)
    assert berth.solve(problem, "mop-exhaustive").objective == pytest.approx(tried(problem)[0], rel=1e-12)


@QUIET
@given(st.data())
def test_against_odp(data: st.DataObject) -> None:
    """Random problems with all kinds of constraints: the same optimum, and a bound that holds."""
    document = {**data.draw(solvable_problems("network_usage")), "sharing": False}
    problem = problem_from(document)
    plan = berth.solve(problem, "mop-exhaustive")
    if unmodelled(problem) is not None:
        assert plan.bound is None
        return
    exact = berth.solve(problem, "odp", time_limit=20)
    if plan.violations:
        # It looks at fewer constraints: what it finds is never worse than what keeps them all.
        if plan.objective is not None and exact.objective is not None:
            assert plan.objective <= exact.objective * (1 + 1e-9) + 1e-12
    elif plan.assignment:
        assert plan.status == exact.status == "optimal"
        assert plan.bound == pytest.approx(exact.objective, rel=1e-9, abs=1e-12)
    else:
        assert plan.status == exact.status == "infeasible"


def dense(rng: np.random.Generator, room: float) -> Problem:
    """Five free operators with circles between them, on seven nodes of which each takes so many."""
    nodes = tuple(replace(node, capacity={"cpu": room}) for node in SMALL.nodes)
    operators = [
        Operator("in", candidates=("n0",), emits_bytes_per_s=100),
        *(Operator(f"o{k}", demand={"cpu": 1.0}) for k in range(5)),
        Operator("out", candidates=("n1",)),
    ]
    names = [item.name for item in operators]
    streams = [
        Stream(names[i], names[j], bytes_per_s=float(rng.integers(1, 50)))
        for i, j in itertools.combinations(range(7), 2)
        if rng.random() < 0.6
    ]
    return problem_of(replace(SMALL, nodes=nodes), operators, streams)


@pytest.mark.parametrize("room", [1.0, 2.0, 5.0])
def test_circles_and_capacities(room: float) -> None:
    """Circles are searched; all 7^5 placements say the same."""
    problem = dense(np.random.default_rng(int(room)), room)
    plan = berth.solve(problem, "mop-exhaustive")
    assert plan.status == "optimal"
    assert plan.trace["method"] == "search"
    graph, delays = problem.instances, problem.network.table.delay_ms
    grid = np.stack(np.meshgrid(*[np.arange(7)] * 5, indexing="ij"), axis=-1).reshape(-1, 5)
    most = np.array([np.bincount(row).max() for row in grid])
    grid = grid[most <= room]
    nodes = np.concatenate([np.zeros((len(grid), 1), int), grid, np.ones((len(grid), 1), int)], axis=1)
    total = (graph.pair_rate * delays[nodes[:, graph.pair_sender], nodes[:, graph.pair_receiver]]).sum(axis=1)
    assert plan.objective == pytest.approx(total.min() / 1000.0, rel=1e-12)


def test_given_up() -> None:
    problem = dense(np.random.default_rng(1), 1.0)
    plan = berth.solve(problem, "mop-exhaustive", max_steps=20)
    least = berth.solve(problem, "mop-exhaustive")
    assert plan.status == "feasible"
    assert plan.reason == "given up after 20 steps; max_steps allows more"
    assert plan.bound is not None
    assert least.objective is not None
    assert plan.bound <= least.objective
    none = berth.solve(problem, "mop-exhaustive", max_steps=1)
    assert none.status == "unknown"


def test_ties_go_to_the_first_nodes() -> None:
    """Equal rates in and out: all nodes on the way are as good; so are all for what is nowhere pinned."""
    line = Network(tuple(Node(f"n{k}", coordinates=(float(k),)) for k in range(6)))
    operators = [
        Operator("out", candidates=("n4",)),
        Operator("a"),
        Operator("b"),
        Operator("source", candidates=("n1",), emits_bytes_per_s=8),
        Operator("free", emits_bytes_per_s=3),
        Operator("too"),
    ]
    streams = [Stream("source", "b"), Stream("b", "a"), Stream("a", "out"), Stream("free", "too")]
    plan = berth.solve(problem_of(line, operators, streams), "mop-exhaustive")
    assert [plan.assignment[f"app/{name}"] for name in ("a", "b", "free", "too")] == ["n1", "n1", "n0", "n0"]


def test_no_way() -> None:
    """A node without a link to the source, and no other candidate."""
    delays = np.array([[0.0, np.nan, 1.0], [np.nan, 0.0, np.nan], [1.0, np.nan, 0.0]])
    network = Network(tuple(Node(f"n{k}") for k in range(3)), matrices={"delay_ms": delays})
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=8),
        Operator("a", candidates=("n1",)),
    ]
    plan = berth.solve(problem_of(network, operators, [Stream("source", "a")]), "mop-exhaustive")
    assert plan.status == "infeasible"
    assert plan.reason is not None
    assert "n0" in plan.reason or "source" in plan.reason
    assert plan.trace["conflict"] == [plan.reason]


def test_room_that_others_have_taken() -> None:
    """The nearest node is full, by somebody else."""
    nodes = tuple(Node(f"n{k}", coordinates=(float(k),), capacity={"cpu": 1.0}) for k in range(3))
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=8),
        Operator("a", demand={"cpu": 1.0}),
    ]
    problem = problem_of(Network(nodes), operators, [Stream("source", "a")])
    taken = Occupied({"cpu": np.array([0.5, 0.0, 0.0])}, np.zeros(3), np.zeros(3))
    assert berth.solve(problem, "mop-exhaustive").assignment["app/a"] == "n0"
    plan = berth.policies.solve(problem, "mop-exhaustive", occupied=taken)
    assert plan.assignment["app/a"] == "n1"
    assert plan.status == "optimal"


def test_too_large() -> None:
    nodes = tuple(Node(f"n{k}", coordinates=(float(k),)) for k in range(7000))
    problem = problem_of(
        Network(nodes), [Operator("a", emits_bytes_per_s=1), Operator("b")], [Stream("a", "b")]
    )
    plan = berth.solve(problem, "mop-exhaustive")
    assert plan.status == "unknown"
    assert plan.reason == "too large: 7000 x 7000 nodes to compare, at most 36000000"


def test_too_large_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Circles need a search, and that needs memory."""
    monkeypatch.setattr(least_usage, "MOST_ENTRIES", 300)
    plan = berth.solve(dense(np.random.default_rng(1), 5.0), "mop-exhaustive")
    assert plan.status == "unknown"
    assert plan.reason is not None
    assert plan.reason.startswith("too large to search: 5 unpinned operators on 7 nodes")


def test_out_of_time() -> None:
    """The best plan so far, and why it is not proved."""
    network = noisy_network(40, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    nodes = tuple(replace(node, capacity={"cpu": 1.0}) for node in network.nodes)
    operators = [
        Operator("in", candidates=("n0",)),
        *(Operator(f"o{k}", demand={"cpu": 1.0}) for k in range(12)),
    ]
    names = [item.name for item in operators]
    streams = [
        Stream(one, other, bytes_per_s=float(rng.integers(1, 50)))
        for one, other in itertools.combinations(names, 2)
        if rng.random() < 0.5
    ]
    problem = problem_of(replace(network, nodes=nodes), operators, streams)
    plan = berth.solve(problem, "mop-exhaustive", time_limit=0.2)
    assert plan.status == "feasible"
    assert plan.reason is not None
    assert plan.reason.startswith("out of time")
    assert plan.gap is not None
    assert plan.gap > 0
