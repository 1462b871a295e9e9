"""What lies between two nodes: links, matrices, coordinates and defaults."""

from typing import Any

import numpy as np
import pytest

from berth.model import Link, Network, Node

NAN, INF = np.nan, np.inf


def network(*links: Link, names: str = "abc", **settings: Any) -> Network:
    """Nodes of one letter each, with links."""
    return Network(tuple(Node(name) for name in names), links, **settings)


def test_a_link_holds_both_ways() -> None:
    """In a symmetric network all fields of an entry hold for the other way."""
    table = network(Link("a", "b", 5, 0.9, 100, 2, 0.1)).table
    for here, there in ((0, 1), (1, 0)):
        assert table.delay_ms[here, there] == 5
        assert table.availability[here, there] == 0.9
        assert table.bandwidth_bytes_per_s[here, there] == 100
        assert table.cost[here, there] == 2
        assert table.price_per_gb[here, there] == 0.1


def test_an_entry_for_the_other_way_stands_alone() -> None:
    """Where both ways have an entry, each has its own fields and its own defaults."""
    table = network(Link("a", "b", 5, 0.9, 100, 2, 0.1), Link("b", "a", 7)).table
    assert (table.delay_ms[0, 1], table.delay_ms[1, 0]) == (5, 7)
    assert (table.availability[1, 0], table.bandwidth_bytes_per_s[1, 0]) == (1, INF)
    assert (table.cost[1, 0], table.price_per_gb[1, 0]) == (7, 0)


def test_one_way_only() -> None:
    """In a network that is not symmetric an entry says nothing of the other way."""
    table = network(Link("a", "b", 5), symmetric=False).table
    assert table.connected[0, 1]
    assert not table.connected[1, 0]


def test_defaults() -> None:
    """Availability 1, unlimited bandwidth, the delay as cost, no price."""
    table = network(Link("a", "b", 5)).table
    assert table.availability[0, 1] == 1
    assert table.bandwidth_bytes_per_s[0, 1] == INF
    assert table.cost[0, 1] == 5
    assert table.price_per_gb[0, 1] == 0


def test_a_node_and_itself() -> None:
    """A node's link to itself is perfect, whatever a matrix says on its diagonal."""
    nines = np.full((3, 3), 9.0)
    matrices = dict.fromkeys(("delay_ms", "bandwidth_bytes_per_s", "cost", "price_per_gb"), nines)
    matrices["availability"] = np.full((3, 3), 0.5)
    for routing in ("direct", "shortest_path"):
        table = network(matrices=matrices, routing=routing).table
        assert np.diag(table.delay_ms).tolist() == [0, 0, 0]
        assert np.diag(table.availability).tolist() == [1, 1, 1]
        assert np.diag(table.bandwidth_bytes_per_s).tolist() == [INF] * 3
        assert np.diag(table.cost).tolist() == [0, 0, 0]
        assert np.diag(table.price_per_gb).tolist() == [0, 0, 0]


def test_matrices_are_taken_as_they_are() -> None:
    """Symmetry is for links: a matrix may differ both ways, and has gaps."""
    delay = np.array([[0, 1, NAN], [2, 0, 3], [4, NAN, 0]])
    table = network(matrices={"delay_ms": delay}).table
    assert table.connected.tolist() == [[True, True, False], [True, True, True], [True, False, True]]
    assert table.delay_ms[1, 0] == 2


def test_links_over_matrices() -> None:
    """An entry overrides the fields that it gives, both ways, and only those."""
    delay = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0.0]])
    bandwidth = np.array([[NAN, 10, NAN], [20, NAN, NAN], [NAN, NAN, NAN]])
    matrices = {"delay_ms": delay, "bandwidth_bytes_per_s": bandwidth}
    table = network(Link("a", "b", bandwidth_bytes_per_s=7), Link("b", "c", 9), matrices=matrices).table
    assert (table.delay_ms[0, 1], table.delay_ms[1, 0]) == (1, 3)
    assert (table.bandwidth_bytes_per_s[0, 1], table.bandwidth_bytes_per_s[1, 0]) == (7, 7)
    assert (table.delay_ms[1, 2], table.delay_ms[2, 1]) == (9, 9)
    assert table.bandwidth_bytes_per_s[1, 2] == INF
    assert (table.cost[0, 1], table.cost[1, 2]) == (1, 9)


def test_no_link_has_no_fields() -> None:
    """What matrices say of two nodes without a link counts for nothing."""
    gap = np.full((3, 3), NAN)
    gap[0, 1] = 5
    matrices = {"delay_ms": gap, "cost": np.ones((3, 3)), "bandwidth_bytes_per_s": np.ones((3, 3))}
    table = network(matrices=matrices, duplex="half").table
    assert table.cost[0, 1] == 1
    assert np.isnan(table.cost[1, 0])
    assert table.bandwidth_bytes_per_s[0, 1] == table.bandwidth_bytes_per_s[1, 0] == 1
    assert table.bandwidth_bytes_per_s[1, 2] == INF


def test_coordinates_fill_the_gaps() -> None:
    """Where no link is, the delay is the distance plus both heights; a cost follows it."""
    nodes = (Node("a", coordinates=(0, 0), height_ms=1), Node("b", coordinates=(3, 4)), Node("c"))
    table = Network(nodes, (Link("b", "c", 2),)).table
    assert table.delay_ms[0, 1] == table.delay_ms[1, 0] == 6
    assert table.cost[0, 1] == 6
    assert not table.connected[0, 2]


def test_links_before_coordinates() -> None:
    """A link's delay is taken, not the distance."""
    nodes = (Node("a", coordinates=(0,)), Node("b", coordinates=(10,)))
    assert Network(nodes, (Link("a", "b", 3),)).table.delay_ms[1, 0] == 3


def test_coordinates_where_no_path_is() -> None:
    """With routing, coordinates stand in where no path leads, and load no physical link."""
    nodes = (Node("a", coordinates=(0,)), Node("b", coordinates=(10,)), Node("c", coordinates=(20,)))
    table = Network(nodes, (Link("a", "b", 3, bandwidth_bytes_per_s=5),), routing="shortest_path").table
    assert table.delay_ms.tolist() == [[0, 3, 20], [3, 0, 10], [20, 10, 0]]
    assert table.cost[0, 2] == 20
    assert table.bandwidth_bytes_per_s[0].tolist() == [INF, 5, INF]
    flows, links = table.physical_hops(np.array([0, 0, 1]), np.array([1, 2, 1]))
    assert (flows.tolist(), links.tolist()) == ([0], [1])


@pytest.mark.parametrize("routing", ["direct", "shortest_path"])
def test_half_duplex_takes_the_smaller_bandwidth(routing: str) -> None:
    """With half duplex both ways of a link have the smaller of their two bandwidths."""
    links = (Link("a", "b", 1, bandwidth_bytes_per_s=5), Link("b", "a", 1, bandwidth_bytes_per_s=3))
    table = network(*links, duplex="half", routing=routing).table
    assert table.bandwidth_bytes_per_s[0, 1] == table.physical_bandwidth[0, 1] == 3
    assert table.bandwidth_bytes_per_s[1, 0] == table.physical_bandwidth[1, 0] == 3


def test_capacity_less_the_headroom() -> None:
    """Of every capacity the headroom stays free; a resource that is not named is not there."""
    nodes = (Node("a", capacity={"cpu": 4}), Node("b"))
    assert Network(nodes, headroom=0.25).capacity("cpu").tolist() == [3, 0]
