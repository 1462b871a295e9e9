from __future__ import annotations

from dataclasses import replace

import pytest

from berth.evaluation import evaluate
from berth.model import Application, BadInput, Link, Network, Node, Operator, Plan, Problem, Stream, Together
from berth.runtime.control.offers import moved
from berth.runtime.control.options import WatchOptions
from berth.runtime.control.replan import first_plan, next_plan

from .situations import EVEN, at, chain, hub, with_objective, work_on

FREE = WatchOptions(move_price=0.0, state_price=0.0)
NEAR_OSLO = {**EVEN, ("rome", "oslo"): 2.0}


def many(count: int, **settings: object) -> Problem:
    """So many independent workers; near is fast (worker k is k times as heavy), far is slow, in money."""
    nodes = (Node("far", capacity={"cpu": 1e3}), Node("near", capacity={"cpu": 1e3}))
    network = Network(nodes, (Link("far", "near", delay_ms=1.0),))
    operators = tuple(
        Operator(f"work-{k}", demand={"cpu": 1.0}, placement_cost={"far": 10.0 * k, "near": 1.0 * k})
        for k in range(1, count + 1)
    )
    application = Application("app", operators, **settings)  # type: ignore[arg-type]
    return Problem("many", network, (application,), objective={"placement_cost": 1.0})


def far_away(problem: Problem) -> Plan:
    return Plan(dict.fromkeys(problem.instances.names, "far"))


# the first plan


def test_the_first_plan_is_the_policys_where_all_is_known() -> None:
    """Nothing to explain then."""
    found = first_plan(chain(NEAR_OSLO), WatchOptions())
    assert found.plan is not None
    assert (found.plan.policy, found.plan.status, found.reason) == ("odp", "optimal", "")
    assert found.plan.goal == {"response_time": 1.0}


def test_without_rates_the_first_plan_is_for_availability() -> None:
    """As S-ODP's first run; the reason says which rates are missing and what comes later."""
    problem = with_objective(chain(rate=None), network_usage=1.0)
    nodes = tuple(
        replace(node, availability=0.5 if node.name == "rome" else 1.0) for node in problem.network.nodes
    )
    problem = replace(problem, network=replace(problem.network, nodes=nodes))
    found = first_plan(problem, WatchOptions())
    assert found.plan is not None
    assert found.plan.goal == {"availability": 1.0}
    assert found.plan.assignment["app/work"] != "rome"
    assert "app/source -> work" in found.reason
    assert "a first plan for availability" in found.reason
    assert "network usage once rates are measured" in found.reason


def test_where_all_nodes_are_equally_available_response_time_comes_first() -> None:
    """Availability has nothing to choose there."""
    found = first_plan(with_objective(chain(rate=None), network_usage=1.0), WatchOptions())
    assert found.plan is not None
    assert found.plan.goal == {"response_time": 1.0}


def test_the_known_part_of_an_objective_comes_first() -> None:
    """What needs no rates is what was asked for."""
    problem = with_objective(chain(rate=None), network_usage=1.0, nodes_used=2.0)
    found = first_plan(problem, WatchOptions())
    assert found.plan is not None
    assert found.plan.goal == {"nodes_used": 2.0}


def test_s_odp_knows_that_it_is_its_first_run() -> None:
    """The policy's own parameter is set, unless the user did."""
    problem = with_objective(chain(rate=None), network_usage=1.0)
    first = first_plan(problem, WatchOptions(policy="s-odp")).plan
    assert first is not None
    assert first.trace["step"] == "first"
    told = first_plan(problem, WatchOptions(policy="s-odp", parameters={"first_run": False})).plan
    assert told is not None
    assert told.trace["step"] == "second"
    known = first_plan(with_objective(chain(), network_usage=1.0), WatchOptions(policy="s-odp")).plan
    assert known is not None
    assert known.trace["step"] == "second"


def test_an_objective_that_rates_would_not_cure_is_bad_input() -> None:
    """It is the user's to mend."""
    with pytest.raises(BadInput, match="throughput_per_s"):
        first_plan(with_objective(chain(), processing_power=1.0), WatchOptions())


def test_no_first_plan_has_a_reason() -> None:
    """The constraints that clash."""
    problem = chain(max_response_time_ms=1.0)
    found = first_plan(problem, WatchOptions())
    assert (found.plan, found.status) == (None, "infeasible")
    assert "latency 1 ms" in found.reason


# the next plan


