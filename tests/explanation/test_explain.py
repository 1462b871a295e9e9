"""What an explanation says of plans whose answers are known by hand."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

import berth
from berth.evaluation import Setting, evaluate
from berth.explanation import document, explain
from berth.explanation.alternatives import Judge
from berth.explanation.what_if import changes_tried, with_copy_of
from berth.files import plan_from, problem_from
from berth.model import Application, BadInput, Network, Node, Operator, Plan, Problem, Stream

Entry = dict[str, Any]


def line(**more: Any) -> Problem:
    """A camera at the edge, an operator with a choice, and a sink in the centre."""
    nodes = [
        {"name": "edge", "capacity": {"cpu": 2}},
        {"name": "near", "capacity": {"cpu": 1}},
        {"name": "centre", "capacity": {"cpu": 4}, "speed": 2},
    ]
    links = [
        {"from": "edge", "to": "near", "delay_ms": 1, "bandwidth_bytes_per_s": 400},
        {"from": "edge", "to": "centre", "delay_ms": 20, "bandwidth_bytes_per_s": 400},
        {"from": "near", "to": "centre", "delay_ms": 6, "bandwidth_bytes_per_s": 400},
    ]
    operators = [
        {"name": "camera", "pinned": "edge", "demand": {"cpu": 1}, "emits_bytes_per_s": 200},
        {"name": "tag", "demand": {"cpu": 2}, "work_ms": 10, "selectivity": 0.5},
        {"name": "sink", "pinned": "centre", "demand": {"cpu": 1}},
    ]
    streams = [{"from": "camera", "to": "tag"}, {"from": "tag", "to": "sink"}]
    application = {"name": "watch", "operators": operators, "streams": streams}
    entry = {"format": "berth/v1", "name": "line", "network": {"nodes": nodes, "links": links}}
    return problem_from({**entry, "applications": [application], **more})


AT_THE_CENTRE = Plan({"watch/camera": "edge", "watch/tag": "centre", "watch/sink": "centre"}, policy="odp")


def forest() -> tuple[Problem, Plan]:
    """Two applications that both clean what a sensor says; the second takes the first's result."""
    nodes = [{"name": "hall", "speed": 1, "holds": ["readings"]}, {"name": "centre", "speed": 2}]
    network = {"nodes": nodes, "links": [{"from": "hall", "to": "centre", "delay_ms": 5}]}
    feed = {"name": "feed", "type": "feed", "work_ms": 20, "output_bytes": 1000}
    feed["reads"] = [{"object": "readings", "per_s": 1}]
    applications = []
    for name, throughput, work in (("alarms", 1, 100), ("totals", 2, 50)):
        clean = {"name": "clean", "type": "clean", "work_ms": 200, "output_bytes": 100}
        operators = [feed, clean, {"name": "use", "work_ms": work, "pinned": "centre"}]
        streams = [{"from": "feed", "to": "clean"}, {"from": "clean", "to": "use"}]
        applications.append(
            {"name": name, "throughput_per_s": throughput, "operators": operators, "streams": streams}
        )
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "forest",
            "network": network,
            "objects": [{"name": "readings", "bytes": 1000}],
            "applications": applications,
        }
    )
    places = {"alarms/feed": "hall", "alarms/clean": "hall", "alarms/use": "centre", "totals/use": "centre"}
    entry = {"format": "berth-plan/v1", "assignment": places, "reuse": {"totals/clean": "alarms/clean"}}
    return problem, plan_from({**entry, "skipped": ["totals/feed"]})


def test_what_forbids_a_better_node() -> None:
    """Near the edge it would be faster, but there is too little room."""
    found = explain(line(), AT_THE_CENTRE, what_if="none")
    camera, tag, sink = found.operators
    assert camera.fixed
    assert sink.fixed
    assert tag.best is None
    assert [(item.node, item.breaks) for item in tag.forbidden] == [
        ("near", ("node near: cpu 2 needed, 1 there",))
    ]
    assert tag.forbidden[0].change == pytest.approx(17.0 - 25.0)
    assert tag.obstacles == {"cpu": 2}


