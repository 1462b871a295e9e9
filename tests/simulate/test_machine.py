"""The compiled simulator against the plain one: the same tuples at the same times."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth.model import Application, Link, Network, Node, Operator, Plan, Problem, Stream
from berth.simulate import Options, Simulation, simulate
from tests.simulate.plain import Plain, Result

GROUPINGS: Any = st.sampled_from(["shuffle", "all", "global"])


@st.composite
def placed_problems(draw: st.DrawFn) -> tuple[Problem, Plan]:
    """Two sources, a graph behind them, three nodes of different speed, links with and without bandwidth.

    Some streams have a size of their tuples, some operators one of their results; `forward` goes from c to d.
    """
    cores = st.sampled_from([0.5, 1.0, 1.5, 2.0, 8.0])
    nodes = tuple(
        Node(name, speed=draw(st.sampled_from([0.5, 1.0, 2.0])), cores=draw(cores)) for name in "xyz"
    )
    links = tuple(
        Link(*ends, draw(st.sampled_from([0.0, 3.0, 20.0])), bandwidth_bytes_per_s=wide)
        for ends, wide in zip(
            ("xy", "yz", "zx"),
            draw(st.lists(st.sampled_from([None, 2e4, 1e6]), min_size=3, max_size=3)),
            strict=True,
        )
    )
    parallel = st.integers(1, 3)
    work = st.sampled_from([0.0, 1.0, 15.0, 40.0])
    operators = [
        Operator(name, work_ms=draw(work), parallelism=draw(parallel), emits_bytes_per_s=draw(rate))
        for name, rate in (("s", st.sampled_from([5e3, 2e4])), ("t", st.sampled_from([1e3, 9e3])))
    ]
    operators += [
        Operator(
            name,
            work_ms=draw(work),
            parallelism=draw(parallel),
            selectivity=draw(st.sampled_from([0.3, 0.5, 1.0, 1.7])),
            output_bytes=draw(st.sampled_from([None, None, 800.0])),
        )
        for name in "abc"
    ]
    operators.append(Operator("d", work_ms=draw(work), parallelism=operators[-1].parallelism))
    sizes: Any = st.sampled_from([None, None, 400.0, 1500.0])
    streams = [
        Stream(sender, receiver, grouping=draw(GROUPINGS), tuple_bytes=draw(sizes))
        for sender, receiver in (("s", "a"), ("t", "b"), ("s", "b"), ("a", "c"), ("b", "c"))
    ]
    streams.append(Stream("c", "d", grouping="forward", tuple_bytes=draw(sizes)))
    network = Network(nodes, links, duplex=draw(st.sampled_from(["full", "half"])))
    problem = Problem("p", network, (Application("a", tuple(operators), tuple(streams)),))
    return problem, Plan({name: draw(st.sampled_from("xyz")) for name in problem.instances.names})


def recorded(result: Simulation, problem: Problem) -> list[Result]:
    graph = problem.instances
    sources = [name for number, name in enumerate(graph.names) if not graph.inputs[graph.operator_of[number]]]
    return [
        (float(row["birth"]), float(row["finish"]), sources[row["origin"]], graph.names[row["target"]])
        for row in result.recorded
    ]


@settings(max_examples=40, deadline=None)
@given(
    placed_problems(),
    st.sampled_from(["regular", "poisson"]),
    st.sampled_from(["fixed", "exponential"]),
    st.sampled_from(["own", "node", "shared"]),
    st.sampled_from(["in-turn", "random"]),
    st.sampled_from([0.0, 2.0]),
    st.integers(0, 3),
)
def test_tuple_by_tuple(
    placed: tuple[Problem, Plan],
    arrivals: Any,
    service: Any,
    processors: Any,
    split: Any,
    jitter: float,
    seed: int,
) -> None:
    """Births, ends, sources and sinks of all results are equal, in their order, to the last bit."""
    problem, plan = placed
    options = Options(
        duration_s=4.0,
        arrivals=arrivals,
        service=service,
        processors=processors,
        split=split,
        jitter_ms=jitter,
        seed=seed,
        record=100_000,
    )
    plain = Plain(problem, plan, options)
    expected = plain.run()
    result = simulate(problem, plan, options)
    assert recorded(result, problem) == expected
    assert result.totals.emitted == plain.emitted
    assert result.totals.events == plain.done
    assert result.totals.traffic_bytes_per_s * 4.0 == pytest.approx(plain.traffic)
    assert len(expected) == result.totals.results
