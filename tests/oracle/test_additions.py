"""The oracle on what came later: conformance cases, cases computed by hand, and random problems."""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies

from .additions import (
    addable_objectives,
    added_problems,
    added_sharing_problems,
    goal_problems,
    plans_with_failovers,
)
from .enumerate import best_failover, feasible_situations, optimum
from .goals import best_levels, goals
from .losses import scenarios
from .metrics import METRICS
from .problems import plans
from .processors import load
from .reference import evaluate, processor_warnings
from .situation import Model
from .test_oracle import assert_valid, assign, chain, few, link, make, named, near, quick

Entry = dict[str, Any]

FOLDER = os.environ.get("BERTH_CONFORMANCE")


def cases(folder: str) -> list[Any]:
    """Read a folder of conformance cases, a file for each."""
    if FOLDER is None:
        return [pytest.param({}, marks=pytest.mark.skip(reason="BERTH_CONFORMANCE is not set"))]
    files = sorted((Path(FOLDER) / folder).glob("*.json"))
    return [pytest.param(json.loads(file.read_text(encoding="utf-8")), id=file.stem) for file in files]


def broken_scenarios(lines: list[str]) -> set[str]:
    """Return the names that stand in `loss of NAME:`."""
    return {line.removeprefix("loss of ").split(":")[0] for line in lines if line.startswith("loss of ")}


# Conformance


@pytest.mark.parametrize("case", cases("additions-evaluate"))
def test_conformance_evaluate(case: Entry) -> None:
    """Metrics, what is left out, violations by node and by loss, and warnings about processors."""
    found, broken = evaluate(case["problem"], case["plan"])
    own = [line for line in broken if not line.startswith("loss of ")]
    assert {key: found.get(key) for key in case["metrics"]} == near(case["metrics"])
    assert found.keys().isdisjoint(case["left_out"])
    assert bool(broken) == case["breaks_constraints"], broken
    assert all(any(f"node {node}:" in line for line in own) for node in case["nodes"]), own
    assert len(processor_warnings(case["problem"], case["plan"])) == case["utilisation_warnings"]
    assert broken_scenarios(broken) == set(case.get("scenarios", []))
    homeless = [line for line in broken if line.endswith("has no node")]
    assert sorted(homeless) == sorted(case.get("no_node", []))


@pytest.mark.parametrize("case", cases("additions-solve"))
def test_conformance_solve(case: Entry) -> None:
    """Enumeration finds the same best value at every level, or no plan."""
    levels = case.get("levels") or [{"best": case.get("objective")}]
    wanted = None if case["status"] == "infeasible" else near([level["best"] for level in levels])
    assert best_levels(case["problem"]) == wanted


# Processors, computed by hand


def loads(problem: Entry) -> dict[str, float | None]:
    """Return the load of every instance, by its name without the application."""
    structure = Model(problem).structure({}, ())
    return {entry.name.split("/")[1]: load(structure, entry) for entry in structure.instances}


def tuples(*groupings: str, **more: Any) -> Entry:
    """Write 120 bytes/s in tuples of 10, from two instances of source to two of mid and one of sink."""
    application = chain(
        {"name": "source", "emits_bytes_per_s": 120, "parallelism": 2, "work_ms": 100, "output_bytes": 10},
        {"name": "mid", "parallelism": 2, "work_ms": 50},
        {"name": "sink", "work_ms": 10},
        **more,
    )
    application["streams"][1]["tuple_bytes"] = 4
    for stream, grouping in zip(application["streams"], groupings, strict=False):
        stream["grouping"] = grouping
    return make(named("a"), [], [application])


@pytest.mark.parametrize(
    ("grouping", "first", "second"),
    [("shuffle", 0.3, 0.3), ("all", 0.6, 0.6), ("global", 0.6, 0.0), ("forward", 0.3, 0.3)],
)
def test_loads_follow_groupings(grouping: str, first: float, second: float) -> None:
    """12 tuples/s load the source with 6 x 0.1 an instance, mid with 12, 6 or 0 x 0.05, sink with 30 x 0.01.

    From mid to sink goes 120 bytes/s whatever the grouping before it ("`all` counted once").
    """
    found = loads(tuples(grouping))
    assert found == near({"source#0": 0.6, "source#1": 0.6, "mid#0": first, "mid#1": second, "sink": 0.3})


