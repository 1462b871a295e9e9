"""The exact model with sharing against all plans of small forests.

BERTH_EXAMPLES=500 looks at so many random problems instead of a few fixed ones.
"""

import os
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting, evaluate
from berth.evaluation.goal import Goal, goal_mistakes
from berth.exact.sharing.minimise_shared import minimise_shared
from berth.exact.sharing.shared import Shared, alike_subtrees
from berth.files import problem_from
from tests.oracle.additions import all_loads_known
from tests.oracle.enumerate import feasible_situations
from tests.oracle.metrics import metric
from tests.oracle.problems import TYPE_NAMES, Dice, sharing_problems

Entry = dict[str, Any]
EXAMPLES = os.environ.get("BERTH_EXAMPLES")
few = settings(
    max_examples=int(EXAMPLES or 12),
    derandomize=EXAMPLES is None,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
GOALS = ("nodes_used", "enrolled_speed", "bandwidth_sum", "bandwidth_max", "processing_power", "traffic")


def best_of_all(problem: Entry, goals: list[str], reuse: bool) -> dict[str, float | None]:
    """The least of each metric over all assignments, ways to reuse, and downloads; None: there is no plan."""
    best: dict[str, float | None] = dict.fromkeys(goals)
    for situation in feasible_situations(problem, None, reuse):
        for name in goals:
            value, least = metric(situation, METRIC_BY_NAME[name].key), best[name]
            assert value is not None
            best[name] = value if least is None else min(least, value)
    return best


@few
@given(
    sharing_problems(max_operators=3, max_applications=2, max_instances=5),
    strategies.booleans(),
    strategies.sampled_from(["half", "full"]),
    strategies.booleans(),
)
def test_against_all_plans(problem: Entry, reuse: bool, duplex: str, one_port: bool) -> None:
    """Every optimum is that of the enumeration, and what has no plan is called infeasible."""
    problem["network"] |= {"duplex": duplex, "one_port": one_port}
    compare_with_all_plans(problem, reuse)


@few
@given(
    strategies.data(),
    sharing_problems(max_operators=3, max_applications=2, max_instances=5),
    strategies.booleans(),
)
def test_processors_against_all_plans(data: strategies.DataObject, problem: Entry, reuse: bool) -> None:
    """With cores, loads by tuples and a limit of utilisation; a core must keep up with what reuse lifts."""
    dice = Dice(data.draw)
    work = {kind: dice.pick((200, 500, 900, 1500)) for kind in TYPE_NAMES}
    for application in problem["applications"]:
        if application.pop("throughput_per_s", None) is not None and dice.whether():
            application["throughput_per_s"] = dice.pick((1, 2))
        for operator in application["operators"]:
            operator["work_ms"] = work[operator.get("type", TYPE_NAMES[0])]
            operator.pop("demand", None)
        for stream in application.get("streams", []):
            stream |= {"bytes_per_s": 100, "tuple_bytes": dice.pick((50, 100, 200))}
    for node in problem["network"]["nodes"]:
        node["cores"] = dice.pick((2, 4, 1, 1.5))
    if all_loads_known(problem) and not dice.whether(4):
        problem["network"]["max_utilisation"] = dice.pick((0.5, 0.9, 1))
    compare_with_all_plans(problem, reuse)


def compare_with_all_plans(problem: Entry, reuse: bool) -> None:
    for key in ("objective", "objective_scale", "objective_bounds"):
        problem.pop(key, None)
    loaded = problem_from(problem)
    goals = [name for name in GOALS if not list(goal_mistakes(replace(loaded, objective={name: 1.0})))]
    assume(goals)
    for name, least in best_of_all(problem, goals, reuse).items():
        found = minimise_shared(Setting(loaded), Goal({name: 1.0}), reuse, Budget(30))
        if least is None:
            assert found.status == "infeasible"
            continue
        assert found.status == "optimal", (name, found.trace)
        assert found.plan is not None
        judged = evaluate(loaded, found.plan)
        assert not judged.violations
        assert judged.metrics[METRIC_BY_NAME[name].key] == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert found.bound == pytest.approx(least, rel=1e-6, abs=1e-12)


def twins(**more: Any) -> Entry:
    """Two equal applications, each reads and counts, on two nodes of which one holds the object."""
    operators = [
        {"name": "read", "type": "r", "work_ms": 100, "output_bytes": 10,
         "reads": [{"object": "camera", "per_s": 1}], **more},
        {"name": "count", "type": "c", "work_ms": 100, "output_bytes": 10},
    ]  # fmt: skip
    application = {
        "throughput_per_s": 1,
        "operators": operators,
        "streams": [{"from": "read", "to": "count"}],
    }
    nodes = [{"name": "rome", "holds": ["camera"]}, {"name": "paris"}]
    links = [{"from": "rome", "to": "paris", "delay_ms": 1, "bandwidth_bytes_per_s": 100}]
    return {
        "format": "berth/v1",
        "name": "twins",
        "network": {"nodes": nodes, "links": links},
        "objects": [{"name": "camera", "bytes": 50}],
        "applications": [{"name": name, **application} for name in ("a", "b")],
    }


def test_alike_subtrees() -> None:
    """The earlier one of two alike operators never takes the later one's result; a pin tells them apart."""
    document = twins()
    shared = Shared(Setting(problem_from(document)), True)
    names = [(shared.name(one), shared.name(other)) for one, other in alike_subtrees(shared)]
    assert sorted(names) == [("a/count", "b/count"), ("a/read", "b/read")]
    document["applications"][1]["operators"] = [
        {**document["applications"][1]["operators"][0], "pinned": "rome"},
        document["applications"][1]["operators"][1],
    ]
    assert not list(alike_subtrees(Shared(Setting(problem_from(document)), True)))


def test_a_pin_lapses_with_reuse() -> None:
    """Pinned where the object must be fetched, an operator is better not computed at all."""
    document = twins()
    operators = document["applications"][0]["operators"]
    document["applications"][0]["operators"] = [{**operators[0], "pinned": "paris"}, operators[1]]
    setting, goal = Setting(problem_from(document)), Goal({"bandwidth_sum": 1.0})
    found = minimise_shared(setting, goal, True, Budget(30))
    assert found.status == "optimal"
    assert found.bound == 0.0
    assert found.plan is not None
    assert "a/read" in (*found.plan.reuse, *found.plan.skipped)
    alone = minimise_shared(setting, goal, False, Budget(30))
    assert alone.status == "optimal"
    assert alone.bound == pytest.approx(50.0)


def test_too_large() -> None:
    """Beyond what could be solved no model is built."""
    document = twins(parallelism=200)
    document["applications"][0]["operators"][1] = {"name": "count", "parallelism": 200}
    found = minimise_shared(Setting(problem_from(document)), Goal({"nodes_used": 1.0}), True, Budget(30))
    assert found.status == "unknown"
    assert found.trace["too_large"]
