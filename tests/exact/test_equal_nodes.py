"""Nodes that differ in nothing: told apart by whatever counts, and the general model loses no best plan."""

from typing import Any

import numpy as np
import pytest

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting
from berth.evaluation.goal import Goal
from berth.exact import minimise as engine
from berth.exact.costs import costs_of
from berth.exact.placement import Placement
from berth.exact.symmetry import equal_nodes, least_of_equals
from berth.files import plan_from, problem_from
from tests.exact.instances import document
from tests.oracle.enumerate import optimum

OBJECTIVES = ("response_time", "nodes_used", "traffic", "bandwidth_max", "availability", "moved_instances")


def many_equals(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Few kinds of nodes and of operators, many of each; with rules, pins, limits; and a previous plan."""
    generator = np.random.default_rng(seed)
    count, operators = int(generator.integers(3, 5)), int(generator.integers(3, 5))
    kind = np.sort(generator.integers(0, 2, count)) if generator.random() < 0.5 else np.zeros(count, int)
    between = generator.integers(1, 6, (2, 2)).astype(float)
    delays = between[np.ix_(kind, kind)]
    np.fill_diagonal(delays, 0)
    if generator.random() < 0.2:
        delays[0, 1] += 1
    nodes = [
        {
            "name": f"n{k}",
            "capacity": {"cpu": float(2 + kind[k])},
            "speed": float(1 + kind[k]),
            "availability": 0.9 + 0.05 * float(kind[k]),
            "labels": {"zone": str(generator.choice(["x", "y"]))},
        }
        for k in range(count)
    ]
    items = [
        {"name": f"o{k}", "demand": {"cpu": float(generator.integers(0, 2))}, "emits_bytes_per_s": 10}
        for k in range(operators)
    ]
    for item in items:
        item["work_ms"] = float(generator.choice([0, 2]))
    if generator.random() < 0.4:
        items[int(generator.integers(operators))]["pinned"] = f"n{generator.integers(count)}"
    if generator.random() < 0.3 and "pinned" not in items[0]:
        items[0]["candidates"] = [f"n{k}" for k in range(int(generator.integers(1, count + 1)))]
    streams = [
        {"from": f"o{a}", "to": f"o{b}", "bytes_per_s": 10.0}
        for b in range(1, operators)
        for a in range(b)
        if generator.random() < 0.6
    ]
    rules: list[dict[str, Any]] = []
    if generator.random() < 0.4:
        by = {"by": "zone"} if generator.random() < 0.5 else {}
        rules.append({"apart": ["o0", "o1"], **by})
    network: dict[str, Any] = {"symmetric": False}
    if generator.random() < 0.5:
        wide = np.where(kind[:, None] == kind[None, :], 20.0, float(generator.choice([10, 30])))
        network["bandwidth_bytes_per_s"] = wide.tolist()
    problem = document(
        nodes, delays.tolist(), items, streams, application={"rules": rules}, network=network, sharing=False
    )
    places = {f"a/{item['name']}": item.get("pinned", f"n{generator.integers(2)}") for item in items}
    previous = {"format": "berth-plan/v1", "problem": "small", "policy": "odp", "assignment": places}
    return problem, previous


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_against_enumeration(objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal nodes and equal operators at once: the general model alone finds the best of all plans."""
    monkeypatch.setattr(engine, "solve_by_structure", lambda *_: None)
    monkeypatch.setattr(engine, "solve_sums", lambda *_: None)
    known, ordered = METRIC_BY_NAME[objective], 0
    for seed in range(SEEDS):
        document_, before = many_equals(seed)
        problem, previous = problem_from(document_), plan_from(before)
        if objective == "bandwidth_max" and not np.isfinite(problem.network.table.physical_bandwidth).any():
            continue
        expected = optimum(document_, known.key, known.maximise, previous=before)
        goal = Goal({objective: 1.0})
        setting = Setting(problem, previous)
        placement = Placement(setting)
        if all(map(len, placement.candidates)):
            ordered += bool(equal_nodes(placement, [costs_of(goal, placement)]))
        found = engine.minimise(setting, goal, Budget(60))
        if expected is None:
            assert found.status == "infeasible", seed
        else:
            assert found.status == "optimal", seed
            assert found.objective == pytest.approx(expected, rel=1e-9, abs=1e-12), seed
            assert found.bound == pytest.approx(expected, rel=1e-9, abs=1e-12), seed
    assert ordered >= SEEDS // 10


SEEDS = 15


def groups(objective: str = "response_time", **changes: Any) -> list[list[int]]:
    """The equal nodes of three nodes and two operators, with something changed."""
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 2}, "labels": {"zone": "x"}} for k in range(3)]
    nodes[1].update(changes.pop("node", {}))
    operators = [{"name": name, "emits_bytes_per_s": 1, **changes.pop(name, {})} for name in "st"]
    delays = changes.pop("delays", [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    raw = document(nodes, delays, operators, [{"from": "s", "to": "t"}], **changes)
    placement = Placement(Setting(problem_from(raw)))
    return equal_nodes(placement, [costs_of(Goal({objective: 1.0}), placement)])


def test_what_tells_nodes_apart() -> None:
    """Fields, links, candidates, prices and labels that a rule asks for; other labels don't."""
    assert groups() == [[0, 1, 2]]
    assert groups(node={"labels": {"zone": "y"}}) == [[0, 1, 2]]
    apart = {"rules": [{"apart": ["s", "t"], "by": "zone"}]}
    assert groups(application=apart) == [[0, 1, 2]]
    assert groups(application=apart, node={"labels": {"zone": "y"}}) == [[0, 2]]
    assert groups(node={"speed": 2}) == groups(node={"availability": 0.5}) == [[0, 2]]
    assert groups(s={"pinned": "n1"}) == groups(t={"candidates": ["n0", "n2"]}) == [[0, 2]]
    assert groups("placement_cost", s={"placement_cost": {"n1": 2}}) == [[0, 2]]
    assert groups(delays=[[0, 1, 1], [1, 0, 2], [1, 2, 0]], network={"symmetric": False}) == [[1, 2]]
    assert groups(delays=[[0, 1, 1], [1, 0, 2], [1, 1, 0]], network={"symmetric": False}) == []


def test_least_of_equals() -> None:
    """Blocks in order, nodes in the order of their first use, both at once."""
    plan = least_of_equals(np.array([5, 2, 4, 2, 0]), [[0, 2]], [[2, 4, 5]])
    assert plan.tolist() == [2, 5, 4, 5, 0] or plan.tolist() == [2, 4, 5, 4, 0]
    assert least_of_equals(plan, [[0, 2]], [[2, 4, 5]]).tolist() == plan.tolist()
