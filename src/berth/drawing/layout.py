"""Layered layout of a directed acyclic graph (Sugiyama, Tagawa and Toda 1981), left to right.

Vertices have numbers. A stream that skips layers passes a waypoint in each of them, so that it gets a
place of its own there; waypoints have the numbers after the operators'.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

Edge = tuple[int, int]

ORDER_SWEEPS = 12
POSITION_SWEEPS = 8
WAYPOINT_WEIGHT = 4.0
"""How much more a waypoint pulls towards its neighbours than an operator: long streams go straight."""


@dataclass(frozen=True)
class Layout:
    """The vertices of every layer from top to bottom, and the way that every edge takes."""

    operators: int
    """Vertices from this number on are waypoints."""
    layers: tuple[tuple[int, ...], ...]
    routes: tuple[tuple[int, ...], ...]
    """For every edge its vertices: the sender, a waypoint for each layer between, the receiver."""

    @cached_property
    def before(self) -> dict[int, list[int]]:
        """The neighbours of every vertex in the layer to its left."""
        return _neighbours(self.layers, [(right, left) for left, right in self.segments])

    @cached_property
    def after(self) -> dict[int, list[int]]:
        """The neighbours of every vertex in the layer to its right."""
        return _neighbours(self.layers, self.segments)

    @cached_property
    def segments(self) -> list[Edge]:
        """The parts of all routes between neighbouring layers, each once."""
        return list(dict.fromkeys(step for route in self.routes for step in pairwise(route)))

    def crossings(self) -> int:
        """How often two segments cross."""
        return _crossings(self.layers, self.after)


def layer_of_each(operators: int, edges: Sequence[Edge]) -> list[int]:
    """For every operator the length of the longest path to it from an operator that receives nothing."""
    receivers: list[list[int]] = [[] for _ in range(operators)]
    waiting = [0] * operators
    for sender, receiver in edges:
        receivers[sender].append(receiver)
        waiting[receiver] += 1
    layers = [0] * operators
    ready = [number for number in range(operators) if waiting[number] == 0]
    for sender in ready:
        for receiver in receivers[sender]:
            layers[receiver] = max(layers[receiver], layers[sender] + 1)
            waiting[receiver] -= 1
            if waiting[receiver] == 0:
                ready.append(receiver)
    return layers


def layered(operators: int, edges: Sequence[Edge]) -> Layout:
    """Put every operator in its layer, and order the layers so that few streams cross."""
    depth = layer_of_each(operators, edges)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for number in range(operators):
        layers[depth[number]].append(number)
    routes = []
    following = operators
    for sender, receiver in edges:
        between = range(depth[sender] + 1, depth[receiver])
        waypoints = range(following, following + len(between))
        following += len(waypoints)
        for layer, waypoint in zip(between, waypoints, strict=True):
            layers[layer].append(waypoint)
        routes.append((sender, *waypoints, receiver))
    return _with_few_crossings(Layout(operators, tuple(map(tuple, layers)), tuple(routes)))


def _with_few_crossings(layout: Layout) -> Layout:
    """Barycentre sweeps to the right and to the left in turn; the best order met counts."""
    layers = [list(layer) for layer in layout.layers]
    best, fewest = layout, layout.crossings()
    for sweep in range(ORDER_SWEEPS):
        if fewest == 0:
            break
        rightwards = sweep % 2 == 0
        neighbours = layout.before if rightwards else layout.after
        order = range(1, len(layers)) if rightwards else range(len(layers) - 2, -1, -1)
        for number in order:
            beside = layers[number - 1 if rightwards else number + 1]
            layers[number] = _by_barycentre(layers[number], beside, neighbours)
        found = Layout(layout.operators, tuple(map(tuple, layers)), layout.routes)
        if (crossings := found.crossings()) < fewest:
            best, fewest = found, crossings
    return best


def _by_barycentre(layer: list[int], beside: list[int], neighbours: dict[int, list[int]]) -> list[int]:
    """A layer sorted by the mean place of each vertex's neighbours; who has none stays where it is."""
    place = {vertex: position for position, vertex in enumerate(beside)}
    scale = len(beside) / max(len(layer), 1)
    keys = {
        vertex: _mean([place[neighbour] for neighbour in neighbours[vertex]], position * scale)
        for position, vertex in enumerate(layer)
    }
    return sorted(layer, key=keys.__getitem__)


