"""Requests one after another: what is placed stays, what doesn't fit is refused and named."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.files import problem_from
from berth.model import BadInput, Plan, Problem
from berth.policies.sequence import solve_in_turn
from tests.policies.two_stage.cases import cluster

Entry = dict[str, Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "filling-cluster.yaml"


def packed(name: str, cpu: float, containers: int = 1, size: float = 4.0) -> Entry:
    """An application of as many instances as containers."""
    return {
        "name": name,
        "operators": [{"name": "x", "parallelism": containers, "demand": {"cpu": cpu}}],
        "containers": {"count": containers, "capacity": {"cpu": size}},
    }


def plain(name: str, *demands: float) -> Entry:
    """An application of a pipeline of operators."""
    operators = [{"name": f"o{k}", "demand": {"cpu": cpu}} for k, cpu in enumerate(demands)]
    streams = [{"from": f"o{k}", "to": f"o{k + 1}", "bytes_per_s": 10.0} for k in range(len(demands) - 1)]
    return {"name": name, "operators": operators, "streams": streams}


def part(problem: Problem, plan: Plan) -> Problem:
    """The applications that a plan has placed."""
    there = {name.partition("/")[0] for name in plan.assignment}
    return replace(problem, applications=tuple(a for a in problem.applications if a.name in there))


def judged(problem: Problem, plan: Plan) -> tuple[str, ...]:
    """What a plan breaks, as far as it is about the applications that have a place."""
    return berth.evaluate(part(problem, plan), plan).violations if plan.assignment else ()


def verdicts(plan: Plan) -> list[tuple[str, str, bool]]:
    return [(row["application"], row["event"], row["accepted"]) for row in plan.trace["requests"]]


def test_a_request_that_fits_alone_is_refused_after_others() -> None:
    problem = problem_from(cluster([packed("a", 1, 1), packed("b", 1, 1), packed("c", 1, 1)], (4, 4)))
    assert solve_in_turn(problem, "ffd", events=["c"]).status == "feasible"
    plan = solve_in_turn(problem, "ffd")
    assert verdicts(plan) == [("a", "arrive", True), ("b", "arrive", True), ("c", "arrive", False)]
    assert set(plan.assignment) == {"a/x", "b/x"}
    assert plan.status == "unknown"
    assert plan.reason == "1 of the requests refused: c"
    assert len(plan.violations) == 1
    assert plan.violations[0].startswith("application c: refused: second stage, best-fit: stuck at")
    assert plan.trace["acceptance_ratio"] == pytest.approx(2 / 3)
    assert [row["in_use"]["cpu"] for row in plan.trace["requests"]] == [0.5, 1.0, 1.0]


def test_a_departure_makes_room() -> None:
    problem = problem_from(cluster([packed(name, 1) for name in "abc"], (4, 4)))
    plan = solve_in_turn(problem, "ffd", events=["a", "b", "-a", "c"])
    assert (plan.status, plan.violations, plan.reason) == ("feasible", (), None)
    assert set(plan.assignment) == {"b/x", "c/x"}
    assert set(plan.containers) == {"b/x", "c/x"}
    assert judged(problem, plan) == ()


def test_it_asks_again_after_it_has_left() -> None:
    """What was refused leaves without having had a place; it is missed only if it should be there."""
    problem = problem_from(cluster([packed(name, 1) for name in "abc"], (4, 4)))
    plan = solve_in_turn(problem, "ffd", events=["a", "b", "c", "-c", "-a", "c"])
    assert [accepted for _, _, accepted in verdicts(plan)] == [True, True, False, False, True, True]
    assert plan.status == "feasible"
    given_up = solve_in_turn(problem, "ffd", events=["a", "b", "c", "-c"])
    assert (given_up.status, given_up.violations) == ("feasible", ())


def test_all_have_left() -> None:
    problem = problem_from(cluster([packed(name, 1) for name in "ab"], (4, 4)))
    plan = solve_in_turn(problem, "ffd", events=["a", "b", "-a", "-b"])
    assert (plan.status, dict(plan.assignment), dict(plan.containers)) == ("feasible", {}, {})
    assert plan.metrics == {}
    assert plan.trace["requests"][-1]["in_use"] == {"cpu": 0.0}


def test_nothing_fits() -> None:
    problem = problem_from(cluster([plain("a", 9), plain("b", 9)], (4, 4)))
    plan = solve_in_turn(problem, "odp")
    assert not plan.found
    assert plan.status == "unknown"
    assert [line.partition(": refused: ")[0] for line in plan.violations] == [
        "application a",
        "application b",
    ]


POLICIES = ["odp", "round-robin", "t-storm", "mopa", "ffd"]


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=6, deadline=None)
@given(st.data())
def test_any_order_leaves_what_is_placed_and_nothing_else(policy: str, data: st.DataObject) -> None:
    """After each event the judge finds nothing broken, and nodes hold what is placed, container or not."""
    size = st.sampled_from([0.1, 0.2, 1, 2, 3])
    boxed = policy == "ffd"
    entries = [
        packed(name, data.draw(size), data.draw(st.integers(1, 3)), 3.0)
        if boxed
        else plain(name, *data.draw(st.lists(size, min_size=1, max_size=3)))
        for name in "abc"
    ]
    problem = problem_from(cluster(entries, (4, 3, 2)))
    events: list[str] = []
    there: set[str] = set()
    for _ in range(data.draw(st.integers(1, 6))):
        name = data.draw(st.sampled_from("abc"))
        events.append(f"-{name}" if name in there else name)
        there ^= {name}
    events += [f"-{name}" for name in sorted(there)]
    for count in range(1, len(events) + 1):
        plan = solve_in_turn(problem, policy, events=events[:count])
        assert judged(problem, plan) == ()
        used = placed_cpu(problem, plan)
        assert plan.trace["requests"][-1]["in_use"]["cpu"] == pytest.approx(used / 9)
    assert not plan.assignment
    assert used == 0


def placed_cpu(problem: Problem, plan: Plan) -> float:
    """What all nodes have to give for a plan, added up from the file's own numbers."""
    total, seen = 0.0, defaultdict(set)
    for application in problem.applications:
        for operator in application.operators:
            for name in plan.assignment:
                if re.fullmatch(rf"{application.name}/{operator.name}(#\d+)?", name):
                    if application.containers is None:
                        total += operator.demand["cpu"]
                    else:
                        seen[application.name].add(plan.containers[name])
        if application.containers is not None:
            total += len(seen[application.name]) * application.containers.capacity["cpu"]
    return total