def test_loads_by_throughput() -> None:
    """Where the application has a throughput, rates and groupings mean nothing: 4 / 2 x 0.1, 4 x 0.01."""
    found = loads(tuples("all", throughput_per_s=4))
    assert found == near({"source#0": 0.2, "source#1": 0.2, "mid#0": 0.1, "mid#1": 0.1, "sink": 0.04})


def test_loads_add_up_inputs_and_take_the_highest_output() -> None:
    """source emits 10 and 40 tuples/s, sink takes 10 + 5."""
    application = {
        "name": "app",
        "operators": [
            {"name": "source", "work_ms": 10},
            {"name": "other", "work_ms": 0},
            {"name": "sink", "work_ms": 10},
        ],
        "streams": [
            {"from": "source", "to": "sink", "bytes_per_s": 100, "tuple_bytes": 10},
            {"from": "source", "to": "other", "bytes_per_s": 80, "tuple_bytes": 2},
            {"from": "other", "to": "sink", "bytes_per_s": 50, "tuple_bytes": 10},
        ],
    }
    assert loads(make(named("a"), [], [application])) == near({"source": 0.4, "other": 0, "sink": 0.15})


def test_unknown_loads() -> None:
    """No tuple size, a size of 0, no rate: unknown; a `global` stream leaves only the first one unknown."""
    problem = tuples("global")
    source, mid, _ = problem["applications"][0]["operators"]
    source["output_bytes"] = 0
    found = loads(problem)
    assert [key for key, value in found.items() if value is None] == ["source#0", "source#1", "mid#0"]
    mid["work_ms"] = 0
    assert loads(problem)["mid#0"] == 0
    del source["output_bytes"], source["emits_bytes_per_s"]
    assert loads(problem)["sink"] is None
    alone = make(named("a"), [], [{"name": "app", "operators": [{"name": "alone", "work_ms": 1}]}])
    assert loads(alone) == {"alone": None}
    found_metrics, _ = evaluate(alone, assign(alone="a"))
    assert "utilisation_max_ratio" not in found_metrics


def paced(node: Entry, *works: float, **network: Any) -> tuple[Entry, Entry]:
    """Write operators that run once a second, each with so much work in ms, all on one node."""
    operators = [{"name": f"step{number}", "work_ms": work} for number, work in enumerate(works)]
    application = {"name": "app", "operators": operators, "throughput_per_s": 1}
    plan = assign(**{f"step{number}": "a" for number in range(len(works))})
    return make([{"name": "a", **node}], [], [application], network=network), plan


@pytest.mark.parametrize(
    ("node", "works", "keeps_up", "highest"),
    [
        ({}, (600, 400), True, 1.0),
        ({}, (600, 401), False, 1.001),
        ({"cores": 2}, (900, 1000), True, 1.0),
        ({"cores": 2}, (1001,), False, 1.001),
        ({"cores": 2, "speed": 2}, (1500, 2000, 500), True, 1.0),
        ({"cores": 2, "speed": 2}, (1500, 2000, 501), False, 4.001 / 4),
        ({"cores": 0.5}, (500,), True, 1.0),
        ({"cores": 0.5}, (600,), False, 1.2),
    ],
)
def test_keeping_up_with_cores(node: Entry, works: tuple[float, ...], keeps_up: bool, highest: float) -> None:
    """The sum is at most speed x cores, and no instance above the speed."""
    found, broken = evaluate(*paced(node, *works))
    assert (broken == []) == keeps_up
    assert found["utilisation_max_ratio"] == near(highest)


def test_max_utilisation() -> None:
    """A limit of 0.5: 1 of 2 processors is fine, 0.6 by one instance is not; and then nobody warns."""
    assert evaluate(*paced({"cores": 2}, 500, 500, max_utilisation=0.5))[1] == []
    assert len(evaluate(*paced({"cores": 2}, 600, max_utilisation=0.5))[1]) == 1
    assert len(evaluate(*paced({"cores": 2}, 400, 400, 400, max_utilisation=0.5))[1]) == 1
    assert processor_warnings(*paced({"cores": 2}, 5000, max_utilisation=0.5)) == []