def arrange(layout: Layout, above: Sequence[int], below: Sequence[int], gap: int) -> list[int]:
    """A whole number for every vertex: how far down it is, with neighbours as level as there is room.

    `above` and `below` say what each vertex takes up on both sides of that place; between two vertices
    of a layer at least `gap` stays free. The smallest upper end is 0.
    """
    places = [0] * sum(len(layer) for layer in layout.layers)
    offsets = [_offsets(layer, above, below, gap) for layer in layout.layers]
    for layer, offset in zip(layout.layers, offsets, strict=True):
        for vertex, down in zip(layer, offset, strict=True):
            places[vertex] = down - offset[-1] // 2
    for sweep in range(POSITION_SWEEPS):
        rightwards = sweep % 2 == 0
        neighbours = layout.before if rightwards else layout.after
        for number in range(len(layout.layers)) if rightwards else reversed(range(len(layout.layers))):
            _level(layout, number, offsets[number], neighbours, places)
    return _without_empty_stretches(places, above, below, gap)


def _offsets(layer: Sequence[int], above: Sequence[int], below: Sequence[int], gap: int) -> list[int]:
    """How far below the first vertex of a layer each of them is when they are as close as may be."""
    offsets = [0] * len(layer)
    for position, (upper, lower) in enumerate(pairwise(layer), start=1):
        offsets[position] = offsets[position - 1] + below[upper] + gap + above[lower]
    return offsets


def _level(
    layout: Layout, number: int, offsets: list[int], neighbours: dict[int, list[int]], places: list[int]
) -> None:
    """Move one layer's vertices to the mean place of their neighbours, as far as their order allows."""
    layer = layout.layers[number]
    wanted = [
        _mean([places[neighbour] for neighbour in neighbours[vertex]], places[vertex]) - offset
        for vertex, offset in zip(layer, offsets, strict=True)
    ]
    weights = [WAYPOINT_WEIGHT if vertex >= layout.operators else 1.0 for vertex in layer]
    for vertex, place, offset in zip(layer, increasing(wanted, weights), offsets, strict=True):
        places[vertex] = round(place) + offset


def _without_empty_stretches(
    places: list[int], above: Sequence[int], below: Sequence[int], gap: int
) -> list[int]:
    """The same places, from 0 on, with no more than the gap where all layers are empty."""
    moved = list(places)
    shift = end = None
    for vertex in sorted(range(len(places)), key=lambda vertex: places[vertex] - above[vertex]):
        start = places[vertex] - above[vertex]
        if shift is None or end is None:
            shift, end = start, start
        shift += max(0, start - end - gap)
        moved[vertex] = places[vertex] - shift
        end = max(end, places[vertex] + below[vertex])
    return moved


def increasing(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The sequence that never falls and is nearest to the values (least squares; pool adjacent violators)."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        mean, total, count = value, weight, 1
        while pools and pools[-1][0] > mean:
            left, left_total, left_count = pools.pop()
            mean = (left * left_total + mean * total) / (left_total + total)
            total, count = total + left_total, count + left_count
        pools.append((mean, total, count))
    return [mean for mean, _, count in pools for _ in range(count)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _neighbours(layers: Sequence[Sequence[int]], steps: Sequence[Edge]) -> dict[int, list[int]]:
    lists: dict[int, list[int]] = {vertex: [] for layer in layers for vertex in layer}
    for here, there in steps:
        lists[here].append(there)
    return lists


def _crossings(layers: Sequence[Sequence[int]], after: dict[int, list[int]]) -> int:
    """Two segments cross where their order on the left is the opposite of that on the right."""
    total = 0
    for left, right in pairwise(layers):
        place = {vertex: position for position, vertex in enumerate(right)}
        seen: list[int] = []
        for vertex in left:
            ends = sorted(place[neighbour] for neighbour in after[vertex])
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