def test_slowest_path_and_limits() -> None:
    """Five of 25 ms are work; the links' bandwidth is half in use."""
    found = explain(line(), AT_THE_CENTRE, what_if="none")
    assert [step.instance for step in found.path.steps] == ["watch/camera", "watch/tag"]
    assert (found.path.work_ms, found.path.delay_ms) == (5.0, 20.0)
    assert found.path.share(found.path.work_ms) == pytest.approx(0.2)
    used = {(use.kind, use.name): use.share for use in found.limits}
    assert used == pytest.approx(
        {
            ("capacity", "edge cpu"): 0.5,
            ("capacity", "centre cpu"): 0.75,
            ("link", "edge -> centre"): 0.5,
        }
    )
    assert found.limits[0].name == "centre cpu"


@pytest.mark.parametrize("objective", [{"response_time": 1.0}, {"traffic": 1.0}, {"availability": 1.0}])
def test_what_if_is_solving_the_changed_problem(objective: dict[str, float]) -> None:
    """Every gain is the difference of two proved optima, found here by hand."""
    problem = line(objective=objective)
    plan = berth.solve(problem)
    explained = explain(problem, plan, what_if="full")
    found = explained.what_if
    assert found is not None
    assert found.unchanged.proved
    assert found.unchanged.objective == pytest.approx(plan.objective)
    changes = changes_tried(Judge(Setting(problem), plan, explained.goal), explained.operators, "full")
    assert [change.words for change in changes] == [item.words for item in found.changes]
    assert {change.kind for change in changes} >= {"node", "capacity", "bandwidth"}
    for change, item in zip(changes, found.changes, strict=True):
        truth = berth.solve(change.problem)
        assert item.outcome.objective == pytest.approx(truth.objective)
        assert item.proved
        assert plan.objective is not None
        assert truth.objective is not None
        sign = -1.0 if "availability" in objective else 1.0
        assert item.gain == pytest.approx(sign * (plan.objective - truth.objective))


def test_more_room_pays() -> None:
    """A cpu more where it would be faster brings 8 ms, and is tried first; elsewhere it brings nothing."""
    problem = line()
    found = explain(problem, berth.solve(problem), what_if="full").what_if
    assert found is not None
    gains = {item.words: item.gain for item in found.changes}
    assert next(iter(gains)) == "room for watch/tag on near (near cpu 2 instead of 1)"
    assert next(iter(gains.values())) == pytest.approx(8.0)
    assert gains["edge <-> centre with half the delay (10 ms)"] == pytest.approx(10.0)
    assert gains["cpu: 1 more on edge"] == 0.0


def test_a_policy_that_proves_nothing() -> None:
    """What it finds is not called the best."""
    problem = line()
    found = explain(problem, replace(AT_THE_CENTRE, policy="round-robin")).what_if
    assert found is not None
    assert not found.unchanged.proved
    assert not any(item.outcome.proved or item.proved for item in found.changes)


def test_one_more_node() -> None:
    """It is linked as the one it copies, and to that one as that is to its nearest."""
    problem = line()
    larger = with_copy_of(problem, 1).problem.network
    delay = larger.table.delay_ms
    assert larger.nodes[3].name == "near-2"
    assert delay[3].tolist() == [1.0, 1.0, 6.0, 0.0]
    assert delay[:, 3].tolist() == [1.0, 1.0, 6.0, 0.0]
    matrix = problem_from(
        {
            "format": "berth/v1",
            "name": "m",
            "network": {"nodes": [{"name": "a"}, {"name": "a-2"}], "delay_ms": [[0, 3], [4, 0]]},
            "applications": [{"name": "x", "operators": [{"name": "o", "candidates": ["a", "a-2"]}]}],
        }
    )
    changed = with_copy_of(matrix, 0).problem
    assert changed.network.nodes[2].name == "a-2-2"
    assert changed.network.table.delay_ms.tolist() == [[0, 3, 3], [4, 0, 4], [4, 3, 0]]
    assert changed.applications[0].operators[0].candidates == ("a", "a-2", "a-2-2")


