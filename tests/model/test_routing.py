"""Paths of least delay over physical links."""

import math
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from berth.model import Link, Network, Node
from berth.model.links import LinkTable

FIELDS = ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb")


def routed(links: dict[tuple[int, int], Link], size: int) -> LinkTable:
    """The table of a network with one-way links by node numbers."""
    nodes = tuple(Node(str(number)) for number in range(size))
    return Network(nodes, tuple(links.values()), symmetric=False, routing="shortest_path").table


def one_way(delays: dict[tuple[int, int], float], **fields: Any) -> dict[tuple[int, int], Link]:
    """Links with these delays."""
    return {(u, v): Link(str(u), str(v), delay, **fields) for (u, v), delay in delays.items()}


def path_of(table: LinkTable, start: int, end: int) -> tuple[int, ...]:
    """The nodes on the way from start to end."""
    assert table.next_hop is not None
    way = [start]
    while way[-1] != end:
        way.append(int(table.next_hop[way[-1], end]))
        assert len(way) <= len(table.next_hop)
    return tuple(way)


def test_ties_by_hops() -> None:
    """Of equally long paths the one with fewer hops is taken, although 0.1 + 0.2 is not 0.3 in floats."""
    table = routed(one_way({(0, 1): 0.1, (1, 2): 0.2, (0, 2): 0.3}), 3)
    assert path_of(table, 0, 2) == (0, 2)
    assert table.delay_ms[0, 2] == 0.3


def test_a_shorter_path_with_more_hops() -> None:
    """Delay comes before hops."""
    table = routed(one_way({(0, 1): 0.1, (1, 2): 0.2, (0, 2): 0.300001}), 3)
    assert path_of(table, 0, 2) == (0, 1, 2)


def test_ties_by_node_order() -> None:
    """Of equally long paths with equally many hops the first in node order is taken, step by step."""
    delays = {(0, 2): 1, (2, 4): 1, (0, 1): 1, (1, 4): 1, (4, 5): 1, (0, 3): 1, (3, 4): 1}
    assert path_of(routed(one_way(delays), 6), 0, 5) == (0, 1, 4, 5)


def test_links_without_delay() -> None:
    """Links of delay 0, in circles too, are links."""
    delays = {(0, 1): 0, (1, 0): 0, (1, 2): 0, (2, 1): 0, (2, 3): 5}
    table = routed(one_way(delays), 4)
    assert path_of(table, 0, 3) == (0, 1, 2, 3)
    assert table.delay_ms[0].tolist() == [0, 0, 0, 5]
    assert np.isnan(table.delay_ms[3, 0])


def test_very_long_links_do_not_blur_short_ones() -> None:
    """A link of 11 days beside links of microseconds changes nothing for these."""
    delays = {(0, 1): 0.001, (1, 2): 0.001, (0, 2): 0.0020001, (2, 3): 1e9}
    table = routed(one_way(delays), 4)
    assert path_of(table, 0, 2) == (0, 1, 2)
    assert table.delay_ms[0, 2] == pytest.approx(0.002, rel=1e-9)


def test_fields_along_a_path() -> None:
    """Cost and price add up, availability multiplies, the smallest bandwidth counts."""
    links = {
        (0, 1): Link("0", "1", 1, 0.9, 50, 2, 0.1),
        (1, 2): Link("1", "2", 2, 0.8, 70, None, 0.2),
    }
    table = routed(links, 3)
    assert table.delay_ms[0, 2] == 3
    assert table.availability[0, 2] == pytest.approx(0.72)
    assert table.bandwidth_bytes_per_s[0, 2] == 50
    assert table.cost[0, 2] == 4
    assert table.price_per_gb[0, 2] == pytest.approx(0.3)
    flows, crossed = table.physical_hops(np.array([0, 0]), np.array([2, 1]))
    assert sorted(zip(flows.tolist(), crossed.tolist(), strict=True)) == [(0, 1), (0, 5), (1, 1)]


DELAYS = strategies.sampled_from([0, 0.1, 0.2, 0.3, 0.7, 1, 1.1, 2, 3.333, 40, 1e6])


@strategies.composite
def graphs(draw: strategies.DrawFn) -> tuple[int, dict[tuple[int, int], Link]]:
    """Random one-way links between up to six nodes, with many ties."""
    size = draw(strategies.integers(2, 6))
    pairs = [(u, v) for u in range(size) for v in range(size) if u != v]
    chosen = draw(strategies.lists(strategies.sampled_from(pairs), unique=True, max_size=18))
    links = {}
    for u, v in chosen:
        delay = draw(DELAYS)
        if draw(strategies.booleans()):
            links[u, v] = Link(str(u), str(v), delay)
        else:
            links[u, v] = Link(str(u), str(v), delay, 0.9 + u / 100, 10.0 + v, u + v / 10, 0.25)
    return size, links


def best_path(size: int, links: dict[tuple[int, int], Link], start: int, end: int) -> tuple[int, ...] | None:
    """Try every simple path, with delays as exact fractions of what was written."""
    found = []
    others = [node for node in range(size) if node not in (start, end)]
    for count in range(len(others) + 1):
        for between in permutations(others, count):
            way = (start, *between, end)
            if all(hop in links for hop in pairwise(way)):
                delay = sum(Fraction(str(links[hop].delay_ms)) for hop in pairwise(way))
                found.append((delay, len(way), way))
    return min(found)[2] if found else None


@settings(max_examples=120, derandomize=True, deadline=None, database=None)
@given(graphs())
def test_against_all_paths(graph: tuple[int, dict[tuple[int, int], Link]]) -> None:
    """The path is the first of all by delay, hops and node order, and adds up the fields of its links."""
    size, links = graph
    table = routed(links, size)
    for start, end in permutations(range(size), 2):
        way = best_path(size, links, start, end)
        assert table.connected[start, end] == (way is not None)
        if way is None:
            continue
        assert path_of(table, start, end) == way
        hops = [links[hop] for hop in pairwise(way)]
        expected = {
            "delay_ms": sum(hop.delay_ms or 0 for hop in hops),
            "availability": math.prod(1 if hop.availability is None else hop.availability for hop in hops),
            "bandwidth_bytes_per_s": min(hop.bandwidth_bytes_per_s or math.inf for hop in hops),
            "cost": sum((hop.delay_ms or 0) if hop.cost is None else hop.cost for hop in hops),
            "price_per_gb": sum(hop.price_per_gb or 0 for hop in hops),
        }
        found = {name: getattr(table, name)[start, end] for name in FIELDS}
        assert found == pytest.approx(expected, rel=1e-12)
