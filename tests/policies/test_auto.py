"""The default policy: who is asked, and that the best plan comes with the best bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import berth
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, evaluate
from berth.evaluation.situation import assignment_of
from berth.files import problem_from
from berth.model import BadInput, Plan
from berth.policies import auto
from berth.policies.odp import Odp
from berth.policies.policy import Answer, Task
from berth.policies.registry import DEFAULT, find_policy
from berth.policies.search import Search, SearchParameters


def asked(plan: berth.Plan) -> list[str]:
    return [each["policy"] for each in plan.trace["auto"]]


def braid(operators: int, nodes: int, **more: Any) -> berth.Problem:
    """No pipeline, no fan, no tree."""
    names = [f"o{k}" for k in range(operators)]
    streams = [
        {"from": names[k], "to": names[k + step], "bytes_per_s": 10 + (k * step) % 17}
        for step in (1, 3, 7)
        for k in range(operators - step)
    ]
    delays = [
        [0 if a == b else 10 + (a * 7 + b * 7 + a * b) % 23 for b in range(nodes)] for a in range(nodes)
    ]
    document = {
        "format": "berth/v1",
        "name": "braid",
        "network": {
            "nodes": [{"name": f"n{k}", "capacity": {"c": 3}} for k in range(nodes)],
            "delay_ms": delays,
        },
        "applications": [
            {
                "name": "a",
                "operators": [{"name": name, "demand": {"c": 1}, "work_ms": 1} for name in names],
                "streams": streams,
            }
        ],
        "objective": {"response_time": 1.0, "network_usage": 1.0},
        "objective_scale": "raw",
        **more,
    }
    return problem_from(document)


def test_it_is_the_default() -> None:
    assert DEFAULT == "auto"
    assert find_policy("auto").about.name == "auto"


def test_what_odp_proves_is_the_answer() -> None:
    plan = berth.solve(berth.generate("sequential", operators=10, nodes=8))
    assert (plan.status, plan.policy) == ("optimal", "odp")
    assert asked(plan) == ["odp"]


def test_the_impossible_is_proved() -> None:
    problem = braid(6, 2, applications=[{"name": "a", "operators": [{"name": "o", "demand": {"c": 9}}]}])
    plan = berth.solve(problem)
    assert plan.status == "infeasible"


class NoTimeForProofs(Budget):
    """No clock: the part that `odp` gets is over at once, all else has no end."""

    def part(self, share: float, most: float = float("inf")) -> Budget:
        """Over."""
        return Budget(0.0, self)


def asked_with(monkeypatch: pytest.MonkeyPatch, steps: int) -> dict[str, Task]:
    """The tasks that `odp` and `search` will get; the latter takes so many steps then."""
    tasks: dict[str, Task] = {}

    def watch(policy: Any, change: Callable[[Task], Task]) -> None:
        real = policy.solve

        def solve(self: Any, task: Task) -> Answer:
            tasks[policy.about.name] = task
            answer: Answer = real(self, change(task))
            return answer

        monkeypatch.setattr(policy, "solve", solve)

    watch(Odp, lambda task: task)
    watch(Search, lambda task: replace(task, parameters=SearchParameters(steps=steps)))
    return tasks


@pytest.mark.parametrize("steps", [0, 20_000])
def test_large_problems_are_searched(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From odp's plan; the answer is no worse than what either found, and the bound is odp's."""
    tasks = asked_with(monkeypatch, steps)
    problem = braid(60, 30)
    plan = berth.solve(problem, budget=NoTimeForProofs())
    assert asked(plan) == ["odp", "search"]
    exact, searched = plan.trace["auto"]
    start = tasks["search"].start
    assert start is not None
    begun = evaluate(problem, Plan(assignment_of(problem, start)))
    assert begun.violations == ()
    assert sum(begun.metrics[METRIC_BY_NAME[name].key] for name in problem.objective) == pytest.approx(
        exact["objective"]
    )
    assert searched["objective"] <= exact["objective"]
    assert plan.violations == ()
    assert plan.objective is not None
    # who looks for better ties may find a better plan
    assert plan.objective <= min(exact["objective"], searched["objective"])
    assert plan.bound == exact["bound"]
    assert plan.bound is None or plan.bound <= plan.objective
    if steps:
        assert (plan.policy, searched["objective"] < exact["objective"]) == ("search", True)


