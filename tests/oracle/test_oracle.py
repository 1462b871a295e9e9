"""The oracle against the conformance cases, against cases computed by hand, and on random problems."""

import json
import math
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from .constraints import has_labels
from .enumerate import feasible_situations, optimum
from .metrics import METRIC_OF_OBJECTIVE, METRICS, metric
from .problems import (
    LATER_OBJECTIVES,
    MOVE_OBJECTIVES,
    plans,
    previous_plans,
    problems,
    sharing_problems,
    solvable_problems,
    usable_objectives,
)
from .reference import evaluate
from .situation import Model
from .workload import Workload

Entry = dict[str, Any]

FOLDER = os.environ.get("BERTH_CONFORMANCE")
needs_conformance = pytest.mark.skipif(FOLDER is None, reason="BERTH_CONFORMANCE is not set")
quick = settings(
    max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
few = settings(max_examples=8, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def cases(name: str) -> list[Entry]:
    """Read a file of conformance cases."""
    found: list[Entry] = json.loads((Path(FOLDER or ".") / name).read_text(encoding="utf-8"))
    return found


def near(value: Any) -> Any:
    """Compare to 1e-9 relative."""
    return pytest.approx(value, rel=1e-9, abs=0.0)


# Conformance


@needs_conformance
@pytest.mark.parametrize("name", ["evaluate.json", "sharing-evaluate.json"])
def test_conformance_evaluate(name: str) -> None:
    """Metrics agree, and whether a constraint is broken."""
    for case in cases(name):
        found, broken = evaluate(case["problem"], case.get("plan") or {"assignment": case["assignment"]})
        assert {key: found.get(key) for key in case["metrics"]} == near(case["metrics"]), case["problem"][
            "name"
        ]
        assert bool(broken) == case["breaks_constraints"], (case["problem"]["name"], broken)


@needs_conformance
def test_conformance_solve() -> None:
    """Enumeration finds the same optima."""
    for case in cases("solve.json"):
        best = optimum(case["problem"], case["metric"], maximise=case["metric"] == "availability")
        assert best == (None if case["optimum"] is None else near(case["optimum"])), case["problem"]["name"]


@needs_conformance
def test_conformance_sharing_solve() -> None:
    """Enumeration with reuse finds the same optima."""
    for case in cases("sharing-solve.json"):
        best: dict[str, float | None] = dict.fromkeys(case["optimum"])
        for situation in feasible_situations(case["problem"], with_reuse=True):
            for key, so_far in best.items():
                value = metric(situation, key)
                assert value is not None
                best[key] = value if so_far is None else min(so_far, value)
        assert best == near(case["optimum"]), case["problem"]["name"]


# Cases computed by hand


def make(nodes: list[Entry], links: list[Entry], applications: list[Entry], **more: Any) -> Entry:
    """Write a problem; `network` in more adds to the network."""
    network = {"nodes": nodes, "links": links, **more.pop("network", {})}
    return {"format": "berth/v1", "name": "tiny", "network": network, "applications": applications, **more}


def chain(*operators: Entry, **more: Any) -> Entry:
    """Write an application whose operators form a chain."""
    names = [operator["name"] for operator in operators]
    streams = [{"from": start, "to": end} for start, end in pairwise(names)]
    return {"name": "app", "operators": list(operators), "streams": streams, **more}


def named(*names: str) -> list[Entry]:
    """Write nodes without anything but a name."""
    return [{"name": name} for name in names]


def link(start: str, end: str, delay_ms: float, **more: Any) -> Entry:
    """Write an entry of links."""
    return {"from": start, "to": end, "delay_ms": delay_ms, **more}


def assign(**nodes: str) -> Entry:
    """Write a plan for the operators of `app`; `step_0` means `step#0`."""
    return {"assignment": {f"app/{name.replace('_', '#')}": node for name, node in nodes.items()}}


SOURCE = {"name": "source", "emits_bytes_per_s": 100}


def test_shortest_path_ties_are_exact() -> None:
    """0.1 + 0.2 and 0.3 + 0 tie, whatever floats say: the path over b has the smaller indices."""
    links = [
        link("a", "b", 0.1, cost=5, price_per_gb=1e4),
        link("b", "d", 0.2, cost=5, price_per_gb=1e4, availability=0.5, bandwidth_bytes_per_s=200),
        link("a", "c", 0.3, cost=7),
        link("c", "d", 0, cost=7),
    ]
    problem = make(
        named("a", "b", "c", "d"),
        links,
        [chain(SOURCE, {"name": "sink"})],
        network={"routing": "shortest_path"},
    )
    found, broken = evaluate(problem, assign(source="a", sink="d"))
    assert not broken
    assert found["communication_cost"] == near(100 * 10)
    assert found["response_time_ms"] == near(0.3)
    assert found["availability"] == near(0.5)
    assert found["bandwidth_sum_bytes_per_s"] == near(100)
    assert found["bandwidth_max_ratio"] == near(0.5)
    assert found["cost_per_hour"] == near(100 * 2e4 * 3600 / 1e9)


def test_shortest_path_prefers_fewer_hops() -> None:
    """A direct link of the same delay wins over two hops."""
    links = [link("a", "b", 0.1), link("b", "c", 0.2), link("a", "c", 0.3, cost=9)]
    problem = make(
        named("a", "b", "c"), links, [chain(SOURCE, {"name": "sink"})], network={"routing": "shortest_path"}
    )
    assert evaluate(problem, assign(source="a", sink="c"))[0]["communication_cost"] == near(900)


def test_links_override_matrices_both_ways() -> None:
    """The entry a-b holds both ways and overrides the delay only; c has only coordinates."""
    nodes: list[Entry] = [
        {"name": "a", "coordinates": [0, 0], "height_ms": 1},
        {"name": "b"},
        {"name": "c", "coordinates": [3, 4]},
    ]
    matrices = {
        "delay_ms": [[9, 50, None], [60, 0, None], [None, None, 0]],
        "cost": [[0, 2, None], [3, 0, None], [None, None, 0]],
    }
    problem = make(nodes, [link("a", "b", 7)], [chain(SOURCE, {"name": "sink"})], network=matrices)
    forward, _ = evaluate(problem, assign(source="a", sink="b"))
    back, _ = evaluate(problem, assign(source="b", sink="a"))
    far, broken = evaluate(problem, assign(source="a", sink="c"))
    assert (forward["response_time_ms"], forward["communication_cost"]) == (7, 200)
    assert (back["response_time_ms"], back["communication_cost"]) == (7, 300)
    assert (far["response_time_ms"], far["communication_cost"], broken) == (near(6), near(600), [])


def test_missing_link() -> None:
    """No link, no matrix entry, no coordinates: a violation, and only what needs no link is computed."""
    problem = make(named("a", "b"), [], [chain(SOURCE, {"name": "sink"})])
    found, broken = evaluate(problem, assign(source="a", sink="b"))
    assert broken
    assert found["traffic_bytes_per_s"] == 100
    assert found.keys().isdisjoint({"response_time_ms", "availability"})


@pytest.mark.parametrize(
    ("first", "second", "clash"), [("a", "b", True), ("a", "c", False), ("c", "d", False), ("c", "c", True)]
)
def test_apart_by_label(first: str, second: str, clash: bool) -> None:
    """Nodes a and b have the same zone, c and d have none; one node is never apart from itself."""
    nodes: list[Entry] = [
        {"name": "a", "labels": {"zone": "x"}},
        {"name": "b", "labels": {"zone": "x"}},
        *named("c", "d"),
    ]
    application = {
        "name": "app",
        "operators": [{"name": "count", "parallelism": 2}],
        "rules": [{"apart": ["count"], "by": "zone"}],
    }
    assert bool(evaluate(make(nodes, [], [application]), assign(count_0=first, count_1=second))[1]) == clash


@pytest.mark.parametrize(
    ("grouping", "traffic", "response"),
    [("shuffle", 2 * 30 + 60, 27), ("all", 2 * 60 + 60, 27), ("global", 60 + 60, 17)],
)
def test_groupings(grouping: str, traffic: float, response: float) -> None:
    """source (120 bytes/s) feeds two instances of mid, on a and on b; both feed sink on a.

    source#0 on a, source#1 on b, each with a share of 60. shuffle: 30 for each of four pairs, two of them
    cross. all: 60 for each of four pairs, two cross. global: 60 from source#1 crosses to mid#0 on a. From mid
    to sink goes 120 x selectivity 1 = 120 in all, `all` counted once, so mid#1 sends 60 across. The longest
    path is source#0 (1), 10, mid#1 (2), 10, sink (4); with global source#1, mid#0, sink has 1 + 10 + 2 + 4 =
    17.
    """
    application = chain(
        {"name": "source", "emits_bytes_per_s": 120, "parallelism": 2, "work_ms": 1},
        {"name": "mid", "parallelism": 2, "work_ms": 2},
        {"name": "sink", "work_ms": 4},
    )
    application["streams"][0]["grouping"] = grouping
    problem = make(named("a", "b"), [link("a", "b", 10)], [application])
    found, _ = evaluate(problem, assign(source_0="a", source_1="b", mid_0="a", mid_1="b", sink="a"))
    assert found["traffic_bytes_per_s"] == near(traffic)
    assert found["response_time_ms"] == near(response)


def test_half_duplex_shares_the_smaller_bandwidth() -> None:
    """100 there and 100 back on links of 150 and 400: fine at full duplex, 200/150 at half."""
    application = {
        "name": "app",
        "operators": [SOURCE, {"name": "back"}, {"name": "sink"}],
        "streams": [{"from": "source", "to": "back"}, {"from": "back", "to": "sink"}],
    }
    links = [link("a", "b", 1, bandwidth_bytes_per_s=150), link("b", "a", 1, bandwidth_bytes_per_s=400)]
    plan = assign(source="a", back="b", sink="a")
    full, full_broken = evaluate(make(named("a", "b"), links, [application]), plan)
    half, half_broken = evaluate(
        make(named("a", "b"), links, [application], network={"duplex": "half"}), plan
    )
    assert (full["bandwidth_max_ratio"], full_broken) == (near(100 / 150), [])
    assert half["bandwidth_max_ratio"] == near(200 / 150)
    assert len(half_broken) == 1


def test_one_port() -> None:
    """Shares of 0.6 to each of two nodes: each link has room, the one port has not."""
    application = {
        "name": "app",
        "operators": [SOURCE, {"name": "left"}, {"name": "right"}],
        "streams": [{"from": "source", "to": "left", "bytes_per_s": 60}, {"from": "source", "to": "right"}],
    }
    links = [link("a", "b", 1, bandwidth_bytes_per_s=100), link("a", "c", 1, bandwidth_bytes_per_s=200)]
    plan = assign(source="a", left="b", right="c")
    assert not evaluate(make(named("a", "b", "c"), links, [application]), plan)[1]
    assert (
        len(evaluate(make(named("a", "b", "c"), links, [application], network={"one_port": True}), plan)[1])
        == 1
    )


def test_capacity_has_a_tolerance_and_headroom() -> None:
    """3 x 0.1 fits 0.3 in spite of floats, and no longer with headroom."""
    application = {
        "name": "app",
        "operators": [{"name": "count", "parallelism": 3, "demand": {"cpu": 0.1, "gpu": 0}}],
    }
    nodes = [{"name": "a", "capacity": {"cpu": 0.3}}]
    plan = assign(count_0="a", count_1="a", count_2="a")
    assert evaluate(make(nodes, [], [application]), plan)[1] == []
    assert len(evaluate(make(nodes, [], [application], network={"headroom": 0.1}), plan)[1]) == 1


def sharing_problem() -> Entry:
    """Write two applications, slow (1/s) and fast (3/s), that tag the same pictures and show them."""

    def application(name: str, throughput: float, per_s: float) -> Entry:
        operators = [
            {
                "name": "fetch",
                "type": "fetch",
                "output_bytes": 2,
                "reads": [{"object": "camera", "per_s": per_s}],
            },
            {"name": "tag", "type": "tag", "work_ms": 100, "output_bytes": 10},
            {"name": "show", "work_ms": 0},
        ]
        return {**chain(*operators, throughput_per_s=throughput), "name": name}

    nodes: list[Entry] = [{"name": "u"}, {"name": "v", "holds": ["camera"]}]
    objects = [{"name": "camera", "bytes": 5}]
    return make(
        nodes, [link("u", "v", 4)], [application("slow", 1, 1), application("fast", 3, 2)], objects=objects
    )


def test_reuse_lifts_throughput_and_reads() -> None:
    """tag of slow serves fast as well: it and fetch run at 3/s, fetch reads at 2/s.

    Busy: 3/s x 0.1 s. The tags cross once, at the higher rate of 10 x 3; the download takes 2 x 5. On the
    path of fast are fetch and tag of slow, so its response time is 100 + 4.
    """
    plan = {
        "assignment": {"slow/fetch": "u", "slow/tag": "u", "slow/show": "v", "fast/show": "v"},
        "reuse": {"fast/tag": "slow/tag"},
        "skipped": ["fast/fetch"],
        "downloads": [{"object": "camera", "from": "v", "to": "u"}],
    }
    problem = sharing_problem()
    found, broken = evaluate(problem, plan)
    assert broken == []
    assert found["processing_power"] == near(0.3)
    assert found["traffic_bytes_per_s"] == near(30)
    assert found["bandwidth_sum_bytes_per_s"] == near(40)
    assert found["response_time_ms"] == near(104)
    problem["applications"][1]["max_response_time_ms"] = 103
    assert len(evaluate(problem, plan)[1]) == 1
    problem["sharing"] = False
    assert evaluate(problem, plan)[0] == {}


def test_equal_computations_on_one_node_count_once() -> None:
    """Both applications compute everything on u and show on v: work and results once, at the higher rate."""
    operators = ("slow/fetch", "slow/tag", "fast/fetch", "fast/tag")
    plan: Entry = {
        "assignment": {**dict.fromkeys(operators, "u"), "slow/show": "v", "fast/show": "v"},
        "downloads": [{"object": "camera", "from": "v", "to": "u"}],
    }
    problem = sharing_problem()
    found, broken = evaluate(problem, plan)
    assert broken == []
    assert (found["processing_power"], found["traffic_bytes_per_s"]) == (near(0.3), near(30))
    problem["sharing"] = False
    found, _ = evaluate(problem, plan)
    assert (found["processing_power"], found["traffic_bytes_per_s"]) == (near(0.4), near(40))


@pytest.mark.parametrize(
    "downloads",
    [
        [],
        [{"object": "camera", "from": "v", "to": "u"}] * 2,
        [{"object": "camera", "from": "u", "to": "u"}],
        [{"object": "camera", "from": "v", "to": "u"}, {"object": "camera", "from": "v", "to": "v"}],
    ],
)
def test_wrong_downloads(downloads: list[Entry]) -> None:
    """Missing, double, from a node that does not hold it, needless."""
    keys = [f"{name}/{operator}" for name in ("slow", "fast") for operator in ("fetch", "tag", "show")]
    assert evaluate(sharing_problem(), {"assignment": dict.fromkeys(keys, "u"), "downloads": downloads})[1]


def test_loaded_response_time() -> None:
    """Transmission 1000 x 50 / 1000 = 50, delay 5, mid 10 / 2 x (1 waiting + 2 hosted) = 15, ends free."""
    application = chain(
        {"name": "source", "work_ms": 7, "output_bytes": 50},
        {"name": "mid", "work_ms": 10},
        {"name": "sink", "work_ms": 8},
    )
    nodes = [{"name": "a", "nic_bytes_per_s": 1000}, {"name": "b", "speed": 2, "run_queue": 1}]
    problem = make(nodes, [link("a", "b", 5)], [application])
    found, _ = evaluate(problem, assign(source="a", mid="b", sink="b"))
    assert found["loaded_response_time_ms"] == near(70)
    assert found["response_time_ms"] == near(7 + 5 + 5 + 4)
    assert "traffic_bytes_per_s" not in found
    application["operators"][0].pop("output_bytes")
    found, _ = evaluate(problem, assign(source="a", mid="b", sink="b"))
    assert "loaded_response_time_ms" not in found


def container_problem() -> Entry:
    """Write a chain of three in containers of 2 cpus, on nodes with room for one container and for two."""
    operators: list[Entry] = [
        {**SOURCE, "demand": {"cpu": 1}},
        {"name": "mid", "demand": {"cpu": 1}},
        {"name": "sink"},
    ]
    application = chain(*operators, containers={"count": 2, "capacity": {"cpu": 2}})
    nodes = [{"name": "a", "capacity": {"cpu": 3}}, {"name": "b", "capacity": {"cpu": 4}}]
    return make(nodes, [link("a", "b", 5)], [application])


def test_containers() -> None:
    """Two containers fit b and not a; 100 bytes/s cross from one to the other."""
    containers = {"app/source": "app/c0", "app/mid": "app/c1", "app/sink": "app/c1"}
    found, broken = evaluate(
        container_problem(), {**assign(source="b", mid="b", sink="b"), "containers": containers}
    )
    assert (found["containers_used"], found["container_traffic_bytes_per_s"], broken) == (2, 100, [])
    assert evaluate(container_problem(), {**assign(source="a", mid="a", sink="a"), "containers": containers})[
        1
    ]
    assert optimum(container_problem(), "containers_used") == 1
    assert optimum(container_problem(), "container_traffic") == 0


def test_previous_plan() -> None:
    """One instance of two has moved, with its state; an instance that is new has not."""
    application = {"name": "app", "operators": [{"name": "count", "parallelism": 3, "state_bytes": 40}]}
    problem = make(named("a", "b"), [], [application])
    before = assign(count_0="a", count_1="a")
    found, _ = evaluate(problem, assign(count_0="a", count_1="b", count_2="b"), before)
    assert (found["moved_instances"], found["moved_state_bytes"]) == (1, 40)
    assert optimum(problem, "moved_state", previous=before) == 0


def test_not_placed() -> None:
    """An instance that is not placed is a violation, and there are no metrics."""
    problem = make(named("a"), [], [chain(SOURCE, {"name": "sink"})])
    found, broken = evaluate(problem, assign(source="a"))
    assert found == {}
    assert len(broken) == 1


# Random problems


def assert_valid(problem: Entry) -> None:
    """Check what the contract calls mistakes, as far as a generator could make them."""
    nodes = {node["name"]: node for node in problem["network"]["nodes"]}
    held = {name for node in nodes.values() for name in node.get("holds", [])}
    assert any(node.get("hosts", True) for node in nodes.values())
    for application in problem["applications"]:
        names = [operator["name"] for operator in application["operators"]]
        ends = [(stream["from"], stream["to"]) for stream in application.get("streams", [])]
        assert names
        assert (len(set(names)), len(set(ends))) == (len(names), len(ends))
        assert all(int(start[4:]) < int(end[4:]) for start, end in ends), "a cycle"
        assert {name for edge in ends for name in edge} <= set(names)
        for operator in application["operators"]:
            assert any(may_host(application, operator, node) for node in nodes.values())
            assert {read["object"] for read in operator.get("reads", [])} <= held
            assert not ("pinned" in operator and "candidates" in operator)
    computable = {*usable_objectives(problem), *MOVE_OBJECTIVES, *LATER_OBJECTIVES}
    assert set(problem.get("objective", {})) <= computable
    assert_equal_operators_agree(problem)


def may_host(application: Entry, operator: Entry, node: Entry) -> bool:
    """Tell whether a node may host an operator."""
    candidates = operator.get("candidates", [operator["pinned"]] if "pinned" in operator else [node["name"]])
    wanted = [
        rule["where"]
        for rule in application.get("rules", [])
        if "where" in rule and operator["name"] in rule["operators"]
    ]
    suits = all(has_labels(node, entry) for entry in wanted)
    return node.get("hosts", True) and node["name"] in candidates and suits


def assert_equal_operators_agree(problem: Entry) -> None:
    """Check that "equal operators must agree in work_ms and output_bytes"."""
    workload = Workload(problem)
    agreed: dict[Any, tuple[float, float | None]] = {}
    for key, operator in workload.operators.items():
        own = workload.equality_class(key)
        if own is not None:
            properties = (operator.work_ms, operator.output_bytes)
            assert agreed.setdefault(own, properties) == properties


@quick
@given(strategies.data())
def test_random_problems_are_valid_and_evaluated(data: strategies.DataObject) -> None:
    """Problems are valid, every plan has finite metrics, and without mistakes the plain ones are there."""
    problem = data.draw(strategies.one_of(problems(), sharing_problems()))
    assert_valid(problem)
    found, _ = evaluate(problem, data.draw(plans(problem)), data.draw(previous_plans(problem)))
    assert all(math.isfinite(value) for value in found.values())
    assert found.keys() <= METRICS.keys()
    found, _ = evaluate(problem, data.draw(plans(problem, wrong=False)))
    assert {"nodes_used", "enrolled_speed", "placement_cost"} <= found.keys()


@quick
@given(strategies.data())
def test_everything_on_one_node_needs_no_network(data: strategies.DataObject) -> None:
    """On one node, nothing crosses."""
    problem = data.draw(problems(rates_known=True))
    node = problem["network"]["nodes"][0]["name"]
    instances = Model(problem).structure({}, ()).instances
    found, _ = evaluate(problem, {"assignment": {instance.name: node for instance in instances}})
    assert found["traffic_bytes_per_s"] == found["network_usage_bytes"] == found["communication_cost"] == 0


@pytest.mark.parametrize("objective", METRIC_OF_OBJECTIVE)
def test_solvable_problems_have_their_metric(objective: str) -> None:
    """Enumeration never meets a plan that lacks the metric, and no plan beats the optimum."""

    @few
    @given(strategies.data())
    def check(data: strategies.DataObject) -> None:
        problem = data.draw(solvable_problems(objective))
        assert_valid(problem)
        previous = data.draw(previous_plans(problem))
        best = optimum(problem, objective, objective == "availability", previous)
        found, broken = evaluate(problem, data.draw(plans(problem, wrong=False)), previous)
        value = found.get(METRIC_OF_OBJECTIVE[objective])
        if not broken:
            assert best is not None
            assert value is not None
            assert value <= best + 1e-9 if objective == "availability" else value >= best - 1e-9

    check()
