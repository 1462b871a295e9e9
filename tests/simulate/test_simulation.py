"""Failures, rate changes, migrations, noise and re-planning: what is known exactly; nothing vanishes."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.model import Application, BadInput, Link, Network, Node, Operator, Plan, Problem, Stream
from berth.simulate import Events, Failure, Measured, Migration, Options, RateChange, simulate
from berth.simulate.flow import tuple_flow, unstable
from berth.simulate.simulation import complete_situation
from tests.simulate.problems import chain, moved
from tests.simulate.test_machine import placed_problems

REGULAR: dict[str, Any] = {"arrivals": "regular", "service": "fixed"}


def test_rates_change_in_time() -> None:
    """10 a second, twice that from 10 s on, none from 20 s to 30 s, then as at first."""
    changes = RateChange(10.0, 2.0), RateChange(20.0, 0.0), RateChange(30.0, 1.0, ("a/o0",))
    result = simulate(
        *chain([1.0], 10.0), Options(duration_s=40.0, window_s=10.0, **REGULAR), Events(rates=changes)
    )
    assert result.series["emitted_per_s"] == pytest.approx([10.0, 20.0, 0.0, 10.0], abs=0.11)
    nothing = result.series["latency_mean_ms"][2]
    assert np.isnan(nothing)


def test_rates_change_for_poisson() -> None:
    """What is due when a rate changes comes sooner by as much."""
    result = simulate(
        *chain([0.0], 100.0),
        Options(duration_s=200.0, window_s=100.0),
        Events(rates=(RateChange(100.0, 3.0),)),
    )
    assert result.series["emitted_per_s"] == pytest.approx([100.0, 300.0], rel=0.03)


@pytest.mark.parametrize(("fate", "lost"), [("lose", 50), ("wait", 0)])
@pytest.mark.parametrize("processors", ["own", "node", "shared"])
def test_a_node_fails(fate: Any, lost: int, processors: Any) -> None:
    """Down for 5 s at 10 tuples a second: 50 are lost, or wait and are served afterwards."""
    problem, plan = chain([0.0, 20.0], 10.0, nodes=["x", "y"], delay_ms=3.0)
    options = Options(duration_s=30.05, failures=fate, processors=processors, **REGULAR)
    result = simulate(problem, plan, options, Events(failures=(Failure("y", 10.05, 15.05),)))
    totals = result.totals
    assert totals.lost == lost
    assert totals.emitted == totals.results + totals.lost + totals.inside
    assert totals.emitted == 301
    if fate == "wait":
        # the one of 10.1 s waits until 15.05 s and is the first then
        assert totals.latency_max_ms == pytest.approx(4970.0)
    else:
        assert totals.latency_max_ms == pytest.approx(23.0)


def test_what_is_served_when_a_node_fails_starts_again() -> None:
    """Begun at 1.000 s, stopped at 1.005 s, begun again at 2 s; the work before is busy time, too."""
    problem, plan = chain([10.0], 1.0)
    options = Options(duration_s=2.5, failures="wait", **REGULAR)
    result = simulate(problem, plan, options, Events(failures=(Failure("here", 1.005, 1.5),)))
    assert result.totals.latency_max_ms == pytest.approx(510.0)
    assert result.instances[0].utilisation == pytest.approx((3 * 0.010 + 0.005) / 2.5)


def test_two_failures_of_a_node_may_overlap() -> None:
    """It is up when the last of them is over."""
    problem, plan = chain([0.0], 10.0)
    failures = Failure("here", 1.05, 3.0), Failure("here", 2.0, 4.05), Failure("here", 8.05)
    result = simulate(problem, plan, Options(duration_s=9.95, **REGULAR), Events(failures=failures))
    assert result.totals.lost == 30 + 19


def test_nodes_fail_by_their_availability() -> None:
    """Down for a fifth of a long time."""
    problem, plan = chain([0.0], 10.0)
    problem = replace(problem, network=Network((Node("here", availability=0.8),)))
    result = simulate(problem, plan, Options(duration_s=5000.0, mean_repair_s=5.0))
    assert result.totals.lost / result.totals.emitted == pytest.approx(0.2, abs=0.03)
    down = sum((outage.end_s or 5000.0) - outage.begin_s for outage in result.outages)
    assert down / 5000.0 == pytest.approx(result.totals.lost / result.totals.emitted, abs=0.01)
    assert simulate(problem, plan, Options(duration_s=50.0)).totals.lost == 0


@pytest.mark.parametrize(("fate", "lost"), [("wait", 0), ("lose", 30)])
@pytest.mark.parametrize("processors", ["own", "node", "shared"])
def test_a_migration_pauses(fate: Any, lost: int, processors: Any) -> None:
    """One second, and two more for a state of 2 MB over 1 MB/s: 30 tuples wait or are lost."""
    problem, plan = chain([0.0, 5.0], 10.0, nodes=["x", "y"], delay_ms=2.0, bandwidth=1e6)
    application = problem.applications[0]
    source, worker = application.operators
    problem = replace(
        problem, applications=(replace(application, operators=(source, replace(worker, state_bytes=2e6))),)
    )
    later = Migration(10.05, moved(plan, {"a/o1": "x"}))
    options = Options(duration_s=20.05, pause_s=1.0, migrations=fate, processors=processors, **REGULAR)
    result = simulate(problem, plan, options, Events(migrations=(later,)))
    (move,) = result.moves
    assert (move.time_s, move.instance, move.before, move.after) == (10.05, "a/o1", "y", "x")
    assert move.pause_s == pytest.approx(3.0)
    assert result.totals.lost == lost
    assert result.totals.emitted == result.totals.results + result.totals.lost + result.totals.inside
    if fate == "wait":
        # of those that waited the one of 10.1 s is the first, on the new node at 13.05 s
        assert result.totals.latency_max_ms == pytest.approx(2955.0)
    # from one node to another before, within one afterwards
    assert result.series["traffic_bytes_per_s"][0] > 0
    assert result.series["traffic_bytes_per_s"][-1] == 0
    assert result.series["expected_elastic_energy"][0] > result.series["expected_elastic_energy"][-1] == 0


def test_the_judge_sees_the_rates_of_the_window() -> None:
    """Usage and elastic energy by the contract's formulas, with twice the rate in the second half."""
    problem, plan = chain([0.0, 0.0], 10.0, nodes=["x", "y"], delay_ms=100.0)
    result = simulate(
        problem,
        plan,
        Options(duration_s=20.0, window_s=10.0, **REGULAR),
        Events(rates=(RateChange(10.0, 2.0),)),
    )
    assert result.series["expected_traffic_bytes_per_s"] == pytest.approx([1e4, 2e4], rel=0.011)
    assert result.series["expected_network_usage_bytes"] == pytest.approx([1e3, 2e3], rel=0.011)
    assert result.series["expected_elastic_energy"] == pytest.approx([1e2, 2e2], rel=0.011)
    assert result.series["network_usage_bytes"] == pytest.approx([1e3, 2e3], rel=0.011)
    assert result.expected == pytest.approx(
        {key: value for key, value in berth.evaluate(problem, plan).metrics.items() if key in result.expected}
    )


