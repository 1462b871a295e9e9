"""Both stages together: what holds on any problem, several applications, bad input."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from berth.evaluation import Occupied
from berth.files import plan_document, problem_from
from berth.model import BadInput
from tests.oracle import reference
from tests.policies.two_stage.cases import BASELINES, any_problems, case, cluster, packed, solve, tiny_cases

some = settings(
    max_examples=50, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
LETTERS = {
    "T": "container_traffic_bytes_per_s",
    "U": "containers_used",
    "W": "communication_cost",
}
BROKEN_ELSEWHERE = ("link ", "application ", "download ")
"""How lines begin about constraints that two-stage policies don't look at."""


def held(line: str) -> bool:
    """Whether a violation is one of those that two-stage policies keep out of their plans."""
    return not (
        line.startswith(BROKEN_ELSEWHERE) or any(word in line for word in ("card", "one port", "processor"))
    )


@given(any_problems())
@some
def test_any_problem(raw: dict[str, Any]) -> None:
    """What the policies say they hold is held, T, U and W are the judge's, the same seed does the same."""
    problem = problem_from(raw)
    for (policy, parameters), limit in product(BASELINES, ("all", "nomad")):
        if policy != "ffd" and np.isnan(problem.instances.stream_rate).any():
            with pytest.raises(BadInput, match=f"--policy {policy}: .* has no rate"):
                solve(problem, policy)
            continue
        plan = solve(problem, policy, seed=3, limit=limit, **parameters)
        if not plan.found:
            assert plan.status == "unknown"
            assert plan.reason is not None
            assert "stage, " in plan.reason
            assert "stuck at " in plan.reason
            continue
        assert not [line for line in plan.violations if held(line)]
        figures = {letter: plan.metrics[key] for letter, key in LETTERS.items() if key in plan.metrics}
        assert {letter: plan.trace[letter] for letter in LETTERS if letter in plan.trace} == figures
        again = solve(problem, policy, seed=3, limit=limit, **parameters)
        assert (again.assignment, again.containers) == (plan.assignment, plan.containers)


@given(tiny_cases())
@settings(some, max_examples=40)
def test_against_trying_all(raw: dict[str, Any]) -> None:
    """No baseline is better than the best of all packings, or finds one where there is none."""
    best = optimum(raw)
    for policy, parameters in BASELINES:
        plan = solve(problem_from(raw), policy, **parameters)
        if not plan.found:
            continue
        assert best is not None
        metrics, broken = reference.evaluate(raw, plan_document(plan))
        assert not broken
        for letter, key in LETTERS.items():
            assert plan.trace[letter] == pytest.approx(metrics[key], abs=1e-9)
            assert plan.trace[letter] >= best[letter] - 1e-9


def optimum(raw: dict[str, Any]) -> dict[str, float] | None:
    """The least T, U and W of all plans, each alone, worked out without berth; None: no plan is right."""
    application, nodes = raw["applications"][0], raw["network"]["nodes"]
    resources, size = ("cpu", "gpu"), application["containers"]["capacity"]
    owners = [item for item in application["operators"] for _ in range(item["parallelism"])]
    share = 1.0 - raw["network"].get("headroom", 0.0)
    flows = []
    for stream in application["streams"]:
        ends = [[k for k, item in enumerate(owners) if item["name"] == stream[end]] for end in ("from", "to")]
        pairs = list(product(*ends))
        flows += [(sender, receiver, stream["bytes_per_s"] / len(pairs)) for sender, receiver in pairs]
    cost = raw["network"]["cost"]
    best: dict[str, float] | None = None
    for bins in product(range(application["containers"]["count"]), repeat=len(owners)):
        used = sorted(set(bins))
        if any(
            sum(item["demand"][name] for item, k in zip(owners, bins, strict=True) if k == each)
            > size[name] + 1e-9
            for each in used
            for name in resources
        ):
            continue
        for chosen in product(range(len(nodes)), repeat=len(used)):
            place = [chosen[used.index(k)] for k in bins]
            if any(
                "candidates" in item and nodes[node]["name"] not in item["candidates"]
                for item, node in zip(owners, place, strict=True)
            ):
                continue
            if any(
                chosen.count(node) * size[name] > nodes[node]["capacity"][name] * share + 1e-9
                for node in chosen
                for name in resources
            ):
                continue
            found = {
                "T": sum(rate for one, other, rate in flows if bins[one] != bins[other]),
                "U": float(len(used)),
                "W": sum(
                    rate * cost[place[one]][place[other]]
                    for one, other, rate in flows
                    if place[one] != place[other]
                ),
            }
            best = found if best is None else {key: min(best[key], found[key]) for key in found}
    return best


def test_every_container_takes_its_full_capacity() -> None:
    """Two instances of 1 in containers of 3: a server of 4 has room for one container only."""
    raw = case({"x": 2, "y": 2}, {"xy": 10}, (2, 3), (4, 4))
    plan = solve(problem_from(raw), "t-heron")
    assert packed(plan) == ["x", "y"]
    assert plan.assignment == {"a/x": "s0", "a/y": "s1"}
    assert (plan.trace["T"], plan.trace["U"], plan.trace["W"]) == (10, 2, 10)
    assert not plan.violations