def test_a_faster_link() -> None:
    """Both ways in a symmetric network, one way in another; the rest of the link stays."""
    problem = line()
    table = problem.with_link(0, 2, "delay_ms", 10.0).network.table
    assert (table.delay_ms[0, 2], table.delay_ms[2, 0], table.delay_ms[0, 1]) == (10.0, 10.0, 1.0)
    assert table.bandwidth_bytes_per_s[0, 2] == 400.0
    one_way = replace(problem, network=replace(problem.network, symmetric=False))
    table = one_way.with_link(0, 2, "bandwidth_bytes_per_s", 800.0).network.table
    assert table.bandwidth_bytes_per_s[0, 2] == 800.0
    assert table.delay_ms[0, 2] == 20.0


def test_what_sharing_saves() -> None:
    """By hand: at 2 results a second hall is busy with feed and clean for 0.04 + 0.4 instead of 0.66."""
    problem, plan = forest()
    assert evaluate(problem, plan).violations == ()
    sharing = explain(problem, plan, what_if="none").sharing
    assert sharing is not None
    (reused,) = sharing.reused
    assert (reused.taker, reused.provider, reused.nodes) == ("totals/clean", "alarms/clean", ("hall",))
    assert reused.busy == pytest.approx(0.4)
    assert sharing.skipped == ("totals/feed",)
    assert sharing.saved["processing_power"] == pytest.approx((0.22 + 0.44) - 0.44)
    assert sharing.saved["bandwidth_sum_bytes_per_s"] == pytest.approx((100 + 200) - 200)
    assert sharing.saved["nodes_used"] == 0


def test_room_for_the_next_application() -> None:
    """A copy of alarms adds 0.1 processors on the centre; by itself, 0.22 on hall, where 0.56 are left."""
    problem, plan = forest()
    alarms, totals = explain(problem, plan, what_if="none").growth
    assert alarms.shared.limit is not None
    assert (alarms.shared.limit.name, alarms.shared.copies) == ("centre", 18)
    assert alarms.shared.added == pytest.approx(0.1)
    assert alarms.alone is not None
    assert alarms.alone.limit is not None
    assert (alarms.alone.limit.name, alarms.alone.copies) == ("hall", 2)
    assert totals.alone is not None
    assert (totals.shared.copies, totals.alone.copies) == (18, 1)


def test_copies_really_fit() -> None:
    """So many copies keep all limits, and one more doesn't."""
    problem = line()
    (growth,) = explain(problem, AT_THE_CENTRE, what_if="none").growth
    assert growth.shared.copies == 0
    roomy = replace(
        problem, network=replace(problem.network, nodes=tuple(_larger(n) for n in problem.network.nodes))
    )
    (growth,) = explain(roomy, AT_THE_CENTRE, what_if="none").growth
    assert growth.shared.copies == 1
    assert growth.shared.limit is not None
    assert growth.shared.limit.name == "edge -> centre"
    for copies, fits in ((1, True), (2, False)):
        applications = tuple(replace(roomy.applications[0], name=f"w{k}") for k in range(copies + 1))
        assignment = {
            f"w{k}/{name.split('/')[1]}": node
            for k in range(copies + 1)
            for name, node in AT_THE_CENTRE.assignment.items()
        }
        result = evaluate(replace(roomy, applications=applications), Plan(assignment))
        assert (result.violations == ()) == fits