@pytest.mark.parametrize("policy", ["ffd", "mips", "odp", "mopa"])
def test_the_same_seed_gives_the_same_plan_and_the_previous_plan_continues_it(policy: str) -> None:
    """One go, or one call after another with the plan of the one before."""
    problem = berth.load(EXAMPLE)
    if policy in ("odp", "mopa"):
        applications = tuple(replace(item, containers=None) for item in problem.applications)
        problem = replace(problem, applications=applications)
    parameters: Entry = {"samples": 50} if policy == "mips" else {}
    order = ["clicks", "orders", "sensors", "-orders", "logs"]
    whole = solve_in_turn(problem, policy, events=order, seed=3, **parameters)
    again = solve_in_turn(problem, policy, events=order, seed=3, **parameters)
    assert (whole.assignment, whole.containers) == (again.assignment, again.containers)
    first = solve_in_turn(problem, policy, events=order[:2], seed=3, **parameters)
    second = solve_in_turn(problem, policy, events=["sensors"], previous=first, seed=3, **parameters)
    third = solve_in_turn(
        problem, policy, leave=["orders"], events=["logs"], previous=second, seed=3, **parameters
    )
    assert (whole.assignment, whole.containers) == (third.assignment, third.containers)
    fourth = solve_in_turn(problem, policy, leave=["orders"], previous=second, seed=3, **parameters)
    assert fourth.assignment == third.assignment
    assert {
        key: value for key, value in third.metrics.items() if not key.startswith("moved")
    } == whole.metrics
    assert third.metrics["moved_instances"] == 0