def test_delays_are_drawn_anew() -> None:
    """Other delays in every period, equal within one; their mean is the problem's."""
    problem, plan = chain([0.0, 0.0], 10.0, nodes=["x", "y"], delay_ms=100.0)
    options = Options(duration_s=400.0, window_s=1.0, delay_noise=0.2, delay_period_s=2.0, **REGULAR)
    result = simulate(problem, plan, options)
    delays = result.series["expected_response_time_ms"]
    assert delays.mean() == pytest.approx(100.0, rel=0.05)
    assert delays.std() == pytest.approx(20.0, rel=0.25)
    assert len(np.unique(delays.round(9))) == 200
    assert result.series["latency_mean_ms"].mean() == pytest.approx(100.0, rel=0.05)


def test_a_planner_is_asked() -> None:
    """It sees rates and what is down, and moves the operator away from a node that failed."""
    problem, plan = chain([0.0, 1.0], 10.0, nodes=["x", "y"], delay_ms=5.0)
    seen: list[Measured] = []

    def planner(time: float, measured: Measured) -> dict[str, str] | None:
        seen.append(measured)
        assert time == measured.time_s
        return {**measured.assignment, "a/o1": "x"} if "y" in measured.down else None

    result = simulate(
        problem,
        plan,
        Options(duration_s=30.05, replan_every_s=5.05, **REGULAR),
        Events(failures=(Failure("y", 12.05),)),
        planner,
    )
    assert [item.time_s for item in seen] == pytest.approx([5.05, 10.1, 15.15, 20.2, 25.25])
    assert seen[1].stream_bytes_per_s == pytest.approx([1e4], rel=0.02)
    assert seen[1].source_tuples_per_s == pytest.approx(10.0, rel=0.02)
    assert np.asarray(seen[1].delay_ms)[0, 1] == 5.0
    assert [(round(move.time_s, 2), move.after) for move in result.moves] == [(15.15, "x")]
    assert result.plan.assignment["a/o1"] == "x"
    # those of 12.1 s to 15.1 s
    assert result.totals.lost == 31
    assert seen[-1].assignment["a/o1"] == "x"