def test_every_copy_has_cores_of_its_own() -> None:
    """What one core bears of an instance doesn't add up over copies; what the node bears does."""
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "cores",
            "network": {"nodes": [{"name": "node", "cores": 4}]},
            "applications": [
                {"name": "app", "throughput_per_s": 1, "operators": [{"name": "work", "work_ms": 600}]}
            ],
        }
    )
    (growth,) = explain(problem, Plan({"app/work": "node"}), what_if="none").growth
    assert growth.shared.copies == 5
    assert growth.shared.limit is not None
    assert growth.shared.limit.kind == "processor"


def _larger(node: Any) -> Any:
    return replace(node, capacity={"cpu": 100})


def test_mending() -> None:
    """Everything at the edge: the moves that are told mend the plan."""
    problem = line()
    plan = Plan({"watch/camera": "edge", "watch/tag": "edge", "watch/sink": "edge"})
    found = explain(problem, plan, what_if="none")
    assert len(found.violations) == 2
    assert found.mending is not None
    assert found.mending.left == ()
    assignment = dict(plan.assignment)
    for move in found.mending.moves:
        assignment |= dict.fromkeys(move.instances, move.target)
    assert evaluate(problem, Plan(assignment)).violations == ()


def test_a_plan_that_can_not_be_mended() -> None:
    """What is left is told, and nothing is claimed."""
    problem = line()
    problem = replace(problem, applications=(replace(problem.applications[0], max_response_time_ms=1.0),))
    found = explain(problem, AT_THE_CENTRE)
    assert found.mending is not None
    assert found.mending.left
    assert found.what_if is not None
    assert found.what_if.unchanged.objective is None
    assert found.what_if.unchanged.proved


def test_not_placed() -> None:
    """The nodes that would take it; with nothing else missing, what the objective would be."""
    problem = line()
    found = explain(problem, Plan({"watch/camera": "edge", "watch/sink": "centre"}), what_if="none")
    tag = found.operators[1]
    assert found.objective is None
    assert tag.node is None
    assert tag.best is not None
    assert tag.best.node == "centre"
    assert tag.best.objective == pytest.approx(25.0)
    assert tag.best.mends == ("instance watch/tag: not placed",)
    nothing = explain(problem, Plan({}), what_if="none")
    assert [item.node for item in nothing.operators] == [None, None, None]
    json.dumps(document(nothing), allow_nan=False)


def test_asking_for_operators() -> None:
    """By instance, by operator, and without the application's name; unknown names are bad input."""
    problem = line()
    for name in ("watch/tag", "tag"):
        found = explain(problem, AT_THE_CENTRE, operators=[name], what_if="none")
        assert [item.instances for item in found.operators] == [("watch/tag",)]
        assert found.units == 3
    with pytest.raises(BadInput, match="did you mean 'tag'"):
        explain(problem, AT_THE_CENTRE, operators=["tga"])


def test_the_worst_of_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is broken and what is on the slowest path comes first; the order is the problem's."""
    module = sys.modules["berth.explanation.explain"]
    monkeypatch.setattr(module, "FEWEST", 2)
    monkeypatch.setattr(module, "MOST_CELLS", 0.0)
    found = explain(line(), AT_THE_CENTRE, what_if="none")
    assert [item.name for item in found.operators] == ["watch/camera", "watch/tag"]
    assert found.units == 3
    misplaced = {**AT_THE_CENTRE.assignment, "watch/sink": "near"}
    found = explain(line(), Plan(misplaced), what_if="none")
    assert "watch/sink" in [item.name for item in found.operators]


def test_bad_options() -> None:
    """They are told by name."""
    with pytest.raises(BadInput, match="--what-if"):
        explain(line(), AT_THE_CENTRE, what_if="some")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="--time-limit"):
        explain(line(), AT_THE_CENTRE, time_limit=0.0)
    with pytest.raises(BadInput, match="no node named 'rom'"):
        explain(line(), Plan({"watch/tag": "rom"}))