def test_warnings() -> None:
    """A node above 1, and an instance above 1 only where the node has more than one core."""
    assert processor_warnings(*paced({"cores": 2}, 1600, 900)) == [
        "node a: 2.5 processors needed, 2.0 there",
        "app/step0: 1.6 processors needed, 1.0 there",
    ]
    assert processor_warnings(*paced({}, 1600)) == ["node a: 1.6 processors needed, 1.0 there"]
    assert processor_warnings(*paced({"cores": 4}, 1600)) == ["app/step0: 1.6 processors needed, 1.0 there"]
    problem, plan = paced({"cores": 4}, 1600)
    problem["applications"].append({"name": "other", "operators": [{"name": "unknown", "work_ms": 1}]})
    plan["assignment"]["other/unknown"] = "a"
    problem["applications"][0]["operators"][0]["work_ms"] = 5000
    assert processor_warnings(problem, plan) == ["app/step0: 5.0 processors needed, 1.0 there"]


def test_equal_computations_load_a_node_once() -> None:
    """Two applications tag the same pictures at 10 and 40 tuples/s: 40 x 0.01 on one node."""

    def application(name: str, rate: float) -> Entry:
        operators = [
            {"name": "fetch", "type": "fetch", "reads": [{"object": "camera", "per_s": 1}]},
            {"name": "tag", "type": "tag", "work_ms": 10},
        ]
        streams = [{"from": "fetch", "to": "tag", "bytes_per_s": rate, "tuple_bytes": 10}]
        return {"name": name, "operators": operators, "streams": streams}

    nodes = [{"name": "a", "holds": ["camera"]}]
    objects = [{"name": "camera", "bytes": 5}]
    problem = make(nodes, [], [application("slow", 100), application("fast", 400)], objects=objects)
    keys = [f"{name}/{operator}" for name in ("slow", "fast") for operator in ("fetch", "tag")]
    plan: Entry = {"assignment": dict.fromkeys(keys, "a")}
    assert evaluate(problem, plan)[0]["utilisation_max_ratio"] == near(0.4)
    problem["sharing"] = False
    assert evaluate(problem, plan)[0]["utilisation_max_ratio"] == near(0.5)


def test_forward() -> None:
    """Of 120 bytes/s each instance sends 60 to its own partner: only that of mid#1 crosses, and one delay."""
    problem = tuples("forward", "global")
    problem["network"] = {"nodes": named("a", "b"), "links": [link("a", "b", 7)]}
    found, _ = evaluate(problem, assign(source_0="a", source_1="a", mid_0="a", mid_1="b", sink="a"))
    assert found["traffic_bytes_per_s"] == near(60 + 60)
    assert found["response_time_ms"] == near(100 + 7 + 50 + 7 + 10)
    found, _ = evaluate(problem, assign(source_0="a", source_1="b", mid_0="a", mid_1="b", sink="b"))
    assert found["traffic_bytes_per_s"] == near(60)


# Goals in order


def test_response_time_sum() -> None:
    """5 + 5 ms in one application, 7 in another."""
    first = chain({"name": "source", "work_ms": 5}, {"name": "sink", "work_ms": 5})
    second = {"name": "other", "operators": [{"name": "alone", "work_ms": 7}]}
    plan = {"assignment": {"app/source": "a", "app/sink": "a", "other/alone": "a"}}
    found, _ = evaluate(make(named("a"), [], [first, second]), plan)
    assert (found["response_time_ms"], found["response_time_sum_ms"]) == (near(10), near(17))