def test_a_better_plan_is_found_and_judged() -> None:
    """Its metrics are those of the measured problem, with what moves against the present plan."""
    problem = chain(NEAR_OSLO)
    found = next_plan(problem, work_on("paris"), (), FREE)
    assert found.plan is not None
    assert found.plan.assignment["app/work"] in ("rome", "oslo")
    assert found.plan.metrics["response_time_ms"] == pytest.approx(5.0)
    assert found.plan.metrics["moved_instances"] == 1
    assert found.plan.objective == pytest.approx(5.0)


def test_nothing_moves_without_a_gain() -> None:
    """Equally good plans are no reason, whatever the solver prefers."""
    problem = hub({"rome": 1.0, "paris": 1.0, "oslo": 1.0})
    for node in ("rome", "paris", "oslo"):
        found = next_plan(problem, at(node), (), FREE)
        assert found.plan is not None
        assert found.plan.assignment == {"app/work": node}


def test_dead_nodes_are_left() -> None:
    """The plan is for the nodes that are alive."""
    problem = hub({"rome": 1.0, "paris": 2.0, "oslo": 3.0})
    found = next_plan(problem, at("rome"), {"rome"}, WatchOptions())
    assert found.plan is not None
    assert found.plan.assignment == {"app/work": "paris"}


def test_a_pinned_operator_on_a_dead_node_has_no_plan() -> None:
    """The reason names it, and what would help."""
    found = next_plan(chain(), work_on("paris"), {"oslo"}, WatchOptions())
    assert (found.plan, found.status) == (None, "infeasible")
    assert found.reason == "app/sink is pinned to oslo; dead: oslo; nothing runs until a node is back"


def test_too_little_room_without_a_node_has_no_plan() -> None:
    """The reason is the policy's own."""
    problem = chain(work={"parallelism": 8})
    spread = [*["rome"] * 3, *["paris"] * 4, "oslo"]
    plan = Plan(
        {"app/source": "rome", "app/sink": "oslo"} | {f"app/work#{k}": node for k, node in enumerate(spread)}
    )
    assert evaluate(problem, plan).violations == ()
    found = next_plan(problem, plan, {"paris"}, WatchOptions())
    assert (found.plan, found.status) == (None, "infeasible")
    assert "cpu" in found.reason


def test_frozen_operators_stay() -> None:
    """However much could be gained."""
    found = next_plan(chain(NEAR_OSLO), work_on("paris"), (), replace(FREE, frozen=frozenset({"work"})))
    assert found.plan is not None
    assert found.plan.assignment["app/work"] == "paris"


def test_frozen_instances_dont_change_places() -> None:
    """The solver doesn't tell instances of one operator apart; a frozen one must be where it was."""
    problem = chain(work={"parallelism": 3})
    mixed = {"app/work#0": "oslo", "app/work#1": "rome", "app/work#2": "rome"}
    plan = Plan({**work_on("paris", problem).assignment, **mixed})
    found = next_plan(problem, plan, (), replace(FREE, frozen=frozenset({"app/work"})))
    assert found.plan is not None
    assert found.plan.assignment == plan.assignment


def test_frozen_instances_dont_change_places_for_a_gain_either() -> None:
    """The first instance gets everything, and would be better off where the second one is."""
    problem = with_objective(chain(work={"parallelism": 2, "selectivity": 0.1}), traffic=1.0)
    application = problem.applications[0]
    streams = (replace(application.streams[0], grouping="global"), application.streams[1])
    problem = replace(problem, applications=(replace(application, streams=streams),))
    plan = Plan({**work_on("rome", problem).assignment, "app/work#0": "oslo"})
    free = next_plan(problem, plan, (), FREE).plan
    kept = next_plan(problem, plan, (), replace(FREE, frozen=frozenset({"work"}))).plan
    assert free is not None
    assert kept is not None
    assert free.assignment["app/work#0"] == "rome"
    assert kept.assignment == plan.assignment


def test_a_frozen_operator_leaves_a_dead_node_and_that_is_said() -> None:
    """An application that stands still helps nobody."""
    options = WatchOptions(frozen=frozenset({"work"}))
    found = next_plan(hub({"rome": 1.0, "paris": 2.0}), at("rome"), {"rome"}, options)
    assert found.plan is not None
    assert found.plan.assignment == {"app/work": "paris"}
    assert found.reason == "app/work should stay where it is, but rome is dead"


