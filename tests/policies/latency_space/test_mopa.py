"""MOPA: usage falls event by event, nodes have room, and odd graphs are placed, too."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.core import space as core
from berth.experiments.mopa.graphs import operator_graph
from berth.files import problem_from
from berth.model import Application, BadInput, Network, Node, Operator, Problem, Stream, Together, Where
from berth.policies.latency_space.mopa import MopaParameters, settle, start_from_springs
from berth.policies.latency_space.units import unit_graph
from berth.policies.latency_space.virtual import Virtual, in_space
from berth.space import space_of
from tests.oracle.problems import solvable_problems
from tests.policies.latency_space.operator_graphs import noisy_network, problem_of, space_network

QUIET = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],
)
NETWORK = noisy_network(60, np.random.default_rng(0))
LINE = Network(tuple(Node(f"n{k}", coordinates=(float(k), 0.0, 0.0)) for k in range(11)))


def settled(problem: Problem, most_events: int = 2000, tolerance: float = 0.5) -> Virtual:
    """The virtual placement, however far it comes in so many events."""
    virtual = in_space(unit_graph(problem), space_of(problem.network))
    start_from_springs(virtual, np.flatnonzero(virtual.free))
    parameters = MopaParameters(tolerance_ms=tolerance, max_events=most_events, migration="eager")
    settle(virtual, np.flatnonzero(virtual.free), parameters)
    return virtual


@QUIET
@given(st.integers(0, 10_000), st.sampled_from([6, 12]))
def test_usage_never_rises(seed: int, size: int) -> None:
    """Every move of the log lowers the virtual usage, whatever moves with it."""
    rng = np.random.default_rng(seed)
    problem = operator_graph(NETWORK, size, rng)
    graph = unit_graph(problem)
    start = in_space(graph, space_of(NETWORK))
    start_from_springs(start, np.flatnonzero(start.free))
    usage = start.usage_bytes()
    virtual = settled(problem)
    position = 0
    while position < len(virtual.log):
        # Members of a cluster are moved in one go: rows with one place belong together.
        place = virtual.log[position, 1:]
        while position < len(virtual.log) and (virtual.log[position, 1:] == place).all():
            start.positions[int(virtual.log[position, 0])] = place
            position += 1
        assert start.usage_bytes() <= usage * (1 + 1e-9)
        usage = start.usage_bytes()
    assert np.allclose(start.positions, virtual.positions, rtol=0, atol=1e-9)


@QUIET
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_one_free_operator_sits_at_its_weber_point(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    pins = rng.choice(60, count, replace=False).tolist()
    rates = rng.uniform(1, 100, count).tolist()
    sources = [
        Operator(f"s{k}", candidates=(f"n{pin}",), emits_bytes_per_s=rate)
        for k, (pin, rate) in enumerate(zip(pins, rates, strict=True))
    ]
    problem = problem_of(
        NETWORK, [*sources, Operator("free")], [Stream(item.name, "free") for item in sources]
    )
    points = space_of(NETWORK).coordinates.positions[pins]
    place, _, _, _ = core.weber_point(points, np.array(rates))
    found = settled(problem, tolerance=1e-6).positions[count]
    least = (np.array(rates) * np.sqrt(((points - place) ** 2).sum(axis=1))).sum()
    reached = (np.array(rates) * np.sqrt(((points - found) ** 2).sum(axis=1))).sum()
    assert reached <= least * (1 + 1e-9) + 1e-6 * sum(rates)


def test_clusters_leave_a_point_that_is_best_for_each_alone() -> None:
    """Erratum E3.4: (0, 0) is best for each operator alone, 20 in flight; together they go to 10."""
    operators = [
        Operator("left", candidates=("n0",), emits_bytes_per_s=1),
        Operator("right", candidates=("n10",), emits_bytes_per_s=1),
        Operator("also-right", candidates=("n10",), emits_bytes_per_s=1),
        Operator("first"),
        Operator("second"),
    ]
    streams = [
        Stream("left", "first"),
        Stream("first", "second", bytes_per_s=5),
        Stream("right", "second"),
        Stream("also-right", "second"),
    ]
    problem = problem_of(LINE, operators, streams)
    before = berth.Plan({f"app/{name}": "n0" for name in ("first", "second")})
    for previous in (None, before):
        plan = berth.solve(problem, "mopa", refine=False, previous=previous)
        assert plan.metrics["network_usage_bytes"] == pytest.approx(0.010)
        assert plan.trace["clusters"] == 1


@QUIET
@given(st.integers(0, 10_000), st.sampled_from([6, 12]), st.sampled_from(["mopa", "sbon"]))
def test_refined_is_never_worse(seed: int, size: int, policy: str) -> None:
    problem = operator_graph(NETWORK, size, np.random.default_rng(seed))
    plain = berth.solve(problem, policy, refine=False)
    refined = berth.solve(problem, policy, refine=True)
    assert plain.objective is not None
    assert refined.objective is not None
    assert refined.objective <= plain.objective * (1 + 1e-9)
    assert plain.trace["probes"] == 0
    assert refined.trace["messages"] == plain.trace["messages"] + refined.trace["probes"]


def test_the_same_seed_gives_the_same_plan() -> None:
    problem = operator_graph(NETWORK, 12, np.random.default_rng(3))
    fresh = replace(problem, network=replace(NETWORK))
    plans = [berth.solve(item, "mopa", seed=4) for item in (problem, problem, fresh)]
    assert plans[0].assignment == plans[1].assignment == plans[2].assignment
    assert plans[0].trace == plans[1].trace == plans[2].trace


HELD = (
    "not placed",
    "must be together",
    "hosts no operators",
    "not among its candidates",
    "lacks the labels",
)


@QUIET
@given(st.data())
def test_all_kinds_of_problems(data: st.DataObject) -> None:
    """Every problem has a plan or a reason; what the policy says that it holds is held."""
    document = {**data.draw(solvable_problems("network_usage")), "sharing": False}
    problem = problem_from(document)
    units = unit_graph(problem)
    pinned = {name for k, name in enumerate(problem.instances.names) if units.fixed[units.unit_of[k]] >= 0}
    for policy in ("mopa", "sbon"):
        plan = berth.solve(problem, policy)
        if not plan.assignment:
            assert plan.status == "unknown"
            assert plan.reason
            continue
        for line in plan.violations:
            assert not any(what in line for what in HELD), line
            if line.startswith("node ") and "card" not in line and "one port" not in line:
                node = line.split()[1].rstrip(":")
                assert {name for name, where in plan.assignment.items() if where == node} <= pinned, line


def chain(*operators: Operator, **changes: Any) -> Problem:
    """Operators one behind the other, in the space of a line."""
    streams = [Stream(one.name, other.name) for one, other in pairwise(operators)]
    application = Application("app", operators, tuple(streams), **changes)
    return Problem("chain", LINE, (application,), objective={"network_usage": 1.0})


SOURCE = Operator("source", candidates=("n0",), emits_bytes_per_s=100, demand={"cpu": 0})
SINK = Operator("sink", candidates=("n10",))


@pytest.mark.parametrize("refine", [False, True])
def test_equal_rates_along_a_chain(refine: bool) -> None:
    """Every place between both ends is as good: rounding must not keep operators wandering there."""
    here = (-12.068710262733156, -7.40649128440808, 33.596384901205944)
    there = (31.730392410893355, -1.506330628059215, -36.22162736669242)
    network = Network((Node("n0", coordinates=here), Node("n10", coordinates=there)))
    source = replace(SOURCE, emits_bytes_per_s=5948.937014621876)
    problem = replace(chain(source, Operator("a"), Operator("b"), SINK), network=network)
    plan = berth.solve(problem, "mopa", refine=refine)
    assert plan.status == "feasible"
    assert plan.trace["non_unique"] == 2


def test_no_move_on_a_tie() -> None:
    """Who is on the segment stays there: its middle is no better."""
    problem = chain(SOURCE, Operator("a"), Operator("b"), SINK)
    before = berth.Plan({"app/source": "n0", "app/a": "n1", "app/b": "n3", "app/sink": "n10"})
    plan = berth.solve(problem, "mopa", refine=False, previous=before)
    assert plan.trace["moves"] == 0
    assert plan.trace["messages"] == 0
    assert plan.assignment == before.assignment


def test_nothing_pinned_goes_to_one_node() -> None:
    problem = chain(Operator("a", emits_bytes_per_s=5), Operator("b"), Operator("c"))
    plan = berth.solve(problem, "mopa")
    assert len(set(plan.assignment.values())) == 1
    assert plan.objective == 0


def test_what_carries_nothing_is_placed() -> None:
    problem = chain(replace(SOURCE, emits_bytes_per_s=0), Operator("a"), SINK)
    assert berth.solve(problem, "mopa").status == "feasible"
    lonely = problem_of(LINE, [Operator("alone")], [])
    assert berth.solve(lonely, "sbon").status == "feasible"


def test_candidates_restrict_nodes_not_places() -> None:
    problem = chain(SOURCE, Operator("a", candidates=("n3", "n8"), selectivity=0.1), SINK)
    plan = berth.solve(problem, "mopa", refine=False)
    assert plan.assignment["app/a"] == "n3"
    assert plan.trace["positions"]["app/a"] == [0.0, 0.0, 0.0]


def test_where_and_together() -> None:
    labelled = tuple(
        replace(node, labels={"zone": "mid"} if node.name in ("n4", "n5") else {}) for node in LINE.nodes
    )
    problem = chain(
        SOURCE,
        Operator("a", selectivity=0.1),
        Operator("b"),
        SINK,
        rules=(Together(("a", "b")), Where({"zone": "mid"}, ("b",))),
    )
    problem = replace(problem, network=Network(labelled))
    plan = berth.solve(problem, "mopa")
    assert plan.assignment["app/a"] == plan.assignment["app/b"] == "n4"


def test_room() -> None:
    """Three operators want to the source's node; with room for one each they stand in a row."""
    small = Network(tuple(replace(node, capacity={"cpu": 1}) for node in LINE.nodes))
    work = [Operator(name, selectivity=0.1, demand={"cpu": 1}) for name in "abc"]
    problem = replace(chain(SOURCE, *work, SINK), network=small)
    plan = berth.solve(problem, "mopa")
    assert plan.status == "feasible"
    assert sorted(plan.assignment[f"app/{name}"] for name in "abc") == ["n0", "n1", "n2"]
    assert plan.assignment["app/a"] == "n0"
    unlimited = chain(SOURCE, *[replace(item, demand={}) for item in work], SINK)
    one_each = berth.solve(unlimited, "mopa", max_operators_per_host=1)
    assert len({one_each.assignment[f"app/{name}"] for name in "abc"}) == 3