def test_with_a_throughput_a_result_takes_one_of_each_input() -> None:
    """Work is as the judge counts it: once for each result."""
    operators = (
        Operator("s", output_bytes=10.0),
        Operator("t", output_bytes=20.0),
        Operator("j", work_ms=30.0),
    )
    streams = Stream("s", "j"), Stream("t", "j")
    application = Application("a", operators, streams, throughput_per_s=20.0)
    network = Network((Node("x"), Node("y")), (Link("x", "y", 10.0),))
    problem = Problem("p", network, (application,))
    plan = Plan({"a/s": "x", "a/t": "y", "a/j": "y"})
    result = simulate(problem, plan, Options(duration_s=100.0, **REGULAR))
    metrics = berth.evaluate(problem, plan).metrics
    assert result.totals.results_per_s == pytest.approx(20.0, rel=0.01)
    assert result.instances[2].utilisation == pytest.approx(metrics["processing_power"], rel=0.01)
    assert result.totals.latency_mean_ms == pytest.approx(metrics["response_time_ms"])
    assert result.totals.traffic_bytes_per_s == pytest.approx(metrics["traffic_bytes_per_s"], rel=0.01)


def test_sizes_make_the_bytes_of_the_problem() -> None:
    """Whatever gives the rates, tuples times their sizes are what the judge counts."""
    operators = (
        Operator("s", emits_bytes_per_s=1000.0, output_bytes=100.0),
        Operator("f", selectivity=0.5, output_bytes=10.0),
        Operator("g"),
    )
    streams = Stream("s", "f"), Stream("f", "g"), Stream("s", "g", bytes_per_s=400.0)
    problem = Problem("p", Network((Node("x"),)), (Application("a", operators, streams),))
    situation = complete_situation(problem, Plan(dict.fromkeys(problem.instances.names, "x")), "plan")
    flow = tuple_flow(situation, 1000.0)
    assert flow.source_rate.tolist() == [10.0, 0.0, 0.0]
    assert flow.stream_gain.tolist() == [1.0, 5.0, 0.4]
    assert flow.stream_bytes.tolist() == [100.0, 10.0, 100.0]
    assert flow.arriving.tolist() == [10.0, 10.0, 54.0]
    assert flow.assumed == ()


def test_sizes_that_nobody_gave_are_told() -> None:
    """Of sources and of what is behind them; a size of the stream comes before that of the results."""
    operators = (
        Operator("s", emits_bytes_per_s=1000.0),
        Operator("f", selectivity=0.5),
        Operator("g", output_bytes=10.0),
        Operator("h"),
        Operator("alone", emits_bytes_per_s=50.0),
    )
    streams = Stream("s", "f"), Stream("f", "g"), Stream("g", "h", tuple_bytes=20.0)
    problem = Problem("p", Network((Node("x"),)), (Application("a", operators, streams),))
    plan = Plan(dict.fromkeys(problem.instances.names, "x"))
    result = simulate(problem, plan, Options(duration_s=1.0, tuple_bytes=100.0))
    assert result.assumed == (
        "stream a/s -> a/f: it has no tuple_bytes, 100 B are assumed",
        "operator a/alone: it has no output_bytes, 100 B are assumed",
        "stream a/f -> a/g: it has no tuple_bytes, 100 B are assumed",
    )
    flow = tuple_flow(complete_situation(problem, plan, "plan"), 100.0)
    assert flow.arriving.tolist() == [10.0, 10.0, 5.0, 25.0, 0.5]


