"""From a previous plan: what has not changed costs nothing, what has is found, odd plans are taken."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.experiments.mopa.graphs import operator_graph, redrawn
from berth.files import plan_from, problem_from
from berth.model import Network, Node, Operator, Problem, Stream, Together
from tests.oracle.problems import previous_plans, solvable_problems
from tests.policies.latency_space.operator_graphs import noisy_network, problem_of

QUIET = settings(
    deadline=None,
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],
)
NETWORK = noisy_network(60, np.random.default_rng(0))
POLICIES = ("mopa", "sbon")


@QUIET
@given(st.integers(0, 10_000), st.sampled_from(POLICIES), st.booleans(), st.sampled_from(["lazy", "eager"]))
def test_nothing_has_changed(seed: int, policy: str, refine: bool, migration: str) -> None:
    """Not a message, not a migration, and the same plan."""
    problem = operator_graph(NETWORK, 12, np.random.default_rng(seed))
    before = berth.solve(problem, policy, refine=refine, migration=migration)
    after = berth.solve(problem, policy, refine=refine, migration=migration, previous=before)
    assert after.assignment == before.assignment
    assert (after.trace["messages"], after.trace["probes"], after.trace["migrations"]) == (0, 0, 0)
    assert after.trace["positions"] == before.trace["positions"]


@QUIET
@given(st.integers(0, 10_000), st.sampled_from(POLICIES), st.booleans())
def test_new_rates(seed: int, policy: str, refine: bool) -> None:
    """Migrations are what differs, and nobody moves for nothing."""
    rng = np.random.default_rng(seed)
    problem = operator_graph(NETWORK, 12, rng)
    before = berth.solve(problem, policy, refine=refine)
    changed = redrawn(problem, rng, selectivity=True)
    after = berth.solve(changed, policy, refine=refine, previous=before)
    moved = sum(before.assignment[name] != node for name, node in after.assignment.items())
    assert after.trace["migrations"] == moved == after.metrics["moved_instances"]
    eager = berth.solve(changed, policy, refine=refine, previous=before, migration="eager")
    assert eager.assignment == after.assignment
    assert eager.trace["migrations"] >= moved
    if refine:
        stayed = berth.evaluate(changed, before).metrics
        key = "network_usage_bytes" if policy == "mopa" else "elastic_energy"
        assert after.metrics[key] <= stayed[key] * (1 + 1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_nobody_migrates_to_a_node_that_hosts_nothing(policy: str) -> None:
    """The place moves past sensors, the only host near it stays the same one."""
    rng = np.random.default_rng(0)
    pins = [(0.0, 0.0), (100.0, 0.0), (50.0, 80.0)]
    around = (np.array([50.0, 25.0]) + rng.normal(0, 4, (60, 2))).tolist()
    nodes = [Node(f"n{k}", coordinates=place) for k, place in enumerate([*pins, (50.0, 26.0)])]
    sensors = [Node(f"s{k}", coordinates=tuple(place), hosts=False) for k, place in enumerate(around)]
    network = Network((*nodes, *sensors))

    def problem(rate: float) -> Problem:
        operators = [
            Operator("first", candidates=("n0",), emits_bytes_per_s=rate),
            Operator("second", candidates=("n1",), emits_bytes_per_s=1000),
            Operator("free", selectivity=0.5),
            Operator("sink", candidates=("n2",)),
        ]
        streams = [Stream("first", "free"), Stream("second", "free"), Stream("free", "sink")]
        return problem_of(network, operators, streams)

    before = berth.solve(problem(1000), policy, refine=False)
    after = berth.solve(problem(1200), policy, refine=False, previous=before, migration="eager")
    assert after.trace["positions"] != before.trace["positions"]
    assert before.assignment["app/free"] == after.assignment["app/free"] == "n3"
    assert after.trace["migrations"] == 0


def test_adapting_costs_less_than_starting_again() -> None:
    rng = np.random.default_rng(5)
    messages = {"fresh": 0, "adapted": 0}
    for _ in range(20):
        problem = operator_graph(NETWORK, 12, rng)
        before = berth.solve(problem, "mopa", refine=False)
        changed = redrawn(problem, rng)
        messages["fresh"] += berth.solve(changed, "mopa", refine=False).trace["messages"]
        messages["adapted"] += berth.solve(changed, "mopa", refine=False, previous=before).trace["messages"]
    assert 0 < messages["adapted"] < messages["fresh"]


def test_only_what_is_concerned_has_events() -> None:
    """Two graphs in one problem; the rates of one change, the other doesn't notice."""
    rng = np.random.default_rng(2)
    one, other = operator_graph(NETWORK, 6, rng), operator_graph(NETWORK, 6, rng)
    renamed = replace(other.applications[0], name="other")
    problem = replace(one, applications=(one.applications[0], renamed))
    before = berth.solve(problem, "mopa")
    changed = replace(problem, applications=(redrawn(one, rng).applications[0], renamed))
    after = berth.solve(changed, "mopa", previous=before)
    assert 0 < after.trace["events"] < before.trace["events"]
    for name, node in before.assignment.items():
        if name.startswith("other/"):
            assert after.assignment[name] == node