def test_what_odp_can_not_even_list_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "LARGEST_EXACT", 60 * 30 - 1)
    asked_with(monkeypatch, 1_000)
    plan = berth.solve(braid(60, 30), budget=NoTimeForProofs())
    assert asked(plan) == ["search"]
    assert plan.status == "feasible"
    assert plan.violations == ()


def test_containers_are_packed() -> None:
    problem = berth.generate("fat-tree", requests=1)
    plan = berth.solve(problem, time_limit=3.0, exact_share=0.2)
    assert asked(plan)[0] == "odp"
    assert plan.containers
    assert plan.violations == ()


@pytest.mark.parametrize("seed", [0, 3])
def test_shared_operators_go_to_forest(seed: int) -> None:
    """Its plans reuse operators, which is no reason to drop them: auto's are no worse."""
    problem = berth.generate("forest", seed=seed, processors=12, applications=3, most_operators=20)
    plan = berth.solve(problem)
    alone = berth.solve(problem, "forest")
    assert alone.reuse
    assert plan.violations == ()
    assert plan.objective <= alone.objective
    assert asked(plan)[0] == "forest"
    assert plan.trace["auto"][0]["objective"] == alone.objective


def test_what_forest_only_finds_is_proved_by_odp() -> None:
    problem = berth.load(Path(__file__).parents[2] / "examples" / "shared-sensors.yaml")
    assert berth.solve(problem, "forest").status == "feasible"
    plan = berth.solve(problem)
    assert (plan.status, asked(plan)) == ("optimal", ["forest", "odp"])


@pytest.mark.parametrize(("name", "value"), [("gap", -0.1), ("gap", 1.0), ("exact_share", 0.0)])
def test_bad_parameters(name: str, value: float) -> None:
    with pytest.raises(BadInput, match=f"{name}: {value}"):
        berth.solve(braid(4, 3), **{name: value})


def test_a_policy_that_can_not_take_the_problem_costs_no_plan() -> None:
    """mips packs everything or nothing; odp has a plan already."""
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "mixed",
            "network": {
                "nodes": [
                    {"name": "n0", "capacity": {"cpu": 8}, "holds": ["map"]},
                    {"name": "n1", "capacity": {"cpu": 8}},
                ],
                "links": [{"from": "n0", "to": "n1", "delay_ms": 5}],
            },
            "objects": [{"name": "map", "bytes": 10}],
            "applications": [
                {
                    "name": "packed",
                    "operators": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}],
                    "streams": [{"from": "a", "to": "b", "bytes_per_s": 10}],
                    "containers": {"count": 2, "capacity": {"cpu": 2}},
                },
                {
                    "name": "plain",
                    "operators": [
                        {"name": "c", "demand": {"cpu": 1}, "reads": [{"object": "map", "per_s": 1}]}
                    ],
                },
            ],
        }
    )
    plan = berth.solve(problem, "auto", time_limit=5.0)
    assert plan.status == "feasible"
    assert not plan.violations


def test_room_that_only_reuse_makes() -> None:
    """Nobody has room for the second count; the first one's results serve both."""

    def application(name: str, demand: dict[str, float]) -> dict[str, object]:
        return {
            "name": name,
            "operators": [
                {"name": "read", "type": "read", "reads": [{"object": "map", "per_s": 1}], "output_bytes": 1},
                {"name": "count", "type": "count", "demand": demand, "output_bytes": 1},
            ],
            "streams": [{"from": "read", "to": "count"}],
        }

    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "shared",
            "network": {"nodes": [{"name": "n0", "capacity": {"cpu": 0}, "holds": ["map"]}]},
            "objects": [{"name": "map", "bytes": 1}],
            "applications": [application("first", {}), application("second", {"cpu": 1})],
        }
    )
    plan = berth.solve(problem, "auto", time_limit=5.0)
    assert (plan.policy, plan.status) == ("proc-nb", "feasible")
    assert plan.reuse == {"second/count": "first/count"}
    assert not plan.violations
