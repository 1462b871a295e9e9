"""SBON: springs at rest solve the linear system, and messages are counted as the card says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.experiments.mopa.graphs import operator_graph
from berth.model import BadInput, Network, Node, Operator, Stream
from berth.policies.latency_space.mopa import start_from_springs
from berth.policies.latency_space.sbon import SbonParameters, relax
from berth.policies.latency_space.units import UnitGraph, unit_graph
from berth.policies.latency_space.virtual import in_space
from berth.space import space_of
from tests.policies.latency_space.operator_graphs import noisy_network, problem_of

QUIET = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],
)
NETWORK = noisy_network(60, np.random.default_rng(0))


def at_rest(graph: UnitGraph, positions: np.ndarray) -> np.ndarray:
    """Where free units are at rest: the solution of L_uu X_u = L_up X_p."""
    size = len(graph)
    laplacian = np.zeros((size, size))
    owner = np.repeat(np.arange(size), np.diff(graph.offsets))
    np.add.at(laplacian, (owner, graph.neighbours), -graph.weights)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    free = graph.fixed < 0
    return np.asarray(
        np.linalg.solve(laplacian[np.ix_(free, free)], -laplacian[np.ix_(free, ~free)] @ positions[~free])
    )


@QUIET
@given(st.integers(0, 10_000), st.sampled_from([6, 12]))
def test_springs_solve_the_linear_system(seed: int, size: int) -> None:
    problem = operator_graph(NETWORK, size, np.random.default_rng(seed))
    graph = unit_graph(problem)
    virtual = in_space(graph, space_of(NETWORK))
    parameters = SbonParameters(pace=0.9, force_threshold_ms=1e-9, max_rounds=200_000)
    relax(virtual, np.flatnonzero(virtual.free), parameters)
    assert np.allclose(virtual.positions[virtual.free], at_rest(graph, virtual.positions), rtol=0, atol=1e-3)
    start = in_space(graph, space_of(NETWORK))
    start_from_springs(start, np.flatnonzero(start.free))
    assert np.allclose(start.positions[start.free], at_rest(graph, start.positions), rtol=0, atol=1.0)


def test_applications_pull_at_nothing_but_their_own() -> None:
    """An application with a hundred thousand times the rate changes nothing for another one."""
    rng = np.random.default_rng(2)
    small, large = operator_graph(NETWORK, 6, rng), operator_graph(NETWORK, 6, rng)
    (heavy,) = large.applications
    louder = tuple(
        replace(item, emits_bytes_per_s=(item.emits_bytes_per_s or 0) * 1e5) for item in heavy.operators
    )
    both = replace(small, applications=(*small.applications, replace(heavy, name="heavy", operators=louder)))
    alone, beside = berth.solve(small, "sbon"), berth.solve(both, "sbon")
    assert alone.trace["rounds"] > 0
    assert {name: beside.assignment[name] for name in alone.assignment} == alone.assignment
    assert {name: beside.trace["positions"][name] for name in alone.trace["positions"]} == alone.trace[
        "positions"
    ]


@QUIET
@given(st.integers(0, 10_000), st.sampled_from([6, 12]))
def test_no_force_is_left_that_matters(seed: int, size: int) -> None:
    problem = operator_graph(NETWORK, size, np.random.default_rng(seed))
    graph = unit_graph(problem)
    virtual = in_space(graph, space_of(NETWORK))
    relax(virtual, np.flatnonzero(virtual.free), SbonParameters())
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    pull = np.zeros_like(virtual.positions)
    ways = virtual.positions[graph.neighbours] - virtual.positions[owner]
    np.add.at(pull, owner, graph.weights[:, None] * ways)
    strongest = np.bincount(owner, graph.weights)[virtual.free].max()
    assert (np.sqrt((pull[virtual.free] ** 2).sum(axis=1)) / strongest <= 0.5).all()


def test_messages() -> None:
    """Every step of an operator tells its unpinned neighbours: two in each round of a pair, none of one."""
    line = Network(tuple(Node(f"n{k}", coordinates=(10.0 * k,)) for k in range(10)))
    source = Operator("source", candidates=("n0",), emits_bytes_per_s=100)
    sink = Operator("sink", candidates=("n9",))
    operators = [source, Operator("a"), Operator("b"), sink]
    streams = [Stream("source", "a"), Stream("a", "b"), Stream("b", "sink")]
    plan = berth.solve(problem_of(line, operators, streams), "sbon")
    assert plan.trace["rounds"] > 10
    assert plan.trace["messages"] == 2 * plan.trace["rounds"]
    assert plan.assignment == {"app/source": "n0", "app/a": "n3", "app/b": "n6", "app/sink": "n9"}
    alone = problem_of(line, [source, Operator("a"), sink], [Stream("source", "a"), Stream("a", "sink")])
    assert berth.solve(alone, "sbon").trace["messages"] == 0


def test_its_own_goal() -> None:
    problem = replace(operator_graph(NETWORK, 6, np.random.default_rng(0)), objective={"response_time": 1.0})
    plan = berth.solve(problem, "sbon")
    assert plan.goal == {"elastic_energy": 1.0}
    assert plan.objective == plan.metrics["elastic_energy"]
    assert berth.solve(problem, "mopa").goal == {"network_usage": 1.0}


def test_springs_that_get_no_time() -> None:
    problem = operator_graph(NETWORK, 12, np.random.default_rng(0))
    plan = berth.solve(problem, "sbon", max_rounds=1)
    assert plan.status == "unknown"
    assert plan.reason == "the springs are not at rest after 1 rounds; max_rounds allows more"


def test_least_loaded_of_the_nearest() -> None:
    """Three operators at one place spread over the three nearest nodes."""
    line = Network(tuple(Node(f"n{k}", coordinates=(float(k),)) for k in range(9)))
    pinned = [Operator("source", candidates=("n4",), emits_bytes_per_s=100)]
    operators = [*pinned, *(Operator(name) for name in "abc")]
    problem = problem_of(line, operators, [Stream("source", name) for name in "abc"])
    plan = berth.solve(problem, "sbon", mapping="least-loaded")
    # The source runs at n4 already, so that the last one finds all three equally loaded.
    assert [plan.assignment[f"app/{name}"] for name in "abc"] == ["n3", "n5", "n4"]
    assert {node for name, node in berth.solve(problem, "sbon").assignment.items()} == {"n4"}


@pytest.mark.parametrize("full", [False, True])
def test_least_loaded_of_the_nearest_with_room(full: bool) -> None:
    """The three nearest nodes take nothing: the three behind them share what comes."""
    line = Network(
        tuple(
            Node(
                f"n{k}",
                coordinates=(float(k),),
                hosts=full or k == 0 or k > 3,
                capacity={"cpu": 9.0 * (k > 3)},
            )
            for k in range(9)
        )
    )
    pinned = [Operator("source", candidates=("n0",), emits_bytes_per_s=100)]
    operators = [*pinned, *(Operator(name, demand={"cpu": 1}) for name in "abc")]
    problem = problem_of(line, operators, [Stream("source", name) for name in "abc"])
    plan = berth.solve(problem, "sbon", mapping="least-loaded")
    assert [plan.assignment[f"app/{name}"] for name in "abc"] == ["n4", "n5", "n6"]


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("pace", 1, "--set pace: 1.0 is not above 0 and below 1, where springs come to rest"),
        ("force_threshold_ms", 0, "--set force_threshold_ms: 0.0 is not above 0"),
        ("max_rounds", 0, "--set max_rounds: 0 is below 1"),
        ("mapping_nodes", 0, "--set mapping_nodes: 0 is below 1"),
    ],
)
def test_bad_parameters(name: str, value: object, line: str) -> None:
    with pytest.raises(BadInput) as error:
        berth.solve(operator_graph(NETWORK, 6, np.random.default_rng(0)), "sbon", **{name: value})
    assert error.value.mistakes == (line,)
