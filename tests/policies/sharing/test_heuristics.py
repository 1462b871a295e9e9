"""The six heuristics: what each tries in which order, and that their plans break nothing."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.evaluation import Occupied, evaluate
from berth.files import problem_from
from berth.generators import generate
from berth.model import BadInput, Problem
from berth.policies.sharing.heuristics import Processors, Relatives
from berth.policies.solve import solve
from tests.oracle.additions import added_sharing_problems
from tests.oracle.plain_heuristics import PlainHeuristic
from tests.oracle.problems import sharing_problems
from tests.policies.sharing.occupation import taken

NAMES = ("random-no-reuse", "random", "top-down-bfs", "top-down-dfs", "bottom-up-bfs", "bottom-up-dfs")
FOLDER = os.environ.get("BERTH_CONFORMANCE")
REUSING = NAMES[1:]


def chain(application: str, length: int, throughput: float = 1.0) -> dict[str, Any]:
    """A chain over one object: o0 reads it, the last one is the result."""
    operators: list[dict[str, Any]] = [
        {"name": f"o{k}", "type": f"t{k}", "work_ms": 100, "output_bytes": 10} for k in range(length)
    ]
    operators[0]["reads"] = [{"object": "camera", "per_s": 1.0}]
    streams = [{"from": f"o{k}", "to": f"o{k + 1}"} for k in range(length - 1)]
    return {
        "name": application,
        "throughput_per_s": throughput,
        "operators": operators,
        "streams": streams,
    }


def forest(
    applications: list[dict[str, Any]], nodes: list[dict[str, Any]], bandwidth: float = 1000.0
) -> Problem:
    """Applications on nodes that are all linked; the first node holds the object."""
    size = len(nodes)
    matrix = [[0 if u == v else 1 for v in range(size)] for u in range(size)]
    wide = [[None if u == v else bandwidth for v in range(size)] for u in range(size)]
    nodes = [{"name": f"p{k}", **node} for k, node in enumerate(nodes)]
    nodes[0]["holds"] = ["camera"]
    return problem_from(
        {
            "format": "berth/v1",
            "name": "forest",
            "network": {
                "duplex": "half",
                "one_port": True,
                "nodes": nodes,
                "delay_ms": matrix,
                "bandwidth_bytes_per_s": wide,
            },
            "objects": [{"name": "camera", "bytes": 50}],
            "applications": applications,
        }
    )


@pytest.mark.parametrize("name", REUSING)
def test_a_twin_is_taken_whole(name: str) -> None:
    """Of two equal applications one is computed: the other takes its result, and all below is skipped."""
    problem = forest([chain("a", 3), chain("b", 3, 2.0)], [{"speed": 10}, {"speed": 5}])
    plan = solve(problem, name, seed=4)
    assert plan.status == "feasible"
    if name == "random":
        return  # which operators come first is chance
    # Levels in reverse begin with the last application.
    taker, provider = ("a", "b") if name == "bottom-up-bfs" else ("b", "a")
    assert plan.reuse == {f"{taker}/o2": f"{provider}/o2"}
    assert plan.skipped == (f"{taker}/o0", f"{taker}/o1")
    speed = 10 if plan.assignment[f"{provider}/o0"] == "p0" else 5
    assert plan.metrics["processing_power"] == pytest.approx(3 * 2.0 * 0.1 / speed)


@pytest.mark.parametrize("name", REUSING)
def test_without_reuse(name: str) -> None:
    """Nothing is taken, and everything has a place."""
    problem = forest([chain("a", 3), chain("b", 3)], [{"speed": 10}, {"speed": 5}])
    plan = solve(problem, name, reuse=False)
    assert (plan.status, plan.reuse, plan.skipped) == ("feasible", {}, ())
    assert len(plan.assignment) == 6


def test_strategies() -> None:
    """Each looks at its own measure; ties go to the first."""
    nodes = [
        {"speed": 2, "nic_bytes_per_s": 100},
        {"speed": 3, "nic_bytes_per_s": 90},
        {"speed": 1, "nic_bytes_per_s": 200},
    ]
    problem = forest([chain("a", 1)], nodes)
    chosen = {
        way: solve(problem, "top-down-bfs", processors=way).assignment["a/o0"] for way in get_args(Processors)
    }
    assert chosen == {
        "fastest": "p1",
        "biggest-card": "p2",
        "fastest-remaining": "p1",
        "biggest-card-remaining": "p2",
    }


@pytest.mark.parametrize(("way", "second"), [("fastest", "p1"), ("fastest-remaining", "p0")])
def test_blocking(way: str, second: str) -> None:
    """A processor that was chosen is not offered again by a blocking strategy."""
    other = chain("b", 1)
    other["operators"][0]["type"] = "other"
    problem = forest([chain("a", 1), other], [{"speed": 10}, {"speed": 5}])
    plan = solve(problem, "top-down-bfs", processors=way)
    assert plan.assignment == {"a/o0": "p0", "b/o0": second}


@pytest.mark.parametrize(
    ("name", "way", "relatives", "nodes"),
    [
        ("top-down-bfs", "fastest", "chosen", "p2 p1 p1 p0 p0"),
        ("bottom-up-bfs", "fastest", "chosen", "p0 p0 p1 p1 p2"),
        ("top-down-dfs", "biggest-card", "any", "p0 p0 p0 p0 p0"),
        ("bottom-up-dfs", "fastest-remaining", "chosen", "p0 p0 p0 p0 p0"),
    ],
)
def test_who_may_join(name: str, way: str, relatives: str, nodes: str) -> None:
    """A chain of five: a processor takes one operator and the next, unless any relative may join."""
    problem = forest([chain("a", 5)], [{"speed": 10}, {"speed": 9}, {"speed": 8}])
    plan = solve(problem, name, processors=way, relatives=relatives)
    assert [plan.assignment[f"a/o{k}"] for k in range(5)] == nodes.split()


def test_blocking_runs_out() -> None:
    """With one processor and two applications that have nothing in common, none is left for the second."""
    other = chain("b", 1)
    other["operators"][0]["type"] = "other"
    plan = solve(forest([chain("a", 1), other], [{"speed": 10}]), "top-down-bfs", processors="fastest")
    assert (plan.status, plan.assignment) == ("unknown", {})
    assert plan.reason == "stuck at b/o0: no processor is left for it"


@pytest.mark.parametrize(
    ("node", "bandwidth", "reason"),
    [
        ({"speed": 0.01}, 1000.0, "stuck at a/o0, for want of processor, on p1 (0.01 there)"),
        ({"nic_bytes_per_s": 20}, 1000.0, "stuck at a/o0, for want of network card, on p1 (20 there)"),
        ({}, 20.0, "stuck at a/o0, for want of bandwidth on link p0 <-> p1 (20 there)"),
    ],
)
def test_stuck_for_want_of(node: dict[str, Any], bandwidth: float, reason: str) -> None:
    """Why no plan was found: processor, card or link."""
    nodes = [{"hosts": False}, node]
    plan = solve(forest([chain("a", 1)], nodes, bandwidth), "bottom-up-bfs")
    assert (plan.status, plan.reason) == ("unknown", reason)


def test_retry() -> None:
    """The first choice can't take it; with `retry` the next one does."""
    nodes = [{"hosts": False}, {"speed": 9, "nic_bytes_per_s": 20}, {"speed": 2}]
    problem = forest([chain("a", 1)], nodes)
    assert solve(problem, "top-down-bfs", processors="fastest").status == "unknown"
    assert solve(problem, "top-down-bfs", processors="fastest", retry=True).assignment == {"a/o0": "p2"}


