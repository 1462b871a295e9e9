"""The network of a problem: which links there are, and the route that each pair of nodes uses."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

MATRIX_FIELDS = ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb")
Pair = tuple[int, int]


@dataclass(frozen=True)
class Link:
    """One direction between two nodes, with all defaults filled in."""

    delay_ms: float
    availability: float
    bandwidth: float
    cost: float
    price_per_gb: float


@dataclass(frozen=True)
class Route:
    """What a stream between two nodes experiences, and the links whose bandwidth it takes."""

    delay_ms: float
    availability: float
    cost: float
    price_per_gb: float
    hops: tuple[Pair, ...]


PERFECT = Route(0.0, 1.0, 0.0, 0.0, ())


class Network:
    """Nodes, links and routes of a problem, by node index."""

    def __init__(self, description: dict[str, Any], lost: frozenset[str] = frozenset()) -> None:
        """Read the `network` part of a problem file, without the links of the nodes that are lost.

        "Lost nodes take their links with them; with `shortest_path`, routes are found anew."
        """
        self.nodes: list[dict[str, Any]] = description["nodes"]
        self.index: dict[str, int] = {node["name"]: number for number, node in enumerate(self.nodes)}
        self.lost = lost
        self.headroom: float = description.get("headroom", 0.0)
        self.max_utilisation: float | None = description.get("max_utilisation")
        self.half_duplex: bool = description.get("duplex", "full") == "half"
        self.one_port: bool = description.get("one_port", False)
        routed = description.get("routing", "direct") == "shortest_path"
        self.links: dict[Pair, Link] = {
            pair: link
            for pair, link in _links(description, self.nodes, with_coordinates=not routed).items()
            if self.is_left(pair)
        }
        self.routes: dict[Pair, Route] = _routed(self) if routed else _direct(self)

    def is_left(self, pair: Pair) -> bool:
        """Tell whether both nodes of a pair are still there."""
        return not any(self.nodes[number]["name"] in self.lost for number in pair)

    def route(self, start: int, end: int) -> Route | None:
        """Return the route between two nodes; None: they can't exchange a stream.

        "A node's link to itself has delay 0, availability 1, cost and price 0 and unlimited bandwidth."
        """
        return PERFECT if start == end else self.routes.get((start, end))

    def bandwidth(self, hop: Pair) -> float:
        """Return the bandwidth that counts for a link.

        "With `half`, the smaller of two unequal bandwidths counts."
        """
        there = self.links[hop].bandwidth
        back = self.links.get((hop[1], hop[0]))
        return min(there, back.bandwidth) if self.half_duplex and back is not None else there

    def shared_medium(self, hop: Pair) -> Pair:
        """Name what a hop's load counts against.

        "full: each direction of a link has the whole bandwidth; half: both share it."
        """
        return (min(hop), max(hop)) if self.half_duplex else hop


def share(load: float, bandwidth: float) -> float:
    """Return the share of a bandwidth that a load takes."""
    if bandwidth == 0.0:
        return math.inf if load > 0.0 else 0.0
    return load / bandwidth


def node_pairs(count: int) -> Iterator[Pair]:
    """Return all ordered pairs of different nodes: a matrix' diagonal means nothing."""
    return ((start, end) for start in range(count) for end in range(count) if start != end)


def _links(
    description: dict[str, Any], nodes: list[dict[str, Any]], *, with_coordinates: bool
) -> dict[Pair, Link]:
    """Collect the links of all pairs; pairs that have none are not in the result."""
    entries = {(entry["from"], entry["to"]): entry for entry in description.get("links", [])}
    found = {}
    for start, end in node_pairs(len(nodes)):
        fields = _matrix_fields(description, start, end)
        fields.update(_entry_fields(description, entries, nodes[start]["name"], nodes[end]["name"]))
        if "delay_ms" not in fields and with_coordinates:
            fields.update(_coordinate_fields(nodes[start], nodes[end]))
        if "delay_ms" in fields:
            found[start, end] = _filled(fields)
    return found


