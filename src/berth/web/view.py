"""What a picture of a problem needs: nodes on a plane (and on earth), links, graphs in layers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.drawing.layout import arrange, layer_of_each, layered
from berth.drawing.places import node_places
from berth.model import Application, Network, Node, Problem
from berth.model.pair_fields import PairField
from berth.web.documents import finite

FloatArray = NDArray[np.float64]

MOST_LINKS = 3000
NEAREST_LINKS = 4
"""Of each node, where there are more links than can be drawn."""
LARGEST_SCALED = 1500
"""Nodes without coordinates whose delays are turned into places: beyond, it takes too long."""
MOST_ARRANGED = 8000
"""Operators, and layers that streams go through, of a graph that is drawn with care."""
_LATITUDES, _LONGITUDES = ("latitude", "lat"), ("longitude", "lon", "lng", "long")


def view_of(problem: Problem) -> dict[str, Any]:
    """A problem for a picture."""
    network = problem.network
    layout, places = _places(network)
    earth = [_on_earth(node) for node in network.nodes]
    links, total = _links(network)
    return {
        "layout": layout,
        "geographic": all(place is not None for place in earth),
        "nodes": [
            _node(number, node, places[number], earth[number]) for number, node in enumerate(network.nodes)
        ],
        "links": links,
        "links_shown": len(links),
        "links_all": total,
        "applications": [_application(problem, number) for number in range(len(problem.applications))],
        "resources": list(problem.instances.resources),
        "objective": problem.sought,
        "objective_within": list(problem.objective_within),
        "objective_scale": problem.objective_scale,
        "max_utilisation": network.max_utilisation,
        "survive": _survive(problem),
    }


def _survive(problem: Problem) -> str | dict[str, str] | None:
    """As in problem files."""
    if problem.survive is None:
        return None
    return "node" if problem.survive.label is None else {"label": problem.survive.label}


def _places(network: Network) -> tuple[str, FloatArray]:
    """How the places were found, and the places: in [0, 1], the aspect ratio kept."""
    known = all(node.coordinates is not None for node in network.nodes)
    if known or (len(network.nodes) <= LARGEST_SCALED and not network.scattered):
        return ("coordinates" if known else "delays"), _in_unit_square(node_places(network))
    angle = np.arange(len(network.nodes)) * (2 * math.pi / len(network.nodes))
    return "circle", _in_unit_square(np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _in_unit_square(points: FloatArray) -> FloatArray:
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max())
    scaled = (points - (low + high) / 2) / size + 0.5 if size > 0 else np.full_like(points, 0.5)
    scaled[:, 1] = 1.0 - scaled[:, 1]
    return np.clip(scaled, 0.0, 1.0)


def _on_earth(node: Node) -> tuple[float, float] | None:
    """Latitude and longitude, where labels say them."""
    latitude, longitude = _label(node.labels, _LATITUDES), _label(node.labels, _LONGITUDES)
    if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return latitude, longitude


def _label(labels: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    for name in names:
        value = labels.get(name)
        if value is None or isinstance(value, bool):
            continue
        try:
            return finite(float(value))
        except ValueError:
            continue
    return None


def _node(number: int, node: Node, place: FloatArray, earth: tuple[float, float] | None) -> dict[str, Any]:
    latitude, longitude = earth or (None, None)
    return {
        "index": number,
        "name": node.name,
        "x": round(float(place[0]), 5),
        "y": round(float(place[1]), 5),
        "latitude": latitude,
        "longitude": longitude,
        "hosts": node.hosts,
        "capacity": dict(node.capacity),
        "speed": node.speed,
        "cores": node.cores,
        "availability": node.availability,
        "cost_per_hour": node.cost_per_hour,
        "nic_bytes_per_s": finite(node.nic_bytes_per_s),
        "labels": dict(node.labels),
        "holds": sorted(node.holds),
    }


def _links(network: Network) -> tuple[list[dict[str, Any]], int]:
    """The (physical) links, those to the nearest nodes where there are too many; and how many there are."""
    table = network.table
    delay = table.delay_ms
    if isinstance(delay, PairField):
        index = network.index
        ends = [(index[link.sender], index[link.receiver]) for link in network.links]
        here, there = np.array(ends[:MOST_LINKS], dtype=np.intp).reshape(-1, 2).T
        return _drawn(network, here, there, np.zeros(len(here), dtype=bool)), len(ends)
    linked = ~np.isnan(delay)
    np.fill_diagonal(linked, False)
    if table.next_hop is not None:
        linked &= table.next_hop == np.arange(len(network.nodes))
    # what is the same both ways is one line
    other = np.where(linked.T, delay.T, np.nan)
    width = table.bandwidth_bytes_per_s
    both = linked & linked.T & (delay == other) & (width == np.transpose(width))
    kept = linked & (~both | np.triu(np.ones_like(linked), k=1))
    total = int(kept.sum())
    if total > MOST_LINKS:
        kept &= _near(np.where(linked, delay, np.inf))
        kept |= both & kept.T & np.triu(np.ones_like(kept), k=1)
        kept &= ~(both & np.tril(np.ones_like(kept), k=-1))
    here, there = np.nonzero(kept)
    return _drawn(network, here[:MOST_LINKS], there[:MOST_LINKS], both), total


def _near(delay: FloatArray) -> NDArray[np.bool_]:
    """The links of each node to the nearest few, as marks in both directions."""
    order = np.argsort(delay, axis=1, kind="stable")[:, :NEAREST_LINKS]
    near = np.zeros(delay.shape, dtype=bool)
    near[np.arange(len(delay))[:, None], order] = True
    near &= np.isfinite(delay)
    return near | near.T


def _drawn(network: Network, here: Any, there: Any, both: Any) -> list[dict[str, Any]]:
    table = network.table
    delay, width = table.delay_ms[here, there], table.bandwidth_bytes_per_s[here, there]
    two_way = both[here, there] if both.ndim == 2 else both
    columns = zip(
        here.tolist(), there.tolist(), delay.tolist(), width.tolist(), two_way.tolist(), strict=True
    )
    return [
        {
            "from": sender,
            "to": receiver,
            "delay_ms": finite(late),
            "bandwidth_bytes_per_s": finite(wide),
            "both_ways": same,
        }
        for sender, receiver, late, wide, same in columns
    ]


def _application(problem: Problem, number: int) -> dict[str, Any]:
    application, graph = problem.applications[number], problem.instances
    members = [position for position, item in enumerate(graph.operators) if item.application == number]
    index = {operator.name: position for position, operator in enumerate(application.operators)}
    ends = [(index[stream.sender], index[stream.receiver]) for stream in application.streams]
    first = sum(len(each.streams) for each in problem.applications[:number])
    rates = graph.stream_rate[first : first + len(ends)].tolist()
    sizes = graph.tuple_bytes[first : first + len(ends)].tolist()
    places, layer_of, width, height = _graph_places(len(application.operators), ends)
    return {
        "name": application.name,
        "max_response_time_ms": application.max_response_time_ms,
        "min_availability": application.min_availability,
        "throughput_per_s": application.throughput_per_s,
        "width": width,
        "height": height,
        "operators": [
            _operator(problem, application, position, member)
            | places[position]
            | {"layer": layer_of[position]}
            for position, member in enumerate(members)
        ],
        "streams": [
            {
                "from": sender,
                "to": receiver,
                "bytes_per_s": finite(rate),
                "tuple_bytes": finite(size),
                "grouping": stream.grouping,
            }
            for (sender, receiver), rate, size, stream in zip(
                ends, rates, sizes, application.streams, strict=True
            )
        ],
    }


def _operator(problem: Problem, application: Application, position: int, member: int) -> dict[str, Any]:
    graph, operator = problem.instances, application.operators[position]
    item = graph.operators[member]
    allowed = graph.allowed_nodes[member].tolist()
    pinned = operator.candidates[0] if operator.candidates and len(operator.candidates) == 1 else None
    return {
        "name": operator.name,
        "full": item.name,
        "parallelism": operator.parallelism,
        "instances": [graph.names[number] for number in item.instances],
        "allowed": None if len(allowed) == len(problem.network.nodes) else allowed,
        "pinned": pinned,
        "demand": dict(operator.demand),
        "work_ms": operator.work_ms,
        "load": finite(float(graph.load[item.first : item.first + operator.parallelism].max())),
        "state_bytes": operator.state_bytes,
        "type": operator.type,
    }


def _graph_places(
    operators: int, ends: list[tuple[int, int]]
) -> tuple[list[dict[str, float]], list[int], int, int]:
    """Places in [0, 1] from left to right, every operator's layer, and how wide and high the graph is."""
    depth = layer_of_each(operators, ends)
    if operators + sum(depth[there] - depth[here] for here, there in ends) > MOST_ARRANGED:
        return _rows(depth)
    layout = layered(operators, ends)
    vertices = sum(len(layer) for layer in layout.layers)
    down = arrange(layout, [0] * vertices, [1] * vertices, 0)
    layer_of = {vertex: number for number, layer in enumerate(layout.layers) for vertex in layer}
    lowest = max(max(down[:operators], default=0), 1)
    wide = max(len(layout.layers) - 1, 1)
    places = [
        {"x": round(layer_of[each] / wide, 5), "y": round(down[each] / lowest, 5)}
        for each in range(operators)
    ]
    fullest = max(sum(vertex < operators for vertex in layer) for layer in layout.layers)
    return places, [layer_of[each] for each in range(operators)], len(layout.layers), fullest


def _rows(depth: list[int]) -> tuple[list[dict[str, float]], list[int], int, int]:
    """The same for very large graphs: in every layer one below the other, as they are in the file."""
    counts = [0] * (max(depth) + 1)
    rows = []
    for layer in depth:
        rows.append(counts[layer])
        counts[layer] += 1
    wide, high = max(len(counts) - 1, 1), max(max(counts) - 1, 1)
    places = [
        {"x": round(layer / wide, 5), "y": round(row / high, 5)}
        for layer, row in zip(depth, rows, strict=True)
    ]
    return places, depth, len(counts), max(counts)