@pytest.mark.parametrize("name", NAMES)
def test_what_others_have_taken(name: str) -> None:
    """The fastest processor is busy with others: what remains of it counts, and is not exceeded."""
    nodes: list[dict[str, Any]] = [{"speed": 10}, {"speed": 5}, {"speed": 2}]
    problem = forest([chain("a", 3)], nodes)
    others = Occupied({}, busy=np.array([9.8, 0.5, 0.0]), operators=np.zeros(3))
    plan = solve(problem, name, occupied=others, processors="fastest-remaining")
    assert plan.status == "feasible", plan.reason
    assert set(plan.assignment.values()) == {"p1"}
    full = solve(
        problem,
        name,
        occupied=replace(others, busy=np.array([10.0, 5.0, 2.0])),
        processors="fastest-remaining",
    )
    assert full.reason is not None
    assert full.reason.endswith("for want of processor, on p0 (0 there)")


@pytest.mark.parametrize("name", NAMES)
def test_spread(name: str) -> None:
    """At most two of a chain in one zone: the others go elsewhere; without another zone it is stuck."""
    application = chain("a", 3)
    application["rules"] = [{"spread": ["o0", "o1", "o2"], "by": "zone", "most": 2}]
    zones = ["east", "east", "west"]
    nodes: list[dict[str, Any]] = [{"speed": 10, "labels": {"zone": zone}} for zone in zones]
    plan = solve(forest([application], nodes), name, retry=True)
    assert plan.status == "feasible", plan.reason
    zone = {f"p{number}": zone for number, zone in enumerate(zones)}
    assert sorted(zone[node] for node in plan.assignment.values()).count("east") in (1, 2)
    stuck = solve(forest([application], nodes[:2]), name, retry=True)
    assert stuck.reason is not None
    assert stuck.reason.endswith("for want of a node that the rules of its application allow")