def _matrix_fields(description: dict[str, Any], start: int, end: int) -> dict[str, float]:
    """Read one pair's fields from the matrices.

    "full matrices in node order, taken as they are [...]. null: no link (delay_ms), the default (the
    others)."
    """
    cells = {field: description[field][start][end] for field in MATRIX_FIELDS if field in description}
    return {field: value for field, value in cells.items() if value is not None}


def _entry_fields(
    description: dict[str, Any], entries: dict[tuple[str, str], dict[str, Any]], start: str, end: str
) -> dict[str, float]:
    """Read one pair's fields from `links`.

    "symmetric: an entry of links holds both ways unless links has one for the other way";
    "An entry of links overrides the fields that it gives."
    """
    entry = entries.get((start, end))
    if entry is None and description.get("symmetric", True):
        entry = entries.get((end, start))
    return {} if entry is None else {field: entry[field] for field in MATRIX_FIELDS if field in entry}


def _coordinate_fields(start: dict[str, Any], end: dict[str, Any]) -> dict[str, float]:
    """Estimate a delay.

    "Where there are coordinates and no link, the delay is the Euclidean distance plus both heights."
    """
    if "coordinates" not in start or "coordinates" not in end:
        return {}
    distance = math.dist(start["coordinates"], end["coordinates"])
    return {"delay_ms": distance + start.get("height_ms", 0.0) + end.get("height_ms", 0.0)}


def _filled(fields: dict[str, float]) -> Link:
    """Fill in a link's defaults.

    "defaults: availability 1, bandwidth unlimited"; "cost: [...] default: delay_ms. price_per_gb: money;
    default 0".
    """
    return Link(
        delay_ms=fields["delay_ms"],
        availability=fields.get("availability", 1.0),
        bandwidth=fields.get("bandwidth_bytes_per_s", math.inf),
        cost=fields.get("cost", fields["delay_ms"]),
        price_per_gb=fields.get("price_per_gb", 0.0),
    )


def _direct(network: Network) -> dict[Pair, Route]:
    """Under `direct`, every link is a route of its own."""
    return {pair: _along(network.links, pair) for pair in network.links}


def _routed(network: Network) -> dict[Pair, Route]:
    """Under `shortest_path`, "links are physical, a logical link is the path of least delay".

    A pair without a physical path falls back on its coordinates: no physical link is loaded then.
    """
    routes = {}
    for start, end in node_pairs(len(network.nodes)):
        path = shortest_path(network.links, start, end)
        if path is not None:
            routes[start, end] = _along(network.links, path)
        elif network.is_left((start, end)) and (
            estimate := _coordinate_fields(network.nodes[start], network.nodes[end])
        ):
            link = _filled(estimate)
            routes[start, end] = Route(link.delay_ms, link.availability, link.cost, link.price_per_gb, ())
    return routes


def _along(links: dict[Pair, Link], path: tuple[int, ...]) -> Route:
    """Add up a path: "cost and price add up along the path, availability multiplies"."""
    hops = tuple(pairwise(path))
    return Route(
        delay_ms=float(sum(exact(links[hop].delay_ms) for hop in hops)),
        availability=math.prod(links[hop].availability for hop in hops),
        cost=math.fsum(links[hop].cost for hop in hops),
        price_per_gb=math.fsum(links[hop].price_per_gb for hop in hops),
        hops=hops,
    )


def exact(number: float) -> Fraction:
    """Return a number as it is written, so that equal sums of delays compare equal."""
    return Fraction(str(number))


def shortest_path(links: dict[Pair, Link], start: int, end: int) -> tuple[int, ...] | None:
    """Find the path of least delay; "ties by fewer hops, then node order".

    Node order is read as: the path whose sequence of node indices is smallest. Every round lengthens the
    paths known so far by each link, until no node's best path gets better.
    """
    best: dict[int, tuple[Fraction, int, tuple[int, ...]]] = {start: (Fraction(0), 0, (start,))}
    improved = True
    while improved:
        improved = False
        for (sender, receiver), link in links.items():
            if sender not in best or receiver == start:
                continue
            delay, hops, path = best[sender]
            offer = (delay + exact(link.delay_ms), hops + 1, (*path, receiver))
            if receiver not in best or offer < best[receiver]:
                best[receiver] = offer
                improved = True
    return best[end][2] if end in best else None