def test_a_processor_that_is_busy() -> None:
    """Each keeps more than half of a processor busy: no node takes two of them."""

    def busy(name: str) -> Entry:
        return {"name": name, "throughput_per_s": 10, "operators": [{"name": "x", "work_ms": 60}]}

    raw = cluster([busy(name) for name in "abc"], (1, 1))
    for policy in ("odp", "mopa"):
        plan = solve_in_turn(problem_from(raw), policy)
        assert sorted(plan.assignment.values()) == ["s0", "s1"]
        assert [accepted for _, _, accepted in verdicts(plan)] == [True, True, False]
        assert "processor" in plan.violations[0] or "room" in plan.violations[0]


def by_tuples(name: str, load: float, **more: Any) -> Entry:
    """An application whose one busy instance takes 100 tuples a second."""
    operators = [{"name": "s", "emits_bytes_per_s": 1000}, {"name": "x", "work_ms": 10 * load}]
    streams = [{"from": "s", "to": "x", "tuple_bytes": 10}]
    return {"name": name, "operators": operators, "streams": streams, **more}


@pytest.mark.parametrize("policy", ["odp", "search", "auto", "forest", "top-down-bfs", "round-robin"])
def test_cores_that_are_in_use(policy: str) -> None:
    """Three loads of a half fill three quarters of two cores; and no core keeps up with more than 0.75."""
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "busy",
            "network": {"nodes": [{"name": "x", "cores": 2}], "max_utilisation": 0.75},
            "applications": [
                by_tuples("a", 0.5),
                by_tuples("core", 0.9),
                by_tuples("b", 1, throughput_per_s=50),
                by_tuples("c", 0.5),
                by_tuples("d", 0.1),
                by_tuples("idle", 0),
            ],
        }
    )
    plan = solve_in_turn(problem, policy)
    accepted = [name for name, _, accepted in verdicts(plan) if accepted]
    assert accepted == ["a", "b", "c", "idle"]
    assert judged(problem, plan) == ()


def test_bandwidth_and_cards_that_are_in_use() -> None:
    """Two streams of 60 don't share a link of 100; the second request takes the other way."""

    def pair(name: str) -> Entry:
        operators = [{"name": "x", "pinned": "s0"}, {"name": "y", "candidates": ["s1", "s2"]}]
        return {
            "name": name,
            "operators": operators,
            "streams": [{"from": "x", "to": "y", "bytes_per_s": 60}],
        }

    raw = cluster([pair(name) for name in "abc"], (1, 1, 1))
    raw["network"]["bandwidth_bytes_per_s"] = [[100.0] * 3 for _ in range(3)]
    plan = solve_in_turn(problem_from(raw), "odp", seed=1)
    assert sorted([plan.assignment["a/y"], plan.assignment["b/y"]]) == ["s1", "s2"]
    assert [accepted for _, _, accepted in verdicts(plan)] == [True, True, False]
    raw["network"]["nodes"][0]["nic_bytes_per_s"] = 100
    plan = solve_in_turn(problem_from(raw), "odp")
    assert [accepted for _, _, accepted in verdicts(plan)] == [True, False, False]


def test_a_policy_that_looks_at_no_links_is_refused_by_the_judge() -> None:
    operators = [{"name": "x", "pinned": "s0"}, {"name": "y", "pinned": "s1"}]
    stream = {"from": "x", "to": "y", "bytes_per_s": 60}
    raw = cluster([{"name": n, "operators": operators, "streams": [stream]} for n in "ab"], (1, 1))
    raw["network"]["bandwidth_bytes_per_s"] = [[100.0] * 2 for _ in range(2)]
    plan = solve_in_turn(problem_from(raw), "round-robin")
    assert plan.violations == (
        "application b: refused: link s0 -> s1: bandwidth 60 B/s needed, 40 B/s there",
    )