def test_results_that_cannot_get_there_are_computed_beside_the_father() -> None:
    """bottom-up-bfs takes a/o0 for b/o0; b's own o1 is pinned where the link can't bring it."""
    first, second = chain("a", 3), chain("b", 2)
    first["operators"][0] |= {"pinned": "p1"}
    second["operators"][0]["output_bytes"] = first["operators"][0]["output_bytes"] = 100
    second["operators"][1] |= {"pinned": "p0", "type": "end"}
    problem = forest([first, second], [{"speed": 9}, {"speed": 8}], 70.0)
    plan = solve(problem, "bottom-up-bfs")
    assert plan.status == "feasible", plan.reason
    assert plan.reuse == {}
    assert plan.assignment == {"a/o0": "p1", "a/o1": "p1", "a/o2": "p1", "b/o0": "p0", "b/o1": "p0"}
    stuck = solve(problem, "bottom-up-dfs")
    assert (stuck.status, stuck.assignment) == ("unknown", {})


def test_random_no_reuse_refuses_reuse() -> None:
    """A contradiction is bad input, with the way out."""
    problem = forest([chain("a", 1)], [{}])
    with pytest.raises(BadInput, match="reuse: random-no-reuse never reuses; take --policy random"):
        solve(problem, "random-no-reuse", reuse=True)
    with pytest.raises(BadInput, match="processors: expected 'fastest' or"):
        solve(problem, "random", processors="best")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(sharing_problems(), added_sharing_problems()),
    st.sampled_from(NAMES),
    st.sampled_from(get_args(Processors)),
    st.integers(0, 3),
    st.booleans(),
)
def test_plans_break_nothing(
    document: dict[str, Any], name: str, way: str, seed: int, occupied: bool
) -> None:
    """Any problem, beside others or not: a plan or a reason; the same again for the same seed."""
    document.pop("objective", None)
    document.pop("objective_bounds", None)
    for application in document["applications"]:
        application.pop("max_response_time_ms", None)
        application.pop("min_availability", None)
    problem = problem_from(document)
    others = taken(problem, seed) if occupied else None
    plan = solve(problem, name, seed=seed, occupied=others, processors=way, retry=seed % 2 == 1)
    if plan.assignment:
        assert plan.status == "feasible"
        assert evaluate(problem, plan, occupied=others).violations == ()
        assert plan.objective == plan.metrics["enrolled_speed"]
    else:
        assert plan.status == "unknown"
        assert plan.reason is not None
        assert plan.reason.startswith("stuck at ")
    again = solve(problem, name, seed=seed, occupied=others, processors=way, retry=seed % 2 == 1)
    assert (again.assignment, again.reuse, again.downloads) == (plan.assignment, plan.reuse, plan.downloads)


@pytest.mark.parametrize("number", range(1, 7))
def test_as_in_plain_python(number: int) -> None:
    """The same plans, or none, as an implementation that recomputes everything at every attempt."""
    found = 0
    for seed in range(4):
        problem = generate(
            "forest",
            seed=seed,
            processors=3 + seed,
            applications=3,
            most_operators=10,
            objects=4,
            replicas=1,
            least_speed=5.0,
            most_speed=60.0,
            least_card=20.0,
            most_card=(50.0, 120.0)[seed % 2],
            least_link=15.0,
            most_link=60.0,
        )
        names = [node.name for node in problem.network.nodes]
        for way in get_args(Processors):
            for relatives in get_args(Relatives):
                plain = PlainHeuristic(problem, number, way, relatives)
                plan = solve(problem, NAMES[number - 1], seed=seed, processors=way, relatives=relatives)
                assert bool(plan.assignment) == plain.run(seed), (seed, way, relatives)
                if plan.assignment:
                    found += 1
                    called = plain.trees.names
                    assert plan.assignment == {called[k]: names[v] for k, v in plain.placed.items()}
                    assert plan.reuse == {called[k]: called[of] for k, of in plain.taken.items()}
    assert 0 < found < 32


@pytest.mark.skipif(FOLDER is None, reason="BERTH_CONFORMANCE names no folder of conformance cases")
def test_no_better_than_the_optimum() -> None:
    """Small problems with known optima: no plan is cheaper, and none is found where there is none."""
    assert FOLDER is not None
    found = 0
    for case in json.loads((Path(FOLDER) / "sharing-solve.json").read_text()):
        problem, best = problem_from(case["problem"]), case["optimum"]["enrolled_speed"]
        for name in NAMES:
            plan = solve(problem, name, retry=True)
            if plan.status == "feasible":
                found += 1
                assert best is not None, case["problem"]["name"]
                assert plan.objective is not None
                assert plan.objective >= best * (1 - 1e-9)
    assert found > 0


def test_climbing_leaves_nothing_behind() -> None:
    """What feeds a taker and another operator, too, is still needed once the taker has its result."""
    diamond = chain("b", 2)
    diamond["operators"].append({"name": "own", "work_ms": 100, "output_bytes": 10})
    diamond["streams"] += [{"from": "o0", "to": "own"}, {"from": "o1", "to": "own"}]
    plan = solve(forest([chain("a", 2), diamond], [{"speed": 10}]), "bottom-up-dfs")
    assert plan.status == "feasible"
    assert plan.reuse == {"b/o0": "a/o0", "b/o1": "a/o1"}
    assert set(plan.assignment) == {"a/o0", "a/o1", "b/own"}
