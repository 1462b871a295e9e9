"""The space of a network: given, computed from what it knows, and kept."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from berth.model import Link, Network, Node
from berth.space import space_of
from berth.space.coordinates import Coordinates
from berth.space.network_space import estimated_pairs, locate
from berth.space.samples import network_samples
from berth.space.vivaldi import VivaldiOptions


def named(count: int, **fields: object) -> tuple[Node, ...]:
    return tuple(Node(f"n{number}", **fields) for number in range(count))


def line(delays: list[float], **fields: object) -> Network:
    """Nodes in a row, each linked with the next."""
    links = tuple(Link(f"n{k}", f"n{k + 1}", delay) for k, delay in enumerate(delays))
    return Network(named(len(delays) + 1), links, **fields)


def cloud(count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 20, (count, 3))


def test_given_coordinates_are_taken() -> None:
    """Heights too; nothing is computed and no error is told, whatever the seed."""
    nodes = (Node("a", coordinates=(0.0, 0.0)), Node("b", coordinates=(3.0, 4.0), height_ms=2.0))
    network = Network(nodes)
    space = space_of(network, seed=5)
    assert not space.computed
    assert space.coordinates.positions.tolist() == [[0, 0], [3, 4]]
    assert space.coordinates.heights.tolist() == [0, 2]
    assert space.coordinates.errors is None
    assert space_of(network, seed=6) is space
    assert space.index.nearest(np.array([3.0, 4.0]), 1)[0].tolist() == [1]


def test_computed_from_delays() -> None:
    """Three dimensions without heights, with the error told."""
    points = cloud(30)
    delay = np.sqrt(((points[:, None] - points[None, :]) ** 2).sum(-1))
    space = space_of(Network(named(30), matrices={"delay_ms": delay}))
    assert space.computed
    assert space.coordinates.positions.shape == (30, 3)
    assert (space.coordinates.heights == 0).all()
    assert space.coordinates.errors is not None
    assert space.coordinates.errors.absolute_mean_ms < 0.1
    near = space.index.nearest(space.coordinates.positions[7], 3)[0].tolist()
    assert near == np.argsort(delay[7])[:3].tolist()


def test_once_for_a_network_and_a_seed() -> None:
    """A second policy pays nothing; a network that nobody holds is not kept for it."""
    network = line([5.0, 6.0])
    one = space_of(network, 1)
    assert space_of(network, 1) is one
    assert space_of(network, 2) is not one
    assert space_of(replace(network), 1) is not one
    gone = weakref.ref(network)
    del network
    gc.collect()
    assert gone() is None


def test_some_nodes_with_coordinates_are_not_enough() -> None:
    """Their distances are delays as others are; one space is computed for all."""
    nodes = (*(Node(f"c{k}", coordinates=(10.0 * k, 0.0)) for k in range(3)), Node("d"))
    space = space_of(Network(nodes, (Link("c0", "d", 10.0), Link("d", "c1", 10.0))))
    assert space.computed
    assert space.coordinates.errors is not None
    assert space.coordinates.errors.measured_pairs == 5
    assert space.coordinates.distances(np.array([0]), np.array([2]))[0] == pytest.approx(20, abs=0.5)


def test_routed_delays_are_those_of_paths() -> None:
    """A row of nodes with physical links: the ends are as far apart as the sum says."""
    samples = network_samples(line([5.0, 6.0, 7.0], routing="shortest_path"))
    assert samples.delay_ms.tolist() == [5, 11, 18, 6, 13, 7]
    assert network_samples(line([5.0, 6.0, 7.0])).delay_ms.tolist() == [5, 6, 7]


def test_one_way_links_of_an_asymmetric_network() -> None:
    """What is known of one direction is a sample; both are one."""
    links = (Link("n0", "n1", 4.0), Link("n1", "n0", 8.0), Link("n1", "n2", 5.0))
    samples = network_samples(Network(named(3), links, symmetric=False))
    assert samples.delay_ms.tolist() == [6, 5]


def test_a_node_nobody_reaches_is_far_away() -> None:
    """It has a point, as every node, but is the last to be found near anything."""
    network = replace(line([5.0, 6.0, 7.0]), nodes=named(5))
    space = space_of(network)
    assert space.coordinates.unplaced.tolist() == [4]
    for node in range(4):
        assert space.index.nearest(space.coordinates.positions[node], 5)[0].tolist()[-1] == 4


def test_a_network_without_any_delay() -> None:
    """Every node has a point, and no error is made up."""
    space = space_of(Network(named(3)))
    assert space.coordinates.errors is None
    assert np.isfinite(space.coordinates.positions).all()


def large(nodes: int, degree: int) -> tuple[Network, np.ndarray]:
    """Links to random others, as many nodes as no matrix is made for."""
    points = cloud(nodes)
    generator = np.random.default_rng(1)
    senders, receivers = np.repeat(np.arange(nodes), degree), generator.integers(0, nodes, nodes * degree)
    keys = np.unique(senders * nodes + receivers)
    pairs = [divmod(int(key), nodes) for key in keys if divmod(int(key), nodes)[0] != int(key) % nodes]
    links = tuple(Link(f"n{a}", f"n{b}", float(np.linalg.norm(points[a] - points[b]))) for a, b in pairs)
    return Network(named(nodes), links), points


def test_large_networks_by_their_links() -> None:
    """No matrix is made; distances of pairs without a link are met, and estimates are counted, not listed."""
    network, points = large(4_100, 8)
    assert not isinstance(network.table.delay_ms, np.ndarray)
    located = locate(network, None, VivaldiOptions(rounds=60), 0, 10)
    first, second = np.random.default_rng(2).integers(0, 4_100, (2, 500))
    truth = np.linalg.norm(points[first] - points[second], axis=1)
    assert np.abs(located.coordinates.distances(first, second) - truth).mean() < 1.5
    pairs = {tuple(sorted((link.sender, link.receiver))) for link in network.links}
    assert located.estimates.count == 4_100 * 4_099 // 2 - len(pairs)
    assert len(located.estimates.senders) == 0


def test_large_networks_with_some_coordinates() -> None:
    """Distances of those that have coordinates join the links."""
    network, points = large(4_200, 6)
    placed = tuple(
        replace(node, coordinates=tuple(points[k].tolist())) if k % 2 else node
        for k, node in enumerate(network.nodes)
    )
    more = network_samples(replace(network, nodes=placed))
    fewer = network_samples(network)
    assert len(more.delay_ms) > len(fewer.delay_ms) + 2_000 * 16
    truth = np.linalg.norm(points[more.first] - points[more.second], axis=1)
    np.testing.assert_allclose(more.delay_ms, truth, rtol=1e-9)


def at(*places: float) -> Coordinates:
    positions = np.array(places)[:, None]
    return Coordinates(positions, np.zeros(len(positions)), None)


def test_estimated_are_the_pairs_without_a_link() -> None:
    """Once for both ways in a symmetric network, and only the way that is missing in another."""
    found = estimated_pairs(line([5.0, 6.0]), at(0, 5, 11), 10)
    assert (found.count, found.senders.tolist(), found.receivers.tolist()) == (1, [0], [2])
    assert found.delay_ms.tolist() == [11]
    assert found.both_ways.tolist() == [True]
    found = estimated_pairs(line([5.0, 6.0], symmetric=False), at(0, 5, 11), 10)
    listed = zip(found.senders.tolist(), found.receivers.tolist(), found.both_ways.tolist(), strict=True)
    assert list(listed) == [(1, 0, False), (0, 2, True), (2, 1, False)]


def test_estimates_are_bounded_and_old_coordinates_are_no_measurement() -> None:
    """The count is of all; a distance that was there before is an estimate, too."""
    nodes = tuple(Node(f"n{k}", coordinates=(float(k),)) for k in range(6))
    found = estimated_pairs(Network(nodes, (Link("n0", "n1", 1.0),)), at(*range(6)), 4)
    assert (found.count, len(found.senders)) == (14, 4)


def test_nodes_without_coordinates_have_no_estimate() -> None:
    """What is unplaced stays unlinked."""
    network = replace(line([5.0, 6.0]), nodes=named(4))
    found = estimated_pairs(network, replace(at(0, 5, 11, 500), unplaced=np.array([3])), 10)
    assert found.count == 1