def test_equal_operators_of_those_that_stay() -> None:
    """A request is placed as if it shared nothing; the judge then counts equal work on one node once."""

    def reader(name: str) -> Entry:
        operator = {"name": "x", "type": "t", "pinned": "s0", "reads": [{"object": "o", "per_s": 1}]}
        return {"name": name, "operators": [operator | {"demand": {"cpu": 2}}]}

    raw = cluster([reader("a"), reader("b"), reader("c")], (5, 4))
    raw["objects"] = [{"name": "o", "bytes": 8}]
    raw["network"]["nodes"][1]["holds"] = ["o"]
    problem = problem_from(raw)
    plan = solve_in_turn(problem, "round-robin", events=["a", "b", "c", "-a"])
    assert plan.status == "feasible"
    assert [row["in_use"]["cpu"] for row in plan.trace["requests"]] == pytest.approx([2 / 9] * 4)
    assert len(plan.downloads) == 1
    gone = solve_in_turn(problem, "round-robin", events=["-b", "-c"], previous=plan)
    assert gone.downloads == ()


def test_a_provider_can_not_leave() -> None:
    """A plan in which one application takes another one's result, made by whoever."""

    def reader(name: str) -> Entry:
        operator = {"name": "x", "type": "t", "reads": [{"object": "o", "per_s": 1}]}
        return {
            "name": name,
            "operators": [operator, {"name": "y"}],
            "streams": [{"from": "x", "to": "y", "bytes_per_s": 1}],
        }

    raw = cluster([reader("a"), reader("b")], (5, 4))
    raw["objects"] = [{"name": "o", "bytes": 8}]
    raw["network"]["nodes"][0]["holds"] = ["o"]
    before = Plan({"a/x": "s0", "a/y": "s0", "b/y": "s0"}, reuse={"b/x": "a/x"})
    problem = problem_from(raw)
    plan = solve_in_turn(problem, "odp", leave=["a"], previous=before)
    assert plan.violations == ("application a: can't leave: its results are taken by b/x",)
    both = solve_in_turn(problem, "odp", events=["-b", "-a"], previous=before)
    assert (both.status, both.found) == ("feasible", False)


def test_of_a_previous_plan_whole_applications_stay() -> None:
    """One that lost a machine, or is not all there, arrives again; what the problem no longer has is gone."""
    problem = problem_from(cluster([plain(name, 1, 1) for name in "abc"], (4, 4)))
    assignment = {"a/o0": "s1", "a/o1": "s0", "b/o0": "s1", "b/o1": "lost", "c/o0": "s0", "old/x": "s0"}
    plan = solve_in_turn(problem, "odp", previous=Plan(assignment))
    assert verdicts(plan) == [("b", "arrive", True), ("c", "arrive", True)]
    assert (plan.assignment["a/o0"], plan.assignment["a/o1"]) == ("s1", "s0")
    assert plan.status == "feasible"


def test_what_was_broken_before_is_told_and_refuses_nobody() -> None:
    problem = problem_from(cluster([plain("a", 5), plain("b", 1)], (4, 4)))
    plan = solve_in_turn(problem, "odp", previous=Plan({"a/o0": "s0"}))
    assert plan.violations == ("node s0: cpu 5 needed, 4 there",)
    assert plan.assignment["b/o0"] == "s1"