def test_processors_are_room_too() -> None:
    work = [Operator(name, selectivity=0.1, work_ms=60) for name in "ab"]
    plan = berth.solve(chain(SOURCE, *work, SINK, throughput_per_s=10), "mopa")
    assert plan.status == "feasible"
    assert plan.assignment["app/a"] != plan.assignment["app/b"]


def test_no_room_at_all() -> None:
    plan = berth.solve(chain(SOURCE, Operator("a", demand={"cpu": 1}), SINK), "mopa")
    assert plan.status == "unknown"
    assert plan.reason == "stuck at app/a: no node that may host it has room"


def test_large_ones_first_where_the_usual_order_is_stuck() -> None:
    """The busy small one takes the room of the large one; in the second try it doesn't."""
    nodes = (
        Node("n0", coordinates=(0.0,)),
        Node("big", coordinates=(1.0,), capacity={"cpu": 4}),
        Node("small", coordinates=(2.0,), capacity={"cpu": 1}),
    )
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=100),
        Operator("busy", demand={"cpu": 1}, selectivity=0.01),
        Operator("large", demand={"cpu": 4}),
    ]
    problem = problem_of(Network(nodes), operators, [Stream("source", "busy"), Stream("busy", "large")])
    plan = berth.solve(problem, "mopa")
    assert plan.assignment == {"app/source": "n0", "app/busy": "small", "app/large": "big"}


