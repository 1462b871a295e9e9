"""What queueing theory says of queues that have formulas, within what chance allows at fixed seeds."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from berth.model import Application, Link, Network, Node, Operator, Plan, Problem, Stream
from berth.simulate import Options, Simulation, simulate
from tests.simulate.problems import chain

LONG = 4000.0


def run(problem: Problem, plan: Plan, **options: object) -> Simulation:
    return simulate(problem, plan, Options(duration_s=LONG, warm_up_s=100.0, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("processors", ["own", "node", "shared"])
def test_m_m_1(processors: Literal["own", "node", "shared"]) -> None:
    """lambda = 70, mu = 100: 1 / (mu - lambda) in the system, rho busy, rho / (1 - rho) present."""
    result = run(*chain([10.0], 70.0), processors=processors)
    (server,) = result.instances
    assert result.totals.latency_mean_ms == pytest.approx(1000 / 30, rel=0.03)
    assert server.time_ms == pytest.approx(1000 / 30, rel=0.03)
    assert server.utilisation == pytest.approx(0.7, rel=0.02)
    assert server.present == pytest.approx(0.7 / 0.3, rel=0.04)
    assert server.arriving_per_s == pytest.approx(70.0, rel=0.02)
    # the time in the system is exponential
    assert result.totals.latency_p50_ms == pytest.approx(np.log(2) * 1000 / 30, rel=0.04)
    assert result.totals.latency_p99_ms == pytest.approx(np.log(100) * 1000 / 30, rel=0.05)


def test_m_d_1() -> None:
    """Fixed service: half of the waiting time of M/M/1."""
    result = run(*chain([10.0], 70.0), service="fixed")
    assert result.totals.latency_mean_ms == pytest.approx(10 + 10 * 0.7 / (2 * 0.3), rel=0.02)


def test_d_d_1_never_waits() -> None:
    """Regular arrivals and fixed service below saturation."""
    result = run(*chain([10.0], 70.0), service="fixed", arrivals="regular")
    assert result.totals.latency_mean_ms == pytest.approx(10.0)
    assert result.totals.latency_max_ms == pytest.approx(10.0)


def test_tandem() -> None:
    """Jackson: each server as if it were alone, delays between them added."""
    works, rate = [10.0, 5.0, 12.0], 60.0
    result = run(*chain(works, rate, nodes=["x", "y", "z"], delay_ms=20.0))
    alone = [1000 / (1000 / work - rate) for work in works]
    assert result.totals.latency_mean_ms == pytest.approx(sum(alone) + 40.0, rel=0.03)
    for server, time in zip(result.instances, alone, strict=True):
        assert server.time_ms == pytest.approx(time, rel=0.05)


def test_random_split() -> None:
    """A Poisson stream split at random is several Poisson streams."""
    problem, plan = chain([0.0, 20.0], 120.0, parallelism=3, cores=4.0)
    result = run(problem, plan)
    for server in result.instances[1:]:
        assert server.arriving_per_s == pytest.approx(40.0, rel=0.03)
        assert server.time_ms == pytest.approx(1000 / (50 - 40), rel=0.1)


def test_fan_out_and_selectivity() -> None:
    """Every outgoing stream carries every result; half of the tuples leave a filter of 0.5."""
    operators = (
        Operator("s", emits_bytes_per_s=50_000.0),
        Operator("half", work_ms=10.0, selectivity=0.5),
        Operator("other", work_ms=10.0),
        Operator("end", work_ms=20.0),
    )
    streams = (Stream("s", "half"), Stream("s", "other"), Stream("half", "end"))
    problem = Problem("p", Network((Node("x", cores=4.0),)), (Application("a", operators, streams),))
    result = run(problem, Plan(dict.fromkeys(problem.instances.names, "x")))
    times = {server.name: server.time_ms for server in result.instances}
    assert times["a/half"] == pytest.approx(20.0, rel=0.06)
    assert times["a/other"] == pytest.approx(1000 / (100 - 50), rel=0.06)
    assert times["a/end"] == pytest.approx(1000 / (50 - 25), rel=0.06)


@pytest.mark.parametrize("grouping", ["all", "global"])
def test_groupings(grouping: Literal["all", "global"]) -> None:
    """All: every receiver gets everything; global: the first one does."""
    operators = Operator("s", emits_bytes_per_s=10_000.0), Operator("r", parallelism=2)
    streams = (Stream("s", "r", grouping=grouping),)
    problem = Problem("p", Network((Node("x"),)), (Application("a", operators, streams),))
    result = run(problem, Plan(dict.fromkeys(problem.instances.names, "x")), arrivals="regular")
    expected = [10.0, 10.0, 10.0 if grouping == "all" else 0.0]
    assert [round(server.arriving_per_s, 2) for server in result.instances] == expected


def test_link_as_m_d_1() -> None:
    """Tuples of 1000 bytes over 100,000 bytes/s, 70 a second: a server of 10 ms with rho = 0.7."""
    result = run(*chain([0.0, 0.0], 70.0, nodes=["x", "y"], delay_ms=5.0, bandwidth=100_000.0))
    (link,) = result.links
    assert link.utilisation == pytest.approx(0.7, rel=0.02)
    assert link.wait_ms == pytest.approx(10 * 0.7 / (2 * 0.3), rel=0.06)
    assert result.totals.latency_mean_ms == pytest.approx(5 + 10 + 10 * 0.7 / 0.6, rel=0.03)


@pytest.mark.parametrize(("duplex", "share"), [("full", 0.4), ("half", 0.8)])
def test_duplex(duplex: str, share: float) -> None:
    """With half duplex both directions wait for one another: one M/D/1 of twice the load."""
    problem, plan = chain([0.0] * 3, 40.0, nodes=["x", "y", "x"], bandwidth=100_000.0, duplex=duplex)
    result = run(problem, plan)
    assert {round(link.utilisation, 1) for link in result.links} == {share}
    assert len(result.links) == (2 if duplex == "full" else 1)


def test_one_server_for_all_on_a_node() -> None:
    """Two sources of 35/s at one processor of 10 ms are M/M/1 with 70/s, whether it is shared or in turn."""
    operators = tuple(Operator(name, work_ms=10.0, emits_bytes_per_s=35_000.0) for name in "st")
    problem = Problem("p", Network((Node("x"),)), (Application("a", operators),))
    plan = Plan({"a/s": "x", "a/t": "x"})
    in_turn, shared = run(problem, plan, processors="node"), run(problem, plan, processors="shared")
    assert in_turn.totals.latency_mean_ms == pytest.approx(1000 / 30, rel=0.05)
    assert shared.totals.latency_mean_ms == pytest.approx(1000 / 30, rel=0.05)
    for result in (in_turn, shared):
        assert result.node_busy.mean() == pytest.approx(0.7, rel=0.02)
    own = run(problem, plan, processors="own")
    assert own.totals.latency_mean_ms == pytest.approx(1000 / 65, rel=0.05)


@pytest.mark.parametrize("processors", ["node", "shared"])
def test_m_m_c(processors: Literal["node", "shared"]) -> None:
    """Sixty sources of 4/s at three cores of 10 ms: nearly M/M/3 with 240/s, by Erlang's formula."""
    operators = tuple(Operator(f"s{at}", work_ms=10.0, emits_bytes_per_s=4_000.0) for at in range(60))
    problem = Problem("p", Network((Node("x", cores=3.0),)), (Application("a", operators),))
    result = run(problem, Plan(dict.fromkeys(problem.instances.names, "x")), processors=processors)
    load = 2.4
    waiting = load**3 / 6 / (1 - load / 3)
    queued = waiting / (1 + load + load**2 / 2 + waiting)
    assert result.totals.latency_mean_ms == pytest.approx(10.0 + 10.0 * queued / (3 - load), rel=0.05)
    assert result.node_busy.mean() == pytest.approx(load, rel=0.02)


