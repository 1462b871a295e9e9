"""Nothing vanishes and nothing comes from nowhere, whatever happens."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from berth.model import Plan, Problem
from berth.simulate import Events, Failure, Migration, Options, RateChange, simulate
from tests.simulate.test_machine import placed_problems

TIMES = st.floats(0.0, 5.0)


@st.composite
def happenings(draw: st.DrawFn, problem: Problem) -> Events:
    """Rates, failures and migrations at any times."""
    failures = []
    for node in draw(st.lists(st.sampled_from("xyz"), max_size=3)):
        begin = draw(TIMES)
        failures.append(Failure(node, begin, begin + draw(st.floats(0.1, 2.0))))
    plans = [
        Plan({name: draw(st.sampled_from("xyz")) for name in problem.instances.names})
        for _ in range(draw(st.integers(0, 3)))
    ]
    rates = draw(st.lists(st.builds(RateChange, TIMES, st.sampled_from([0.0, 0.5, 4.0])), max_size=3))
    return Events(tuple(rates), tuple(failures), tuple(Migration(draw(TIMES), plan) for plan in plans))


@settings(max_examples=60, deadline=None)
@given(st.data(), placed_problems(), st.booleans())
def test_in_is_out_lost_or_inside(data: st.DataObject, placed: tuple[Problem, Plan], joins: bool) -> None:
    """Over all instances, and of the single ones; load is never above what there is."""
    problem, plan = placed
    if joins:
        (application,) = problem.applications
        problem = replace(problem, applications=(replace(application, throughput_per_s=30.0),))
    choose: Any = st.sampled_from
    options = Options(
        duration_s=5.0,
        window_s=1.0,
        processors=data.draw(choose(["own", "node", "shared"])),
        failures=data.draw(choose(["lose", "wait"])),
        migrations=data.draw(choose(["lose", "wait"])),
        pause_s=data.draw(choose([0.0, 0.5])),
        delay_noise=data.draw(choose([0.0, 0.3])),
        delay_period_s=0.7,
        seed=data.draw(st.integers(0, 5)),
    )
    events = data.draw(happenings(problem))
    result = simulate(problem, plan, options, events)
    totals = result.totals
    assert totals.emitted + totals.sent == totals.served + totals.joined + totals.lost + totals.inside
    assert totals.lost == sum(item.lost for item in result.instances)
    assert totals.results == result.latency_counts.sum()
    assert totals.lost == 0 or "lose" in (options.failures, options.migrations)
    assert all(-1e-9 <= item.utilisation <= 1 + 1e-9 for item in result.instances)
    if options.processors != "own":
        assert (result.node_busy <= problem.network.cores + 1e-9).all()
    assert result.link_utilisation.max(initial=0.0) <= 1 + 1e-9
    assert repr(simulate(problem, plan, options, events).totals) == repr(totals)