@pytest.mark.parametrize(
    ("objective", "within", "best"),
    [
        ([{"cost_per_hour": 1}, {"response_time": 1}], None, [1, 100]),
        ([{"cost_per_hour": 1}, {"response_time": 1}], [0.5, 0], [1, 50]),
        ([{"cost_per_hour": 1}, {"response_time": 1}], [10, 0], [1, 10]),
        ([{"response_time": 1}, {"cost_per_hour": 1}], [0], [10, 4]),
        ([{"availability": 1}, {"cost_per_hour": 1}], [0.1, 0], [1, 1.5]),
        ([{"cost_per_hour": 10, "response_time": 1}, {"availability": 1}], [0.4], [50, 0.95]),
    ],
)
def test_goals_in_order(objective: list[Entry], within: list[float] | None, best: list[float]) -> None:
    """Four nodes for one operator, which takes 100, 50, 10 and 200 ms; raw sums 110, 65, 50 and 290."""
    nodes = [
        {"name": "cheap", "cost_per_hour": 1, "availability": 0.8, "speed": 1},
        {"name": "middling", "cost_per_hour": 1.5, "availability": 0.95, "speed": 2},
        {"name": "fast", "cost_per_hour": 4, "availability": 0.9, "speed": 10},
        {"name": "sure", "cost_per_hour": 9, "availability": 1, "speed": 0.5},
    ]
    application = {"name": "app", "operators": [{"name": "alone", "work_ms": 100}]}
    problem = make(nodes, [], [application], objective=objective, objective_scale="raw")
    if within is not None:
        problem["objective_within"] = within
    assert best_levels(problem) == near(best)


@pytest.mark.parametrize(("within", "cost"), [(0.2, 1), (0.19, 5)])
def test_normalised_sums_are_near_by_an_absolute_amount(within: float, cost: float) -> None:
    """a and b are each the best in one thing and the worst in the other: 0.5. c has 0.194 less."""
    nodes = [
        {"name": "a", "cost_per_hour": 1, "speed": 1},
        {"name": "b", "cost_per_hour": 10, "speed": 10},
        {"name": "c", "cost_per_hour": 5, "speed": 4},
    ]
    application = {"name": "app", "operators": [{"name": "alone", "work_ms": 100}]}
    objective = [{"cost_per_hour": 0.5, "response_time": 0.5}, {"cost_per_hour": 1}]
    problem = make(nodes, [], [application], objective=objective, objective_within=[within, 0])
    bounds = {"cost_per_hour": (1.0, 10.0), "response_time": (10.0, 100.0)}
    assert best_levels(problem, [bounds, {}]) == near([2 / 9 + 1 / 12, cost])


# Losses, computed by hand


def surviving(**more: Any) -> Entry:
    """Write source, pinned to rome, and count, on three nodes that each have room for one instance."""
    nodes: list[Entry] = [
        {"name": "rome", "capacity": {"cpu": 1}, "labels": {"zone": "south"}},
        {"name": "paris", "capacity": {"cpu": 1}, "labels": {"zone": "north"}},
        {"name": "oslo", "capacity": {"cpu": 1}, "speed": 0.5, "labels": {"zone": "north"}},
    ]
    application = chain(
        {"name": "source", "pinned": "rome", "emits_bytes_per_s": 100, "demand": {"cpu": 1}},
        {"name": "count", "demand": {"cpu": 1}, "work_ms": 10},
    )
    links = [link("rome", "paris", 5), link("paris", "oslo", 5), link("rome", "oslo", 30)]
    return make(nodes, links, [application], survive="node", **more)


def test_a_plan_that_survives() -> None:
    """Without rome, count goes on alone in 10 ms; without paris it is at oslo, 30 + 20; oslo is not used."""
    plan = {**assign(source="rome", count="paris"), "failover": {"paris": {"app/count": "oslo"}}}
    found, broken = evaluate(surviving(), plan)
    assert broken == []
    assert (found["failover_response_time_ms"], found["failover_moved_instances"]) == (near(50), 1)


@pytest.mark.parametrize(
    ("failover", "lines", "judged"),
    [
        ({}, ["loss of paris: app/count has no node"], False),
        ({"paris": {"app/count": "paris"}}, ["loss of paris: app/count has no node"], False),
        ({"paris": {"app/count": "rome"}}, ["loss of paris: node rome: cpu 2.0 needed, 1.0 there"], True),
        (
            {"paris": {"app/count": "oslo"}, "rome": {"app/source": "oslo"}},
            ["loss of rome: app/source is lost or stays, and has an entry"],
            True,
        ),
        (
            {"paris": {"app/count": "oslo"}, "oslo": {"app/count": "rome"}},
            ["loss of oslo: app/count is lost or stays, and has an entry"],
            True,
        ),
        ({"paris": {"app/source": "oslo"}}, ["loss of paris: app/count has no node"], False),
    ],
)
def test_wrong_failovers(failover: Entry, lines: list[str], judged: bool) -> None:
    """What is missing, goes to a lost node, does not fit or is needless."""
    found, broken = evaluate(surviving(), {**assign(source="rome", count="paris"), "failover": failover})
    assert broken == lines
    assert ("failover_moved_instances" in found) == judged
    assert ("failover_response_time_ms" in found) == judged