@pytest.mark.parametrize(("policy", "parameters"), BASELINES)
def test_one_application_after_another(policy: str, parameters: dict[str, Any]) -> None:
    """The second finds what the first has left; the third finds nothing, and it is said which one."""

    def application(name: str) -> dict[str, Any]:
        containers = {"count": 1, "capacity": {"cpu": 3}}
        return {"name": name, "operators": [{"name": "x", "demand": {"cpu": 1}}], "containers": containers}

    plan = solve(problem_from(cluster([application("a"), application("b")], (4, 4))), policy, **parameters)
    assert plan.assignment == {"a/x": "s0", "b/x": "s1"}
    assert plan.containers == {"a/x": "a/c0", "b/x": "b/c0"}
    full = cluster([application(name) for name in "abc"], (4, 4))
    plan = solve(problem_from(full), policy, **parameters)
    reason = "stuck at container c/c0: no server that may host it has room for cpu 3"
    assert (plan.status, plan.reason) == ("unknown", f"second stage, best-fit: {reason}")


def test_what_others_have_taken() -> None:
    """The best fit is where others are already, unless they leave no room."""
    problem = problem_from(case({"x": 2}, {}, (1, 2), (4, 4, 4)))
    for taken, server in (([0.0, 1.0, 0.0], "s1"), ([0.0, 3.0, 2.0], "s2")):
        occupied = Occupied({"cpu": np.array(taken)}, np.zeros(3), np.zeros(3))
        assert solve(problem, "ffd", occupied=occupied).assignment == {"a/x": server}


def test_headroom_and_labels() -> None:
    """A container goes where all instances in it may run, and leaves the headroom."""
    raw = case(
        {"x": 1, "y": 1},
        {"xy": 1},
        (1, 3),
        (3, 4, 9, 9),
        rules=[{"where": {"zone": "z"}, "operators": ["y"]}],
    )
    for node in raw["network"]["nodes"][:3]:
        node["labels"] = {"zone": "z"}
    raw["network"]["headroom"] = 0.25
    plan = solve(problem_from(raw), "r-heron")
    assert set(plan.assignment.values()) == {"s1"}
    raw["network"]["nodes"][1]["hosts"] = False
    assert set(solve(problem_from(raw), "r-heron").assignment.values()) == {"s2"}


@pytest.mark.parametrize(("policy", "parameters"), BASELINES)
def test_pins_keep_instances_apart(policy: str, parameters: dict[str, Any]) -> None:
    """What is pinned to different servers doesn't share a container, whatever flows between them."""
    pinned = {name: {"demand": {"cpu": 1}, "pinned": server} for name, server in (("x", "s1"), ("y", "s0"))}
    plan = solve(problem_from(case(pinned | {"z": 1}, {"xy": 99}, (2, 3))), policy, **parameters)
    assert not plan.violations
    assert plan.assignment["a/x"] == "s1"
    assert plan.assignment["a/y"] == "s0"
    plan = solve(problem_from(case(pinned, {"xy": 99}, (1, 3))), policy, **parameters)
    assert plan.reason is not None
    assert "none of the 1 containers has room left and can go to a server that may host it" in plan.reason


def test_no_server_for_a_container() -> None:
    """It is said where an instance may only run on servers that are too small for a container."""
    pinned = {"x": {"demand": {"cpu": 1}, "pinned": "s0"}, "y": 1}
    plan = solve(problem_from(case(pinned, {}, (2, 3), (2, 4))), "ffd")
    reason = "stuck at a/x: no server that may host it has room for a container"
    assert (plan.status, plan.reason) == ("unknown", f"first stage, ffd: {reason}")


def test_sums_of_shares() -> None:
    """Ten times 0.1 fill a container of 1, and three containers of 0.1 a server of 0.3."""
    ten = {"x": {"parallelism": 10, "demand": {"cpu": 0.1}}}
    for policy in ("ffd", "t-heron", "r-heron"):
        plan = solve(problem_from(case(ten, {}, (1, 1.0), (1.0,))), policy)
        assert plan.metrics["containers_used"] == 1
        assert not plan.violations
    three = {"x": {"parallelism": 3, "demand": {"cpu": 0.1}}}
    plan = solve(problem_from(case(three, {}, (3, 0.1), (0.3,))), "ffd")
    assert plan.metrics["containers_used"] == 3
    assert not plan.violations


def test_an_application_without_containers() -> None:
    """It is bad input, with the field and a way out."""
    raw = case({"x": 1}, {})
    raw["applications"].append({"name": "b", "operators": [{"name": "x"}]})
    with pytest.raises(BadInput) as caught:
        solve(problem_from(raw), "ffd")
    (line,) = caught.value.mistakes
    assert line.startswith("applications[1].containers: b has none, and --policy ffd packs instances")
    assert "{count, capacity}" in line


def test_wrong_second_stage() -> None:
    """There are three of them."""
    line = "--set second_stage: expected 'best-fit' or 'exact' or 'mips', found 'worst'"
    with pytest.raises(BadInput, match=line):
        solve(problem_from(case({"x": 1}, {})), "ffd", second_stage="worst")


@pytest.mark.parametrize(("name", "value"), [("samples", 0), ("exploration", -1), ("exploration", "nan")])
def test_parameters_out_of_range(name: str, value: Any) -> None:
    """The line names field and value."""
    with pytest.raises(BadInput, match=f"--set {name}: {value}"):
        solve(problem_from(case({"x": 1}, {})), "t-heron", **{name: value})


def test_many_containers_and_none_needed() -> None:
    """A number of containers far above that of the instances is no burden; demands may be nothing."""
    plan = solve(problem_from(case({"x": 1, "y": {}}, {"xy": 3}, (10**9, 2))), "t-heron")
    assert packed(plan) == ["x y"]
    raw = case({"x": {}, "y": {}}, {"xy": 3}, (2, {}), ({}, {}))
    for policy, parameters in BASELINES:
        plan = solve(problem_from(raw), policy, **parameters)
        assert packed(plan) == ["x y"]
        assert set(plan.assignment.values()) == {"s0"}