def test_missing_links_are_avoided() -> None:
    """The nearest node can't reach the sink; a farther one can."""
    delays = np.full((5, 5), np.nan)
    near = {
        (0, 1): 1.0,
        (0, 2): 5.0,
        (2, 4): 5.0,
        (0, 4): 10.0,
        (1, 2): 4.0,
        (1, 3): 3.0,
        (2, 3): 3.0,
        (3, 4): 9.0,
    }
    for (one, other), delay in near.items():
        delays[one, other] = delays[other, one] = delay
    np.fill_diagonal(delays, 0)
    hosts = {1, 2}
    network = Network(
        tuple(Node(f"n{k}", hosts=k in hosts or k in (0, 4)) for k in range(5)), matrices={"delay_ms": delays}
    )
    operators = [
        replace(SOURCE, demand={}),
        Operator("a", candidates=("n1", "n2")),
        replace(SINK, candidates=("n4",)),
    ]
    problem = problem_of(network, operators, [Stream("source", "a"), Stream("a", "sink")])
    for refine in (False, True):
        plan = berth.solve(problem, "mopa", refine=refine)
        assert plan.assignment["app/a"] == "n2"
        assert not plan.violations


def test_as_printed() -> None:
    """Where the printed search ends it is used; where it doesn't, the reason says for which operator."""
    rng = np.random.default_rng(0)
    problems = [operator_graph(NETWORK, 6, rng) for _ in range(20)]
    plans = [berth.solve(problem, "mopa", mode="paper") for problem in problems]
    assert {plan.status for plan in plans} == {"feasible", "unknown"}
    for plan in plans:
        if plan.status == "unknown":
            assert plan.reason is not None
            assert plan.reason.startswith("app/operator")
            assert plan.reason.endswith("the printed search for its place does not end; mode=fixed does")


