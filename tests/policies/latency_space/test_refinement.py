"""Refinement: what is measured, remembered and gained."""

from dataclasses import replace

import numpy as np
import pytest

import berth
from berth.experiments.mopa.graphs import operator_graph, redrawn
from berth.model import Network, Node, Operator, Problem, Stream
from tests.policies.latency_space.operator_graphs import (
    iot_lab,
    measured_network,
    noisy_network,
    planetlab,
    problem_of,
)

NETWORK = noisy_network(60, np.random.default_rng(0))


def hidden_shortcut() -> Problem:
    """Coordinates say n1, between source and sink; measured, n1 is slow and n2 beside it is fast."""
    places = {"n0": (0.0, 0.0), "n1": (5.0, 0.0), "n2": (5.0, 1.0), "n3": (10.0, 0.0), "n4": (5.0, 60.0)}
    points = np.array(list(places.values()))
    delays = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    delays[1, :] = delays[:, 1] = 50.0
    np.fill_diagonal(delays, 0.0)
    hosts = {"n1", "n2", "n4"}
    nodes = tuple(
        Node(name, coordinates=place, hosts=name in hosts or name in ("n0", "n3"))
        for name, place in places.items()
    )
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=100),
        Operator("free", candidates=("n1", "n2", "n4")),
        Operator("sink", candidates=("n3",)),
    ]
    network = Network(nodes, matrices={"delay_ms": delays})
    return problem_of(network, operators, [Stream("source", "free"), Stream("free", "sink")])


def test_a_node_that_coordinates_misjudge() -> None:
    """n1 and n2 take two probes each, to the source and to the sink; far n4 is not worth one."""
    problem = hidden_shortcut()
    assert berth.solve(problem, "mopa", refine=False).assignment["app/free"] == "n1"
    plan = berth.solve(problem, "mopa")
    assert plan.assignment["app/free"] == "n2"
    assert plan.trace["probes"] == plan.trace["messages"] == 4
    pairs = sorted(tuple(entry[:2]) for entry in plan.trace["measured"])
    assert pairs == [("n0", "n1"), ("n0", "n2"), ("n1", "n3"), ("n2", "n3")]


def with_missing_links(missing: tuple[tuple[int, int], ...]) -> Problem:
    """Two operators between n0 and n1, and room for one at each of n2 to n5, of which n4 is far away."""
    places = [(0, 0), (30, 0), (10, 1), (10, 3), (20, 20), (20, 3), (5, 9), (25, 9), (15, 30), (15, -9)]
    points = np.array(places, dtype=np.float64)
    delays = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    for one, other in missing:
        delays[one, other] = delays[other, one] = np.nan
    room = {2, 3, 4, 5}
    nodes = tuple(Node(f"n{k}", capacity={"cpu": float(k in room)}) for k in range(len(places)))
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=100),
        Operator("a", demand={"cpu": 1}),
        Operator("b", demand={"cpu": 1}),
        Operator("sink", candidates=("n1",)),
    ]
    streams = [Stream("source", "a"), Stream("a", "b"), Stream("b", "sink")]
    return problem_of(Network(nodes, matrices={"delay_ms": delays}), operators, streams)


def test_two_that_can_only_leave_together() -> None:
    """The nearest node to the first place has a link to a far one only; another two are better for both."""
    problem = with_missing_links(((2, 3), (2, 5), (3, 4)))
    plain = berth.solve(problem, "mopa", refine=False).assignment
    assert (plain["app/a"], plain["app/b"]) == ("n2", "n4")
    plan = berth.solve(problem, "mopa")
    assert (plan.assignment["app/a"], plan.assignment["app/b"]) == ("n3", "n5")
    assert plan.objective == berth.solve(problem, "mop-exhaustive").objective


@pytest.mark.parametrize("policy", ["mopa", "sbon"])
def test_a_node_from_which_there_is_no_way_on(policy: str) -> None:
    """The nearest node to the first place has links to no other host: the mapping takes that back."""
    problem = with_missing_links(((2, 3), (2, 4), (2, 5)))
    plan = berth.solve(problem, policy, refine=False)
    assert not plan.violations
    assert (plan.assignment["app/a"], plan.assignment["app/b"]) == ("n3", "n5")


def test_streams_that_run_need_no_probe() -> None:
    """At n1 by a previous plan, which has measured nothing: the delays there are known, those of n2 not."""
    problem = hidden_shortcut()
    before = berth.Plan({"app/source": "n0", "app/free": "n1", "app/sink": "n3"})
    plan = berth.solve(problem, "mopa", previous=before)
    assert plan.assignment["app/free"] == "n2"
    assert plan.trace["probes"] == 2


@pytest.mark.parametrize("crowd", ["hosting nothing", "full"])
def test_a_crowd_that_takes_nothing(crowd: str) -> None:
    """Eighty nodes nearer than n2 take no operator: n2 is found as if they weren't there."""
    alone = hidden_shortcut()
    rng = np.random.default_rng(0)
    around = (np.array([5.0, 0.0]) + rng.uniform(-0.1, 0.1, (80, 2))).tolist()
    others = tuple(
        Node(f"c{k}", coordinates=tuple(place), hosts=crowd == "full", capacity={"cpu": 0.0})
        for k, place in enumerate(around)
    )
    room = {"n1": 9.0, "n2": 9.0}
    nodes = tuple(replace(node, capacity={"cpu": room.get(node.name, 0.0)}) for node in alone.network.nodes)
    delays = np.full((85, 85), 50.0)
    delays[:5, :5] = alone.network.table.delay_ms
    np.fill_diagonal(delays, 0.0)
    network = Network((*nodes, *others), matrices={"delay_ms": delays})
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=100),
        Operator("free", demand={"cpu": 1.0}),
        Operator("sink", candidates=("n3",)),
    ]
    problem = problem_of(network, operators, [Stream("source", "free"), Stream("free", "sink")])
    assert berth.solve(problem, "mopa", refine=False).assignment["app/free"] == "n1"
    assert berth.solve(problem, "mopa").assignment["app/free"] == "n2"


