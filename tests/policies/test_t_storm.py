"""T-Storm: best fit by traffic, its ties, its limits and its rounds."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import berth
from berth.evaluation import Setting
from berth.evaluation.limits import place_limits
from berth.files import problem_from
from berth.model import BadInput, Plan, Problem
from berth.policies.t_storm import BestFit
from tests.exact.instances import document
from tests.oracle.problems import problems

some = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def chain(
    capacities: list[float], names: str = "abcdef", rates: dict[str, float] | None = None, **more: Any
) -> Problem:
    """Operators in a row, each with a demand of 1; streams of 100 bytes/s unless said otherwise."""
    count = len(capacities)
    operators: list[dict[str, Any]] = [{"name": name, "demand": {"cpu": 1}} for name in names]
    for operator in operators:
        operator.update(more.get(operator["name"], {}))
    streams = [
        {"from": here, "to": there, "bytes_per_s": (rates or {}).get(here + there, 100)}
        for here, there in pairwise(names)
    ]
    nodes = [{"name": f"n{k}", "capacity": {"cpu": there}} for k, there in enumerate(capacities)]
    delays: list[list[float | None]] = [[1.0] * count for _ in range(count)]
    return problem_from(document(nodes, delays, operators, streams, network=more.get("network", {})))


def groups(plan: Plan) -> set[str]:
    """Which operators share a node, as texts such as 'abc'."""
    names: dict[str, str] = {}
    for instance, node in plan.assignment.items():
        names[node] = names.get(node, "") + instance.removeprefix("a/")
    return set(names.values())


def test_the_paper_s_first_round() -> None:
    """Three executors in sequence, of six, end up with two links between two nodes instead of one."""
    plan = berth.solve(chain([3, 3]), "t-storm")
    assert groups(plan) == {"bcd", "aef"}
    assert plan.objective == plan.metrics["traffic_bytes_per_s"] == 200
    assert dict(plan.goal) == {"traffic": 1.0}
    assert (plan.status, plan.bound) == ("feasible", None)


def test_exact_rates_repeat_noisy_ones_may_repair() -> None:
    """A second round on exact rates moves nothing; on noisy ones some seed finds the optimum, 100."""
    exact = berth.solve(chain([3, 3]), "t-storm", rounds=9)
    assert exact.trace["migrations_per_round"][1:] == [0]
    noisy = [berth.solve(chain([3, 3]), "t-storm", rounds=2, noise=0.8, seed=seed) for seed in range(13)]
    rounds = [plan.trace["traffic_per_round"] for plan in noisy]
    assert all(len(each) == 2 for each in rounds)
    assert any(first == 200 and second == 100 for first, second in rounds)
    assert [plan.objective for plan in noisy] == [second for _, second in rounds]
    again = berth.solve(chain([3, 3]), "t-storm", rounds=2, noise=0.8, seed=3)
    assert again.assignment == noisy[3].assignment
    assert berth.solve(chain([3, 3]), "t-storm", noise=0.8, seed=-5).status == "feasible"


def test_the_most_traffic_first() -> None:
    """c and d exchange most, then come their neighbours by what is left of room."""
    plan = berth.solve(chain([2, 2, 2], rates={"cd": 500, "ab": 90}), "t-storm")
    assert groups(plan) == {"cd", "be", "af"} or groups(plan) == {"cd", "ab", "ef"}
    assert plan.metrics["traffic_bytes_per_s"] <= 100 + 100 + 100 + 90


def test_ties_go_where_the_application_is() -> None:
    """Two pairs that exchange nothing with each other: the second joins the first, though n0 is free."""
    streams = [{"from": "a", "to": "b", "bytes_per_s": 10}, {"from": "c", "to": "d", "bytes_per_s": 5}]
    operators = [{"name": name} for name in "abcd"]
    operators[0]["pinned"] = "n1"
    nodes = [{"name": "n0"}, {"name": "n1"}]
    plan = berth.solve(problem_from(document(nodes, [[0, 1], [1, 0]], operators, streams)), "t-storm")
    assert set(plan.assignment.values()) == {"n1"}


def test_room_of_who_has_no_choice_is_kept() -> None:
    """The pinned executor has the least traffic, and still its node has room for it."""
    problem = chain([1, 2], "abc", {"ab": 1000, "bc": 1}, c={"pinned": "n1"})
    plan = berth.solve(problem, "t-storm")
    assert not plan.violations
    assert plan.assignment["a/c"] == "n1"


def test_gamma_spreads_an_application() -> None:
    """At most ceil(gamma x 6 / 3) executors on a node."""
    free = berth.solve(chain([9, 9, 9]), "t-storm")
    assert groups(free) == {"abcdef"}
    for gamma, most in ((1.0, 2), (1.2, 3), (2.0, 4), (0.1, 1)):
        if most * 3 < 6:
            plan = berth.solve(chain([9, 9, 9]), "t-storm", gamma=gamma)
            assert (plan.status, plan.found) == ("unknown", False)
            continue
        sizes = [len(group) for group in groups(berth.solve(chain([9, 9, 9]), "t-storm", gamma=gamma))]
        assert max(sizes) == most


def test_stuck_says_where() -> None:
    """No node with room: no plan, and which executor and round."""
    plan = berth.solve(chain([1, 1], "abc"), "t-storm")
    assert (plan.status, plan.found) == ("unknown", False)
    assert plan.reason == "round 1: stuck at a/c: no node that may host it has room"


def test_starts_from_a_previous_plan() -> None:
    """What the first round moves is counted against the previous plan; what is new has not moved."""
    problem = chain([3, 3])
    first = berth.solve(problem, "t-storm")
    again = berth.solve(problem, "t-storm", previous=first)
    assert again.trace["migrations"] == 0
    assert again.trace["traffic_at_start"] == first.objective
    without = Plan({name: node for name, node in first.assignment.items() if name != "a/a"})
    plan = berth.solve(problem, "t-storm", previous=without)
    assert plan.trace["migrations"] == 0
    assert plan.trace["traffic_at_start"] is None


def test_unknown_rates_are_a_mistake() -> None:
    """Traffic can't be minimised where nobody knows it."""
    nodes = [{"name": "n0"}, {"name": "n1"}]
    raw = document(nodes, [[0, 1], [1, 0]], [{"name": "s"}, {"name": "t"}], [{"from": "s", "to": "t"}])
    with pytest.raises(BadInput, match=r"--policy t-storm: applications\[0\].streams\[0\] .* has no rate"):
        berth.solve(problem_from(raw), "t-storm")