def test_an_unknown_rate_is_bad_input() -> None:
    problem = chain(replace(SOURCE, emits_bytes_per_s=None), Operator("a"), SINK)
    problem = replace(problem, objective={"response_time": 1.0})
    for policy in ("mopa", "sbon", "mop-exhaustive"):
        with pytest.raises(
            BadInput, match=r"^this policy needs rates: .*streams\[0\] \(source -> a\) has no rate"
        ):
            berth.solve(problem, policy)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("max_operators_per_host", 0, "--set max_operators_per_host: 0 is below 1"),
        ("refine_nodes", 0, "--set refine_nodes: 0 is below 1"),
        ("migration_threshold", 1, "--set migration_threshold: 1.0 is not from 0 to below 1"),
        ("tolerance_ms", 0, "--set tolerance_ms: 0.0 is not above 0"),
        ("max_events", 0, "--set max_events: 0 is below 1"),
        (
            "max_events",
            10**20,
            f"--set max_events: {10**20} is beyond {2**53}, the largest whole number there is",
        ),
        ("max_events", 10**400, f"--set max_events: expected a whole number, found {10**400}"),
        ("migration", "never", "--set migration: expected 'lazy' or 'eager', found 'never'"),
    ],
)
def test_bad_parameters(name: str, value: object, line: str) -> None:
    with pytest.raises(BadInput) as error:
        berth.solve(chain(SOURCE, SINK), "mopa", **{name: value})
    assert error.value.mistakes == (line,)


def test_events_that_are_allowed() -> None:
    """A number that is said holds, and the reason names it; without one large graphs get more."""
    problem = operator_graph(NETWORK, 12, np.random.default_rng(5))
    plan = berth.solve(problem, "mopa", max_events=2)
    assert plan.status == "unknown"
    assert plan.reason == "no fixed point after 2 events; max_events allows more"
    assert berth.solve(problem, "mopa", max_events=2**53, migration="eager").status == "feasible"


def test_many_nodes_without_matrices() -> None:
    """Coordinates are all that is looked at: no matrix is made."""
    rng = np.random.default_rng(1)
    network = space_network(5000, rng)
    problem = operator_graph(network, 12, rng)
    plan = berth.solve(problem, "mopa")
    assert plan.status == "feasible"
    assert plan.trace["coordinates"] == "given"
    assert plan.objective == pytest.approx(plan.trace["virtual_usage_bytes"], rel=0.2)