def test_with_a_throughput_large_tuples_are_much_work() -> None:
    """Ten results in a tuple take the work of ten, so that the load is the judge's."""
    operators = Operator("s", output_bytes=10.0), Operator("r", work_ms=20.0)
    application = Application("a", operators, (Stream("s", "r", tuple_bytes=100.0),), throughput_per_s=20.0)
    problem = Problem("p", Network((Node("x", cores=2.0),)), (application,))
    plan = Plan({"a/s": "x", "a/r": "x"})
    result = simulate(problem, plan, Options(duration_s=100.0, split="in-turn", **REGULAR))
    assert result.instances[1].arriving_per_s == pytest.approx(2.0, rel=0.01)
    assert result.instances[1].utilisation == pytest.approx(0.4, rel=0.01)
    assert berth.evaluate(problem, plan).metrics["utilisation_max_ratio"] == pytest.approx(0.4)


@settings(max_examples=60, deadline=None)
@given(placed_problems(), st.sampled_from(["node", "shared"]))
def test_what_keeps_no_pace_is_what_the_judge_warns_of(placed: tuple[Problem, Plan], processors: Any) -> None:
    """Where all sizes are known; what is forwarded depends on who has got how much, which the judge evens."""
    problem, plan = placed
    (application,) = problem.applications
    sized = tuple(
        replace(
            stream,
            tuple_bytes=stream.tuple_bytes or 500.0,
            grouping="shuffle" if stream.grouping == "forward" else stream.grouping,
        )
        for stream in application.streams
    )
    problem = replace(problem, applications=(replace(application, streams=sized),))
    situation = complete_situation(problem, plan, "plan")
    flow = tuple_flow(situation, 1000.0)
    assert flow.arriving * problem.instances.work_ms / 1000.0 == pytest.approx(situation.load)
    lines = unstable(situation, flow, processors)
    warned = [
        line.partition(":")[0] for line in berth.evaluate(problem, plan).warnings if "processors" in line
    ]
    told = [line.partition(":")[0].removeprefix("instance ") for line in lines if not line.startswith("link")]
    assert set(warned) <= set(told)


def test_the_same_seed_gives_the_same() -> None:
    """And another one something else."""
    problem, plan = chain([5.0, 4.0], 80.0, nodes=["x", "y"], delay_ms=1.0)
    first, again, other = (
        simulate(problem, plan, Options(duration_s=20.0, seed=seed, jitter_ms=0.3)) for seed in (1, 1, 2)
    )
    assert first.totals == again.totals
    assert all(np.array_equal(first.series[key], again.series[key], equal_nan=True) for key in first.series)
    assert first.totals.latency_mean_ms != other.totals.latency_mean_ms


def test_overload_is_told_and_simulated() -> None:
    """The queue grows by what is too much, and more room is made for it."""
    problem, plan = chain([20.0], 100.0)
    result = simulate(problem, plan, Options(duration_s=400.0, **REGULAR))
    assert result.unstable == ("node here: utilisation 2 (1 or more): its queue grows as long as it runs",)
    assert result.totals.inside == pytest.approx(20_000, abs=2)
    assert result.instances[0].utilisation == pytest.approx(1.0)
    (link_line,) = simulate(
        *chain([0.0, 0.0], 100.0, nodes=["x", "y"], bandwidth=5e4), Options(duration_s=1.0)
    ).unstable
    assert link_line.startswith("link x -> y: utilisation 2 ")
    never = simulate(*chain([0.0, 0.0], 100.0, nodes=["x", "y"], bandwidth=0.0), Options(duration_s=1.0))
    assert never.unstable[0].startswith("link x -> y: utilisation inf ")
    assert (never.totals.results, never.totals.inside) == (0, never.totals.emitted)