def test_each_move_has_to_bring_its_price() -> None:
    """Of five workers those move whose gain, relative to the whole cost, is above the price."""
    problem = many(5)
    # the cost is 150; worker k gains 9 k of it, 6 % for each k
    found = next_plan(problem, far_away(problem), (), WatchOptions(move_price=0.2))
    assert found.plan is not None
    assert set(moved(far_away(problem).assignment, found.plan.assignment)) == {"app/work-4", "app/work-5"}


def test_a_cheap_plan_that_is_not_on_the_way_to_the_best_one_is_found() -> None:
    """The price is part of the objective: taking moves back from the best plan would not lead there.

    All five on the cheap node would gain 95 % with five moves, the last one there alone 45 %; but it may as
    well join the others, which saves its node and gains 50 %.
    """
    prices = {"others": 10.0, "alone": 10.0, "cheap": 1.0}
    nodes = tuple(Node(name, cost_per_hour=price) for name, price in prices.items())
    links = (Link("others", "alone", delay_ms=1.0), Link("others", "cheap", delay_ms=1.0))
    operators = tuple(Operator(f"work-{k}") for k in range(1, 6))
    application = Application("app", operators)
    problem = Problem("money", Network(nodes, links), (application,), objective={"cost_per_hour": 1.0})
    plan = Plan({f"app/work-{k}": "others" if k < 5 else "alone" for k in range(1, 6)})
    found = next_plan(problem, plan, (), WatchOptions(move_price=0.15))
    assert found.plan is not None
    assert moved(plan.assignment, found.plan.assignment) == {"app/work-5": ("alone", "others")}


def test_state_has_a_price_too() -> None:
    """The largest state stays, though it would gain most."""
    problem = many(3)
    operators = list(problem.applications[0].operators)
    operators[2] = replace(operators[2], state_bytes=5e9)
    problem = replace(problem, applications=(Application("app", tuple(operators)),))
    found = next_plan(problem, far_away(problem), (), WatchOptions(move_price=0.0, state_price=0.2))
    assert found.plan is not None
    assert set(moved(far_away(problem).assignment, found.plan.assignment)) == {"app/work-1", "app/work-2"}


@pytest.mark.parametrize("policy", ["odp", "round-robin"])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_at_most_so_many_move(policy: str, most: int) -> None:
    """Those that gain most, also with a policy that knows nothing of moves."""
    problem = many(4)
    options = replace(FREE, max_moves=most, policy=policy)
    found = next_plan(problem, far_away(problem), (), options)
    assert found.plan is not None
    moves = set(moved(far_away(problem).assignment, found.plan.assignment))
    assert len(moves) <= most
    if policy == "odp":
        assert moves == {f"app/work-{k}" for k in range(5 - most, 5)}


def test_instances_that_must_stay_together_move_together_or_not() -> None:
    """Half a group would break a rule; with one move allowed the single one goes."""
    rules = (Together(("work-1", "work-4")), Together(("work-4", "work-3")))
    problem = many(4, rules=rules)
    one = next_plan(problem, far_away(problem), (), replace(FREE, max_moves=1)).plan
    three = next_plan(problem, far_away(problem), (), replace(FREE, max_moves=3)).plan
    assert one is not None
    assert three is not None
    assert set(moved(far_away(problem).assignment, one.assignment)) == {"app/work-2"}
    assert set(moved(far_away(problem).assignment, three.assignment)) == {f"app/work-{k}" for k in (1, 3, 4)}


def test_what_must_leave_a_dead_node_counts_first_and_may_exceed_the_limit() -> None:
    """Two are forced where one may move: no third one joins them."""
    problem = many(4)
    plan = Plan({"app/work-1": "gone", "app/work-2": "gone", "app/work-3": "far", "app/work-4": "far"})
    nodes = (*problem.network.nodes, Node("gone", capacity={"cpu": 10.0}))
    problem = replace(problem, network=Network(nodes, problem.network.links))
    found = next_plan(problem, plan, {"gone"}, replace(FREE, max_moves=1))
    assert found.plan is not None
    assert set(moved(plan.assignment, found.plan.assignment)) == {"app/work-1", "app/work-2"}
    assert found.plan.assignment["app/work-1"] == "near"
    more = next_plan(problem, plan, {"gone"}, replace(FREE, max_moves=3))
    assert more.plan is not None
    assert set(moved(plan.assignment, more.plan.assignment)) == {"app/work-1", "app/work-2", "app/work-4"}