def test_no_more_nodes_than_allowed() -> None:
    rng = np.random.default_rng(3)
    problems = [operator_graph(NETWORK, 12, rng) for _ in range(10)]
    probes = [
        sum(berth.solve(problem, "mopa", refine_nodes=most).trace["probes"] for problem in problems)
        for most in (1, 3, 8)
    ]
    assert 0 < probes[0] < probes[1] < probes[2]


def test_what_was_measured_is_remembered() -> None:
    """With the trace of the previous plan fewer delays are measured than without, for plans as good."""
    rng = np.random.default_rng(4)
    probes, usage = {"with": 0, "without": 0}, {"with": 0.0, "without": 0.0}
    for _ in range(15):
        problem = operator_graph(NETWORK, 12, rng)
        before = berth.solve(problem, "mopa")
        changed = redrawn(problem, rng)
        forgetful = {key: value for key, value in before.trace.items() if key != "measured"}
        for name, trace in (("with", before.trace), ("without", forgetful)):
            plan = berth.solve(
                changed, "mopa", previous=berth.Plan(assignment=before.assignment, trace=dict(trace))
            )
            probes[name] += plan.trace["probes"]
            usage[name] += plan.metrics["network_usage_bytes"]
    assert probes["with"] < 0.8 * probes["without"]
    assert usage["with"] < 1.02 * usage["without"]


def test_a_group_moves_together() -> None:
    """Two operators with much between them: neither gains alone, both together do."""
    delays = np.full((4, 4), 30.0)
    delays[0, 1] = delays[1, 0] = 10.0
    delays[0, 2] = delays[2, 0] = 2.0
    delays[1, 2] = delays[2, 1] = 25.0
    np.fill_diagonal(delays, 0.0)
    nodes = [Node("source-node"), Node("slow"), Node("fast"), Node("far")]
    places = [(0.0, 0.0), (1.0, 0.0), (1.5, 0.0), (40.0, 0.0)]
    placed = tuple(Node(node.name, coordinates=place) for node, place in zip(nodes, places, strict=True))
    operators = [
        Operator("source", candidates=("source-node",), emits_bytes_per_s=10),
        Operator("a", candidates=("slow", "fast"), selectivity=10),
        Operator("b", candidates=("slow", "fast")),
    ]
    problem = problem_of(
        Network(placed, matrices={"delay_ms": delays}), operators, [Stream("source", "a"), Stream("a", "b")]
    )
    plain = berth.solve(problem, "mopa", refine=False)
    assert {plain.assignment["app/a"], plain.assignment["app/b"]} == {"slow"}
    refined = berth.solve(problem, "mopa")
    assert {refined.assignment["app/a"], refined.assignment["app/b"]} == {"fast"}


def test_more_units_than_one_part() -> None:
    """Forty operators in a row on a few nodes: refined part by part, and never worse."""
    rng = np.random.default_rng(6)
    names = [f"o{k}" for k in range(40)]
    pins = {0: "n0", 13: "n7", 26: "n21", 39: "n50"}
    operators = [
        Operator(name, candidates=(pins[k],) if k in pins else None, selectivity=float(rng.uniform(0.9, 1.1)))
        for k, name in enumerate(names)
    ]
    streams = [Stream("o0", "o1", bytes_per_s=100)]
    streams += [Stream(f"o{k}", f"o{k + 1}") for k in range(1, 39)]
    problem = problem_of(NETWORK, operators, streams)
    plain, refined = (berth.solve(problem, "mopa", refine=value) for value in (False, True))
    assert refined.status == "feasible"
    assert refined.metrics["network_usage_bytes"] < plain.metrics["network_usage_bytes"]


@pytest.mark.parametrize("size", [6, 12])
def test_stretch_on_planetlab(size: int) -> None:
    """Mean usage within 5 % of the optimum, for far fewer messages than springs need."""
    stretch, messages, springs = [], [], []
    for part in (3, 5):
        delays = planetlab(part)
        if delays is None:
            pytest.skip("BERTH_DATA has no planetlab_490")
        rng = np.random.default_rng(part)
        network = measured_network(delays, 226, rng)
        for _ in range(40):
            problem = operator_graph(network, size, rng)
            plan, best = (berth.solve(problem, policy) for policy in ("mopa", "mop-exhaustive"))
            assert plan.objective is not None
            assert best.objective is not None
            stretch.append(plan.objective / best.objective)
            messages.append(plan.trace["messages"])
            springs.append(berth.solve(problem, "sbon").trace["messages"])
    assert np.mean(stretch) <= 1.05
    assert np.mean(messages) < 0.5 * np.mean(springs)


def test_missing_delays() -> None:
    """No plan over a pair without a delay, though a tenth of them has none."""
    delays = iot_lab()
    if delays is None:
        pytest.skip("BERTH_DATA has no fit_iot_283")
    rng = np.random.default_rng(8)
    network = measured_network(delays, 226, rng)
    for _ in range(10):
        problem = operator_graph(network, 12, rng)
        best = berth.solve(problem, "mop-exhaustive")
        for policy in ("mopa", "sbon"):
            plan = berth.solve(problem, policy)
            # Two pinned neighbours without a link between them would have no plan at all.
            assert bool(plan.violations) == (best.status != "optimal")