@pytest.mark.parametrize(
    ("name", "value"),
    [("rounds", 0), ("gamma", 0), ("noise", -1), ("alpha", 0), ("alpha", 2), ("period_s", 0)],
)
def test_parameters_out_of_range(name: str, value: float) -> None:
    with pytest.raises(BadInput, match=f"--set {name}: {value}"):
        berth.solve(chain([3, 3]), "t-storm", **{name: value})


@given(problems())
@some
def test_holds_what_it_says(raw: dict[str, Any]) -> None:
    """On any problem: room, candidates, hosts and `where` rules are kept, or there is no plan."""
    problem = problem_from(raw | {"sharing": False})
    if np.isnan(problem.instances.stream_rate).any():
        with pytest.raises(BadInput):
            berth.solve(problem, "t-storm")
        return
    nodes = BestFit(Setting(problem), None).place(problem.instances.pair_rate)
    if isinstance(nodes, str):
        assert "no node that may host it has room" in nodes
        return
    graph = problem.instances
    assert graph.may_run_on(np.arange(len(graph)), nodes).all()
    for resource in graph.resources:
        used = np.bincount(nodes, graph.demand(resource), len(problem.network.nodes))
        assert (used <= problem.network.capacity(resource) * (1 + 1e-8) + 1e-9).all()


@given(problems())
@some
def test_each_executor_adds_least(raw: dict[str, Any]) -> None:
    """The last executor placed can't be moved alone to a node with room so that less crosses."""
    problem = problem_from(raw | {"sharing": False})
    graph = problem.instances
    rates = np.nan_to_num(graph.pair_rate)
    setting = Setting(problem)
    fit = BestFit(setting, None)
    nodes = fit.place(rates)
    if isinstance(nodes, str):
        return
    last = fit._order(rates)[-1]
    touching = (graph.pair_sender == last) | (graph.pair_receiver == last)

    def crossing(node: int) -> float:
        trial = nodes.copy()
        trial[last] = node
        apart = trial[graph.pair_sender] != trial[graph.pair_receiver]
        return float(rates[apart & touching].sum())

    for node in graph.allowed_nodes[graph.operator_of[last]].tolist():
        trial = nodes.copy()
        trial[last] = node
        loads = [
            (np.bincount(limit.place_of[trial], limit.needed, len(limit.room)), limit.room)
            for limit in place_limits(setting)
        ]
        if all((load <= room).all() for load, room in loads):
            assert crossing(int(nodes[last])) <= crossing(node) * (1 + 1e-8) + 1e-9