def test_a_threshold_keeps_the_plan() -> None:
    rng = np.random.default_rng(11)
    moved = {0.0: 0, 0.9: 0}
    for _ in range(10):
        problem = operator_graph(NETWORK, 12, rng)
        before = berth.solve(problem, "mopa")
        changed = redrawn(problem, rng, selectivity=True)
        for threshold in moved:
            plan = berth.solve(changed, "mopa", previous=before, migration_threshold=threshold)
            moved[threshold] += plan.trace["migrations"]
    assert moved[0.9] == 0 < moved[0.0]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_node_is_gone(policy: str) -> None:
    """What ran there goes elsewhere; the space is computed anew, and nothing else need move far."""
    problem = operator_graph(NETWORK, 6, np.random.default_rng(1))
    before = berth.solve(problem, policy)
    pinned = {item.candidates[0] for item in problem.applications[0].operators if item.candidates}
    gone = next(node for name, node in before.assignment.items() if "operator" in name)
    if gone in pinned:
        before = replace(before, assignment={**before.assignment, "app/operator0": "gone"})
        network = problem.network
    else:
        keep = [k for k, node in enumerate(problem.network.nodes) if node.name != gone]
        matrix = problem.network.matrices["delay_ms"][np.ix_(keep, keep)]
        nodes = tuple(problem.network.nodes[k] for k in keep)
        network = Network(nodes, matrices={"delay_ms": matrix})
    for migration in ("lazy", "eager"):
        after = berth.solve(
            replace(problem, network=network), policy, previous=before, migration=migration, refine=False
        )
        assert after.status == "feasible"
        assert after.trace["migrations"] >= after.metrics["moved_instances"] > 0
        assert migration == "eager" or after.trace["migrations"] == after.metrics["moved_instances"]


def test_all_instances_of_a_group_migrate() -> None:
    """Three operators that must be together leave a node that hosts nothing any more."""
    group = ("a", "b", "c")
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=100),
        *(Operator(name) for name in group),
    ]
    problem = problem_of(NETWORK, operators, [Stream("source", name) for name in group])
    application = replace(problem.applications[0], rules=(Together(group),))
    nodes = tuple(replace(node, hosts=node.name != "n7") for node in NETWORK.nodes)
    problem = replace(problem, applications=(application,), network=replace(NETWORK, nodes=nodes))
    before = berth.Plan({"app/source": "n0", **{f"app/{name}": "n7" for name in group}})
    for migration in ("lazy", "eager"):
        after = berth.solve(problem, "mopa", previous=before, migration=migration)
        assert after.metrics["moved_instances"] == 3
        assert after.trace["migrations"] == 3


FORK = np.array([[0.0, 0.0], [100.0, 0.0], [50.0, 1.0], [50.0, -2.0], [48.0, 3.0]])


def fork(delays: np.ndarray, given: bool) -> Problem:
    """A source at n0, a sink at n1 and three nodes between them that may host."""
    nodes = tuple(
        Node(f"n{k}", coordinates=tuple(place) if given else None) for k, place in enumerate(FORK.tolist())
    )
    operators = [
        Operator("source", candidates=("n0",), emits_bytes_per_s=1000),
        Operator("free", candidates=("n2", "n3", "n4")),
        Operator("sink", candidates=("n1",)),
    ]
    network = Network(nodes, matrices={"delay_ms": delays})
    return problem_of(network, operators, [Stream("source", "free"), Stream("free", "sink")])


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_link_is_gone(policy: str, refine: bool) -> None:
    """Nobody stays where its streams can't go, nor goes back there, however near that is."""
    delays = np.sqrt(((FORK[:, None] - FORK[None]) ** 2).sum(axis=2))
    before = berth.solve(fork(delays, False), policy, refine=refine)
    node = int(before.assignment["app/free"].removeprefix("n"))
    broken = delays.copy()
    broken[0, node] = broken[node, 0] = np.nan
    after = berth.solve(fork(broken, False), policy, refine=refine, previous=before)
    assert not after.violations
    assert after.assignment["app/free"] != before.assignment["app/free"]


