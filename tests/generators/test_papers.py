"""The shapes and bounds of the workloads of papers 000, 002 and 003, and of random graphs."""

from __future__ import annotations

import numpy as np
import pytest

import berth
from berth.generators.random_graph import layered
from berth.generators.stream_tree import joins
from berth.model import BadInput


def test_sequential_applications() -> None:
    """Table 2 with 1 ms of work (E0.1): |E| = n - 1."""
    problem = berth.generate("sequential", operators=50)
    (application,) = problem.applications
    assert [(s.sender, s.receiver) for s in application.streams] == [
        (f"o{k}", f"o{k + 1}") for k in range(49)
    ]
    assert {(o.work_ms, o.demand["cpu"], o.candidates) for o in application.operators} == {(1.0, 1, None)}
    assert {(node.capacity["cpu"], node.speed, node.availability) for node in problem.network.nodes} == {
        (4, 1.0, 1.0)
    }


def test_fat_applications() -> None:
    """|E| = 2 (n - 2) (E0.5)."""
    (application,) = berth.generate("fat", operators=20).applications
    ends = {(stream.sender, stream.receiver) for stream in application.streams}
    assert ends == {("o0", f"o{k}") for k in range(1, 19)} | {(f"o{k}", "o19") for k in range(1, 19)}


def test_delays_are_normal() -> None:
    """max(N(22, 5), 1), symmetric, 0 on the diagonal."""
    delay = berth.generate("sequential", nodes=100).network.matrices["delay_ms"]
    above = delay[np.triu_indices(100, 1)]
    assert abs(above.mean() - 22) < 0.5
    assert abs(above.std() - 5) < 0.5
    assert np.array_equal(delay, delay.T)
    assert not delay.diagonal().any()
    low = berth.generate("sequential", nodes=20, mean_delay_ms=0).network.matrices["delay_ms"]
    assert low[~np.eye(20, dtype=bool)].min() == 1


@pytest.mark.parametrize(("share", "count"), [(0.2, 4), (0.21, 5), (0.001, 1), (1.0, 20)])
def test_a_share_of_the_nodes_are_candidates(share: float, count: int) -> None:
    """X0.7: each operator has a random subset of its own."""
    (application,) = berth.generate("fat", candidates=share).applications
    subsets = {operator.candidates for operator in application.operators}
    if count == 20:
        assert subsets == {None}
    else:
        assert {len(set(subset)) for subset in subsets if subset} == {count}
        assert len(subsets) > 5


def test_a_paper_instance_is_solved() -> None:
    """It is a problem of the exact policy."""
    plan = berth.solve(berth.generate("sequential", operators=6, nodes=5), "odp", time_limit=20.0)
    assert plan.status == "optimal"


def test_tag_and_count() -> None:
    """X0.1: 8 nodes of 2 x 4 executors, half of them up 99 %, 12 executors, ends always up (E0.7)."""
    pairs = []
    for seed in range(20):
        problem = berth.generate("tag-and-count", seed=seed)
        network = problem.network
        assert {node.capacity["slots"] for node in network.nodes} == {8}
        assert sorted(network.availability.tolist()) == [0.99] * 4 + [1.0] * 4
        delay = network.matrices["delay_ms"]
        assert np.array_equal(delay, delay.T)
        pairs += delay[np.triu_indices(8, 1)].tolist()
        assert len(problem.instances) == 12
        operators = {operator.name: operator for operator in problem.applications[0].operators}
        ends = [operators[name].candidates for name in ("source", "consumer")]
        assert ends[0] != ends[1]
        assert all(network.availability[network.index[end[0]]] == 1.0 for end in ends if end)
        assert operators["source"].emits_bytes_per_s == 1000
    assert 12 <= min(pairs) < 13
    assert 31 < max(pairs) <= 32


