"""Instances to containers to nodes, decided at once: against all maps of small problems."""

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting
from berth.evaluation.goal import Goal
from berth.exact.minimise import minimise
from berth.exact.placement import Placement
from berth.exact.start import first_packed_plan
from berth.files import plan_document, problem_from
from tests.exact.packed_problems import packed_problems
from tests.oracle import reference
from tests.oracle.enumerate import feasible_situations, optimum
from tests.oracle.metrics import metric
from tests.policies.two_stage.cases import case, cluster

OBJECTIVES = [
    "communication_cost",
    "container_traffic",
    "containers_used",
    "traffic",
    "network_usage",
    "elastic_energy",
    "nodes_used",
    "placement_cost",
    "cost_per_hour",
    "response_time",
    "availability",
    "bandwidth_max",
]
QUIET = settings(
    deadline=None,
    max_examples=5,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],
)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_against_all_maps(objective: str) -> None:
    """The optimum, with its proof; infeasible means that no map keeps the constraints, and says why."""
    known = METRIC_BY_NAME[objective]

    @QUIET
    @given(packed_problems({objective: 1}))
    def check(raw: dict[str, Any]) -> None:
        expected = optimum(raw, known.key, known.maximise)
        plan = berth.solve(problem_from(raw), "odp", time_limit=30)
        if expected is None:
            assert plan.status == "infeasible"
            assert plan.reason
            return
        _, broken = reference.evaluate(raw, plan_document(plan))
        assert not broken
        assert plan.status == "optimal"
        assert plan.objective == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert plan.bound == pytest.approx(expected, rel=1e-6, abs=1e-12)

    check()


WEIGHTED = [
    {"container_traffic": 0.7, "containers_used": 0.3},
    {"communication_cost": 1.0, "containers_used": 0.5, "response_time": 0.2},
]


@pytest.mark.parametrize("scale", ["raw", "normalised"])
@pytest.mark.parametrize("weights", WEIGHTED, ids=lambda weights: "+".join(weights))
def test_weighted_sums_against_all_maps(weights: dict[str, float], scale: str) -> None:
    """A weighted sum reaches the least value over all maps, on the scale that the trace names."""

    @settings(QUIET, max_examples=4)
    @given(packed_problems(weights))
    def check(raw: dict[str, Any]) -> None:
        plan = berth.solve(problem_from({**raw, "objective_scale": scale}), "odp", time_limit=30)
        situations = feasible_situations(raw)
        keys = {name: METRIC_BY_NAME[name].key for name in weights}
        figures = [{name: metric(each, keys[name]) or 0.0 for name in keys} for each in situations]
        if not figures:
            assert plan.status == "infeasible"
            return
        bounds = plan.trace.get("objective_bounds", dict.fromkeys(weights, (0.0, 1.0)))
        for name in weights if scale == "normalised" else ():
            values = [each[name] for each in figures]
            assert bounds[name][0] == pytest.approx(min(values))
            if name != "response_time":
                assert bounds[name][1] == pytest.approx(max(values))

        def share(name: str, value: float) -> float:
            best, worst = bounds[name]
            return 0.0 if worst == best else (value - best) / (worst - best)

        least = min(sum(weights[name] * share(name, each[name]) for name in weights) for each in figures)
        assert plan.status == "optimal"
        assert plan.objective == pytest.approx(least, rel=1e-6, abs=1e-9)

    check()


def test_a_first_plan_keeps_the_containers() -> None:
    """The greedy plan, which a time limit of a moment returns, breaks nothing about containers."""
    seen = 0

    @settings(QUIET, max_examples=40)
    @given(packed_problems(), st.sampled_from(["traffic", "containers_used", "nodes_used"]))
    def check(raw: dict[str, Any], objective: str) -> None:
        nonlocal seen
        problem = problem_from(raw)
        placement = Placement(Setting(problem))
        found = first_packed_plan(placement, Goal({objective: 1.0}))
        if found is None:
            return
        seen += 1
        names = problem.network.nodes
        nodes = placement.nodes_of_instances(found).tolist()
        plan = {
            "assignment": {
                name: names[node].name for name, node in zip(problem.instances.names, nodes, strict=True)
            },
            "containers": placement.containers_of_instances(found),
        }
        _, broken = reference.evaluate(raw, plan)
        assert not [line for line in broken if "container" in line or "cpu" in line or "gpu" in line]

    check()
    assert seen >= 15


def test_equal_instances_in_several_containers() -> None:
    """Six alike to one: two containers of three, and the one with its heaviest pair; swaps change nothing."""
    operators = {"x": {"parallelism": 6, "demand": {"cpu": 1}}, "y": {"demand": {"cpu": 1}}}
    raw = case(operators, {"xy": 6.0}, (3, 4.0), (4.0, 4.0, 4.0))
    plan = berth.solve(problem_from({**raw, "objective": {"container_traffic": 1}}), "odp")
    assert (plan.status, plan.objective) == ("optimal", 3.0)
    assert plan.metrics["containers_used"] == 2


