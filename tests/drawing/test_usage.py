from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from berth.drawing.usage import busy_shares, link_uses, node_uses
from berth.drawing.views import situation_of
from berth.evaluation import Situation
from berth.model import Application, Containers, Network, Node, Operator, Plan, Problem

from .problems import reused, routed_without_path, several_applications, small, unknown_rates


def situation(problem: Problem, plan: Plan) -> Situation:
    found = situation_of(problem, plan)
    assert found is not None
    return found


def test_containers_take_their_whole_capacity() -> None:
    """Instances in a container count by the container, once for both of them."""
    application = Application(
        "app",
        (Operator("a", demand={"cpu": 1.0}), Operator("b", demand={"cpu": 1.0})),
        containers=Containers(2, {"cpu": 3.0, "memory": 5.0}),
    )
    problem = Problem("packed", Network((Node("x", capacity={"cpu": 8.0, "memory": 10.0}),)), (application,))
    plan = Plan({"app/a": "x", "app/b": "x"}, containers={"app/a": "app/c0", "app/b": "app/c0"})
    needed = {use.label: use.needed[0] for use in node_uses(situation(problem, plan))}
    assert needed == {"cpu": 3.0, "memory": 5.0}


def test_headroom_is_taken_off() -> None:
    """What is there is the capacity less the headroom."""
    problem, plan = small()
    network = Network(problem.network.nodes, problem.network.links, headroom=0.25)
    uses = node_uses(situation(Problem("tight", network, problem.applications), plan))
    assert uses[0].there.tolist() == [3.0, 3.0, 3.0]


def test_busy_shares_add_up() -> None:
    """What all nodes are busy with is the plan's processing power."""
    found = situation(*reused())
    busy = next(use for use in node_uses(found) if use.label == "busy")
    assert busy.needed.sum() == pytest.approx(2.0 * (1.0 + 2.0 + 1.0 + 1.0) / 1000.0)


def test_busy_where_nobody_asks() -> None:
    """Loads by tuples, against the speed of all cores; nothing where a size is not known."""
    problem, plan = small()
    assert not [use for use in node_uses(situation(problem, plan)) if use.label == "busy"]
    (application,) = problem.applications
    sized = tuple(replace(stream, tuple_bytes=2.0) for stream in application.streams)
    nodes = tuple(replace(node, cores=4.0) for node in problem.network.nodes)
    problem = replace(
        problem,
        network=replace(problem.network, nodes=nodes),
        applications=(replace(application, streams=sized),),
    )
    found = situation(problem, plan)
    busy = next(use for use in node_uses(found) if use.label == "busy")
    assert busy.needed.tolist() == [0.5, 0.5, 0.5]
    assert busy.there.tolist() == [4.0, 4.0, 4.0]
    assert busy_shares(found).tolist() == [0.125, 0.125, 0.125]


def test_busy_is_a_share_of_the_whole_node() -> None:
    """Also where not all of it may be used; what is allowed says what is too much."""
    problem, plan = several_applications()
    tight = replace(problem, network=replace(problem.network, max_utilisation=0.5))
    found = situation(tight, plan)
    busy = next(use for use in node_uses(found) if use.label == "busy")
    assert busy.there.tolist() == found.network.processors.tolist()
    assert busy.allowed.tolist() == (0.5 * busy.there).tolist()
    assert busy_shares(found).tolist() == (busy.needed / busy.there).tolist()
    node = int(busy.needed.argmax())
    assert busy.fullness(node) == pytest.approx(2.0 * busy_shares(found)[node])


def test_cards_send_and_receive() -> None:
    """Every flow counts at both of its ends."""
    found = situation(*several_applications())
    card = next(use for use in node_uses(found) if use.label == "card B/s")
    assert card.needed.sum() == pytest.approx(2.0 * np.nansum(found.flows.rate))


def test_busiest_link_comes_first() -> None:
    """A link that uses half of its bandwidth is before one without a limit."""
    uses = link_uses(situation(*small()))
    assert [(use.sender, use.receiver, use.share) for use in uses] == [(0, 1, 0.5), (1, 2, 0.0)]


def test_unknown_rates_are_marked() -> None:
    """The sum over a link is not complete where a rate is unknown."""
    assert not any(use.complete for use in link_uses(situation(*unknown_rates())))


def test_flows_without_a_path_are_listed() -> None:
    """Where links are routed and no path is there."""
    uses = link_uses(situation(*routed_without_path()))
    lost = [use for use in uses if np.isnan(use.delay_ms)]
    assert [(use.sender, use.receiver, use.bytes_per_s) for use in lost] == [(1, 2, 1000.0)]


def test_half_duplex_links_count_both_ways() -> None:
    """What goes there and back is on one line."""
    uses = link_uses(situation(*several_applications()))
    assert all(use.both_ways and use.sender < use.receiver for use in uses)