@pytest.mark.parametrize("processors", ["node", "shared"])
def test_half_a_core(processors: Literal["node", "shared"]) -> None:
    """Half a core of speed 2 is as a core of speed 1 for one instance; and it can't be busier than half."""
    problem, plan = chain([10.0], 70.0)
    problem = replace(problem, network=Network((Node("here", speed=2.0, cores=0.5),)))
    result = run(problem, plan, processors=processors)
    assert result.totals.latency_mean_ms == pytest.approx(1000 / 30, rel=0.03)
    assert result.node_busy.mean() == pytest.approx(0.35, rel=0.02)


@pytest.mark.parametrize("processors", ["node", "shared"])
def test_an_instance_uses_one_core_at_a_time(processors: Literal["node", "shared"]) -> None:
    """What needs a core and a half grows on a node of four; its neighbour has an M/M/1 of its own."""
    operators = (
        Operator("much", work_ms=15.0, emits_bytes_per_s=100_000.0),
        Operator("little", work_ms=10.0, emits_bytes_per_s=50_000.0),
    )
    problem = Problem("p", Network((Node("x", cores=4.0),)), (Application("a", operators),))
    options = Options(duration_s=1000.0, processors=processors)
    result = simulate(problem, Plan({"a/much": "x", "a/little": "x"}), options)
    much, little = result.instances
    assert much.utilisation == pytest.approx(1.0, rel=0.001)
    assert result.totals.inside == pytest.approx(100_000 - 1000 / 0.015, rel=0.05)
    assert little.time_ms == pytest.approx(20.0, rel=0.05)
    assert result.unstable == (
        "instance a/much: utilisation 1.5 (1 or more): its queue grows as long as it runs",
    )


def test_routed_links() -> None:
    """With shortest paths every physical link on the way is a queue of its own."""
    nodes = tuple(Node(name) for name in "xyz")
    links = Link("x", "y", 5.0, bandwidth_bytes_per_s=1e5), Link("y", "z", 7.0, bandwidth_bytes_per_s=1e5)
    operators = Operator("s", emits_bytes_per_s=70_000.0), Operator("r")
    problem = Problem(
        "p",
        Network(nodes, links, routing="shortest_path"),
        (Application("a", operators, (Stream("s", "r"),)),),
    )
    result = run(problem, Plan({"a/s": "x", "a/r": "z"}))
    # what leaves the first at intervals of at least 10 ms never waits at the second
    waits = [link.wait_ms for link in result.links]
    assert waits == [pytest.approx(10 * 0.7 / 0.6, rel=0.06), pytest.approx(0.0, abs=1e-9)]
    assert result.totals.latency_mean_ms == pytest.approx(12 + 20 + 10 * 0.7 / 0.6, rel=0.03)