def test_losses_are_judged_where_the_plan_breaks_nothing() -> None:
    """Two instances on rome are too many: nothing is said of losses."""
    found, broken = evaluate(surviving(), assign(source="rome", count="rome"))
    assert len(broken) == 1
    assert not broken[0].startswith("loss of")
    assert found.keys().isdisjoint({"failover_response_time_ms", "failover_moved_instances"})


def test_loss_of_a_label() -> None:
    """Without the north, only rome is left, and it has no room; nodes without the label are never lost."""
    problem = surviving()
    problem["survive"] = {"label": "zone"}
    plan = {**assign(source="rome", count="paris"), "failover": {"north": {"app/count": "rome"}}}
    assert evaluate(problem, plan)[1] == ["loss of north: node rome: cpu 2.0 needed, 1.0 there"]
    del problem["network"]["nodes"][1]["labels"]
    assert evaluate(problem, assign(source="rome", count="paris"))[1] == []
    problem["survive"] = {"label": "tier"}
    found, broken = evaluate(problem, assign(source="rome", count="paris"))
    assert broken == []
    assert found.keys().isdisjoint({"failover_response_time_ms", "failover_moved_instances"})


def test_values_of_labels_are_text() -> None:
    """1 and "1" are one value, and the failover names it as text."""
    problem = surviving()
    problem["survive"] = {"label": "zone"}
    for node, zone in zip(problem["network"]["nodes"], (2, 1, "1"), strict=True):
        node["labels"]["zone"] = zone
    found = {entry.name: entry.nodes for entry in scenarios(Model(problem))}
    assert found == {"2": {"rome"}, "1": {"paris", "oslo"}}


def test_routes_are_found_anew() -> None:
    """From rome to oslo by paris in 10 ms; without paris in 30; without the direct link not at all."""
    problem = surviving()
    problem["network"]["routing"] = "shortest_path"
    plan = assign(source="rome", count="oslo")
    plan["failover"] = {"oslo": {"app/count": "paris"}}
    found, broken = evaluate(problem, plan)
    assert broken == []
    assert (found["response_time_ms"], found["failover_response_time_ms"]) == (near(30), near(50))
    problem["network"]["links"].pop()
    found, broken = evaluate(problem, plan)
    assert broken_scenarios(broken) == {"paris"}
    assert "failover_response_time_ms" not in found
    assert found["failover_moved_instances"] == 1


def test_a_node_that_does_not_host_is_lost_with_its_label_only() -> None:
    """A switch is no scenario of its own, and takes the route with it where its zone is lost."""
    problem = surviving()
    problem["network"]["nodes"][1] = {"name": "paris", "hosts": False, "labels": {"zone": "middle"}}
    problem["network"]["routing"] = "shortest_path"
    plan = assign(source="rome", count="oslo")
    assert [entry.name for entry in scenarios(Model(problem))] == ["rome", "oslo"]
    problem["survive"] = {"label": "zone"}
    assert [entry.name for entry in scenarios(Model(problem))] == ["south", "middle", "north"]
    problem["applications"][0]["max_response_time_ms"] = 40
    assert broken_scenarios(evaluate(problem, plan)[1]) == {"middle", "north"}