def test_delays_of_running_streams_have_changed() -> None:
    """Coordinates are given and stay; who chose a node by its delays sees that these have changed."""
    delays = np.sqrt(((FORK[:, None] - FORK[None]) ** 2).sum(axis=2))
    before = berth.solve(fork(delays, True), "mopa")
    assert before.assignment["app/free"] == "n2"
    slow = delays.copy()
    slow[2, :2] = slow[:2, 2] = 500.0
    after = berth.solve(fork(slow, True), "mopa", previous=before)
    assert after.assignment["app/free"] == "n3"
    assert 0 < after.trace["probes"] == after.trace["messages"]


def test_a_node_is_full_now() -> None:
    problem = operator_graph(NETWORK, 6, np.random.default_rng(1))
    before = berth.solve(problem, "mopa")
    full = before.assignment["app/operator0"]
    nodes = tuple(replace(node, capacity={"cpu": float(node.name != full)}) for node in NETWORK.nodes)
    demanding = tuple(
        replace(item, demand={"cpu": 1.0}) if item.candidates is None else item
        for item in problem.applications[0].operators
    )
    changed = replace(
        problem,
        network=replace(NETWORK, nodes=nodes),
        applications=(replace(problem.applications[0], operators=demanding),),
    )
    after = berth.solve(changed, "mopa", previous=before)
    assert after.status == "feasible"
    assert full not in {after.assignment[name] for name in ("app/operator0", "app/operator1")}


def test_an_operator_is_new() -> None:
    """It starts from its springs; the others stay where they were as far as they can."""
    source = Operator("source", candidates=("n0",), emits_bytes_per_s=100)
    sink = Operator("sink", candidates=("n1",))
    old = problem_of(NETWORK, [source, Operator("a"), sink], [Stream("source", "a"), Stream("a", "sink")])
    before = berth.solve(old, "mopa")
    streams = [Stream("source", "a"), Stream("a", "b"), Stream("b", "sink")]
    after = berth.solve(
        problem_of(NETWORK, [source, Operator("a"), Operator("b"), sink], streams), "mopa", previous=before
    )
    assert after.status == "feasible"
    assert "app/b" in after.assignment


@pytest.mark.parametrize("number", [10**400, -(10**400), 1e308, float("nan"), True, "5", None])
@pytest.mark.parametrize("policy", POLICIES)
def test_numbers_that_are_none(policy: str, number: object) -> None:
    """A trace that says nonsense is a trace that says nothing."""
    problem = operator_graph(NETWORK, 6, np.random.default_rng(1))
    before = berth.solve(problem, policy, refine=True)
    names = list(before.trace["positions"])
    trace = {
        **before.trace,
        "positions": dict.fromkeys(names, [number] * 3),
        "measured": [["n0", "n1", number], ["n0", "n2", -5.0]],
    }
    after = berth.solve(problem, policy, refine=True, previous=replace(before, trace=trace))
    silent = berth.solve(problem, policy, refine=True, previous=replace(before, trace={}))
    assert after.assignment == silent.assignment
    assert after.trace == silent.trace


@QUIET
@given(st.data(), st.sampled_from(POLICIES))
def test_any_previous_plan(data: st.DataObject, policy: str) -> None:
    """A plan from elsewhere, with a trace of anything: there is a plan or a reason."""
    document = {**data.draw(solvable_problems("network_usage")), "sharing": False}
    problem = problem_from(document)
    before = plan_from(data.draw(previous_plans(document)))
    strange = data.draw(
        st.sampled_from([{}, {"positions": 3}, {"positions": {"first/a": "x"}, "seen": {}}, {"seen": []}])
    )
    plan = berth.solve(problem, policy, previous=replace(before, trace=strange))
    assert plan.assignment or plan.reason