@pytest.mark.parametrize(
    ("events", "line"),
    [
        (Events(rates=(RateChange(-1.0, 1.0),)), "rates[0].at_s: -1 is not a number from 0 on"),
        (
            Events(rates=(RateChange(1.0, 1.0, ("a/o1",)),)),
            "rates[0].sources[0]: a/o1 is no source: it has inputs",
        ),
        (Events(failures=(Failure("z", 1.0),)), "failures[0].node: no node named 'z'"),
        (Events(failures=(Failure("x", 2.0, 1.0),)), "failures[0].until_s: 1 is not after at_s, 2"),
        (
            Events(migrations=(Migration(1.0, Plan({"a/o0": "x"})),)),
            "migrations[0].plan: instance a/o1 is not placed",
        ),
    ],
)
def test_events_that_make_no_sense(events: Events, line: str) -> None:
    """A line with the path of the field."""
    problem, plan = chain([0.0, 0.0], 1.0, nodes=["x", "y"])
    with pytest.raises(BadInput) as caught:
        simulate(problem, plan, events=events)
    assert caught.value.mistakes[0].startswith(line)


def test_what_is_missing_is_told() -> None:
    """Rates, places and links."""
    problem, plan = chain([0.0, 0.0], 1.0, nodes=["x", "y"])
    with pytest.raises(BadInput, match="plan: instance a/o1 is not placed"):
        simulate(problem, Plan({"a/o0": "x"}))
    apart = replace(problem, network=Network(problem.network.nodes))
    with pytest.raises(BadInput, match="no link from x to y"):
        simulate(apart, plan)
    (application,) = problem.applications
    silent = replace(application, operators=(Operator("o0"), Operator("o1")))
    with pytest.raises(BadInput, match=r"applications\[0\].streams\[0\]: its rate is unknown"):
        simulate(replace(problem, applications=(silent,)), plan)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"duration_s": 0.0}, "duration_s: 0 is not above 0"),
        ({"duration_s": float("nan")}, "duration_s: nan is not a finite number"),
        ({"warm_up_s": 60.0}, "warm_up_s: 60 is not below the duration, 60"),
        ({"arrivals": "random"}, "arrivals: expected poisson or regular, found 'random'"),
        ({"jitter_ms": -1.0}, "jitter_ms: -1 is below 0"),
        ({"window_s": 1e-9}, "window_s: 1e-09 is too short: the duration has more than 100,000 of it"),
    ],
)
def test_bad_options(given: dict[str, Any], line: str) -> None:
    """Each names the field and the value."""
    with pytest.raises(ValueError, match=re.escape(line)):
        Options(**given)


def test_reused_results_come_from_their_provider() -> None:
    """Two applications and one computation: as fast and with as much traffic as the judge says."""
    problem = berth.load(Path(__file__).parents[2] / "examples" / "shared-sensors.yaml")
    plan = berth.solve(problem, policy="bottom-up-bfs")
    assert plan.reuse
    result = simulate(problem, plan, Options(duration_s=20.5, processors="own", **REGULAR))
    assert result.totals.worst_path_ms == pytest.approx(plan.metrics["response_time_ms"])
    assert result.totals.results == 2 * 21
    assert len(result.instances) == len(plan.assignment)
    alone = replace(plan, reuse={}, skipped=(), assignment=dict.fromkeys(problem.instances.names, "centre"))
    with pytest.raises(BadInput, match=r"migrations\[0\].plan: reuses or skips other operators"):
        simulate(problem, plan, events=Events(migrations=(Migration(1.0, alone),)))


def test_too_many_tuples_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run stops where memory would run out, and says when: 50 a second more than are served."""
    monkeypatch.setattr("berth.simulate.machine.MOST_INSIDE", 1000)
    with pytest.raises(BadInput, match=r"more than 1,000 tuples are inside after (19|20)\b"):
        simulate(*chain([20.0], 100.0), Options(duration_s=400.0, **REGULAR))


def test_rates_that_never_end_are_refused() -> None:
    """A slip of the pen costs a line, not a day; what is high for a moment only is fine."""
    problem, plan = chain([0.0], 100.0)
    with pytest.raises(BadInput, match=r"duration_s: about 5e\+31 tuples would come in"):
        simulate(problem, plan, Options(duration_s=10.0), Events(rates=(RateChange(5.0, 1e29),)))
    spike = RateChange(5.0, 1000.0), RateChange(5.01, 0.0)
    result = simulate(problem, plan, Options(duration_s=10.0, **REGULAR), Events(rates=spike))
    assert result.totals.emitted == pytest.approx(500 + 1000, abs=2)