def test_rates_stay_and_rules_forget_what_is_lost() -> None:
    """Without the source its stream to tag is lost, but what tag sends and its load are as they were.

    source and tag are together, so tag is on rome as well. After the loss of rome tag may be anywhere; it
    sends 100 bytes/s over a link of 60, unless it is beside sink.
    """
    application = chain(
        {"name": "source", "pinned": "rome", "emits_bytes_per_s": 100, "output_bytes": 10},
        {"name": "tag", "work_ms": 50},
        {"name": "sink", "candidates": ["paris", "rome"]},
        rules=[{"together": ["source", "tag"]}],
    )
    nodes = named("rome", "paris", "oslo")
    links = [
        link("rome", "paris", 5),
        link("rome", "oslo", 5),
        link("paris", "oslo", 5, bandwidth_bytes_per_s=60),
    ]
    problem = make(nodes, links, [application], survive="node")
    plan = assign(source="rome", tag="rome", sink="paris")
    plan["failover"] = {"rome": {"app/tag": "oslo"}, "paris": {"app/sink": "rome"}}
    assert broken_scenarios(evaluate(problem, plan)[1]) == {"rome"}
    plan["failover"]["rome"]["app/tag"] = "paris"
    assert evaluate(problem, plan)[1] == []
    problem["network"]["max_utilisation"] = 0.5
    assert evaluate(problem, plan)[1] == []
    problem["network"]["nodes"][1]["speed"] = 0.9
    assert broken_scenarios(evaluate(problem, plan)[1]) == {"rome"}


def test_the_best_plan_that_survives() -> None:
    """count at oslo survives the loss of oslo by paris, and the other way round."""
    problem = surviving()
    situations = list(feasible_situations(problem))
    assert [situation.failover for situation in situations] == [
        {"rome": {}, "paris": {"app/count": "oslo"}, "oslo": {}},
        {"rome": {}, "paris": {}, "oslo": {"app/count": "paris"}},
    ]
    assert optimum(problem, "failover_response_time") == near(50)
    assert optimum(problem, "response_time") == near(15)
    problem["applications"][0]["max_response_time_ms"] = 49
    assert optimum(problem, "response_time") is None


# Random problems


@quick
@given(strategies.data())
def test_random_problems_are_valid(data: strategies.DataObject) -> None:
    """Problems and plans are valid, and every metric is finite."""
    problem = data.draw(strategies.one_of(added_problems(survive=False), added_sharing_problems()))
    assert_added_valid(problem)
    found, _ = evaluate(problem, data.draw(plans(problem)))
    assert all(math.isfinite(value) for value in found.values())
    assert found.keys() <= METRICS.keys()


@quick
@given(strategies.data())
def test_random_losses(data: strategies.DataObject) -> None:
    """A plan with the best failover breaks nothing, and no other failover is better."""
    problem = data.draw(strategies.one_of(added_problems(survive=True), added_sharing_problems(survive=True)))
    assert_added_valid(problem)
    plan = data.draw(plans_with_failovers(problem))
    found, broken = evaluate(problem, plan)
    if any(not line.startswith("loss of") for line in broken):
        assert broken_scenarios(broken) == set()
        return
    best = best_failover(Model(problem).situation(plan))
    if best is None:
        assert broken_scenarios(broken)
        return
    least, nothing = evaluate(problem, {**plan, "failover": best})
    assert nothing == []
    if not broken and "failover_response_time_ms" in found:
        assert least["failover_response_time_ms"] <= found["failover_response_time_ms"] + 1e-9


@few
@given(goal_problems())
def test_random_goals(problem: Entry) -> None:
    """The first level is the optimum of the first goal alone."""
    assert_added_valid(problem)
    best = best_levels(problem)
    first = goals(problem)[0]
    assert set().union(*goals(problem)) <= set(addable_objectives(problem))
    if len(first) == 1:
        key = next(iter(first))
        alone = optimum(problem, key, maximise=key == "availability")
        assert (None if best is None else best[0]) == alone


def assert_added_valid(problem: Entry) -> None:
    """Check what the contract calls mistakes, as far as the additions could make them."""
    assert_valid({key: value for key, value in problem.items() if key != "objective"})
    for application in problem["applications"]:
        parallelism = {entry["name"]: entry.get("parallelism", 1) for entry in application["operators"]}
        for stream in application.get("streams", []):
            if stream.get("grouping") == "forward":
                assert parallelism[stream["from"]] == parallelism[stream["to"]]
    if "max_utilisation" in problem["network"]:
        assert None not in loads_of_all(problem)
    if "survive" in problem:
        assert "objects" not in problem
        assert not any("containers" in application for application in problem["applications"])


def loads_of_all(problem: Entry) -> list[float | None]:
    """Return the load of every instance of every application."""
    structure = Model(problem).structure({}, ())
    return [load(structure, instance) for instance in structure.instances]