@pytest.mark.parametrize(
    ("options", "mistake"),
    [
        ({"events": ["a", "bb"]}, "--events[1]: no application named 'bb'"),
        ({"events": ["-a"]}, "--events[0]: a leaves, but is not there"),
        ({"events": ["a", "b", "a"]}, "--events[2]: a arrives, but is there already"),
        ({"events": ["a", "-a", "-a"]}, "--events[2]: a leaves, but is not there"),
        ({"events": [""]}, "--events[0]: no application named ''"),
        ({"leave": ["a"]}, "--leave: a leaves, but is not there"),
        ({"leave": ["z"]}, "--leave: no application named 'z'"),
        ({"time_limit": 0}, "--time-limit: 0 is not above 0"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_nonsense(options: Entry, mistake: str) -> None:
    problem = problem_from(cluster([plain("a", 1), plain("b", 1)], (4, 4)))
    with pytest.raises(BadInput, match=re.escape(mistake)):
        solve_in_turn(problem, "odp", **options)


def test_a_mistake_names_the_application_by_its_number_in_the_file() -> None:
    problem = problem_from(cluster([packed("a", 1), plain("b", 1)], (4, 4)))
    with pytest.raises(BadInput, match=re.escape("applications[1].containers: b has none")):
        solve_in_turn(problem, "ffd")


def test_what_is_placed_by_the_time_it_is_stopped_is_kept() -> None:
    """Ctrl-C stops the budget: those that come after are not tried, departures still count."""
    problem = problem_from(cluster([packed(name, 1) for name in "abc"], (4, 4, 4)))
    budget = Budget(None)
    seen: list[str] = []

    def stop_at_b(progress: Any) -> None:
        seen.append(progress.stage)
        if progress.stage.startswith("request 2 of 4, b"):
            budget.stop("interrupted")

    plan = solve_in_turn(problem, "ffd", events=["a", "b", "-a", "c"], budget=budget, progress=stop_at_b)
    assert seen[0] == "request 1 of 4, a"
    assert [accepted for _, _, accepted in verdicts(plan)] == [True, True, True, False]
    assert plan.violations == ("application c: refused: not tried: interrupted",)
    assert set(plan.assignment) == {"b/x"}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_odp_refuses_only_what_has_no_place_at_all(data: st.DataObject) -> None:
    """Every way to place the second request beside the first is judged, all limits of it."""

    def pick(*values: float) -> float:
        return data.draw(st.sampled_from(values))

    entries = [
        plain(name, *(pick(0.1, 1, 2, 3) for _ in range(2))) | {"throughput_per_s": pick(1, 2)}
        for name in "ab"
    ]
    for entry in entries:
        entry["streams"][0]["bytes_per_s"] = pick(10, 60, 90)
        for operator in entry["operators"]:
            operator["work_ms"] = pick(0, 100, 300, 600)
    raw = cluster(entries, (pick(2, 4), 3, 2))
    raw["network"]["bandwidth_bytes_per_s"] = [[pick(50, 100, 150) for _ in range(3)] for _ in range(3)]
    raw["network"] |= {"duplex": data.draw(st.sampled_from(["full", "half"])), "symmetric": False}
    raw["network"]["nodes"][0]["nic_bytes_per_s"] = pick(70, 120, 200)
    if data.draw(st.booleans()):
        raw["network"]["max_utilisation"] = pick(0.5, 1)
        for entry in entries:
            entry["streams"][0]["tuple_bytes"] = 50
            if data.draw(st.booleans()):
                del entry["throughput_per_s"]
    for node in raw["network"]["nodes"]:
        node["cores"] = pick(1, 2, 0.5)
    problem = problem_from(raw)
    plan = solve_in_turn(problem, "odp")
    first = {name: node for name, node in plan.assignment.items() if name.startswith("a/")}
    if not first:
        return
    nodes = [node.name for node in problem.network.nodes]
    ways = [Plan({**first, "b/o0": one, "b/o1": other}) for one in nodes for other in nodes]
    possible = any(not berth.evaluate(problem, way).violations for way in ways)
    assert plan.trace["requests"][1]["accepted"] is possible