@pytest.mark.parametrize("scale", ["normalised", "raw"])
def test_weighted_sums_have_a_price_of_moving_as_well(scale: str) -> None:
    """The same workers move as where the cost alone counts: the other metric can't change."""
    problem = replace(
        many(5), objective={"placement_cost": 1.0, "response_time": 1e-9}, objective_scale=scale
    )
    found = next_plan(problem, far_away(problem), (), WatchOptions(move_price=0.2))
    assert found.plan is not None
    assert set(moved(far_away(problem).assignment, found.plan.assignment)) == {"app/work-4", "app/work-5"}


def test_a_price_of_moving_in_the_problem_itself_is_kept() -> None:
    """It is part of the user's objective."""
    problem = replace(
        many(5), objective={"placement_cost": 1.0, "moved_instances": 40.0}, objective_scale="raw"
    )
    found = next_plan(problem, far_away(problem), (), FREE)
    assert found.plan is not None
    assert set(moved(far_away(problem).assignment, found.plan.assignment)) == {"app/work-5"}


def test_maximised_metrics_have_a_price_of_moving() -> None:
    """A share of availability that is less than the price moves nobody."""
    problem = with_objective(hub({"rome": 1.0, "paris": 1.0}), availability=1.0)
    nodes = (replace(problem.network.nodes[0], availability=0.9), problem.network.nodes[1])
    problem = replace(problem, network=replace(problem.network, nodes=nodes))
    cheap = next_plan(problem, at("rome"), (), WatchOptions(move_price=0.05)).plan
    dear = next_plan(problem, at("rome"), (), WatchOptions(move_price=0.2)).plan
    assert cheap is not None
    assert dear is not None
    assert (cheap.assignment["app/work"], dear.assignment["app/work"]) == ("paris", "rome")


def test_while_rates_are_unknown_nothing_moves() -> None:
    """There is nothing to compare yet; the reason says what is missing."""
    problem = with_objective(chain(rate=None), network_usage=1.0)
    found = next_plan(problem, work_on("paris"), (), WatchOptions())
    assert found.plan is not None
    assert found.plan.assignment == work_on("paris").assignment
    assert "app/work -> sink" in found.reason


def test_a_dead_node_is_left_even_while_rates_are_unknown() -> None:
    """For what is known without them."""
    problem = with_objective(chain(rate=None), network_usage=1.0)
    found = next_plan(problem, work_on("paris"), {"paris"}, WatchOptions())
    assert found.plan is not None
    assert found.plan.assignment["app/work"] != "paris"


def test_what_no_dead_node_has_stays_while_rates_are_unknown() -> None:
    """A better response time is no reason to move it: that is not what was asked for."""
    problem = with_objective(chain(rate=None), network_usage=1.0)
    (application,) = problem.applications
    free = (Operator("early", demand={"cpu": 1.0}), Operator("late", demand={"cpu": 1.0}))
    application = replace(application, operators=(*application.operators, *free))
    problem = replace(problem, applications=(application,))
    plan = Plan({**work_on("paris").assignment, "app/early": "paris", "app/late": "rome"})
    found = next_plan(problem, plan, {"paris"}, WatchOptions())
    assert found.plan is not None
    assert found.plan.assignment["app/late"] == "rome"
    assert "paris" not in found.plan.assignment.values()


def test_other_applications_of_the_problem_stay() -> None:
    """Their demand counts, but nobody moves them."""
    problem = hub({"rome": 1.0, "paris": 2.0})
    other = Application("other", (Operator("only", work_ms=50.0),))
    problem = replace(problem, applications=(*problem.applications, other))
    plan = Plan({"app/work": "paris", "other/only": "paris"})
    found = next_plan(problem, plan, (), FREE, application="app")
    assert found.plan is not None
    assert found.plan.assignment["other/only"] == "paris"


def test_results_are_not_shared_in_a_run() -> None:
    """Two equal operators on one node both work there: their demand counts twice."""
    nodes = (Node("small", capacity={"cpu": 1.0}), Node("other", capacity={"cpu": 1.0}))
    network = Network(nodes, (Link("small", "other", delay_ms=1.0),))
    operators = (
        Operator("source", ("small",)),
        *(Operator(name, demand={"cpu": 1.0}, type="same") for name in ("one", "two")),
    )
    streams = (Stream("source", "one"), Stream("source", "two"))
    problem = Problem("twins", network, (Application("app", operators, streams),))
    found = first_plan(problem, WatchOptions())
    assert found.plan is not None
    assert {found.plan.assignment["app/one"], found.plan.assignment["app/two"]} == {"small", "other"}