def test_random_layers() -> None:
    """Everybody is connected to the layer above and to the one below."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ends = layered(25, 4, 2, rng)
        receivers, senders = {receiver for _, receiver in ends}, {sender for sender, _ in ends}
        assert all(sender < receiver for sender, receiver in ends)
        assert len(set(ends)) == len(ends)
        first_layer, last_layer = 25 - len(receivers), 25 - len(senders)
        assert 1 <= first_layer <= 4
        assert 1 <= last_layer <= 4
    assert layered(3, 1, 5, np.random.default_rng(0)) == [(0, 1), (1, 2)]


def test_random_graph_spreads() -> None:
    """Capacities, speeds, demands and work are around their values; ends are pinned."""
    problem = berth.generate(
        "random-graph", operators=60, nodes=40, most_parallelism=3, least_availability=0.9, applications=2
    )
    capacity = problem.network.capacity("cpu")
    assert 4 <= capacity.min() < 5 < 11 < capacity.max() <= 12
    assert 0.5 <= problem.network.speed.min() < 0.7 < 1.3 < problem.network.speed.max() <= 1.5
    assert 0.9 <= problem.network.availability.min() < 0.92
    for application in problem.applications:
        receivers = {stream.receiver for stream in application.streams}
        senders = {stream.sender for stream in application.streams}
        for operator in application.operators:
            end = operator.name not in receivers or operator.name not in senders
            assert (operator.candidates is not None) == end
            assert (operator.emits_bytes_per_s is not None) == (operator.name not in receivers)
            assert 0.5 <= operator.work_ms <= 1.5
            assert operator.parallelism in (1, 2, 3)
            if not end:
                assert 0.5 <= operator.demand["cpu"] <= 1.5


def test_a_random_graph_is_solved() -> None:
    """By default there is room."""
    assert berth.solve(berth.generate("random-graph"), "round-robin").violations == ()


def test_matrices() -> None:
    """X2.1: n of 50, 100, 200, 500; tuples of n^2 elements every 20 to 120 s; work n^3; pinned ends."""
    problem = berth.generate("matrices")
    assert len(problem.network.nodes) == 200
    assert set(problem.network.speed.tolist()) == {1.0}
    assert len(problem.applications) == 120
    sizes = set()
    for application in problem.applications:
        source, first, second, sink = application.operators
        assert source.output_bytes is not None
        size = round((source.output_bytes / 8) ** 0.5)
        sizes.add(size)
        assert first.work_ms == second.work_ms == pytest.approx(2e-5 * size**3)
        assert len(source.candidates or ()) == len(sink.candidates or ()) == 1
        assert first.candidates is None
        for stream in application.streams:
            assert stream.bytes_per_s is not None
            assert 20 <= source.output_bytes / stream.bytes_per_s <= 120
    assert sizes == {50, 100, 200, 500}


@pytest.mark.parametrize(("size", "shapes"), [(6, {(2, 3)}), (12, {(5, 6), (4, 7)})])
def test_shapes_of_stream_trees(size: int, shapes: set[tuple[int, int]]) -> None:
    """E3.9: operators with 2 or 3 inputs; with the sink it is 6 or 12 in all."""
    found = set()
    for seed in range(30):
        children = joins(size, np.random.default_rng(seed))
        assert {len(entries) for entries in children} <= {2, 3}
        inner = [child for entries in children for child in entries if child is not None]
        assert sorted(inner) == list(range(1, len(children)))
        found.add((len(children), sum(entries.count(None) for entries in children)))
    assert found == shapes


def test_stream_trees() -> None:
    """X3.1: rates U[100, 200] kbit/s, selectivity U[0, 1], ends pinned."""
    problem = berth.generate("stream-tree", size=12, graphs=50)
    assert len(problem.network.nodes) == 226
    rates, selectivities = [], []
    for application in problem.applications:
        assert len(application.operators) == 12
        for operator in application.operators:
            free = operator.name.startswith("operator")
            assert (operator.candidates is None) == free
            if free:
                selectivities.append(operator.selectivity)
            elif operator.name != "sink":
                assert operator.emits_bytes_per_s is not None
                rates.append(operator.emits_bytes_per_s / 125)
    assert 100 <= min(rates) < 105 < 195 < max(rates) <= 200
    assert 0 <= min(selectivities) < 0.05 < 0.95 < max(selectivities) <= 1


def test_the_space_of_stream_trees() -> None:
    """Without noise and heights it is a metric space; with them the noise's spread is as asked for."""
    places = {"nodes": 60, "seed": 5}
    exact = berth.generate("stream-tree", noise=0, height_ms=0, **places).network.matrices["delay_ms"]
    noisy = berth.generate("stream-tree", height_ms=0, **places).network.matrices["delay_ms"]
    assert (exact[:, :, None] + exact[None] >= exact[:, None, :] - 1e-3).all()
    pairs = np.triu_indices(60, 1)
    logs = np.log(noisy[pairs] / exact[pairs])
    assert abs(logs.std() - 0.15) < 0.02
    assert np.array_equal(noisy, noisy.T)
    high = berth.generate("stream-tree", noise=0, **places).network.matrices["delay_ms"]
    assert abs((high - exact)[pairs].mean() - 8) < 2


def test_many_nodes_by_coordinates() -> None:
    """No matrix, so as many nodes as one likes; operators take places if there are any."""
    problem = berth.generate("stream-tree", nodes=5000, delays="coordinates", places=2)
    assert problem.network.matrices == {}
    assert {len(node.coordinates or ()) for node in problem.network.nodes} == {3}
    assert {operator.demand.get("places") for operator in problem.applications[0].operators} == {None, 1}
    with pytest.raises(BadInput, match="--set nodes: 5000 is above 2000; set delays=coordinates"):
        berth.generate("stream-tree", nodes=5000)