def test_odd_goals() -> None:
    """A goal that berth doesn't know gives way to the problem's; bounds come from the trace or are found."""
    problem = line(objective={"response_time": 1.0, "traffic": 1.0})
    unknown = replace(AT_THE_CENTRE, goal={"beauty": 1.0}, trace={"objective_bounds": "nonsense"})
    found = explain(problem, unknown, what_if="none")
    assert found.goal is not None
    assert set(found.goal.weights) == {"response_time", "traffic"}
    told = replace(AT_THE_CENTRE, trace={"objective_bounds": {"response_time": [5, 45], "traffic": [0, 400]}})
    objective = explain(problem, told, what_if="none").objective
    assert objective == pytest.approx((25 - 5) / 40 + 200 / 400)


def test_document() -> None:
    """All keys are there, whatever is known; it is JSON."""
    problem, plan = forest()
    found = explain(problem, replace(plan, policy="odp"))
    written = json.loads(json.dumps(document(found), allow_nan=False))
    assert list(written) == [
        *("format", "problem", "policy", "goal", "maximise", "objective", "violations", "warnings"),
        *(
            "operators",
            "explained",
            "units",
            "limits",
            "binding",
            "critical_path",
            "sharing",
            "growth",
            "mending",
            "survival",
            "what_if",
        ),
    ]
    assert written["format"] == "berth-explanation/v1"
    assert written["what_if"]["unchanged"]["objective"] is not None


def test_a_move_that_makes_a_broken_rule_worse_is_forbidden() -> None:
    """One place of a rule is fuller, though another one of the same rule was broken before."""
    zones = {"n0": "a", "n1": "a", "n2": "b", "n3": "b", "n4": "c"}
    nodes = [{"name": name, "labels": {"zone": zone}} for name, zone in zones.items()]
    operators = [
        {"name": "source", "pinned": "n0"},
        *({"name": name} for name in ("one", "two", "three", "four")),
    ]
    document = {
        "format": "berth/v1",
        "name": "places",
        "network": {
            "nodes": nodes,
            "links": [
                {"from": one, "to": other, "delay_ms": 1 + abs(int(one[1]) - int(other[1]))}
                for one in zones
                for other in zones
                if one < other
            ],
        },
        "applications": [
            {
                "name": "app",
                "operators": operators,
                "streams": [
                    {"from": "source", "to": each["name"], "bytes_per_s": 10} for each in operators[1:]
                ],
                "rules": [{"spread": ["one", "two", "three", "four"], "by": "zone", "most": 1}],
            }
        ],
        "objective": {"network_usage": 1},
    }
    places = {"source": "n0", "one": "n0", "two": "n0", "three": "n2", "four": "n2"}
    plan = plan_from(
        {"format": "berth-plan/v1", "assignment": {f"app/{name}": node for name, node in places.items()}}
    )
    told = explain(problem_from(document), plan, operators=["three"], what_if="none").operators[0]
    assert told.best is None or told.best.node not in ("n0", "n1")
    assert {other.node for other in told.forbidden} >= {"n0"}
    assert "3 instances" in told.forbidden[0].breaks[0]


def overloaded(**network: Any) -> Problem:
    """A model of two instances takes 200 tuples of 10 ms a second; nobody asks that anything keeps up."""
    nodes = [{"name": "edge", "cores": 2, "speed": 0.5}, {"name": "centre", "cores": 4}]
    network = {"nodes": nodes, "links": [{"from": "edge", "to": "centre", "delay_ms": 20}], **network}
    operators = [
        {"name": "source", "pinned": "edge", "emits_bytes_per_s": 2e4, "output_bytes": 100},
        {"name": "model", "work_ms": 10, "parallelism": 2},
    ]
    application = {"name": "a", "operators": operators, "streams": [{"from": "source", "to": "model"}]}
    return problem_from(
        {"format": "berth/v1", "name": "much", "network": network, "applications": [application]}
    )


def at(node: str) -> Plan:
    return Plan({"a/source": "edge", "a/model#0": node, "a/model#1": node}, policy="odp")