def test_what_a_container_takes_counts_not_what_is_in_it() -> None:
    """Two instances of 1 in containers of 3 on servers of 4: together, or on two servers."""
    raw = case({"x": 1, "y": 1}, {"xy": 5.0}, (2, 3.0), (4.0, 4.0))
    plan = berth.solve(problem_from({**raw, "objective": {"traffic": 1}}), "odp")
    assert (plan.status, plan.objective) == ("optimal", 0.0)
    raw["applications"][0]["rules"] = [{"apart": ["x", "y"]}]
    plan = berth.solve(problem_from({**raw, "objective": {"traffic": 1}}), "odp")
    assert (plan.status, plan.objective) == ("optimal", 5.0)
    assert len(set(plan.containers.values())) == 2


def test_a_resource_that_only_containers_name() -> None:
    """Nobody demands slots, but a container takes one, and only s1 has any."""
    raw = case({"x": 1}, {}, (1, {"cpu": 1, "slots": 1}), ({"cpu": 4}, {"cpu": 4, "slots": 1}))
    plan = berth.solve(problem_from(raw), "odp")
    assert plan.assignment == {"a/x": "s1"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (case({"x": 5}, {}, (2, 4.0), (8.0,)), "instance a/x needs cpu 5; a container of 'a' has 4"),
        (case({"x": 3, "y": 3}, {}, (1, 4.0), (8.0,)), "cpu 6 needed, 4 in its 1 container(s)"),
        (case({"x": 3}, {}, (1, 4.0), (3.5, 3.0)), "takes cpu 4; of the nodes where a/x may run, s0"),
        (
            case({"x": {"pinned": "s0"}, "y": {"pinned": "s1"}}, {}, (1, 4.0), (4.0, 4.0)),
            "application a: at most 1 container(s)",
        ),
        (case({"x": 3, "y": 2}, {}, (2, 4.0), (6.0,)), "node s0: at most cpu 6"),
    ],
)
def test_why_nothing_can_be_packed(raw: dict[str, Any], reason: str) -> None:
    """Which of the containers' limits clash."""
    plan = berth.solve(problem_from(raw), "odp")
    assert plan.status == "infeasible"
    assert plan.reason is not None
    assert reason in plan.reason


def test_two_applications_share_what_is_there() -> None:
    """One with containers, one without, on one server: both count."""
    packed = {
        "name": "a",
        "operators": [{"name": "x", "demand": {"cpu": 1}}],
        "containers": {"count": 1, "capacity": {"cpu": 3}},
    }
    plain = {"name": "b", "operators": [{"name": "y", "demand": {"cpu": 2}}]}
    raw = {**cluster([packed, plain], (4.0, 4.0)), "objective": {"nodes_used": 1}}
    assert berth.solve(problem_from(raw), "odp").objective == 2
    raw = {**cluster([packed, plain], (5.0, 4.0)), "objective": {"nodes_used": 1}}
    assert berth.solve(problem_from(raw), "odp").objective == 1


def test_too_large_for_a_model() -> None:
    """A greedy plan that keeps the containers, and says that it is one."""
    operators = {name: {"parallelism": 40, "demand": {"cpu": 1}} for name in "xyz"}
    raw = case(operators, {"xy": 4.0, "yz": 2.0}, (120, 2.0), (2.0,) * 200)
    plan = berth.solve(problem_from({**raw, "objective": {"containers_used": 1}}), "odp", time_limit=20)
    assert plan.status == "feasible"
    assert not plan.violations
    assert plan.reason is not None
    assert "too large" in plan.reason
    assert plan.bound is not None
    assert math.isclose(plan.bound, 0.0)


def test_a_known_plan_is_where_it_starts() -> None:
    """A plan of somebody else's comes first where it is better than the greedy one."""
    raw = case({"x": 1, "y": 1, "z": 1}, {"xy": 2.0, "yz": 5.0}, (3, 2.0), (2.0, 2.0, 2.0))
    problem = problem_from(raw)
    best = berth.solve(problem_from({**raw, "objective": {"traffic": 1}}), "odp")
    told: list[float | None] = []
    for known in (None, best):
        heard: list[float | None] = []
        minimise(
            Setting(problem),
            Goal({"traffic": 1.0}),
            Budget(None),
            progress=lambda objective, _, heard=heard: heard.append(objective),  # type: ignore[misc]
            known=known,
        )
        told.append(heard[0])
    assert told == [5.0, 2.0]
