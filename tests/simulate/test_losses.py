"""Losses in a simulation: the failover begins when a loss is noticed, and phases tell what it does."""

import math
from dataclasses import replace
from typing import Any

import pytest

from berth.model import BadInput, Plan, Problem, Survive
from berth.simulate import Events, NodeLoss, Options, simulate
from tests.simulate.problems import chain

REGULAR: dict[str, Any] = {"arrivals": "regular", "service": "fixed"}


def surviving() -> tuple[Problem, Plan]:
    """Ten tuples a second from x over 3 ms to y; z is there, too."""
    problem, plan = chain([0.0, 20.0, 0.0], 10.0, nodes=["x", "y", "z"], delay_ms=3.0)
    plan = Plan({**plan.assignment, "a/o2": "x"}, failover={"y": {"a/o1": "z"}})
    return replace(problem, survive=Survive()), plan


def test_before_during_and_after_a_loss() -> None:
    """Lost at 10.05 s, noticed 2 s later, 1 s of pause: what came before it was noticed is lost."""
    problem, plan = surviving()
    options = Options(duration_s=30.05, detect_s=2.0, pause_s=1.0, **REGULAR)
    result = simulate(problem, plan, options, Events(losses=(NodeLoss("y", 10.05),)))
    assert [(phase.name, phase.from_s, phase.to_s) for phase in result.phases] == [
        ("before", 0.0, 10.05),
        ("y lost", 10.05, pytest.approx(13.05)),
        ("after y", pytest.approx(13.05), 30.05),
    ]
    before, during, after = result.phases
    assert before.latency_mean_ms == pytest.approx(26.0)
    assert math.isnan(during.latency_mean_ms)
    assert (before.lost, during.lost, after.lost) == (0, 20, 0)
    # ten tuples waited for the pause to end
    assert after.latency_p95_ms > 26.0
    assert [(move.instance, move.before, move.after) for move in result.moves] == [("a/o1", "y", "z")]
    assert [(outage.node, outage.begin_s, outage.end_s) for outage in result.outages] == [("y", 10.05, None)]
    assert result.plan.assignment["a/o1"] == "z"


def test_a_loss_without_a_failover_is_a_failure() -> None:
    """Nothing moves, and everything is lost from then on."""
    problem, plan = surviving()
    options = Options(duration_s=20.05, **REGULAR)
    result = simulate(problem, replace(plan, failover={}), options, Events(losses=(NodeLoss("y", 10.05),)))
    assert result.moves == ()
    assert [phase.lost for phase in result.phases] == [0, 10, 90]


def test_a_zone_is_lost_at_once() -> None:
    """All its nodes are down, and what moves is what the failover of the zone says."""
    problem, plan = surviving()
    zones = {"y": "east", "z": "east"}
    nodes = tuple(
        replace(node, labels={"zone": zones[node.name]} if node.name in zones else {})
        for node in problem.network.nodes
    )
    problem = replace(problem, network=replace(problem.network, nodes=nodes), survive=Survive("zone"))
    plan = replace(plan, failover={"east": {"a/o1": "x"}})
    result = simulate(problem, plan, Options(duration_s=20.0), Events(losses=(NodeLoss("east", 5.0),)))
    assert {outage.node for outage in result.outages} == {"y", "z"}
    assert set(result.plan.assignment.values()) == {"x"}


def test_what_is_before_a_loss_begins_after_the_warm_up() -> None:
    """As all totals do."""
    problem, plan = surviving()
    options = Options(duration_s=20.0, warm_up_s=4.0, **REGULAR)
    result = simulate(problem, plan, options, Events(losses=(NodeLoss("y", 10.0),)))
    assert result.phases[0].from_s == 4.0
    assert simulate(problem, plan, options).phases == ()


@pytest.mark.parametrize(
    ("survive", "loss", "line"),
    [
        (Survive(), NodeLoss("w", 1.0), "losses[0].name: no loss named 'w'"),
        (Survive(), NodeLoss("y", -1.0), "losses[0].at_s: -1 is not a number from 0 on"),
        (None, NodeLoss("y", 1.0), "losses[0].name: the problem has nothing to survive"),
    ],
)
def test_losses_that_make_no_sense(survive: Survive | None, loss: NodeLoss, line: str) -> None:
    problem, plan = surviving()
    with pytest.raises(BadInput) as caught:
        simulate(replace(problem, survive=survive), plan, Options(), Events(losses=(loss,)))
    assert caught.value.mistakes[0].startswith(line)


def test_nothing_is_lost_twice() -> None:
    """What is lost is lost for good."""
    problem, plan = surviving()
    twice = Events(losses=(NodeLoss("y", 1.0), NodeLoss("y", 2.0)))
    with pytest.raises(BadInput, match=r"losses\[1\].name: y is lost already, in losses\[0\]"):
        simulate(problem, plan, Options(), twice)