def test_processors_bind_where_nobody_asks() -> None:
    """Loads that are known are told, those of nodes and those of single instances; warnings, too."""
    problem = overloaded()
    found = explain(problem, at("edge"), what_if="none")
    shares = {(use.kind, use.name): use.share for use in found.limits}
    assert shares == {
        ("processor", "edge"): pytest.approx(2.0),
        ("core", "a/model#0 on edge"): pytest.approx(2.0),
        ("core", "a/model#1 on edge"): pytest.approx(2.0),
    }
    assert not found.violations
    assert found.warnings == evaluate(problem, at("edge")).warnings
    assert len(found.warnings) == 3
    centre = explain(problem, at("centre"), what_if="none")
    assert {(use.kind, round(use.share, 9)) for use in centre.limits} == {("processor", 0.5), ("core", 1.0)}
    (growth,) = centre.growth
    assert growth.shared.copies == 1
    assert centre.warnings == ()


def test_what_binds_in_rows() -> None:
    """The instances of an operator on a node are one row, and a node that is exceeded is before them."""
    application = Application(
        "a",
        (Operator("s", emits_bytes_per_s=100.0), Operator("t", parallelism=4, work_ms=60.0)),
        (Stream("s", "t", tuple_bytes=1.0),),
    )
    problem = Problem("rows", Network((Node("x", cores=2.0),)), (application,))
    plan = Plan(dict.fromkeys(problem.instances.names, "x"))
    found = explain(problem, plan, what_if="none")
    assert [(row.title, row.count) for row in found.bounds] == [("processor x", 1), ("core a/t×4 on x", 4)]
    assert [row.use.share for row in found.bounds] == [3.0, 1.5]
    assert "parallelism of 6" in found.bounds[1].use.advice
    assert [row["name"] for row in document(found)["binding"]] == ["x", "a/t×4 on x"]


def test_what_one_more_core_brings_where_nobody_asks() -> None:
    """It is offered, the busiest share falls by it, and what keeping up would cost is told."""
    found = explain(overloaded(), at("edge"), what_if="full").what_if
    assert found is not None
    assert found.unchanged.utilisation == pytest.approx(2.0)
    changes = {item.kind: item for item in found.changes}
    # one more core leaves the single instances without a faster one
    assert changes["cores"].words == "one more core on edge (3)"
    assert changes["cores"].outcome.utilisation == pytest.approx(2.0)
    assert changes["speed"].outcome.utilisation == pytest.approx(1.0)
    keeping_up = changes["utilisation"]
    assert keeping_up.outcome.objective == pytest.approx(20.0 + 10.0)
    assert keeping_up.gain == pytest.approx(20.0 - 30.0)
    assert keeping_up.outcome.utilisation == pytest.approx(1.0)
    assert len({item.words for item in found.changes}) == len(found.changes)


def test_what_keeps_up_needs_no_such_change() -> None:
    """With max_utilisation it is a constraint, and a plan that keeps up is not asked to."""
    for problem, plan in ((overloaded(), at("centre")), (overloaded(max_utilisation=1), at("edge"))):
        found = explain(problem, plan, what_if="full").what_if
        assert found is not None
        assert "utilisation" not in {item.kind for item in found.changes}


def test_loads_that_only_lack_sizes_are_told() -> None:
    """The plan may be one that no processor can run: nobody could say so."""
    work = {"name": "work", "work_ms": 5}
    document = {
        "format": "berth/v1",
        "name": "sizes",
        "network": {"nodes": [{"name": "rome"}]},
        "applications": [
            {
                "name": "app",
                "operators": [{"name": "read", "emits_bytes_per_s": 1e6}, work],
                "streams": [{"from": "read", "to": "work"}],
            }
        ],
    }
    plan = Plan({"app/read": "rome", "app/work": "rome"})
    line = "whether processors keep up is not known: no tuple_bytes of read -> work"
    assert explain(problem_from(document), plan, what_if="none").warnings == (line,)
    work["work_ms"] = 0
    assert explain(problem_from(document), plan, what_if="none").warnings == ()
